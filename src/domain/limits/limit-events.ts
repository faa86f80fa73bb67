import type { ServicePlan } from '../configuration/configuration.ts'
import { formatAmount } from '../routing/rates.ts'
import { type Cap, type CapPeriod, describeCount, MESSAGES } from './plan-caps.ts'

/** What a plan and its operator are told of the plan's limits (docs/limits.md). */

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

export type LimitEventContents = CapReached | CountryPaused

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
