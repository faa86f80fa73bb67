/** What the address of the phone holds: the number of the handset. */
export interface PhoneSearch {
  readonly number?: string
}

export function phoneSearchOf({ number }: Record<string, unknown>): PhoneSearch {
  // "+46…" without quotation marks comes out of the address as a number.
  const text = typeof number === 'number' ? `+${number}` : number
  return typeof text === 'string' && text !== '' ? { number: text } : {}
}
