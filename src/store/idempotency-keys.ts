import type { Queryable } from './database.ts'

/** Forgets Idempotency-Keys older than `ageMs`, at most `limit`, oldest first. Gives how many. */
export async function deleteOldIdempotencyKeys(db: Queryable, ageMs: number, limit: number): Promise<number> {
  // The age is asked again where the row is deleted: meanwhile the key may have been used for a new message.
  const { rowCount } = await db.query({
    name: 'delete_old_idempotency_keys',
    text: `
      with old as (
        select plan_id, key_hash from idempotency_keys where created_at < now() - $1 * interval '1 ms'
        order by created_at limit $2
      )
      delete from idempotency_keys k using old
      where k.plan_id = old.plan_id and k.key_hash = old.key_hash and k.created_at < now() - $1 * interval '1 ms'`,
    values: [ageMs, limit],
  })
  return rowCount ?? 0
}
