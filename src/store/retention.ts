import type { Queryable } from './database.ts'

/**
 * Bounds the wait for a lock in this transaction. A partition is created and dropped under an exclusive lock of its
 * table, and a transaction that waits for one holds up everybody behind it.
 */
export async function limitLockWait(transaction: Queryable, waitMs: number): Promise<void> {
  await transaction.query({
    text: `select set_config('lock_timeout', $1, true)`,
    values: [`${waitMs}ms`],
  })
}
