import sql, { empty, type Sql } from 'sql-template-tag'
import type { DateWindow } from '../domain/lists.ts'
import type { Queryable, Transaction } from './database.ts'
import { allOf, equals } from './list-conditions.ts'

/** What an operation of the admin API did to one object. */
export interface ObjectChange {
  /** `service-plan`; of a test of a webhook or a redelivery, the plan whose events are sent. */
  readonly objectType: string
  /** The name or number by which the object was known before the change; empty for a change of many objects. */
  readonly objectId: string
  /** Without secrets. Null: there was none. */
  readonly before: object | null
  /** Without secrets. Null: there is none any more. */
  readonly after: object | null
}

/** Who made a change, from where, and by which operation. */
export interface Author {
  /** Name of the operator token. */
  readonly token: string
  /** Address that the request came from. */
  readonly address: string
  /** operationId in the OpenAPI document. */
  readonly operation: string
}

/** A row of the audit log. */
export interface AuditRecord extends Author, ObjectChange {
  readonly auditId: number
  readonly at: Date
}

export async function insertAuditEntries(
  transaction: Transaction,
  { token, address, operation }: Author,
  changes: readonly ObjectChange[],
): Promise<void> {
  await transaction.query(
    `insert into audit_log (token, address, operation, object_type, object_id, before, after)
     select $1, $2, $3, c."objectType", c."objectId", c.before, c.after
     from json_to_recordset($4) as c ("objectType" text, "objectId" text, before jsonb, after jsonb)`,
    [token, address, operation, JSON.stringify(changes)],
  )
}

/** Filters of the audit log; null is not filtered. */
interface AuditFilters extends DateWindow {
  readonly objectType: string | null
  readonly objectId: string | null
  readonly token: string | null
  readonly operation: string | null
}

/** At most `limit` entries behind the id `after`, newest first. */
export async function listAuditLog(
  db: Queryable,
  filters: AuditFilters,
  { after, limit }: { after: number | null; limit: number },
): Promise<AuditRecord[]> {
  const { rows } = await db.query<AuditRecord>(sql`
    select id as "auditId", at, token, address, operation, object_type as "objectType", object_id as "objectId",
      before, after
    from audit_log where ${conditionsOf(filters, after)} order by id desc limit ${limit}`)
  return rows
}

function conditionsOf(filters: AuditFilters, after: number | null): Sql {
  const { objectType, objectId, token, operation, fromDate, toDate } = filters
  return allOf([
    after === null ? empty : sql`id < ${after}`,
    equals('object_type', objectType),
    equals('object_id', objectId),
    equals('token', token),
    equals('operation', operation),
    fromDate === null ? empty : sql`at >= ${new Date(fromDate)}`,
    toDate === null ? empty : sql`at < ${new Date(toDate + 1)}`,
  ])
}

/** Deletes entries older than this many days, at most `limit`, oldest first. Returns how many. */
export async function deleteOldAuditEntries(db: Queryable, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `with old as (select id from audit_log where at < now() - $1 * interval '1 day' order by at limit $2)
     delete from audit_log l using old where l.id = any (array[old.id])`,
    [days, limit],
  )
  return rowCount ?? 0
}
