/** How numbers, durations, prices and countries are written on every page. */

const REGIONS = new Intl.DisplayNames('en', { type: 'region' })

/** "12,345" */
export function count(value: number): string {
  return value.toLocaleString('en')
}

/** "message" of one, "messages" of any other number. */
export function plural(value: number, noun: string): string {
  return value === 1 ? noun : `${noun}s`
}

/** "1 message", "12,345 messages" */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${plural(value, noun)}`
}

/** ISO 3166-1 alpha-2 as a name; what is none stays. */
export function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (REGIONS.of(code) ?? code) : code
}

/** With the decimals that a price of one message needs. */
export function money(amount: number, currency: string | null): string {
  const text = amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 })
  return currency === null ? text : `${text} ${currency}`
}

/** A header a line, as it was sent. */
export function headerLines(headers: Readonly<Record<string, string>> | null): string | null {
  if (headers === null) return null
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** As exactly as one reads it: "260 ms", "4.20 s", "12 min 5 s", "2 h 14 min", "3 d 4 h". */
export function duration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(ms < 10 * SECOND_MS ? 2 : 1)} s`
  if (ms < HOUR_MS) return twoUnits(ms, [MINUTE_MS, 'min'], [SECOND_MS, 's'])
  if (ms < DAY_MS) return twoUnits(ms, [HOUR_MS, 'h'], [MINUTE_MS, 'min'])
  return twoUnits(ms, [DAY_MS, 'd'], [HOUR_MS, 'h'])
}

type Unit = readonly [ms: number, name: string]

function twoUnits(ms: number, [big, bigName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((ms % big) / small)
  return `${Math.floor(ms / big)} ${bigName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`
}
