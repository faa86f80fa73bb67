/**
 * Amounts of money: exact decimals with up to 6 places. They are text outside and whole millionths (bigint) in
 * calculations. No float is involved: 3 × 0.1 is 0.3, not 0.30000000000000004.
 */

const PLACES = 6
const MILLION = 1_000_000n
const AMOUNT = /^([0-9]{1,8})(?:\.([0-9]{1,6}))?$/

/** The most that numeric(14, 6) holds. */
const MAX_MILLIONTHS = 99_999_999_999_999n

/** `0.0075` -> 7500n. Null for anything but 1-8 digits with up to 6 places: signs, exponents, separators, spaces. */
export function parseAmount(text: string): bigint | null {
  const parts = AMOUNT.exec(text)
  if (parts === null) return null
  return BigInt(parts[1]!) * MILLION + BigInt((parts[2] ?? '').padEnd(PLACES, '0'))
}

/**
 * 7500n -> `0.0075`: no trailing zeros, no exponent. An amount that numeric(14, 6) cannot hold becomes the largest it
 * can.
 */
export function formatAmount(millionths: bigint): string {
  const bounded = millionths > MAX_MILLIONTHS ? MAX_MILLIONTHS : millionths
  const places = String(bounded % MILLION)
    .padStart(PLACES, '0')
    .replace(/0+$/, '')
  return places === '' ? String(bounded / MILLION) : `${bounded / MILLION}.${places}`
}
