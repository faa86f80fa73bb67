/** Keywords of inbound (MO) messages. */

/**
 * The configured keyword, in its configured spelling, that equals the first token of the text, case-insensitively; null
 * when none does. White space ends a token. Punctuation after it is ignored ("Stop!" is STOP) unless a keyword is
 * configured with it.
 */
export function matchKeyword(text: string, keywords: readonly string[]): string | null {
  const token = /^\s*(\S+)/.exec(text)?.[1]
  if (token === undefined) return null
  return find(folded(token), keywords) ?? find(withoutPunctuation(folded(token)), keywords)
}

function find(token: string, keywords: readonly string[]): string | null {
  if (token === '') return null
  return keywords.find((keyword) => folded(keyword.trim()) === token) ?? null
}

function folded(word: string): string {
  return word.normalize('NFC').toLowerCase()
}

function withoutPunctuation(token: string): string {
  let end = token.length
  while (end > 0 && '.,;:!?"\')'.includes(token[end - 1] as string)) end -= 1
  return token.slice(0, end)
}
