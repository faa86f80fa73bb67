import { BoundedMap } from '../collections/bounded-map.ts'
import type { Connection } from '../smpp/connection.ts'
import { messageOctets } from '../smpp/pdu.ts'
import { STATUSES } from '../smpp/statuses.ts'
import type { Counters } from './counters.ts'
import type { DelayQueue } from './delay-queue.ts'
import type { Faults } from './faults.ts'
import type { Delivery, Mailbox } from './mailbox.ts'
import { type MessageId, MessageIds } from './message-ids.ts'
import type { SimulatorSettings } from './options.ts'
import { type Outcome, outcomeOf, type ReceiptStep } from './outcomes.ts'
import { type ReceiptFacts, receiptDelivery, receiptFacts, wantedReceipts } from './receipt-pdus.ts'
import { Submissions, type SubmitPdu } from './submissions.ts'
import { Throughput } from './throughput.ts'

/** An address of deliver_sm, in which receipts go back, has 20 characters; data_sm allows 64 (SMPP 3.4 §5.2.8, .9). */
const MAX_ADDRESS_LENGTH = 20
/** Messages remembered as refused a few times; the oldest are forgotten. */
const REFUSED_LIMIT = 10_000

interface DueReceipt {
  readonly facts: ReceiptFacts
  readonly step: ReceiptStep
  readonly mailbox: Mailbox
}

/** Judges the submits of ESMEs, answers them, and has their receipts sent in due time. */
export class Intake {
  readonly submissions: Submissions | null
  readonly #settings: SimulatorSettings
  readonly #faults: Faults
  readonly #counters: Counters
  readonly #delays: DelayQueue
  readonly #ids: MessageIds
  readonly #throughput: Throughput | null
  /** How often each message was refused so far, where its outcome says to refuse it a few times. */
  readonly #refusedTimes = new BoundedMap<string, number>(REFUSED_LIMIT)
  #held: DueReceipt[] = []

  constructor(settings: SimulatorSettings, faults: Faults, counters: Counters, delays: DelayQueue) {
    this.#settings = settings
    this.#faults = faults
    this.#counters = counters
    this.#delays = delays
    const { messageIds, receiptIds, firstMessageNumber, random } = settings
    this.#ids = new MessageIds(messageIds, receiptIds, firstMessageNumber, random)
    this.#throughput = settings.throughput === undefined ? null : new Throughput(settings.throughput)
    this.submissions = settings.recordSubmissions ? new Submissions() : null
  }

  /** Receipts whose time has not come, or which are held. */
  get scheduled(): number {
    return this.#delays.size + this.#held.length
  }

  nextId(): MessageId {
    return this.#ids.next()
  }

  submit(pdu: SubmitPdu, connection: Connection<Delivery>, mailbox: Mailbox): void {
    this.#counters.submits += 1
    const outcome = outcomeOf(pdu.destination_addr)
    const status = this.#judge(pdu, outcome)
    if (status === STATUSES.ESME_ROK) {
      this.#accept(pdu, outcome, connection, mailbox)
    } else {
      this.#counters.refused += 1
      if (status === STATUSES.ESME_RTHROTTLED) this.#counters.throttled += 1
      connection.respond(pdu, status)
    }
  }

  /** Sends what was held. */
  releaseReceipts(): void {
    const held = this.#held
    this.#held = []
    for (const receipt of held) this.#due(receipt)
  }

  #judge(pdu: SubmitPdu, outcome: Outcome): number {
    const forced = this.#faults.takeSubmitStatus()
    if (forced !== STATUSES.ESME_ROK) return forced
    if (pdu.destination_addr === '' || pdu.destination_addr.length > MAX_ADDRESS_LENGTH) {
      return STATUSES.ESME_RINVDSTADR
    }
    if (pdu.source_addr.length > MAX_ADDRESS_LENGTH) return STATUSES.ESME_RINVSRCADR
    if (this.scheduled >= this.#settings.scheduleLimit) return STATUSES.ESME_RMSGQFUL
    if (this.#throughput?.take(performance.now()) === false) return STATUSES.ESME_RTHROTTLED
    return outcome.refusal === null ? STATUSES.ESME_ROK : this.#refusal(pdu, outcome.refusal)
  }

  #refusal(pdu: SubmitPdu, refusal: NonNullable<Outcome['refusal']>): number {
    if (refusal.attempts === Number.POSITIVE_INFINITY) return refusal.status
    const message = `${pdu.source_addr} ${pdu.destination_addr} ${messageOctets(pdu).toString('base64')}`
    const times = this.#refusedTimes.get(message) ?? 0
    if (times >= refusal.attempts) {
      this.#refusedTimes.delete(message)
      return STATUSES.ESME_ROK
    }
    this.#refusedTimes.set(message, times + 1)
    return refusal.status
  }

  #accept(pdu: SubmitPdu, outcome: Outcome, connection: Connection<Delivery>, mailbox: Mailbox): void {
    this.#counters.accepted += 1
    const nowMs = Date.now()
    const id = this.#ids.next()
    this.submissions?.add(pdu, id.submitted, nowMs)
    this.#settings.onSubmit?.(pdu, id.submitted)
    const swallowed = this.#faults.swallowSubmitResponses
    const respond = () => {
      if (!swallowed) connection.respond(pdu, STATUSES.ESME_ROK, { message_id: id.submitted })
    }
    const steps = wantedReceipts(outcome.receipts, pdu.registered_delivery)
    if (steps.length === 0) {
      respond()
    } else {
      const facts = receiptFacts(pdu, id.receipted, nowMs)
      if (outcome.pace === 'early') {
        for (const step of steps) this.#sendEarly({ facts, step, mailbox }, respond)
      } else {
        respond()
        const delayMs = outcome.pace === 'late' ? this.#settings.lateReceiptDelayMs : this.#receiptDelayMs()
        for (const step of steps) {
          this.#delays.add(delayMs + step.afterMs, () => this.#due({ facts, step, mailbox }))
        }
      }
    }
    if (this.#faults.takeDrop()) connection.destroy()
  }

  /** The response follows the receipt by a while, or comes by itself when nothing can take the receipt. */
  #sendEarly(receipt: DueReceipt, respond: () => void): void {
    const { facts, step, mailbox } = receipt
    const respondLater = () => this.#delays.add(this.#settings.earlyReceiptLeadMs, respond)
    if (this.#faults.holdReceipts || !mailbox.hasReceiver) {
      this.#due(receipt)
      respondLater()
    } else {
      mailbox.post({ ...receiptDelivery(facts, step, Date.now()), onSent: respondLater })
    }
  }

  #due(receipt: DueReceipt): void {
    if (this.#faults.holdReceipts) this.#held.push(receipt)
    else receipt.mailbox.post(receiptDelivery(receipt.facts, receipt.step, Date.now()))
  }

  #receiptDelayMs(): number {
    const [least, most] = this.#settings.receiptDelayRangeMs
    return least === most ? least : least + this.#settings.random() * (most - least)
  }
}
