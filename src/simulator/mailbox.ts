import type { Connection } from '../smpp/connection.ts'
import type { PduInput } from '../smpp/pdu.ts'
import { STATUSES } from '../smpp/statuses.ts'
import type { Counters } from './counters.ts'
import type { DelayQueue } from './delay-queue.ts'
import { Fifo } from './fifo.ts'
import type { SimulatorSettings } from './options.ts'

/** One deliver_sm on its way to an ESME. */
export interface Delivery {
  readonly kind: 'receipt' | 'inbound'
  readonly pdu: PduInput<'deliver_sm'>
  attempts: number
  /** When it is written for the first time. */
  readonly onSent: (() => void) | null
  /** Once, at the end: answered with ESME_ROK, or given up. */
  readonly onAnswered: ((acknowledged: boolean) => void) | null
}

type Limits = Pick<SimulatorSettings, 'keepLimit' | 'retryDelayMs' | 'deliverAttempts'>

/**
 * Deliveries to one system_id. They go in turn to its binds that can receive, and are kept while there is none.
 * A deliver_sm counts as delivered when it was answered with ESME_ROK, not before.
 */
export class Mailbox {
  readonly systemId: string
  readonly #limits: Limits
  readonly #counters: Counters
  readonly #delays: DelayQueue
  readonly #queue = new Fifo<Delivery>()
  readonly #receivers: Connection<Delivery>[] = []
  /** Refused for now, to be sent again after retryDelayMs; no more than keepLimit. */
  readonly #waiting = new Set<Delivery>()
  #turn = 0
  #closed = false

  constructor(systemId: string, limits: Limits, counters: Counters, delays: DelayQueue) {
    this.systemId = systemId
    this.#limits = limits
    this.#counters = counters
    this.#delays = delays
  }

  get kept(): number {
    return this.#queue.size + this.#waiting.size
  }

  get hasReceiver(): boolean {
    return this.#receivers.length > 0
  }

  attach(connection: Connection<Delivery>): void {
    this.#receivers.push(connection)
    this.#pump()
  }

  /** `unanswered`: what the connection took with it, to be sent again before everything else. */
  detach(connection: Connection<Delivery>, unanswered: readonly Delivery[]): void {
    const index = this.#receivers.indexOf(connection)
    if (index >= 0) this.#receivers.splice(index, 1)
    this.#queue.unshift(unanswered)
    this.#trim()
    this.#pump()
  }

  post(delivery: Delivery): void {
    this.#queue.push(delivery)
    this.#trim()
    this.#pump()
  }

  /** Takes the command_status of a deliver_sm_resp. */
  answered(delivery: Delivery, status: number): void {
    if (status === STATUSES.ESME_ROK) {
      this.#counters[delivery.kind === 'receipt' ? 'receipts' : 'inbound'] += 1
      delivery.onAnswered?.(true)
    } else if (PERMANENT.has(status) || delivery.attempts >= this.#limits.deliverAttempts) {
      this.#drop(delivery)
    } else {
      this.#sendLater(delivery)
    }
    this.#pump()
  }

  timedOut(delivery: Delivery): void {
    if (delivery.attempts >= this.#limits.deliverAttempts) this.#drop(delivery)
    else this.post(delivery)
  }

  /** Gives up what is left. */
  close(): void {
    this.#closed = true
    for (const delivery of this.#waiting) this.#drop(delivery)
    this.#waiting.clear()
    this.#trim()
  }

  #sendLater(delivery: Delivery): void {
    if (this.#closed || this.#waiting.size >= this.#limits.keepLimit) {
      this.#drop(delivery)
      return
    }
    this.#waiting.add(delivery)
    this.#delays.add(this.#limits.retryDelayMs, () => {
      if (this.#waiting.delete(delivery)) this.post(delivery)
    })
  }

  #trim(): void {
    const limit = this.#closed ? 0 : this.#limits.keepLimit
    while (this.#queue.size > limit) this.#drop(this.#queue.shift()!)
  }

  #drop(delivery: Delivery): void {
    this.#counters.dropped += 1
    delivery.onAnswered?.(false)
  }

  #pump(): void {
    while (this.#queue.size > 0) {
      const receiver = this.#nextReceiver()
      if (receiver === undefined) return
      const delivery = this.#queue.shift()!
      delivery.attempts += 1
      receiver.send(delivery.pdu, delivery)
      if (delivery.attempts === 1) delivery.onSent?.()
      else this.#counters.resent += 1
    }
  }

  /** The next in turn whose window has room. */
  #nextReceiver(): Connection<Delivery> | undefined {
    const receivers = this.#receivers
    for (let tried = 0; tried < receivers.length; tried += 1) {
      this.#turn = (this.#turn + 1) % receivers.length
      const receiver = receivers[this.#turn]!
      if (receiver.windowFree > 0) return receiver
    }
    return undefined
  }
}

/** The ESME will never take it (SMPP 3.4 §5.1.3). Everything else may pass. */
const PERMANENT: ReadonlySet<number> = new Set([STATUSES.ESME_RX_P_APPN, STATUSES.ESME_RX_R_APPN])
