/**
 * A carrier with a ledger. It takes submits, and repeats receipts and inbound messages until they are acknowledged, over any
 * session it has. Its misbehaviour is set from outside.
 */
import { parseUserData } from '../../src/domain/text/concatenation.ts'
import { inboundMessageFields } from '../../src/simulator/inbound-messages.ts'
import type { Connection } from '../../src/smpp/connection.ts'
import { listen, type SmscServer } from '../../src/smpp/listener.ts'
import { messageOctets, type PduInput, type PduOf, type RequestPdu } from '../../src/smpp/pdu.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { nowMs } from './clock.ts'
import { type Inbound, markOf, numberIn, type ReceiptState, type Session, type Submit } from './ledgers.ts'

type SubmitPdu = PduOf<'submit_sm'>

/** Something that is offered until it is acknowledged. */
interface Offer {
  readonly kind: 'receipt' | 'inbound'
  readonly pdu: PduInput<'deliver_sm'>
  readonly onAcknowledged: () => void
  readonly onSent?: () => void
}

/** One message in this many is undeliverable. */
const UNDELIVERABLE = 20
const RECEIPT_DELAY_MS = [50, 400] as const
/** One receipt in this many is late, by up to `LATE_MS`. */
const LATE = 25
const LATE_MS = 4_000
const RETRY_MS = 500
const DELIVER_WINDOW = 30
const EARLY_LEAD_MS = 40

export interface Conduct {
  /** Delay before submit_sm_resp. */
  answerDelayMs: number
  /** Answers wait until this is false again. */
  holdsAnswers: boolean
  /** Share of submits (0 to 1) that are answered ESME_RTHROTTLED and not taken. */
  throttledShare: number
  /** Receipts go out before submit_sm_resp. */
  sendsReceiptsEarly: boolean
  /** How often a receipt is sent after it was acknowledged. */
  receiptRepeats: number
  refusesBinds: boolean
  /** Takes this many more submits without answering them, then drops the connection. */
  dropsAfterSubmits: number | null
}

const GOOD_CONDUCT: Conduct = {
  answerDelayMs: 0,
  holdsAnswers: false,
  throttledShare: 0,
  sendsReceiptsEarly: false,
  receiptRepeats: 0,
  refusesBinds: false,
  dropsAfterSubmits: null,
}

export interface CarrierOptions {
  readonly name: string
  readonly port: number
  readonly window: number
  /** submit_sm_resp has ids in hexadecimal, receipts in decimal. */
  readonly mixesIds: boolean
  /** Shared by the carriers of a run. Sessions are identified by their index in it. */
  readonly sessions: Session[]
  readonly submits: Submit[]
  readonly inbound: Inbound[]
  readonly onPoint: (point: 'submit' | 'receipt' | 'inbound') => void
}

export class Carrier {
  conduct: Conduct = { ...GOOD_CONDUCT }
  readonly #options: CarrierOptions
  readonly #queue: Offer[] = []
  readonly #bound = new Map<Connection<Offer>, number>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #waiting = 0
  #heldAnswers: (() => void)[] = []
  #server: SmscServer<Offer> | null = null
  #turn = 0
  #nextId: number

  constructor(options: CarrierOptions) {
    this.#options = options
    this.#nextId = Math.floor(Math.random() * 1_000_000) + 1_000_000
  }

  get name(): string {
    return this.#options.name
  }

  get port(): number {
    return this.#options.port
  }

  get sessionsNow(): number {
    return this.#bound.size
  }

  /** Receipts and inbound messages that are not acknowledged yet. */
  get unacknowledged(): number {
    return this.#waiting
  }

  async start(): Promise<void> {
    this.#server ??= await listen<Offer>(
      { port: this.#options.port, windowSize: DELIVER_WINDOW, unbindTimeoutMs: 2_000 },
      () => ({
        onBind: (pdu, link) => {
          if (this.conduct.refusesBinds) {
            link.respond(pdu, STATUSES.ESME_RBINDFAIL)
            return
          }
          if (!link.respond(pdu, STATUSES.ESME_ROK, { system_id: 'FAULTS' })) return
          const { name, window, sessions } = this.#options
          this.#bound.set(link, sessions.length)
          sessions.push({ carrier: name, boundAtMs: nowMs(), window, endedAtMs: null, isOrderly: false })
          this.#pump()
        },
        onRequest: (pdu, link) => this.#take(pdu, link),
        onResponse: (offer, pdu) => {
          if (pdu.status === STATUSES.ESME_ROK) this.#acknowledged(offer)
          else this.#later(RETRY_MS, () => this.#offer(offer))
          this.#pump()
        },
        onTimeout: (offer) => this.#offer(offer),
        onClose: ({ code }, unanswered, link) => {
          const session = this.#options.sessions[this.#bound.get(link) ?? -1]
          this.#bound.delete(link)
          this.#queue.unshift(...unanswered)
          if (session === undefined) return
          session.endedAtMs = nowMs()
          session.isOrderly = code === 'peer_unbound'
          this.#pump()
        },
      }),
    )
  }

  /** Stops listening and drops all connections. Keeps what is not acknowledged for the next start. */
  async stop(): Promise<void> {
    const server = this.#server
    this.#server = null
    await server?.close()
  }

  /** Stops for good. */
  async dispose(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    await this.stop()
  }

  behave(): void {
    this.conduct = { ...GOOD_CONDUCT }
    this.releaseAnswers()
  }

  releaseAnswers(): void {
    const held = this.#heldAnswers
    this.#heldAnswers = []
    for (const answer of held) answer()
  }

  /** Unbinds every session, as before maintenance. */
  unbindAll(): void {
    for (const link of this.#bound.keys()) void link.unbind(1_000)
  }

  /** Offers an inbound message to `to`. Its text contains its number. Parts are sent all at once, or one after the other. */
  offerInbound(k: number, to: string, text: string, atOnce: boolean): void {
    const pdus = inboundMessageFields({ from: `+1555${String(8_000_000 + k)}`, to, body: text }, k % 256)
    const entry: Inbound = { k, offeredAtMs: nowMs(), acknowledgedAtMs: null }
    this.#options.inbound.push(entry)
    let missing = pdus.length
    const offer = () => {
      const fields = pdus.shift()
      if (fields === undefined) return
      this.#waiting += 1
      this.#offer({
        kind: 'inbound',
        pdu: { command: 'deliver_sm', ...fields },
        onAcknowledged: () => {
          missing -= 1
          if (missing === 0) entry.acknowledgedAtMs = nowMs()
          offer()
        },
      })
    }
    do offer()
    while (atOnce && pdus.length > 0)
  }

  #take(pdu: RequestPdu, link: Connection<Offer>): void {
    if (pdu.command !== 'submit_sm') {
      link.respond(pdu, STATUSES.ESME_RINVCMDID)
      return
    }
    if (Math.random() < this.conduct.throttledShare) {
      link.respond(pdu, STATUSES.ESME_RTHROTTLED)
      return
    }
    const id = this.#nextId++
    const submit = this.#ledger(pdu, link)
    this.#options.onPoint('submit')
    const { mixesIds } = this.#options
    const answer = () => {
      if (!this.#bound.has(link)) return
      const messageId = mixesIds ? id.toString(16).toUpperCase() : String(id)
      if (link.respond(pdu, STATUSES.ESME_ROK, { message_id: messageId })) submit.answeredAtMs = nowMs()
    }
    const receipt = this.#receipt(pdu, submit, String(id))
    if (this.#drops(link)) {
      this.#sendReceipt(receipt)
      return
    }
    if (this.conduct.sendsReceiptsEarly && link.windowFree > 0) {
      this.#waiting += 1
      this.#queue.unshift({ ...receipt, onSent: () => this.#later(EARLY_LEAD_MS, answer) })
      this.#pump()
      return
    }
    this.#answer(answer)
    this.#sendReceipt(receipt)
  }

  #answer(answer: () => void): void {
    const { holdsAnswers, answerDelayMs } = this.conduct
    if (holdsAnswers) this.#heldAnswers.push(answer)
    else if (answerDelayMs > 0) this.#later(answerDelayMs, answer)
    else answer()
  }

  #drops(link: Connection<Offer>): boolean {
    if (this.conduct.dropsAfterSubmits === null) return false
    this.conduct.dropsAfterSubmits -= 1
    if (this.conduct.dropsAfterSubmits > 0) return true
    this.conduct.dropsAfterSubmits = null
    link.destroy()
    return true
  }

  #ledger(pdu: SubmitPdu, link: Connection<Offer>): Submit {
    const octets = messageOctets(pdu)
    const { payload, part } = parseUserData({ esmClass: pdu.esm_class, shortMessage: octets, tlvs: {} })
    const n = numberIn(payload.toString('latin1'))
    const submit: Submit = {
      n,
      segment: part === null ? 0 : part.sequence - 1,
      session: this.#bound.get(link)!,
      atMs: nowMs(),
      answeredAtMs: null,
      state: stateOf(n),
      receiptAcknowledgedAtMs: null,
    }
    this.#options.submits.push(submit)
    return submit
  }

  #receipt(pdu: SubmitPdu, submit: Submit, id: string): Offer {
    const text = `id:${id} sub:001 dlvrd:001 submit date:2601010000 done date:2601010001 stat:${submit.state} err:000 text:`
    let repeats = this.conduct.receiptRepeats
    const offer: Offer = {
      kind: 'receipt',
      pdu: {
        command: 'deliver_sm',
        esm_class: 4,
        source_addr_ton: pdu.dest_addr_ton,
        source_addr_npi: pdu.dest_addr_npi,
        source_addr: pdu.destination_addr,
        dest_addr_ton: pdu.source_addr_ton,
        dest_addr_npi: pdu.source_addr_npi,
        destination_addr: pdu.source_addr,
        short_message: Buffer.from(text, 'latin1'),
      },
      onAcknowledged: () => {
        submit.receiptAcknowledgedAtMs ??= nowMs()
        if (repeats === 0) return
        repeats -= 1
        this.#sendReceipt(offer)
      },
    }
    return offer
  }

  #sendReceipt(offer: Offer): void {
    this.#waiting += 1
    const [least, most] = RECEIPT_DELAY_MS
    const lateMs = Math.random() < 1 / LATE ? Math.random() * LATE_MS : 0
    this.#later(least + Math.random() * (most - least) + lateMs, () => this.#offer(offer))
  }

  #offer(offer: Offer): void {
    this.#queue.push(offer)
    this.#pump()
  }

  #acknowledged(offer: Offer): void {
    this.#waiting -= 1
    offer.onAcknowledged()
  }

  #pump(): void {
    const links = [...this.#bound.keys()].filter(({ windowFree }) => windowFree > 0)
    while (this.#queue.length > 0 && links.length > 0) {
      this.#turn = (this.#turn + 1) % links.length
      const link = links[this.#turn]!
      const offer = this.#queue[0]!
      if (link.windowFree === 0 || link.send(offer.pdu, offer) <= 0) {
        links.splice(this.#turn, 1)
        continue
      }
      this.#queue.shift()
      this.#options.onPoint(offer.kind)
      offer.onSent?.()
    }
  }

  #later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, ms)
    this.#timers.add(timer)
  }
}

function stateOf(n: number): ReceiptState {
  return n % UNDELIVERABLE === UNDELIVERABLE - 1 ? 'UNDELIV' : 'DELIVRD'
}

/** Long enough for three segments if requested. */
export function textOf(n: number, segments: number): string {
  const mark = markOf(n)
  return segments === 1 ? mark : mark.repeat(Math.ceil((153 * (segments - 1) + 20) / mark.length))
}
