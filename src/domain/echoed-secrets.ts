/** Shorter values occur in ordinary text, and would be no secret. */
const MIN_CHARACTERS = 4
const MASK = '***'
/** Characters of a value that JSON escapes. */
const ESCAPED = /["\\\t]/

/**
 * The beginning of an answer, without the values of these headers. Receivers that show what they were sent (error pages,
 * echo services) would otherwise put a customer's credentials into what we keep of it. Basic credentials are masked
 * decoded too, and each value also as JSON writes it. The text may end inside a value: it was cut there, or the
 * connection broke.
 */
export function maskEchoes(text: string, headers: Readonly<Record<string, string>>): string {
  if (text === '') return text
  const secrets = Object.entries(headers).flatMap(([name, value]) => formsOf(name, value))
  // Longest first: one may contain another.
  const forms = secrets.filter(({ length }) => length >= MIN_CHARACTERS).sort((a, b) => b.length - a.length)
  let masked = text
  for (const form of forms) masked = masked.replaceAll(form, MASK)
  return withoutBeginning(masked, forms)
}

function formsOf(name: string, value: string): string[] {
  const forms = [value]
  if (name.toLowerCase() === 'authorization') {
    const [scheme, credentials] = value.split(/ +/, 2)
    if (credentials !== undefined) forms.push(credentials)
    if (credentials !== undefined && scheme?.toLowerCase() === 'basic') {
      const pair = Buffer.from(credentials, 'base64').toString('utf8')
      forms.push(pair, pair.slice(pair.indexOf(':') + 1))
    }
  }
  return forms.flatMap((form) => (ESCAPED.test(form) ? [form, JSON.stringify(form).slice(1, -1)] : [form]))
}

/** The text without a beginning of one of these forms at its end. */
function withoutBeginning(text: string, forms: readonly string[]): string {
  for (const form of forms) {
    for (let length = Math.min(form.length - 1, text.length); length >= MIN_CHARACTERS; length -= 1) {
      if (text.endsWith(form.slice(0, length))) return text.slice(0, -length) + MASK
    }
  }
  return text
}
