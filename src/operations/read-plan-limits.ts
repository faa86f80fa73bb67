import type { ServicePlan } from '../domain/configuration/configuration.ts'
import { type Cap, type CapPeriod, capsOf, periodAt } from '../domain/limits/plan-limits.ts'
import { type CountryPause, listCountryPauses } from '../store/country-pauses.ts'
import type { Queryable } from '../store/database.ts'
import { listLimitEvents, type ShownLimitEvent } from '../store/limit-events.ts'
import { readUsage } from '../store/plan-usage.ts'

/** A cap in its present period. `taken`: used, or given to processes for messages to come. */
export interface CapUsage extends Cap, CapPeriod {
  readonly taken: number
}

const MAX_EVENTS = 100

type CappedPlan = Pick<ServicePlan, 'id' | 'caps'>

interface PlanUsage {
  readonly usage: readonly CapUsage[]
  readonly pauses: readonly CountryPause[]
}

export interface PlanLimitsNow extends PlanUsage {
  readonly events: readonly ShownLimitEvent[]
}

/** How much of its caps a plan has used, and where it may not send now. */
export async function readPlanUsage(
  db: Queryable,
  { id, caps }: CappedPlan,
  nowMs: number,
): Promise<PlanUsage> {
  const periods = { day: periodAt('day', nowMs), month: periodAt('month', nowMs) }
  const begins = { day: periods.day.begins, month: periods.month.begins }
  const counted = await readUsage(db, id, begins)
  const usage = (caps === null ? [] : capsOf(caps)).map((cap) => {
    const found = counted.find(({ unit, step }) => unit === cap.unit && step === cap.step)
    return { ...cap, ...periods[cap.step], taken: found?.taken ?? 0 }
  })
  return { usage, pauses: await listCountryPauses(db, id, new Date(nowMs)) }
}

/** The same, with the newest events of the plan's limits. */
export async function readPlanLimits(db: Queryable, plan: CappedPlan, nowMs: number): Promise<PlanLimitsNow> {
  const usage = await readPlanUsage(db, plan, nowMs)
  return { ...usage, events: await listLimitEvents(db, plan.id, MAX_EVENTS) }
}
