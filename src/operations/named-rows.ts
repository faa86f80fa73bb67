import { fault } from '../domain/faults.ts'
import { canonicalPublicId } from '../domain/identifiers.ts'
import { invalid } from '../errors.ts'
import { findAccount } from '../store/accounts.ts'
import { findCarrier } from '../store/carriers.ts'
import type { Queryable } from '../store/database.ts'
import { findRoute } from '../store/routes.ts'
import { findServicePlan } from '../store/service-plans.ts'
import { refuseField } from './refuse-administration.ts'

/** Database keys of what a request names in its fields. What is not there is a fault. */

const NO_PLAN = 'must be an existing service plan'

export async function keyOfAccount(db: Queryable, accountId: string): Promise<number> {
  const account = await findAccount(db, canonicalPublicId(accountId))
  if (account === undefined) throw refuseField('accountId', 'NOT_FOUND', 'must be an existing account')
  return account.id
}

export async function keyOfPlan(db: Queryable, servicePlanId: string): Promise<number> {
  const plan = await findServicePlan(db, canonicalPublicId(servicePlanId))
  if (plan === undefined) throw refuseField('servicePlanId', 'NOT_FOUND', NO_PLAN)
  return plan.id
}

/** Null names every plan. */
export async function keyOfPlanOrAll(db: Queryable, servicePlanId: string | null): Promise<number | null> {
  return servicePlanId === null ? null : keyOfPlan(db, servicePlanId)
}

/** Refuses the rows of a list whose plan is missing. `path` stands before the fields of a row: `rates.3.`. */
export function refuseMissingPlans(
  missing: readonly string[],
  rows: readonly { servicePlanId: string | null }[],
  path: (index: number) => string,
): void {
  const gone = new Set<string | null>(missing)
  const faults = rows.flatMap(({ servicePlanId }, index) =>
    gone.has(servicePlanId) ? [fault(`${path(index)}servicePlanId`, 'NOT_FOUND', NO_PLAN)] : [],
  )
  if (faults.length > 0) throw invalid(faults)
}

export async function keyOfCarrier(db: Queryable, nameOrId: string): Promise<number> {
  const carrier = await findCarrier(db, nameOrId)
  if (carrier === undefined) throw refuseField('carrier', 'NOT_FOUND', 'must be an existing carrier')
  return carrier.carrierId
}

export async function keyOfRoute(db: Queryable, nameOrId: string): Promise<number> {
  const route = await findRoute(db, nameOrId)
  if (route === undefined) throw refuseField('route', 'NOT_FOUND', 'must be an existing route')
  return route.routeId
}
