import { BoundedMap } from '../../collections/bounded-map.ts'
import { type Fault, fault } from '../../errors.ts'
import { type FinalResult, tooFewDelivered } from '../carriers/quality.ts'
import type { PlanCaps, PumpingGuard, Rate, ServicePlan } from '../configuration/configuration.ts'
import type { Directory } from '../configuration/directory.ts'
import { DAY_MS, HOUR_MS } from '../instants.ts'
import { formatAmount, parseAmount } from '../routing/rates.ts'
import { countryOf, isCountryCode } from '../routing/recipients.ts'

/** How many messages a plan may send, and what they may cost, in a day and in a month of UTC (docs/limits.md). */

/** As an operator gives it. */
export interface PlanCapsSetting extends Partial<Omit<PlanCaps, 'costPerDay' | 'costPerMonth'>> {
  readonly costPerDay?: string | number | null
  readonly costPerMonth?: string | number | null
}

export const CAP_STEPS = ['day', 'month'] as const
export type CapStep = (typeof CAP_STEPS)[number]

/** Counts messages; the unit of a cap of costs is their currency, in millionths. */
const MESSAGES = 'messages'

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
  return costOfSegment(rate) * message.segments
}

const costs = new WeakMap<Rate, number>()

/** In millionths. Read once for each rate, not for each message. */
function costOfSegment(rate: Rate): number {
  let cost = costs.get(rate)
  if (cost === undefined) {
    cost = Number((parseAmount(rate.price) ?? 0n) + (parseAmount(rate.ptf) ?? 0n))
    costs.set(rate, cost)
  }
  return cost
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

/** The percentages above `announced` that the count has reached. */
export function reachedPercents({ most }: Cap, count: number, announced: number): number[] {
  return TOLD_PERCENTS.filter((percent) => percent > announced && count * 100 >= most * percent)
}

/** `1000 messages`, `25.5 EUR` */
export function describeCount(unit: string, count: number): string {
  if (unit !== MESSAGES) return `${formatAmount(BigInt(count))} ${unit}`
  return count === 1 ? '1 message' : `${count} messages`
}

// Stops artificial traffic (SMS pumping): messages that somebody has an application send to numbers of one range, for a part
// of the fee. It shows by many messages to one range, or by a country in which few are delivered (docs/limits.md).

export type PumpingGuardSetting = Partial<PumpingGuard>

export function completeGuard(given: PumpingGuardSetting | null): PumpingGuard | null {
  if (given === null) return null
  const usual = {
    messagesPerPrefix: null,
    minDelivered: null,
    minMessages: 100,
    windowMinutes: 60,
    pauseMinutes: 60,
  }
  return { ...usual, ...given }
}

export function guardFaults({ messagesPerPrefix, minDelivered }: PumpingGuard): Fault[] {
  if (messagesPerPrefix !== null || minDelivered !== null) return []
  return [fault('pumpingGuard', 'REQUIRED', 'must have messagesPerPrefix or minDelivered; null: no guard')]
}

/** Why the plan's messages to a country pause it, for people; null: they do not. */
export function belowShare(
  counts: Readonly<Record<FinalResult, number>>,
  { minDelivered, ...guard }: PumpingGuard,
): string | null {
  if (minDelivered === null) return null
  const reason = tooFewDelivered(counts, { ...guard, minDelivered })
  return reason && `${reason}, at least ${minDelivered} % wanted`
}

/** Digits that tell the numbers of a range apart: it has 10,000. */
const RANGE_DIGITS = 4

export function prefixOf(recipient: string): string {
  return recipient.slice(0, -RANGE_DIGITS)
}

/** A process reports a prefix after this part of the number that pauses. */
const STEPS = 50
/** Prefixes of all plans in a process. The one counted first is forgotten, with less than a step. */
const MAX_PREFIXES = 50_000

/** What this process has counted of prefixes, and has not reported. */
export class PrefixCounts {
  readonly #counts = new BoundedMap<string, { count: number; hour: number }>(MAX_PREFIXES)

  /** Returns how many messages to report now; usually 0. */
  add(planId: number, recipient: string, messagesPerPrefix: number, nowMs: number): number {
    const key = `${planId} ${prefixOf(recipient)}`
    const hour = Math.floor(nowMs / HOUR_MS)
    const step = Math.ceil(messagesPerPrefix / STEPS)
    const known = this.#counts.get(key)
    if (known === undefined || known.hour !== hour) {
      this.#counts.set(key, { count: step === 1 ? 0 : 1, hour })
      return step === 1 ? 1 : 0
    }
    known.count += 1
    if (known.count < step) return 0
    known.count = 0
    return step
  }
}

// What a plan and its operator are told of the plan's limits (docs/limits.md).

/** A part of a cap is used. */
interface CapReached extends Cap, Pick<CapPeriod, 'begins'> {
  readonly type: 'capReached'
  readonly percent: number
}

/** Messages to a country looked like artificial traffic. */
interface CountryPaused {
  readonly type: 'countryPaused'
  readonly country: string
  /** ISO 8601 */
  readonly until: string
  readonly reason: string
}

type LimitEventContents = CapReached | CountryPaused

export interface LimitEvent {
  readonly planId: number
  readonly contents: LimitEventContents
}

/** Two events of a plan with the same subject are one. */
export function subjectOf(contents: LimitEventContents): string {
  if (contents.type === 'countryPaused') return [contents.type, contents.country, contents.until].join(' ')
  const { type, unit, step, begins, most, percent } = contents
  return [type, unit, step, begins, most, percent].join(' ')
}

/** For people: `80 % of 1000 messages a day`. */
export function describeLimitEvent(contents: LimitEventContents): string {
  if (contents.type === 'countryPaused') {
    const { country, until, reason } = contents
    return `${country} paused until ${until}: ${reason}`
  }
  const { unit, step, most, percent } = contents
  return `${percent} % of ${describeCount(unit, most)} a ${step}`
}

/** The JSON body of its webhook. */
export function limitEventBody({ contents, at }: StoredLimitEvent, plan: ServicePlan) {
  return {
    type: contents.type,
    accountId: plan.account.accountId,
    servicePlanId: plan.servicePlanId,
    at: at.toISOString(),
    ...particularsOf(contents),
    text: describeLimitEvent(contents),
  }
}

function particularsOf(contents: LimitEventContents) {
  if (contents.type === 'countryPaused') return { country: contents.country, until: contents.until }
  const { unit, step, begins, most, percent } = contents
  return { percent, cap: { per: step, begins, ...publicCount(unit, most) } }
}

export interface StoredLimitEvent extends LimitEvent {
  readonly id: number
  readonly at: Date
}

/** A count as the API shows it: money as decimals. */
export function publicCount(unit: string, count: number) {
  return unit === MESSAGES
    ? { messages: count, cost: null, currency: null }
    : { messages: null, cost: formatAmount(BigInt(count)), currency: unit }
}

// What a service plan may send at most (docs/limits.md).

/** Why a plan does not take a message. The text names the limit. */
export interface LimitRefusal {
  readonly code: 'COUNTRY_NOT_ALLOWED' | 'CAP_REACHED' | 'COUNTRY_PAUSED'
  readonly message: string
  /** When it may be tried again; absent: not before the plan is changed. */
  readonly retryAfterMs?: number
}

/** Why the plan may not send to this recipient; null when it may. */
export function judgeRecipient({ allowedCountries }: ServicePlan, to: string): LimitRefusal | null {
  if (allowedCountries === null) return null
  const country = countryOf(to)
  if (country !== null && allowedCountries.has(country)) return null
  const where = country === null ? 'this number, which belongs to no country' : `recipients in ${country}`
  return { code: 'COUNTRY_NOT_ALLOWED', message: `The service plan may not send to ${where}` }
}

interface LimitSettings {
  readonly allowedCountries?: readonly string[] | undefined
  readonly caps?: PlanCaps | null | undefined
  readonly pumpingGuard?: PumpingGuard | null | undefined
}

/** Faults that the form of each field does not show. */
export function limitFaults({ allowedCountries = [], caps, pumpingGuard }: LimitSettings): Fault[] {
  const countries = allowedCountries.flatMap((country, index) =>
    isCountryCode(country)
      ? []
      : [fault(`allowedCountries.${index}`, 'NOT_FOUND', 'must be a country code of ISO 3166-1')],
  )
  return [...countries, ...(caps ? capFaults(caps) : []), ...(pumpingGuard ? guardFaults(pumpingGuard) : [])]
}
