import { type Cap, type CapPeriod, capsOf, periodAt } from '../domain/limits/plan-caps.ts'
import { type CountryPause, listCountryPauses } from '../store/country-pauses.ts'
import type { Queryable } from '../store/database.ts'
import { listLimitEvents, type ShownLimitEvent } from '../store/limit-events.ts'
import { readUsage } from '../store/plan-usage.ts'
import type { ServicePlanRecord } from '../store/service-plans.ts'

/** A cap in its present period. `taken`: used, or given to processes for messages to come. */
export interface CapUsage extends Cap, CapPeriod {
  readonly taken: number
}

const MAX_EVENTS = 100

export interface PlanLimitsNow {
  readonly usage: readonly CapUsage[]
  readonly pauses: readonly CountryPause[]
  readonly events: readonly ShownLimitEvent[]
}

/** How much of its caps a plan has used, where it may not send now, and its newest events. */
export async function readPlanLimits(
  db: Queryable,
  { id, caps }: ServicePlanRecord,
  nowMs: number,
): Promise<PlanLimitsNow> {
  const periods = { day: periodAt('day', nowMs), month: periodAt('month', nowMs) }
  const begins = { day: periods.day.begins, month: periods.month.begins }
  const counted = await readUsage(db, id, begins)
  const usage = (caps === null ? [] : capsOf(caps)).map((cap) => {
    const found = counted.find(({ unit, step }) => unit === cap.unit && step === cap.step)
    return { ...cap, ...periods[cap.step], taken: found?.taken ?? 0 }
  })
  const pauses = await listCountryPauses(db, id, new Date(nowMs))
  return { usage, pauses, events: await listLimitEvents(db, id, MAX_EVENTS) }
}
