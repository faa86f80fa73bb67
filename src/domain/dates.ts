/** Timestamps of the public API: RFC 3339 §5.6 with an offset; real calendar dates only. */

/** Texts by the remainder of their instants: one message alone asks for each of its own seven times. */
const TEXTS_KEPT = 16_384
const instants = new Float64Array(TEXTS_KEPT).fill(Number.NaN)
const texts: string[] = Array(TEXTS_KEPT).fill('')

/**
 * Returns what toISOString returns, without its cost (0.8 µs) for an instant that was asked for in the last 16 s. The
 * text is one flat string: JSON.stringify takes three times as long for an object that has a concatenated one.
 * @param atMs Unix milliseconds
 * @throws RangeError for an invalid instant
 */
export function isoText(atMs: number): string {
  const place = Math.abs(atMs % TEXTS_KEPT)
  if (instants[place] !== atMs) {
    texts[place] = new Date(atMs).toISOString()
    instants[place] = atMs
  }
  return texts[place]!
}

const RFC_3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,18}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

const MINUTE_MS = 60_000

/**
 * Unix milliseconds of a timestamp, or null when it is not one. `rounding` says where digits beyond the millisecond go: a
 * window's start is rounded up and its end down, so that an inclusive bound never lets in what lies outside it.
 */
export function parseTimestamp(text: string, rounding: 'down' | 'up'): number | null {
  const match = RFC_3339.exec(text)
  if (match === null) return null
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as Six
  const [fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] = match.slice(7)
  if (hour > 23 || minute > 59 || second > 59) return null
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return null
  const date = new Date(0)
  // Not Date.UTC: it reads the years 0-99 as 1900-1999.
  date.setUTCFullYear(year, month - 1, day)
  // A 30 February has become a day of March.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null
  date.setUTCHours(hour, minute, second, Number(fraction.slice(0, 3).padEnd(3, '0')))
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * MINUTE_MS
  const beyond = rounding === 'up' && /[1-9]/.test(fraction.slice(3)) ? 1 : 0
  return date.getTime() - (sign === '-' ? -offset : offset) + beyond
}

type Six = [number, number, number, number, number, number]
