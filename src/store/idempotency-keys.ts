import { createdAtMs } from '../domain/identifiers.ts'
import { byPlan, isSharded } from './citus.ts'
import type { Queryable } from './database.ts'

// `= any (array[…])`, where a batch meets a table by its key: docs/adr/0006.

/** An Idempotency-Key, and the message that it stands for. */
export interface IdempotencyKey {
  readonly planId: number
  /** SHA-256, like `requestHash`. */
  readonly keyHash: Buffer
  readonly requestHash: Buffer
  readonly msgId: string
}

/** Short, because other transactions of the node wait for this. */
const TAKE_TIMEOUT_MS = 5_000

/** By the ids of the messages they came with. If an id is in neither set, its key is live. */
export interface TakenKeys {
  readonly taken: ReadonlySet<string>
  /** Another transaction is taking the same key, or has just ended. */
  readonly busy: ReadonlySet<string>
}

/**
 * Takes the free ones of these keys, each for the message it comes with. The key of a message that was refused
 * (`refusedCode`) is free again. Waits for nobody: a key is locked before it is looked at, and the transaction that has
 * it may belong to a process that stands still.
 */
export async function takeIdempotencyKeys(
  tx: Queryable,
  keys: readonly IdempotencyKey[],
  lifetimeMs: number,
  refusedCode: string,
): Promise<TakenKeys> {
  const sharded = isSharded(tx)
  const free = sharded ? await findRefused(tx, keys, refusedCode) : []
  const { rows } = await tx.query<{ taken: string[]; busy: string[] }>({
    name: 'take_idempotency_keys',
    text: `
      with input as materialized (
        select *, pg_try_advisory_xact_lock(hashtextextended("planId" || ':' || "keyHash", 0)) as "isFree"
        from json_to_recordset($1) as i ("planId" integer, "keyHash" text, "requestHash" text, "msgId" uuid,
                                         "createdAtMs" bigint)
      ), taken as (
        insert into idempotency_keys as k (plan_id, key_hash, request_hash, msg_id, created_at)
        select "planId", decode("keyHash", 'hex'), decode("requestHash", 'hex'), "msgId",
               to_timestamp("createdAtMs" / 1000.0)
        from input where "isFree" order by "planId", "keyHash"
        on conflict (plan_id, key_hash) do update
          set request_hash = excluded.request_hash, msg_id = excluded.msg_id, created_at = excluded.created_at
          where k.created_at < excluded.created_at - $2 * interval '1 ms'
             or ${sharded ? 'k.msg_id = any ($3::uuid[])' : WAS_REFUSED}
        returning msg_id
      )
      select array(select msg_id::text from taken) as taken, array(select "msgId"::text from input where not "isFree") as busy`,
    values: [JSON.stringify(keys.map(keyColumns)), lifetimeMs, sharded ? free : refusedCode],
    query_timeout: TAKE_TIMEOUT_MS,
  })
  const [{ taken, busy }] = rows as [{ taken: string[]; busy: string[] }]
  return { taken: new Set(taken), busy: new Set(busy) }
}

const WAS_REFUSED = `exists (
  select from messages m
  where m.plan_id = any (array[k.plan_id]) and m.msg_id = k.msg_id and m.status = 'FAILED' and m.error_code = $3)`

/** Messages that live keys stand for and that were refused, which is final: read before, where they are on other servers. */
async function findRefused(
  tx: Queryable,
  keys: readonly IdempotencyKey[],
  refusedCode: string,
): Promise<string[]> {
  const live = await findIdempotencyKeys(tx, keys)
  const refused: string[] = []
  for (const { planId, items } of byPlan(tx, live, (key) => key.planId)) {
    const { rows } = await tx.query<{ msgId: string }>({
      text: `
        select msg_id as "msgId" from messages
        where plan_id = $1 and msg_id = any ($2::uuid[]) and status = 'FAILED' and error_code = $3`,
      values: [planId, items.map(({ msgId }) => msgId), refusedCode],
    })
    refused.push(...rows.map(({ msgId }) => msgId))
  }
  return refused
}

function keyColumns({ planId, keyHash, requestHash, msgId }: IdempotencyKey) {
  return {
    planId,
    keyHash: keyHash.toString('hex'),
    requestHash: requestHash.toString('hex'),
    msgId,
    createdAtMs: createdAtMs(msgId),
  }
}

/** The live ones of these keys, with the messages that they stand for. */
export async function findIdempotencyKeys(
  db: Queryable,
  keys: readonly Pick<IdempotencyKey, 'planId' | 'keyHash'>[],
): Promise<IdempotencyKey[]> {
  const { rows } = await db.query<IdempotencyKey>({
    name: 'find_idempotency_keys',
    text: `
      select k.plan_id as "planId", k.key_hash as "keyHash", k.request_hash as "requestHash", k.msg_id as "msgId"
      from json_to_recordset($1) as i ("planId" integer, "keyHash" text)
      join idempotency_keys k on k.plan_id = any (array[i."planId"]) and k.key_hash = decode(i."keyHash", 'hex')`,
    values: [
      JSON.stringify(keys.map(({ planId, keyHash }) => ({ planId, keyHash: keyHash.toString('hex') }))),
    ],
  })
  return rows
}

/** Deletes Idempotency-Keys older than `ageMs`, at most `limit`, oldest first. Returns how many. */
export async function deleteOldIdempotencyKeys(db: Queryable, ageMs: number, limit: number): Promise<number> {
  // The age is checked again when the row is deleted: the key may have been used for a new message meanwhile.
  const { rowCount } = await db.query({
    name: 'delete_old_idempotency_keys',
    text: `
      with old as (
        select plan_id, key_hash from idempotency_keys where created_at < now() - $1 * interval '1 ms'
        order by created_at limit $2
      )
      delete from idempotency_keys k using old
      where k.plan_id = any (array[old.plan_id]) and k.key_hash = old.key_hash and k.created_at < now() - $1 * interval '1 ms'`,
    values: [ageMs, limit],
  })
  return rowCount ?? 0
}
