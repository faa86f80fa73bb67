import type { Queryable } from './database.ts'

/**
 * Bounds the wait for a lock in this transaction. A partition is created and dropped under an exclusive lock of its
 * table, and whoever waits for one holds up everybody behind it.
 */
export async function limitLockWait(transaction: Queryable, waitMs: number): Promise<void> {
  await transaction.query({
    text: `select set_config('lock_timeout', $1, true)`,
    values: [`${waitMs}ms`],
  })
}

/** Forgets events of messages with ids below `msgId`, whose records are about to go; at most `limit`. Gives how many. */
export async function deleteEventsBefore(db: Queryable, msgId: string, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    text: `
      with old as (
        select bucket, msg_id, seq from webhook_events where msg_id < $1 order by bucket, msg_id, seq limit $2
      )
      delete from webhook_events e using old
      where e.bucket = old.bucket and e.msg_id = old.msg_id and e.seq = old.seq`,
    values: [msgId, limit],
  })
  return rowCount ?? 0
}
