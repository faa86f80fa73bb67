import { setTimeout } from 'node:timers/promises'
import { SANDBOX } from '../../domain/sandbox.ts'
import { conflict, type Fault, fault, invalidField, notFound, refuseAny } from '../../errors.ts'
import { accounts } from '../../store/accounts.ts'
import { carriers } from '../../store/carriers.ts'
import type { AnyTable, ConfigurationTable } from '../../store/configuration-table.ts'
import { isConflict, type Queryable, sqlState, type Transaction } from '../../store/database.ts'
import { routes } from '../../store/routes.ts'
import { type ServicePlanRecord, servicePlans } from '../../store/service-plans.ts'

/** Rows of the configuration as operators change and name them. Functions called `refuse…` throw. */

/** The fault of a field that has the name of the carrier and route of sandbox plans. */
export function reservedName(field: string): Fault {
  return fault(field, 'NOT_ALLOWED', `must not be ${SANDBOX}, which is for sandbox plans`)
}

/** Returns the row with this key, locked against other writers until the transaction ends, or throws 404. */
export async function lockedRow<Row extends object>(
  transaction: Transaction,
  table: AnyTable<Row>,
  key: string,
): Promise<Row> {
  const row = await table.find(transaction, key, 'for update')
  if (row === undefined) throw notFound(table.noun)
  return row
}

/** Writes the given properties. 404 if there is no such row. */
export async function changeRow<Row extends object, Columns extends object>(
  transaction: Transaction,
  table: ConfigurationTable<Row, Columns>,
  key: string,
  change: Partial<Columns>,
): Promise<Row> {
  const row = await table.update(transaction, key, change)
  if (row === undefined) throw notFound(table.noun)
  return row
}

/** Deletes a row. 404 if there is none; 409 with the words of `inUse` if others name it. */
export async function deleteRow(
  transaction: Transaction,
  table: AnyTable,
  key: string,
  inUse?: string,
): Promise<void> {
  const deleted = await sayConflicts({ ...(inUse !== undefined && { inUse }) }, () =>
    table.delete(transaction, key),
  )
  if (!deleted) throw notFound(table.noun)
}

/** Ends a token for good; revoking it again changes nothing. 404 if there is none. */
export async function revokeRow(
  transaction: Transaction,
  table: Pick<ConfigurationTable<object, object>, 'noun' | 'revoke'>,
  key: string,
): Promise<void> {
  if (!(await table.revoke(transaction, key))) throw notFound(table.noun)
}

/**
 * Limits what every node keeps in memory. Call it after the write: writers of the configuration wait for each other at
 * directory_version, so the count is exact.
 */
export async function refuseMore(transaction: Transaction, table: AnyTable, most: number): Promise<void> {
  if ((await table.count(transaction)) > most) {
    throw conflict(`there can be at most ${most} ${table.noun}s`)
  }
}

// Database keys of the rows that a request names. A name that does not exist is a fault.

export async function keyOfAccount(db: Queryable, accountId: string): Promise<number> {
  return (await rowOf(db, accounts, 'accountId', accountId)).id
}

export async function keyOfPlan(db: Queryable, servicePlanId: string): Promise<number> {
  return (await planOf(db, servicePlanId)).id
}

/** The plan that a body names. */
export async function planOf(db: Queryable, servicePlanId: string): Promise<ServicePlanRecord> {
  return rowOf(db, servicePlans, 'servicePlanId', servicePlanId)
}

/** The database key of the plan that a path names. 404 if there is none. */
export async function keyOfPlanInPath(db: Queryable, servicePlanId: string): Promise<number> {
  const plan = await servicePlans.find(db, servicePlanId)
  if (plan === undefined) throw notFound(servicePlans.noun)
  return plan.id
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
  refuseAny(faults)
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
  if (row === undefined) throw invalidField(field, 'NOT_FOUND', mustExist(table))
  return row
}

export function mustExist({ noun }: { noun: string }): string {
  return `must be an existing ${noun}`
}

// What becomes of a write that the database refuses because of another.

const UNIQUE_VIOLATION = '23505'

const FOREIGN_KEY_VIOLATION = '23503'

/** For `inUse` of a write that names a plan. */
export const PLAN_GONE = 'the service plan was removed in the meantime'

interface ConflictWords {
  readonly taken?: string
  readonly inUse?: string
}

/** Two changes that deadlock are both made, one after the other. */
const MAX_TRIES = 3
/** The other change goes first: at once, this one could take again what the other waits for. */
const RETRY_MS = 50

/**
 * Runs a write, a whole transaction, and retries it after a deadlock: a route locks the row of directory_version first and
 * then those of its carriers, a change of a carrier the other way round.
 */
export async function retryConflicts<T>(write: () => Promise<T>, tries = MAX_TRIES): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!isConflict(error) || tries === 1) throw error
    await setTimeout(RETRY_MS * (1 + Math.random()))
    return retryConflicts(write, tries - 1)
  }
}

/**
 * Runs a write and reports in the caller's words what the database's constraints refused: `taken` for a key that exists,
 * `inUse` for a row that others name (or that was removed while it was being named).
 */
export async function sayConflicts<T>(words: ConflictWords, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const state = sqlState(error)
    if (state === UNIQUE_VIOLATION && words.taken !== undefined) throw conflict(words.taken)
    if (state === FOREIGN_KEY_VIOLATION && words.inUse !== undefined) throw conflict(words.inUse)
    throw error
  }
}
