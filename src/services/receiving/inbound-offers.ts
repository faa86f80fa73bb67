import { createHash } from 'node:crypto'
import {
  CONFIRMED_AFTER_MS,
  type EarlierOffer,
  isAnsweredLate,
  isAnswerRead,
  isOfferedAgain,
  LEAST_TIMEOUT_MS,
} from '../../domain/carriers/inbound-offers.ts'
import type { Connection } from '../../smpp/connection.ts'
import type { PduOf } from '../../smpp/pdu.ts'
import type { Database } from '../../store/database.ts'
import {
  deleteOffers,
  findOffers,
  type NewOffer,
  type OfferKey,
  type RecordedOffer,
  releaseOffers,
  takeOverOffers,
} from '../../store/inbound-offers.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'
import type { NodeLease } from '../node/node-lease.ts'

export interface InboundOffersOptions extends Pick<NodeParts, 'db' | 'log'> {
  readonly lease: Pick<NodeLease, 'nodeId' | 'alive'>
  readonly newOfferId: () => string
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number
}

/** The session a PDU came over, as far as it tells whether the answer arrived. */
export type OfferingSession = Pick<Connection, 'lastReceivedMs' | 'closed' | 'isUnbindSent' | 'whenClosed'>

/** A PDU of a carrier, until its answer is known to have arrived. */
export interface Offer {
  readonly carrierId: number
  readonly fingerprint: string
  readonly arrivedAtMs: number
  /** The lease of this node was not over when the PDU came. */
  readonly isTimely: boolean
  readonly session: OfferingSession
  /** Its own id, or the id of the earlier PDU that it repeats, once that is known. */
  offerId: string
  /** If it is new: its place behind all PDUs with the same contents that were known when it was judged. */
  turn: number
  /** When it was judged last, by the database's clock, Unix milliseconds. */
  judgedAtMs: number
  /** The PDU that it repeats is already recorded. */
  isRepeat: boolean
  answer: EarlierOffer['answer']
  answeredAtMs: number | null
}

/**
 * new: to be recorded; again: already recorded; unclear: another node knows the answer to the same contents, or may have
 * given it, or its carrier offers it again in any case.
 */
export type OfferVerdict = 'new' | 'again' | 'unclear'

/** How long a carrier that had no answer, or was refused, may take to offer a PDU again. */
export const OFFERED_AGAIN_WITHIN_MS = 15 * 60_000
/** How long a COMMIT whose answer was lost may still be in flight. */
const LATE_COMMIT_MS = 30_000
const CHECK_MS = 1_000
const NOT_NOTED = 'answers to inbound messages not recorded yet'
/** Answers that are not known to have arrived. With more than this, the oldest count as arrived. */
const MAX_UNCONFIRMED = 20_000
const MAX_BATCH = 1_000

/**
 * Recognises an inbound PDU that a carrier offers again, to this node or another (docs/adr/0017). A recorded PDU is in
 * inbound_offers until its answer has arrived. The node over whose session it came knows the answer.
 */
export class InboundOffers {
  readonly #options: InboundOffersOptions
  /** By offer_id: recorded here, and the row not yet deleted or released. */
  readonly #known = new Map<string, Offer>()
  /** Answered ESME_ROK, in the order of the answers. */
  readonly #unconfirmed = new Set<Offer>()
  readonly #confirmed = new Set<Offer>()
  /**
   * Those whose answer may not have arrived, since `sinceMs`. Their rows are released again and again until `untilMs`, because
   * a COMMIT may come late.
   */
  readonly #unread = new Map<Offer, { readonly sinceMs: number; readonly untilMs: number }>()
  /** In order of arrival. */
  readonly #unanswered = new Set<Offer>()
  /** Node ids of this process. After losing its lease it is another node, and still knows what it recorded before. */
  readonly #nodeIds = new Set<number>()
  readonly #watched = new WeakSet<OfferingSession>()
  readonly #task: PeriodicTask

  constructor(options: InboundOffersOptions) {
    this.#options = options
    this.#task = new PeriodicTask(options.log, NOT_NOTED, CHECK_MS, () => this.#work())
  }

  start(): void {
    this.#task.start()
  }

  /** Rows that this node answers for, or may have written. */
  get known(): number {
    return this.#known.size
  }

  arrived(pdu: PduOf<'deliver_sm' | 'data_sm'>, carrierId: number, session: OfferingSession): Offer {
    if (!this.#watched.has(session)) {
      this.#watched.add(session)
      void session.whenClosed().then(() => this.#task.wake())
    }
    const offer: Offer = {
      carrierId,
      fingerprint: fingerprintOf(pdu),
      arrivedAtMs: this.#options.clock(),
      isTimely: this.#options.lease.alive,
      session,
      offerId: this.#options.newOfferId(),
      turn: 0,
      judgedAtMs: 0,
      isRepeat: false,
      answer: null,
      answeredAtMs: null,
    }
    this.#unanswered.add(offer)
    return offer
  }

  /** Returns for each offer, in order, what it is. An offer that is `again` stands for the earlier one from now on. */
  async judge(offers: readonly Offer[]): Promise<readonly OfferVerdict[]> {
    const { db, lease } = this.#options
    this.#nodeIds.add(lease.nodeId)
    const asked = offers.map(({ carrierId, fingerprint }, index) => ({
      index,
      carrierId,
      fingerprint,
    }))
    const { recorded: found, lastTurns, askedAtMs } = await findOffers(db, asked, OFFERED_AGAIN_WITHIN_MS)
    const recorded = Map.groupBy(found, ({ index }) => index)
    /** By the offer_id of the row: the last offer of this batch that repeats it. */
    const repeating = new Map<string, Offer>()
    const fresh: RecordedOffer[] = []
    const earlier = offers.map((offer, index) => {
      // Includes those before it in the batch, which may have waited long for the database.
      const alike = fresh.filter(
        (row) => row.fingerprint === offer.fingerprint && row.carrierId === offer.carrierId,
      )
      const rows = [...(recorded.get(index) ?? []), ...alike]
      const found = this.#earlierOf(offer, rows, repeating)
      if (found === 'new') {
        // This node stood still. Another may have taken the PDU meanwhile, and its row may be gone again.
        if (rows.length === 0 && !(offer.isTimely && lease.alive)) return 'unclear'
        if (this.#isGivenUp(offer)) return 'unclear'
        offer.turn = lastTurns[index]! + alike.length + 1
        offer.judgedAtMs = askedAtMs
        this.#known.set(offer.offerId, offer)
        fresh.push({ ...this.keyOf(offer), index, isHeld: true })
      } else if (found !== 'unclear') repeating.set(found.offerId, offer)
      return found
    })
    const mine = await this.#takeOver(earlier.filter((found) => typeof found !== 'string'))
    return offers.map((offer, index) => {
      const found = earlier[index]!
      if (typeof found === 'string') return found
      return mine.has(found.offerId) ? this.#repeats(offer, found.offerId) : 'unclear'
    })
  }

  keyOf({ carrierId, fingerprint, offerId, turn, judgedAtMs }: Offer): NewOffer {
    return { carrierId, fingerprint, offerId, turn, judgedAtMs }
  }

  /** `isRead`: false when the session says that the answer may not be read. A refused PDU may be recorded (`mayBeRecorded`). */
  answered(
    offer: Offer,
    answer: 'acknowledged' | 'refused',
    { isRead = true, mayBeRecorded = true }: { isRead?: boolean; mayBeRecorded?: boolean } = {},
  ): void {
    this.#unanswered.delete(offer)
    offer.answer = isRead ? answer : 'refused'
    offer.answeredAtMs = this.#options.clock()
    // An offer that was repeated meanwhile decides nothing any more.
    if (this.#known.get(offer.offerId) !== offer) return
    if (answer === 'refused' && !mayBeRecorded && !offer.isRepeat) this.#known.delete(offer.offerId)
    else if (answer === 'refused') this.#countAsUnread(offer, LATE_COMMIT_MS)
    else if (!isRead || isAnsweredLate(offer)) this.#countAsUnread(offer, 0)
    else this.#unconfirmed.add(offer)
    if (this.#unconfirmed.size > MAX_UNCONFIRMED) this.#confirm(this.#unconfirmed.values().next().value!)
  }

  /** Writes what is known of the answers. If that fails, they count as unread once this node is gone. */
  async stop(): Promise<void> {
    await this.#task.stop()
    await this.#work().catch((error) => this.#options.log.error({ err: error }, NOT_NOTED))
  }

  /** Returns the recorded PDU that this one repeats, or `new` when there is none. */
  #earlierOf(
    offer: Offer,
    recorded: readonly RecordedOffer[],
    repeating: ReadonlyMap<string, Offer>,
  ): RecordedOffer | 'new' | 'unclear' {
    let verdict: 'new' | 'unclear' = 'new'
    for (const row of recorded) {
      const known = repeating.get(row.offerId) ?? this.#known.get(row.offerId)
      if (known === undefined && row.isHeld) verdict = 'unclear'
      if (known === undefined ? !row.isHeld : this.#isAgain(known, offer)) return row
    }
    return verdict
  }

  /**
   * Its carrier cannot read an answer over its session any more, or may not wait for it any more. It offers the PDU again, and
   * may have done so to another node, whose row of it may be gone.
   */
  #isGivenUp({ session, arrivedAtMs }: Offer): boolean {
    const waitedMs = this.#options.clock() - arrivedAtMs
    return (
      session.closed !== null || session.isUnbindSent || waitedMs >= LEAST_TIMEOUT_MS + CONFIRMED_AFTER_MS
    )
  }

  #isAgain(known: Offer, offer: Offer): boolean {
    return !this.#confirmed.has(known) && isOfferedAgain(known, offer.arrivedAtMs)
  }

  /** Returns the ids of the offers that are this node's now. */
  async #takeOver(found: readonly RecordedOffer[]): Promise<ReadonlySet<string>> {
    const { db, lease } = this.#options
    const isMine = ({ offerId }: RecordedOffer) => {
      const known = this.#known.get(offerId)
      // Its row may have been released, so another node may have it.
      return known !== undefined && !this.#unread.has(known)
    }
    const known = found.filter(isMine)
    const others = found.filter((row) => !isMine(row))
    const taken = others.length === 0 ? [] : await takeOverOffers(db, others, lease.nodeId)
    return new Set([...known.map(({ offerId }) => offerId), ...taken])
  }

  #repeats(offer: Offer, offerId: string): 'again' {
    const before = this.#known.get(offerId)
    if (before !== undefined) {
      this.#unconfirmed.delete(before)
      this.#unread.delete(before)
    }
    // Another node was quicker, so there is no row with the id that this offer had.
    if (this.#known.get(offer.offerId) === offer) this.#known.delete(offer.offerId)
    offer.offerId = offerId
    offer.isRepeat = true
    this.#known.set(offerId, offer)
    return 'again'
  }

  #countAsUnread(offer: Offer, forMs: number): void {
    this.#unconfirmed.delete(offer)
    const sinceMs = this.#options.clock()
    this.#unread.set(offer, { sinceMs, untilMs: sinceMs + forMs })
  }

  #confirm(offer: Offer): void {
    this.#unconfirmed.delete(offer)
    this.#confirmed.add(offer)
  }

  async #work(): Promise<void> {
    this.#nodeIds.add(this.#options.lease.nodeId)
    for (const offer of this.#unconfirmed) {
      if (isAnswerRead(offer)) this.#confirm(offer)
      else if (offer.session.closed !== null) this.#countAsUnread(offer, 0)
    }
    await this.#write([...this.#confirmed], deleteOffers, (offer) => this.#confirmed.delete(offer))
    await this.#write([...this.#unread.keys()], releaseOffers, (offer) => this.#endReleases(offer))
  }

  /**
   * Its row was just released. Returns true, and releases it no more, if that was long enough. PDUs that arrived before are judged
   * first: only this node knows that they are no repeats.
   */
  #endReleases(offer: Offer): boolean {
    const unread = this.#unread.get(offer)
    const [oldest] = this.#unanswered
    if (unread === undefined || unread.untilMs > this.#options.clock()) return false
    if (oldest !== undefined && oldest.arrivedAtMs < unread.sinceMs) return false
    return this.#unread.delete(offer)
  }

  async #write(
    offers: readonly Offer[],
    write: (db: Database, keys: readonly OfferKey[], nodeIds: readonly number[]) => Promise<void>,
    done: (offer: Offer) => boolean,
  ): Promise<void> {
    for (let start = 0; start < offers.length; start += MAX_BATCH) {
      const batch = offers.slice(start, start + MAX_BATCH)
      await write(
        this.#options.db,
        batch.map((offer) => this.keyOf(offer)),
        [...this.#nodeIds],
      )
      // An offer that was repeated meanwhile stands for another answer.
      for (const offer of batch)
        if (done(offer) && this.#known.get(offer.offerId) === offer) this.#known.delete(offer.offerId)
    }
  }
}

/** Parameters that describe the moment, not the message. */
const OF_THE_MOMENT = new Set(['more_messages_to_send', 'number_of_messages', 'ms_availability_status'])
const FINGERPRINT_DIGITS = 32

/** What a carrier repeats when it offers a PDU again: everything but the sequence number. */
function fingerprintOf(pdu: PduOf<'deliver_sm' | 'data_sm'>): string {
  const hash = createHash('sha256')
  const add = (value: string | number | boolean | Buffer) => {
    const octets = Buffer.isBuffer(value) ? value : Buffer.from(String(value), 'latin1')
    hash.update(`${octets.length}:`).update(octets)
  }
  for (const value of [pdu.command, pdu.esm_class, pdu.data_coding]) add(value)
  for (const value of [pdu.source_addr_ton, pdu.source_addr, pdu.dest_addr_ton, pdu.destination_addr])
    add(value)
  if (pdu.command === 'deliver_sm') add(pdu.short_message)
  const tlvs = Object.entries(pdu.tlvs).filter(([name]) => !OF_THE_MOMENT.has(name))
  for (const [name, value] of [...tlvs, ...pdu.unknownTlvs].sort(([a], [b]) =>
    String(a) < String(b) ? -1 : 1,
  )) {
    add(name)
    add(value)
  }
  return hash.digest('hex').slice(0, FINGERPRINT_DIGITS)
}
