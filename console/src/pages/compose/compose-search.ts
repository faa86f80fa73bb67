/** What the address of Compose may fill in, so that other pages can link to a message that is to be sent. */
const FILLED = ['from', 'to', 'body', 'callbackUrl'] as const

export type ComposeSearch = { readonly [Name in (typeof FILLED)[number]]?: string }

/** The longest short code. */
const SHORT_CODE_DIGITS = 8

export function composeSearchOf(search: Record<string, unknown>): ComposeSearch {
  const texts = FILLED.map((name) => [name, textOf(name, search[name])] as const)
  return Object.fromEntries(texts.filter(([, text]) => text !== ''))
}

function textOf(name: (typeof FILLED)[number], value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'number') return ''
  // "+46…" without quotation marks comes out of the address as a number.
  const isNumber = name === 'to' || (name === 'from' && String(value).length > SHORT_CODE_DIGITS)
  return isNumber ? `+${value}` : String(value)
}
