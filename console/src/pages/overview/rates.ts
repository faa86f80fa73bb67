/** Of what a rate is written: the largest number that reads well. */
export interface RateUnit {
  readonly name: 'second' | 'minute' | 'hour'
  readonly sign: string
  readonly ms: number
}

const UNITS: readonly RateUnit[] = [
  { name: 'second', sign: 's', ms: 1_000 },
  { name: 'minute', sign: 'min', ms: 60_000 },
  { name: 'hour', sign: 'h', ms: 3_600_000 },
]

/** The unit in which the highest of the rates, in messages per ms, is at least 1. */
export function rateUnit(highest: number): RateUnit {
  return UNITS.find(({ ms }) => highest * ms >= 1) ?? UNITS.at(-1)!
}

/**
 * "3.42/s", with no more digits than the number of messages has that it is made of; empty where it would only repeat that
 * number.
 */
export function writtenRate(perMs: number, total: number): string {
  const { ms, sign } = rateUnit(perMs)
  const number = writtenNumber(perMs * ms, Math.min(3, String(total).length))
  return number === total.toLocaleString('en') ? '' : `${number}/${sign}`
}

export function writtenNumber(value: number, digits = 3): string {
  return value.toLocaleString(
    'en',
    value < 100 ? { maximumSignificantDigits: digits } : { maximumFractionDigits: 0 },
  )
}

/** "+12 %", "×14"; null when there was nothing before. */
export function change(now: number, before: number): string | null {
  if (before === 0) return null
  const ratio = now / before
  if (ratio >= 10) return `×${Math.round(ratio)}`
  const percent = Math.round((ratio - 1) * 100)
  return `${percent > 0 ? '+' : percent < 0 ? '−' : '±'}${Math.abs(percent)} %`
}
