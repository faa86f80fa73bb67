/** validity_period of submit_sm as SMPP 3.4 §7.1.1 writes times: 16 characters, `YYMMDDhhmmsstnnp`. */

const DAY_SECONDS = 86_400
const SECOND_MS = 1_000

/** From the moment the SMSC has the message, in whole seconds, at most 30 days; clocks need not agree. */
export function relativePeriod(seconds: number): string {
  const days = Math.floor(seconds / DAY_SECONDS)
  const rest = seconds % DAY_SECONDS
  const clock = [days, Math.floor(rest / 3_600), Math.floor(rest / 60) % 60, rest % 60]
    .map(twoDigits)
    .join('')
  return `0000${clock}000R`
}

/** A moment in UTC, Unix milliseconds, to the second before it. */
export function absoluteTime(atMs: number): string {
  const digits = new Date(Math.floor(atMs / SECOND_MS) * SECOND_MS).toISOString().replace(/\D/g, '')
  return `${digits.slice(2, 14)}000+`
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
