import type { Author, ObjectChange } from '../domain/audit-log.ts'
import { insertAuditEntry } from '../store/audit-log.ts'
import { type Database, type Transaction, withTransaction } from '../store/database.ts'
import { retryConflicts } from './write-conflicts.ts'

/** What an operation returns, and what it changed, for the audit log. `entry` null: nothing. */
export interface Changed<T> {
  readonly value: T
  readonly entry: ObjectChange | null
}

/**
 * Runs an operation of the admin API in a transaction, which also writes its row of the audit log: both are committed, or
 * neither is. After a deadlock both are done again.
 */
export function makeChange<T>(
  db: Database,
  author: Author,
  work: (transaction: Transaction) => Promise<Changed<T>>,
): Promise<T> {
  return retryConflicts(() =>
    withTransaction(db, async (transaction) => {
      const { value, entry } = await work(transaction)
      if (entry !== null) await insertAuditEntry(transaction, { ...author, ...entry })
      return value
    }),
  )
}
