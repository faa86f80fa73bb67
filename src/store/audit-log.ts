import sql, { empty, type Sql } from 'sql-template-tag'
import type { AuditEntry, AuditFilters, Author, ObjectChange } from '../domain/audit-log.ts'
import type { Queryable, Transaction } from './database.ts'
import { allOf, equals } from './list-conditions.ts'

export interface AuditRecord extends AuditEntry {
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
