import { CONFIRMED_AFTER_MS } from '../domain/carriers/inbound-offers.ts'
import type { Queryable } from './database.ts'

/** Inbound PDUs that were recorded and may be offered again. */

export interface OfferKey {
  readonly carrierId: number
  /** 16 octets, hex. */
  readonly fingerprint: string
  readonly offerId: string
}

export interface NewOffer extends OfferKey {
  /** Comes behind every PDU with the same contents that its recorder knows of. */
  readonly turn: number
  /** When `findOffers` was asked about it: `askedAtMs`. */
  readonly judgedAtMs: number
}

/** A recorded PDU with the same contents as one that was asked for. */
export interface RecordedOffer extends OfferKey {
  /** Place in the batch of the one asked for. */
  readonly index: number
  /** A living node knows how it was answered. */
  readonly isHeld: boolean
}

interface FoundRow extends Omit<RecordedOffer, 'offerId'> {
  readonly offerId: string | null
  readonly turn: number
  readonly askedAtMs: number
}

/** Among more PDUs with the same contents, only the oldest are looked at. */
const MAX_ALIKE = 20

const OFFER_COLUMNS = '"carrierId" integer, fingerprint text, "offerId" uuid'

/** Row `o` is the one that `i` names. `= any (array[…])`: docs/adr/0006. */
const IS_OFFER = `
  o.carrier_id = any (array[i."carrierId"]) and o.fingerprint = decode(i.fingerprint, 'hex') and o.offer_id = i."offerId"`

const TURNS = 'inbound_offers_turn'

/** What is recorded of a new PDU. */
export const NEW_OFFER_COLUMNS = `${OFFER_COLUMNS}, turn integer, "judgedAtMs" double precision`

/**
 * A turn, or null, which is refused, when the PDU was judged so long ago that another node may have recorded it meanwhile
 * and have deleted its row again: its answer counts as read after that time at the earliest.
 */
export const TURN_IN_TIME = `
  case when clock_timestamp() < to_timestamp("judgedAtMs" / 1000) + interval '${CONFIRMED_AFTER_MS} ms' then turn end`

/** Another node has recorded a PDU with the contents of one of these meanwhile, or may have; nothing was recorded. */
export function isTurnLost(error: unknown): boolean {
  const { constraint, table, column } = (error ?? {}) as Record<string, unknown>
  return constraint === TURNS || (table === 'inbound_offers' && column === 'turn')
}

/**
 * PDUs with these contents that were recorded within `ageMs`, oldest first; the last turn of each, 0 when there is none;
 * and the database's time (Unix milliseconds), which is before anything that this does not see was committed.
 */
export async function findOffers(
  db: Queryable,
  offers: readonly { index: number; carrierId: number; fingerprint: string }[],
  ageMs: number,
): Promise<{
  readonly recorded: RecordedOffer[]
  readonly lastTurns: number[]
  readonly askedAtMs: number
}> {
  const { rows } = await db.query<FoundRow>({
    name: 'find_inbound_offers',
    text: `
      select i.index, i."carrierId", i.fingerprint, o.offer_id as "offerId", last.turn,
             (extract(epoch from now()) * 1000)::double precision as "askedAtMs",
             exists (select from nodes n where n.node_id = o.holder and n.expires_at >= now()) as "isHeld"
      from json_to_recordset($1) as i (index integer, "carrierId" integer, fingerprint text)
      cross join lateral (
        select coalesce(max(turn), 0) as turn from inbound_offers
        where carrier_id = i."carrierId" and fingerprint = decode(i.fingerprint, 'hex')
      ) last
      left join lateral (
        select offer_id, holder, offered_at from inbound_offers
        where carrier_id = i."carrierId" and fingerprint = decode(i.fingerprint, 'hex')
          and offered_at > now() - $2 * interval '1 ms'
        order by offer_id limit ${MAX_ALIKE}
      ) o on true
      order by i.index, o.offer_id`,
    values: [JSON.stringify(offers), ageMs],
  })
  const turns = new Map(rows.map(({ index, turn }) => [index, turn]))
  return {
    recorded: rows.flatMap(({ index, carrierId, fingerprint, offerId, isHeld }) =>
      offerId === null ? [] : [{ index, carrierId, fingerprint, offerId, isHeld }],
    ),
    lastTurns: offers.map(({ index }) => turns.get(index)!),
    askedAtMs: rows[0]?.askedAtMs ?? 0,
  }
}

/** Makes the node the holder of PDUs that no other living node holds. Returns the ids of those that it holds now. */
export async function takeOverOffers(
  db: Queryable,
  offers: readonly OfferKey[],
  nodeId: number,
): Promise<string[]> {
  const { rows } = await db.query<{ offerId: string }>({
    name: 'take_over_inbound_offers',
    text: `
      update inbound_offers o set holder = $2, offered_at = now()
      from json_to_recordset($1) as i (${OFFER_COLUMNS})
      where ${IS_OFFER}
        and (o.holder = $2
             or not exists (select from nodes n where n.node_id = o.holder and n.expires_at >= now()))
      returning o.offer_id as "offerId"`,
    values: [JSON.stringify(offers), nodeId],
  })
  return rows.map((row) => row.offerId)
}

/**
 * Which of these are recorded: tells what became of a COMMIT whose answer was lost. The lock makes the answer wait for a
 * synchronous standby: a primary that was killed while the COMMIT waited shows rows that the standby may not have.
 */
export async function countOffers(db: Queryable, offers: readonly OfferKey[]): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    text: `
      select count(*)::integer as count
      from json_to_recordset($1) as i (${OFFER_COLUMNS})
      cross join lateral (select from inbound_offers o where ${IS_OFFER} limit 1 for key share) o`,
    values: [JSON.stringify(offers)],
  })
  return rows[0]!.count
}

/**
 * Records that nobody knows whether their answer arrived: the next PDU with the same contents is one of them. PDUs held
 * by other nodes are left alone.
 */
export async function releaseOffers(
  db: Queryable,
  offers: readonly OfferKey[],
  nodeIds: readonly number[],
): Promise<void> {
  await db.query({
    name: 'release_inbound_offers',
    text: `
      update inbound_offers o set holder = null
      from json_to_recordset($1) as i (${OFFER_COLUMNS})
      where ${IS_OFFER}
        and o.holder = any ($2::integer[])`,
    values: [JSON.stringify(offers), nodeIds],
  })
}

/**
 * Deletes PDUs whose answer has arrived: they will not be offered again. Those that another node took over are left
 * alone.
 */
export async function deleteOffers(
  db: Queryable,
  offers: readonly OfferKey[],
  nodeIds: readonly number[],
): Promise<void> {
  await db.query({
    name: 'delete_inbound_offers',
    text: `
      delete from inbound_offers o
      using json_to_recordset($1) as i (${OFFER_COLUMNS})
      where ${IS_OFFER}
        and (o.holder = any ($2::integer[]) or o.holder is null)`,
    values: [JSON.stringify(offers), nodeIds],
  })
}

/** Deletes PDUs older than `ageMs`, at most `limit`. Returns how many. */
export async function deleteOldOffers(db: Queryable, ageMs: number, limit: number): Promise<number> {
  const { rowCount } = await db.query({
    text: `
      delete from inbound_offers o
      using (select carrier_id, fingerprint, offer_id from inbound_offers
             where offered_at < now() - $1 * interval '1 ms' order by offered_at limit $2) old
      where o.carrier_id = old.carrier_id and o.fingerprint = old.fingerprint and o.offer_id = old.offer_id`,
    values: [ageMs, limit],
  })
  return rowCount ?? 0
}
