/**
 * Conditions that the lists of messages, inbound messages and events have in common. A filter that is null has none. All
 * of them are in the order of msg_id, which begins with the time of creation.
 */
import sql, { empty, join, raw, type Sql } from 'sql-template-tag'
import { highestIdAt, lowestIdAt } from '../domain/identifiers.ts'
import type { DateWindow } from '../domain/lists.ts'

/** True when there are none. */
export function allOf(conditions: readonly Sql[]): Sql {
  const given = conditions.filter((condition) => condition !== empty)
  return given.length === 0 ? sql`true` : join(given, ' and ')
}

export function equals(column: string, value: string | number | null): Sql {
  return value === null ? empty : sql`${raw(column)} = ${value}`
}

/** Of ids behind this one, newest first. */
export function below(column: string, msgId: string | null): Sql {
  return msgId === null ? empty : sql`${raw(column)} < ${msgId}`
}

/** Of ids created in this window, both ends included: a range, which also leaves out the partitions of other days. */
export function createdIn(column: string, { fromDate, toDate }: DateWindow): Sql {
  if (fromDate === null && toDate === null) return empty
  return allOf([
    fromDate === null ? empty : sql`${raw(column)} >= ${lowestIdAt(fromDate)}`,
    toDate === null ? empty : sql`${raw(column)} <= ${highestIdAt(toDate)}`,
  ])
}
