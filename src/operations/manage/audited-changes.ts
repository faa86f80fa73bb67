import type { Author, ObjectChange } from '../../store/audit-log.ts'
import { insertAuditEntries } from '../../store/audit-log.ts'
import { type Database, type Transaction, withTransaction } from '../../store/database.ts'
import { retryConflicts } from './configuration-rows.ts'

/** What an operation returns, and what it changed, for the audit log. `entry` null: nothing. */
export interface Changed<T> {
  readonly value: T
  readonly entry: ObjectChange | readonly ObjectChange[] | null
}

/**
 * Runs an operation of the admin API in a transaction, which also writes its rows of the audit log. They are committed
 * together or not at all. After a deadlock both are repeated.
 */
export function makeChange<T>(
  db: Database,
  author: Author,
  work: (transaction: Transaction) => Promise<Changed<T>>,
): Promise<T> {
  return retryConflicts(() =>
    withTransaction(db, async (transaction) => {
      const { value, entry } = await work(transaction)
      const entries = entry === null ? [] : [entry].flat()
      if (entries.length > 0) await insertAuditEntries(transaction, author, entries)
      return value
    }),
  )
}
