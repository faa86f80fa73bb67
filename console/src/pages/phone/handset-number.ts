/** `+`, then 7 to 15 digits that do not begin with 0: what the API takes as the number of a handset. */
const E164 = /^\+[1-9]\d{6,14}$/

/** Of which nobody is a subscriber. */
const FICTIONAL = '+15551230000'
const LAST_DIGITS = 4

export function isHandsetNumber(text: string): boolean {
  return E164.test(text)
}

/** Without what people write between the digits. */
export function compactNumber(text: string): string {
  return text.replaceAll(/[\s().-]/g, '').replace(/^00/, '+')
}

/** A number like this one that ends in these digits; null: in digits that have no outcome of their own. */
export function numberEndingIn(lastDigits: string | null, like: string): string {
  const base = isHandsetNumber(like) ? like : FICTIONAL
  return `${base.slice(0, -LAST_DIGITS)}${lastDigits ?? FICTIONAL.slice(-LAST_DIGITS)}`
}
