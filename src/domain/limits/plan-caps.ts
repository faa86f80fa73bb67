import { type Fault, fault } from '../../errors.ts'
import type { PlanCaps } from '../configuration/configuration.ts'
import type { Directory } from '../configuration/directory.ts'
import { DAY_MS } from '../instants.ts'
import { formatAmount, parseAmount } from '../routing/rates.ts'

/** How many messages a plan may send, and what they may cost, in a day and in a month of UTC (docs/limits.md). */

/** As an operator gives it. */
export interface PlanCapsSetting extends Partial<Omit<PlanCaps, 'costPerDay' | 'costPerMonth'>> {
  readonly costPerDay?: string | number | null
  readonly costPerMonth?: string | number | null
}

export const CAP_STEPS = ['day', 'month'] as const
export type CapStep = (typeof CAP_STEPS)[number]

/** Counts messages; the unit of a cap of costs is their currency, in millionths. */
export const MESSAGES = 'messages'

export interface Cap {
  readonly unit: string
  readonly step: CapStep
  readonly most: number
}

/** Percentages of a cap that an event tells of. */
const TOLD_PERCENTS = [80, 100] as const

/** The caps in the form in which they are stored. Amounts that cannot be read stay as they are: see `capFaults`. */
export function completeCaps(given: PlanCapsSetting | null): PlanCaps | null {
  if (given === null) return null
  const { messagesPerDay = null, messagesPerMonth = null, currency = null } = given
  return {
    messagesPerDay,
    messagesPerMonth,
    costPerDay: canonical(given.costPerDay ?? null),
    costPerMonth: canonical(given.costPerMonth ?? null),
    currency,
  }
}

function canonical(amount: string | number | null): string | null {
  if (amount === null) return null
  const millionths = parseAmount(String(amount))
  return millionths === null ? String(amount) : formatAmount(millionths)
}

/** Faults of complete caps that the form of each field does not show. */
export function capFaults(caps: PlanCaps): Fault[] {
  const { messagesPerDay, messagesPerMonth, costPerDay, costPerMonth, currency } = caps
  const costs = Object.entries({ costPerDay, costPerMonth }).filter(([, amount]) => amount !== null)
  const faults = costs.flatMap(([name, amount]) =>
    parseAmount(amount!) === null
      ? [fault(`caps.${name}`, 'INVALID_FORMAT', 'must be an amount with at most 6 decimal places')]
      : [],
  )
  if (costs.length > 0 && currency === null)
    faults.push(fault('caps.currency', 'REQUIRED', 'must be given with a cap of costs'))
  if (costs.length === 0 && currency !== null)
    faults.push(fault('caps.currency', 'NOT_ALLOWED', 'must be omitted without a cap of costs'))
  if (costs.length === 0 && messagesPerDay === null && messagesPerMonth === null)
    faults.push(fault('caps', 'REQUIRED', 'must have a cap of messages or of costs; null: no caps'))
  return faults
}

const ofCaps = new WeakMap<PlanCaps, readonly Cap[]>()

/** The caps of a plan, one for each number that is counted. */
export function capsOf(caps: PlanCaps): readonly Cap[] {
  const known = ofCaps.get(caps)
  if (known !== undefined) return known
  const { messagesPerDay, messagesPerMonth, costPerDay, costPerMonth, currency } = caps
  const counted = [
    { unit: MESSAGES, step: 'day', most: messagesPerDay },
    { unit: MESSAGES, step: 'month', most: messagesPerMonth },
    { unit: currency ?? '', step: 'day', most: millionthsOf(costPerDay) },
    { unit: currency ?? '', step: 'month', most: millionthsOf(costPerMonth) },
  ] as const
  const all = counted.flatMap(({ most, ...cap }) => (most === null ? [] : [{ ...cap, most }]))
  ofCaps.set(caps, all)
  return all
}

function millionthsOf(amount: string | null): number | null {
  return amount === null ? null : Number(parseAmount(amount) ?? 0n)
}

/** What a message counts towards a cap: 1, or its cost in the currency of the cap. Without a rate in it, nothing. */
export function countOf(
  { unit }: Cap,
  message: { readonly planId: number; readonly recipient: string; readonly segments: number },
  directory: Directory,
): number {
  if (unit === MESSAGES) return 1
  const rate = directory.rateOf(message.planId, message.recipient)
  if (rate === null || rate.currency !== unit) return 0
  const each = (parseAmount(rate.price) ?? 0n) + (parseAmount(rate.ptf) ?? 0n)
  return Number(each) * message.segments
}

/** A day or a month of UTC. */
export interface CapPeriod {
  /** `2026-11-01` */
  readonly begins: string
  readonly endsMs: number
}

export function periodAt(step: CapStep, nowMs: number): CapPeriod {
  const now = new Date(nowMs)
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  const beginsMs = step === 'day' ? Math.floor(nowMs / DAY_MS) * DAY_MS : Date.UTC(year, month)
  const endsMs = step === 'day' ? beginsMs + DAY_MS : Date.UTC(year, month + 1)
  return { begins: new Date(beginsMs).toISOString().slice(0, 10), endsMs }
}

/** The percentages above `told` that the count has reached. */
export function reachedPercents({ most }: Cap, count: number, told: number): number[] {
  return TOLD_PERCENTS.filter((percent) => percent > told && count * 100 >= most * percent)
}

/** `1000 messages`, `25.5 EUR` */
export function describeCount(unit: string, count: number): string {
  if (unit !== MESSAGES) return `${formatAmount(BigInt(count))} ${unit}`
  return count === 1 ? '1 message' : `${count} messages`
}
