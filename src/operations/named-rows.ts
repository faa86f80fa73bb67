import { fault } from '../domain/faults.ts'
import { invalid } from '../errors.ts'
import { accounts } from '../store/accounts.ts'
import { carriers } from '../store/carriers.ts'
import type { AnyTable } from '../store/configuration-table.ts'
import type { Queryable } from '../store/database.ts'
import { routes } from '../store/routes.ts'
import { servicePlans } from '../store/service-plans.ts'
import { refuseField } from './refuse-administration.ts'

/** Database keys of the rows that a request names. A name that does not exist is a fault. */

export async function keyOfAccount(db: Queryable, accountId: string): Promise<number> {
  return (await rowOf(db, accounts, 'accountId', accountId)).id
}

export async function keyOfPlan(db: Queryable, servicePlanId: string): Promise<number> {
  return (await rowOf(db, servicePlans, 'servicePlanId', servicePlanId)).id
}

/** Null names every plan. */
export async function keyOfPlanOrAll(db: Queryable, servicePlanId: string | null): Promise<number | null> {
  return servicePlanId === null ? null : keyOfPlan(db, servicePlanId)
}

/** Refuses rows of a list whose plan does not exist. `path` is put before the fields of a row: `rates.3.`. */
export function refuseMissingPlans(
  missing: readonly string[],
  rows: readonly { servicePlanId: string | null }[],
  path: (index: number) => string,
): void {
  const gone = new Set<string | null>(missing)
  const faults = rows.flatMap(({ servicePlanId }, index) =>
    gone.has(servicePlanId)
      ? [fault(`${path(index)}servicePlanId`, 'NOT_FOUND', mustExist(servicePlans))]
      : [],
  )
  if (faults.length > 0) throw invalid(faults)
}

export async function keyOfCarrier(db: Queryable, nameOrId: string): Promise<number> {
  return (await rowOf(db, carriers, 'carrier', nameOrId)).carrierId
}

export async function keyOfRoute(db: Queryable, nameOrId: string): Promise<number> {
  return (await rowOf(db, routes, 'route', nameOrId)).routeId
}

async function rowOf<Row extends object>(
  db: Queryable,
  table: AnyTable<Row>,
  field: string,
  key: string,
): Promise<Row> {
  const row = await table.find(db, key)
  if (row === undefined) throw refuseField(field, 'NOT_FOUND', mustExist(table))
  return row
}

function mustExist({ noun }: { noun: string }): string {
  return `must be an existing ${noun}`
}
