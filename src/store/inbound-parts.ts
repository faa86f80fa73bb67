import type { SegmentNumber } from '../domain/text/concatenation.ts'
import type { Language } from '../domain/text/gsm-national-tables.ts'
import type { Queryable } from './database.ts'

/** A part of a message that is not complete yet. The first six fields identify the message: the set it belongs to. */
export interface InboundPart {
  readonly carrierId: number
  readonly sender: string
  readonly recipient: string
  readonly kind: SegmentNumber['kind']
  readonly reference: number
  readonly total: number
  readonly sequence: number
  readonly dataCoding: number
  readonly language: Language
  readonly payload: Buffer
  readonly receivedAtMs: number
}

export type StoredPart = Omit<InboundPart, 'receivedAtMs'>

/** Which columns of inbound_parts make a set. */
const SET = 'carrier_id, sender, recipient, kind, reference, total'

function setOf(row: string): string {
  return SET.replace(/\w+/g, `${row}.$&`)
}

const INPUT = `
  select "carrierId" as carrier_id, sender, recipient, kind, reference, total, sequence, "dataCoding" as data_coding,
         locking as locking_shift, single as single_shift, decode(payload, 'hex') as payload,
         to_timestamp("receivedAtMs" / 1000.0) as received_at
  from json_to_recordset($1) as i (
    "carrierId" integer, sender text, recipient text, kind text, reference integer, total smallint, sequence smallint,
    "dataCoding" smallint, locking smallint, single smallint, payload text, "receivedAtMs" bigint)`

/**
 * The parts `p` of the set that row `set` names. `= any (array[…])`, and rows ordered and grouped by columns of `set`:
 * otherwise the key's index would be read whole (docs/adr/0006).
 */
function inSet(set: string): string {
  return `p.carrier_id = any (array[${set}.carrier_id]) and p.sender = ${set}.sender and p.recipient = ${set}.recipient
    and p.kind = ${set}.kind and p.reference = ${set}.reference and p.total = ${set}.total`
}

/**
 * Takes out the sets named by a query `chosen`. Everyone who takes sets locks the parts in the order of the key: of two
 * who choose the same set, one gets all of it and the other nothing, without a deadlock.
 */
const TAKE_CHOSEN = `
  , locked as (
    select ${setOf('c')}, p.sequence from chosen c join inbound_parts p on ${inSet('c')}
    order by ${setOf('c')}, p.sequence
    for update of p
  )
  delete from inbound_parts p using locked l
  where ${inSet('l')} and p.sequence = l.sequence
  returning p.carrier_id as "carrierId", p.sender, p.recipient, p.kind, p.reference, p.total, p.sequence,
            p.data_coding as "dataCoding", p.payload,
            json_build_object('locking', p.locking_shift, 'single', p.single_shift) as language`

/**
 * Keeps parts; a part that is there already stays as it is. Sorted, so that nodes that keep the same parts do not
 * deadlock.
 */
export async function insertInboundParts(db: Queryable, parts: readonly InboundPart[]): Promise<void> {
  await db.query({
    name: 'insert_inbound_parts',
    text: `
      insert into inbound_parts (${SET}, sequence, data_coding, locking_shift, single_shift, payload, received_at)
      ${INPUT} order by ${SET}, sequence
      on conflict do nothing`,
    values: [input(parts)],
  })
}

/**
 * Takes out the sets in which one of `parts` is present with other content: the sender has begun to use the reference
 * again, and the missing parts of the earlier message will not come.
 */
export async function takeSupersededSets(
  db: Queryable,
  parts: readonly InboundPart[],
): Promise<StoredPart[]> {
  const { rows } = await db.query<StoredPart>({
    name: 'take_superseded_sets',
    text: `
      with input as (${INPUT}), chosen as materialized (
        select distinct ${setOf('i')} from input i join inbound_parts p on ${inSet('i')} and p.sequence = i.sequence
        where p.payload <> i.payload or p.data_coding <> i.data_coding
          or p.locking_shift is distinct from i.locking_shift or p.single_shift is distinct from i.single_shift
      )${TAKE_CHOSEN}`,
    values: [input(parts)],
  })
  return rows
}

/**
 * Takes out the complete sets of these senders, and of the others the oldest, until no sender has more than `maxParts`
 * parts with a carrier.
 */
export async function takeFinishedSets(
  db: Queryable,
  senders: readonly { carrierId: number; sender: string }[],
  maxParts: number,
): Promise<StoredPart[]> {
  const { rows } = await db.query<StoredPart>({
    name: 'take_finished_sets',
    text: `
      with senders as (
        select distinct "carrierId" as carrier_id, sender from json_to_recordset($1) as i ("carrierId" integer, sender text)
      ), sets as (
        select s.carrier_id, s.sender, p.recipient, p.kind, p.reference, p.total, count(*) as parts, max(p.received_at) as newest
        from senders s join inbound_parts p on p.carrier_id = any (array[s.carrier_id]) and p.sender = s.sender
        group by s.carrier_id, s.sender, p.recipient, p.kind, p.reference, p.total
      ), ranked as (
        select ${SET}, parts, sum(parts) filter (where parts < total) over (
          partition by carrier_id, sender order by newest desc, recipient, kind, reference, total) as kept
        from sets
      ), chosen as materialized (
        select ${SET} from ranked where parts >= total or kept > $2
      )${TAKE_CHOSEN}`,
    values: [JSON.stringify(senders), maxParts],
  })
  return rows
}

/** Takes out complete sets, at most `limit`. `except`: recipients whose sets stay. */
export async function takeCompleteSets(
  db: Queryable,
  limit: number,
  except: readonly string[] = [],
): Promise<StoredPart[]> {
  const { rows } = await db.query<StoredPart>({
    name: 'take_complete_sets',
    text: `
      with chosen as materialized (
        select ${SET} from inbound_parts where recipient <> all ($2::text[])
        group by ${SET} having count(*) >= total limit $1
      )${TAKE_CHOSEN}`,
    values: [limit, except],
  })
  return rows
}

/** Takes out the sets that have a part received more than `ageMs` ago, at most `limit`, oldest first. `except`: see above. */
export async function takeOldSets(
  db: Queryable,
  ageMs: number,
  limit: number,
  except: readonly string[] = [],
): Promise<StoredPart[]> {
  const { rows } = await db.query<StoredPart>({
    name: 'take_old_sets',
    text: `
      with old as (
        select ${SET} from inbound_parts where received_at < now() - $1 * interval '1 ms' and recipient <> all ($3::text[])
        order by received_at limit $2
      ), chosen as materialized (
        select distinct ${SET} from old
      )${TAKE_CHOSEN}`,
    values: [ageMs, limit, except],
  })
  return rows
}

function input(parts: readonly InboundPart[]): string {
  return JSON.stringify(
    parts.map(({ language, payload, ...part }) => ({
      ...part,
      ...language,
      payload: payload.toString('hex'),
    })),
  )
}
