import { classifySender, isE164 } from '../domain/addresses.ts'
import { canonicalPublicId } from '../domain/identifiers.ts'
import type { Queryable } from '../store/database.ts'
import * as store from '../store/opt-outs.ts'
import { findServicePlan } from '../store/service-plans.ts'
import { refuseField, refuseMissing, sayConflicts } from './refuse-administration.ts'

/** Adds people who want nothing more from a sender of the plan; gives how many were not there yet. */
export async function addOptOuts(
  db: Queryable,
  input: { servicePlanId: string; from: string; to: readonly string[] },
): Promise<number> {
  if (classifySender(input.from) === null) {
    throw refuseField(
      'from',
      'INVALID_FORMAT',
      'must be a short code, an E.164 number or an alphanumeric sender',
    )
  }
  const wrong = input.to.findIndex((recipient) => !isE164(recipient))
  if (wrong >= 0) throw refuseField(`to.${wrong}`, 'INVALID_FORMAT', 'must be one E.164 number')
  const planId = await optOutPlanKey(db, input.servicePlanId)
  return sayConflicts({ inUse: 'the service plan was removed meanwhile' }, () =>
    store.insertOptOuts(db, planId, input.from, input.to),
  )
}

/** The person may be sent to again. */
export async function removeOptOut(
  db: Queryable,
  input: { servicePlanId: string; from: string; to: string },
): Promise<void> {
  const planId = await optOutPlanKey(db, input.servicePlanId)
  if (!(await store.deleteOptOut(db, planId, input.from, input.to))) throw refuseMissing('opt-out')
}

/** The database key of the plan that a field names. */
export async function optOutPlanKey(db: Queryable, servicePlanId: string): Promise<number> {
  const plan = await findServicePlan(db, canonicalPublicId(servicePlanId))
  if (plan === undefined) throw refuseField('servicePlanId', 'NOT_FOUND', 'must be an existing service plan')
  return plan.id
}
