/** validity_period of submit_sm as SMPP 3.4 §7.1.1 writes times: 16 characters, `YYMMDDhhmmsstnnp`. */

const DAY_SECONDS = 86_400
const SECOND_MS = 1_000

/** From the moment the SMSC has the message, in whole seconds, at most 30 days; clocks need not agree. */
export function relativePeriod(seconds: number): string {
  const days = Math.floor(seconds / DAY_SECONDS)
  const rest = seconds % DAY_SECONDS
  const clock = days * 1e6 + Math.floor(rest / 3_600) * 1e4 + (Math.floor(rest / 60) % 60) * 100 + (rest % 60)
  return `${String(clock).padStart(12, '0')}000R`
}

/** A moment in UTC, Unix milliseconds, to the second before it. */
export function absoluteTime(atMs: number): string {
  const digits = new Date(Math.floor(atMs / SECOND_MS) * SECOND_MS).toISOString().replace(/\D/g, '')
  return `${digits.slice(2, 14)}000+`
}
