import { canonicalId, idRuleOf, isUnlearned, ruleInForce } from '../../domain/carriers/message-ids.ts'
import {
  carrierCodeOf,
  isReceipt,
  type KeptReceipt,
  keptReceipt,
  parseReceipt,
  type Receipt,
  receiptText,
} from '../../domain/carriers/receipts.ts'
import { codeOfReceipt, RECEIPT_STATES } from '../../domain/carriers/statuses.ts'
import type { Carrier } from '../../domain/configuration/configuration.ts'
import type { WriteEvents } from '../../domain/events.ts'
import { messageId } from '../../domain/identifiers.ts'
import { InstantSource } from '../../domain/instants.ts'
import { type IncomingReceipt, isIntermediate } from '../../domain/journal/incoming-receipts.ts'
import { classifySender, dialledDigits, fromCarrierAddress } from '../../domain/messages/addresses.ts'
import { parseUserData } from '../../domain/text/concatenation.ts'
import { Batcher, type BatchMeter } from '../../operations/batches.ts'
import {
  type InboundDeps,
  type InboundSegment,
  ownerOf,
  type ReceivedInbound,
  receiveInbound,
} from '../../operations/receive-inbound.ts'
import type { Connection } from '../../smpp/connection.ts'
import type { PduOf, RequestPdu } from '../../smpp/pdu.ts'
import { STATUSES } from '../../smpp/statuses.ts'
import { isAway, ServerAwayError } from '../../store/citus.ts'
import { isOutcomeUnknown, isRowFault } from '../../store/database.ts'
import { isTurnLost } from '../../store/inbound-offers.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import type { MessagesInProgress } from '../messages/messages-in-progress.ts'
import type { Recorder } from '../messages/recorder.ts'
import type { NodeLease } from '../node/node-lease.ts'
import type { InboundOffers, Offer } from './inbound-offers.ts'
import type { RefusalReason, RefusedPdus } from './refused-pdus.ts'
import type { SiblingReceipts } from './sibling-receipts.ts'

export interface ReceiverOptions extends NodeParts {
  readonly lease: NodeLease
  readonly inProgress: Pick<MessagesInProgress, 'hurry' | 'away'>
  readonly recorder: Recorder
  readonly siblings: Pick<SiblingReceipts, 'handOver'>
  readonly offers: InboundOffers
  readonly refusedPdus: Pick<RefusedPdus, 'add'>
  readonly writeEvents: WriteEvents
  readonly random: (bytes: number) => Uint8Array
  /** `holder`: the node that delivers their events from memory, by its id when they were written; null: none. */
  readonly onReceived: (received: readonly ReceivedInbound[], holder: number | null) => void
  readonly onBatch?: BatchMeter
  /** See `InboundDeps`. */
  readonly onUnowned: (count: number) => void
  readonly onOwned?: InboundDeps['onOwned']
  /** Called when the carrier sent something that nobody can use. It was answered all the same. */
  readonly onAnomaly: (kind: 'receipt_without_id', carrier: Carrier, pdu: RequestPdu) => void
}

type Incoming = PduOf<'deliver_sm' | 'data_sm'>

/** An inbound PDU, and what tells whether it was offered before. */
interface InboundItem {
  readonly segment: InboundSegment
  readonly offer: Offer
}

/**
 * acknowledged: it is recorded; refused: another node knows what became of it, so the carrier is to offer it again; otherwise
 * why it was not recorded.
 */
type InboundOutcome = 'acknowledged' | 'refused' | { readonly error: unknown }

const MAX_BATCH = 100
/** How often a batch is judged while other nodes record PDUs of it. */
const MAX_ROUNDS = 3

/**
 * Takes what carriers send: receipts go to the other workers or the recorder, MO messages into the database. Answers after
 * COMMIT; an intermediate receipt, or one without an id, is answered at once.
 */
export class Receiver {
  readonly #options: ReceiverOptions
  /** Two receipts with the same id are told apart by when they came. */
  readonly #instants = new InstantSource()
  readonly #inbound: Batcher<InboundItem, InboundOutcome>

  constructor(options: ReceiverOptions) {
    this.#options = options
    this.#inbound = new Batcher({
      write: (items) => this.#receive(items),
      maxBatch: MAX_BATCH,
      maxInFlight: 1,
    })
  }

  /** Returns an id in a bucket of this node. */
  newMessageId(): string {
    const { lease, clock, random } = this.#options
    return messageId(clock(), random(9), lease.nextBucket())
  }

  onRequest(pdu: RequestPdu, connection: Connection<unknown>, carrier: Carrier, toAnswer: number): void {
    if (pdu.command !== 'deliver_sm' && pdu.command !== 'data_sm') {
      connection.respond(pdu, STATUSES.ESME_RINVCMDID)
      return
    }
    const isOfReceipt = isReceipt(pdu.esm_class) || pdu.tlvs.receipted_message_id !== undefined
    const refusal = this.#reasonToRefuse(isOfReceipt, connection)
    const answer = (recorded: boolean) => {
      if (!recorded)
        this.#options.refusedPdus.add(isOfReceipt ? 'receipt' : 'inbound', refusal ?? 'not_recorded', carrier)
      return connection.respond(pdu, recorded ? STATUSES.ESME_ROK : STATUSES.ESME_RX_T_APPN)
    }
    if (refusal !== null) answer(false)
    else if (isOfReceipt) this.#onReceipt(pdu, carrier, answer)
    else
      this.#onInbound(pdu, carrier, {
        offer: this.#options.offers.arrived(pdu, carrier.id, connection),
        answer,
      })
    // Most carriers use one window for both directions, and send nothing more until they are answered.
    if (toAnswer === carrier.window) this.#options.inProgress.hurry()
  }

  /** Why a PDU is refused at once, if it is. */
  #reasonToRefuse(isOfReceipt: boolean, connection: Connection<unknown>): RefusalReason | null {
    // A carrier may not read an answer after our unbind, so it is to offer the PDU again over its next session.
    if (connection.isUnbindSent) return 'unbinding'
    const { recorder } = this.#options
    // The carrier repeats what is answered late. A repeated receipt changes nothing, so receipts wait while the database is only
    // slow. A repeated inbound message might pass for a new one.
    return (isOfReceipt ? recorder.failing : recorder.isStalled) ? 'stalled' : null
  }

  #onReceipt(pdu: Incoming, carrier: Carrier, answer: (recorded: boolean) => unknown): void {
    const text = receiptText(userDataOf(pdu).payload)
    const receipt = parseReceipt(text, {
      receipted_message_id: pdu.tlvs.receipted_message_id,
      message_state: pdu.tlvs.message_state,
      network_error_code: pdu.tlvs.network_error_code,
    })
    if (receipt?.carrierMessageId == null) {
      // It can never be matched with a message. After a refusal the carrier would only send it again.
      this.#options.onAnomaly('receipt_without_id', carrier, pdu)
      answer(true)
      return
    }
    const incoming = this.#incoming(receipt, carrier, keptOf(text, pdu))
    const { outcome } = RECEIPT_STATES[receipt.state]
    const isOfNoEffect = isIntermediate({ outcome })
    // Not a final receipt. Its message was submitted and so is SENT already; losing the receipt would change nothing. So it is
    // not parked either until its id can be translated: it is for the message with this very id, or for none.
    const item = isOfNoEffect
      ? {
          receipt: { ...incoming, outcome, addresses: [], senderName: null, untranslated: false },
          done: null,
        }
      : { receipt: { ...incoming, outcome, ...addressesOf(pdu) }, done: answer }
    if (!this.#options.siblings.handOver(item)) this.#options.recorder.addReceipt(item)
    if (isOfNoEffect) answer(true)
  }

  #incoming(
    receipt: Receipt,
    ofLink: Carrier,
    kept: KeptReceipt,
  ): Omit<IncomingReceipt, 'outcome' | 'addresses' | 'senderName'> {
    // The carrier as it is configured now, not when the link was made: its id rule may have been learned since.
    const carrier = this.#options.directory().carrierById(ofLink.id) ?? ofLink
    const receipted = canonicalId(receipt.carrierMessageId!, 'exact', 'receipt')
    const translated = canonicalId(receipted, idRuleOf(carrier), 'receipt')
    return {
      carrierId: carrier.id,
      carrierMessageId: translated,
      receiptedId: receipted === translated ? null : receipted,
      idRule: ruleInForce(carrier),
      errorCode: codeOfReceipt(receipt.state, receipt.rawCode, receipt.networkType),
      carrierCode: carrierCodeOf(receipt),
      mccmnc: receipt.mccmnc,
      receivedAt: this.#instants.next(this.#options.clock()),
      parkedId: null,
      untranslated: isUnlearned(carrier),
      receipt: kept,
    }
  }

  #onInbound(
    pdu: Incoming,
    carrier: Carrier,
    { offer, answer }: { offer: Offer; answer: (recorded: boolean) => boolean },
  ): void {
    const { payload, part, language } = userDataOf(pdu)
    const segment: InboundSegment = {
      carrierId: carrier.id,
      sender: fromCarrierAddress(pdu.source_addr, pdu.source_addr_ton),
      recipient: fromCarrierAddress(pdu.destination_addr, pdu.dest_addr_ton),
      dataCoding: pdu.data_coding,
      payload,
      part,
      language,
      receivedAtMs: this.#options.clock(),
    }
    const { offers, log } = this.#options
    const failed = (error: unknown) => {
      if (!(error instanceof ServerAwayError)) log.error({ err: error }, 'inbound message not recorded')
      answer(false)
      offers.answered(offer, 'refused', { mayBeRecorded: isOutcomeUnknown(error) })
    }
    this.#inbound.add({ segment, offer }).then((outcome) => {
      if (typeof outcome === 'object') failed(outcome.error)
      else offers.answered(offer, outcome, { isRead: answer(outcome === 'acknowledged') })
    }, failed)
  }

  async #receive(items: readonly InboundItem[], rounds = MAX_ROUNDS): Promise<readonly InboundOutcome[]> {
    const { offers, onBatch } = this.#options
    onBatch?.('inbound', items.length)
    const verdicts = await offers.judge(items.map(({ offer }) => offer))
    const fresh = items.filter((_, index) => verdicts[index] === 'new')
    const outcomes = (await this.#recordedByServer(fresh, rounds)).values()
    return verdicts.map((verdict) => {
      if (verdict === 'new') return outcomes.next().value!
      return verdict === 'again' ? 'acknowledged' : 'refused'
    })
  }

  /** Records those whose server, of several, is here, in a transaction for each server. Never rejects. */
  async #recordedByServer(fresh: readonly InboundItem[], rounds: number): Promise<readonly InboundOutcome[]> {
    const { db, directory, inProgress } = this.#options
    const planOf = ({ segment }: InboundItem) => ownerOf(directory(), segment)?.plan.id ?? null
    const here = fresh.filter((item) => {
      const planId = planOf(item)
      return planId === null || !isAway(db, planId)
    })
    const outcomes = new Map<InboundItem, InboundOutcome>()
    const record = async (part: readonly InboundItem[]) => {
      const recorded = await this.#recorded(part, rounds)
      for (const [index, item] of part.entries()) outcomes.set(item, recorded[index]!)
    }
    await Promise.all((await inProgress.away.byServer(here, planOf)).map(record))
    return fresh.map((item) => outcomes.get(item) ?? { error: new ServerAwayError() })
  }

  /**
   * Records new PDUs: in halves if the database refuses one, so that it fails alone. Never rejects, because some may be recorded by
   * then.
   */
  async #recorded(fresh: readonly InboundItem[], rounds: number): Promise<readonly InboundOutcome[]> {
    if (fresh.length === 0) return []
    try {
      await this.#record(fresh)
      return fresh.map(() => 'acknowledged')
    } catch (error) {
      const failed = (why: unknown) => fresh.map(() => ({ error: why }))
      // Another node was offered one of these too and was quicker, or may have been. Its row can be found now.
      if (isTurnLost(error) && rounds > 1) return await this.#receive(fresh, rounds - 1).catch(failed)
      if (!isRowFault(error) || fresh.length === 1) {
        // If a server of several is away, the next batch leaves its plans out.
        await this.#options.inProgress.away.probeFindsNew()
        return failed(error)
      }
      const half = fresh.length >> 1
      const first = await this.#recorded(fresh.slice(0, half), rounds)
      return [...first, ...(await this.#recorded(fresh.slice(half), rounds))]
    }
  }

  async #record(fresh: readonly InboundItem[]): Promise<void> {
    const { db, directory, lease, writeEvents, offers, log, onUnowned, onOwned, onReceived } = this.#options
    const deps = {
      db,
      directory: directory(),
      newMessageId: () => this.newMessageId(),
      onUnowned,
      onOwned,
      log,
      offers: { offers: fresh.map(({ offer }) => offers.keyOf(offer)), nodeId: lease.nodeId },
    }
    const segments = fresh.map(({ segment }) => segment)
    await writeEvents(async (holder) => {
      onReceived(await receiveInbound({ ...deps, holder }, segments), holder.nodeId)
    })
  }
}

function userDataOf(pdu: Incoming): ReturnType<typeof parseUserData> {
  return parseUserData({
    esmClass: pdu.esm_class,
    shortMessage: pdu.command === 'deliver_sm' ? pdu.short_message : Buffer.alloc(0),
    tlvs: pdu.tlvs,
  })
}

function addressesOf(pdu: Incoming): Pick<IncomingReceipt, 'addresses' | 'senderName'> {
  const given = [pdu.source_addr, pdu.destination_addr].map((address) => address.trim())
  const senderName = given.find((address) => classifySender(address) === 'alphanumeric') ?? null
  return { addresses: given.map(dialledDigits).filter((digits) => digits !== ''), senderName }
}

/** What is kept of a receipt: its text, and its TLVs except the one that may have carried the text. */
function keptOf(text: string, { tlvs, unknownTlvs }: Incoming): KeptReceipt {
  const kept = Object.entries(tlvs).filter(([name]) => name !== 'message_payload')
  for (const [tag, value] of unknownTlvs) kept.push([`0x${tag.toString(16).padStart(4, '0')}`, value])
  return keptReceipt(text, kept)
}
