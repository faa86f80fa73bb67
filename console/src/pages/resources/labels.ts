const NAMES: Readonly<Record<string, string>> = {
  accountId: 'Account',
  servicePlanId: 'Service plan',
  servicePlanIds: 'Service plans',
  mccmnc: 'MCC and MNC',
  ptf: 'Pass-through fee',
  tlsCa: 'TLS authorities',
  tls: 'TLS',
  defaultDlrUrl: 'Default DLR URL',
  optOut: 'Opt-out words and replies',
  search: 'Name begins with',
  from: 'Sender',
  to: 'Recipient',
}

const WORDS: Readonly<Record<string, string>> = { url: 'URL', id: 'id', tls: 'TLS' }

/** `validitySeconds` -> "Validity seconds" */
export function labelOf(field: string): string {
  const name = NAMES[field]
  if (name !== undefined) return name
  const words = field.split(/(?=[A-Z])/).map((word) => WORDS[word.toLowerCase()] ?? word.toLowerCase())
  const text = words.join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
