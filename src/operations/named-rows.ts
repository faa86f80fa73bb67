import { canonicalPublicId } from '../domain/identifiers.ts'
import type { Queryable } from '../store/database.ts'
import { findRoute } from '../store/routes.ts'
import { findServicePlan } from '../store/service-plans.ts'
import { refuseField } from './refuse-administration.ts'

/** Database keys of what a request names in its fields `servicePlanId` and `route`. What is not there is a fault. */

export async function keyOfPlan(db: Queryable, servicePlanId: string): Promise<number> {
  const plan = await findServicePlan(db, canonicalPublicId(servicePlanId))
  if (plan === undefined) throw refuseField('servicePlanId', 'NOT_FOUND', 'must be an existing service plan')
  return plan.id
}

/** Null names every plan. */
export async function keyOfPlanOrAll(db: Queryable, servicePlanId: string | null): Promise<number | null> {
  return servicePlanId === null ? null : keyOfPlan(db, servicePlanId)
}

export async function keyOfRoute(db: Queryable, nameOrId: string): Promise<number> {
  const route = await findRoute(db, nameOrId)
  if (route === undefined) throw refuseField('route', 'NOT_FOUND', 'must be an existing route')
  return route.routeId
}
