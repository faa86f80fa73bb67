import type { ServicePlan } from './configuration.ts'
import { type Cap, type CapPeriod, describeCount, MESSAGES } from './plan-caps.ts'
import { formatAmount } from './rates.ts'

/** What a plan and its operator are told of the plan's limits (docs/limits.md). */

/** A part of a cap is used. */
interface CapReached extends Cap, Pick<CapPeriod, 'begins'> {
  readonly type: 'capReached'
  readonly percent: number
}

export type LimitEventContents = CapReached

export interface LimitEvent {
  readonly planId: number
  readonly contents: LimitEventContents
}

/** Two events of a plan with the same subject are one. */
export function subjectOf(contents: LimitEventContents): string {
  const { unit, step, begins, most, percent } = contents
  return [contents.type, unit, step, begins, most, percent].join(' ')
}

/** For people: `80 % of 1000 messages a day`. */
export function describeLimitEvent({ unit, step, most, percent }: LimitEventContents): string {
  return `${percent} % of ${describeCount(unit, most)} a ${step}`
}

/** The JSON body of its webhook. */
export function limitEventBody({ contents, at }: StoredLimitEvent, plan: ServicePlan) {
  const { type, unit, step, begins, most, percent } = contents
  return {
    type,
    accountId: plan.account.accountId,
    servicePlanId: plan.servicePlanId,
    at: at.toISOString(),
    percent,
    cap: { per: step, begins, ...publicCount(unit, most) },
    text: describeLimitEvent(contents),
  }
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
