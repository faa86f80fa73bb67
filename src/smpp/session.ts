import { BOUND_STATES, type BoundState, COMMANDS, COMMANDS_BY_NAME, RESPONSE_BIT } from './commands.ts'
import { decodePdu, overlongRefusal } from './decoding.ts'
import { Framer } from './framer.ts'
import { Outbox } from './outbox.ts'
import type {
  BindPdu,
  BindRespPdu,
  MalformedPdu,
  Pdu,
  PduInput,
  RequestInput,
  RequestPdu,
  ResponseBody,
  ResponsePdu,
} from './pdu.ts'
import type { Anomaly, CloseReason, SessionHandlers } from './session-handlers.ts'
import type { SessionSettings } from './session-options.ts'
import { STATUSES } from './statuses.ts'
import { SessionTimers } from './timers.ts'
import { Window } from './window.ts'

/** §2.2, with CONNECTING before the transport is open and UNBINDING from our unbind to the end. */
type SessionState = 'CONNECTING' | 'OPEN' | BoundState | 'UNBINDING' | 'CLOSED'

/** Returned by `send` instead of a sequence number when it takes nothing. */
export const WINDOW_FULL = 0
export const NOT_BOUND = -1

/**
 * One SMPP 3.4 session as a state machine without I/O. Octets and times go in through `receive`, `tick` and the calls of
 * the application. What happened comes out through the handlers, octets to be sent through `takeOutput`, and whether to
 * go on reading through `readPaused`. `nowMs` is any monotonic clock, in milliseconds.
 */
export class Session<Token> {
  state: SessionState = 'CONNECTING'
  /** The peer sent its last octets no earlier than this, by the clock of `nowMs`. */
  lastReceivedMs = Number.NEGATIVE_INFINITY
  /** Our unbind is sent, so the peer may not read answers any more. */
  isUnbindSent = false
  /** How many requests of the peer the application has still to answer. */
  toAnswer = 0
  /** How often the peer did each thing that it should not do. */
  readonly anomalies: Record<Anomaly, number> = {
    unknown_command: 0,
    malformed_pdu: 0,
    overlong_string: 0,
    unexpected_command: 0,
    wrong_bind: 0,
    unmatched_response: 0,
    late_response: 0,
    truncated_tlv: 0,
    outbind: 0,
    frame_error: 0,
  }
  readonly #settings: SessionSettings
  readonly #handlers: SessionHandlers<Token>
  readonly #framer: Framer
  readonly #window: Window<Token | null>
  readonly #timers: SessionTimers
  readonly #outbox = new Outbox()
  #inbound = new WeakSet<RequestPdu>()
  #boundState: BoundState | null = null
  #emptiedMs = 0
  #pausedSinceTick = false
  #inboundPaused = false
  #outputBlocked = false

  constructor(settings: SessionSettings, handlers: SessionHandlers<Token>) {
    this.#settings = settings
    this.#handlers = handlers
    this.#framer = new Framer(settings.frameLimit)
    this.#timers = new SessionTimers(settings)
    this.#window = new Window({
      size: settings.windowSize,
      responseTimeoutMs: settings.responseTimeoutMs,
      lateLimit: settings.lateLimit,
      lateTtlMs: settings.lateTtlMs,
      initialSequence: settings.initialSequence,
    })
  }

  /** Requests that `send` would take now. */
  get windowFree(): number {
    return this.state === 'BOUND_TRX' || this.state === 'BOUND_TX' || this.state === 'BOUND_RX'
      ? this.#window.free
      : 0
  }

  /** Our requests without a response. */
  get unanswered(): number {
    return this.#window.unanswered
  }

  /** True while the transport must not be read: too many unanswered requests, or too much unwritten output. */
  get readPaused(): boolean {
    return this.#inboundPaused || this.#outputBlocked
  }

  get hasOutput(): boolean {
    return !this.#outbox.isEmpty
  }

  takeOutput(): Buffer[] {
    return this.#outbox.take()
  }

  /** The transport is open: sends the bind, if there is one. @throws RangeError a bind field does not fit. */
  open(nowMs: number): void {
    if (this.state !== 'CONNECTING') return
    this.state = 'OPEN'
    this.#emptiedMs = nowMs
    this.#timers.opened(nowMs)
    if (this.#settings.bind !== null)
      this.#request({ interface_version: 0x34, ...this.#settings.bind }, null, true, nowMs)
  }

  /**
   * Sends a request. Returns its sequence number, WINDOW_FULL or NOT_BOUND (also: not in this state, by this role).
   * @throws RangeError a field does not fit (see `encodePdu`); nothing is sent then.
   */
  send(pdu: RequestInput, token: Token, nowMs: number): number {
    const command = COMMANDS[pdu.command]
    const allowed: readonly string[] = this.#settings.role === 'esme' ? command.esme : command.smsc
    if (!allowed.includes(this.state)) return NOT_BOUND
    if (this.#window.free === 0) return WINDOW_FULL
    return this.#request(pdu, token, false, nowMs)
  }

  /**
   * Answers a request of the peer. False when nobody may read that: answered before, the session over, or our unbind sent.
   * @throws RangeError a field does not fit; the request is then still unanswered.
   */
  respond(request: RequestPdu, status: number, body: ResponseBody | undefined, nowMs: number): boolean {
    if (!this.#inbound.has(request)) return false
    const isBehindUnbind = this.isUnbindSent
    this.#answer(request.commandId, request.sequence, status, body)
    this.#inbound.delete(request)
    this.toAnswer -= 1
    this.#timers.answered(nowMs)
    if (request.command.startsWith('bind_') && status === STATUSES.ESME_ROK)
      this.#enterBound(request.command as BindPdu['command'])
    if (this.#inboundPaused && this.toAnswer <= this.#settings.inboundLimit / 2) {
      this.#inboundPaused = false
      this.#readingChanged(nowMs)
    }
    if (this.state === 'UNBINDING') this.#advanceUnbind(false, nowMs)
    return !isBehindUnbind
  }

  /** Ends the session in order: no more requests, wait for those in flight (`waitMs` at most), unbind, close. */
  unbind(nowMs: number, waitMs: number = this.#settings.unbindTimeoutMs): void {
    if (this.state === 'CLOSED') return
    if (this.#boundState === null) {
      this.close({ code: 'local' })
      return
    }
    this.state = 'UNBINDING'
    this.#timers.unbindRequested(nowMs + waitMs)
    this.#advanceUnbind(false, nowMs)
  }

  /** Ends the session at once and reports it. What is in the outbox may still be written. */
  close(reason: CloseReason): void {
    if (this.state === 'CLOSED') return
    this.state = 'CLOSED'
    this.#inbound = new WeakSet()
    this.toAnswer = 0
    this.#handlers.onClose?.(reason, this.#window.drain() as Token[])
  }

  /** The transport's send buffer is over its limit, or empty again. */
  outputBlocked(blocked: boolean, nowMs: number): void {
    if (this.#outputBlocked === blocked) return
    this.#outputBlocked = blocked
    this.#readingChanged(nowMs)
  }

  /** Octets from the transport, cut anywhere. */
  receive(chunk: Buffer, nowMs: number): void {
    const framer = this.#framer
    this.lastReceivedMs = this.#emptiedMs
    let completed = false
    if (this.state !== 'CLOSED') framer.push(chunk)
    while (this.state !== 'CLOSED' && framer.next()) {
      completed = true
      this.#receivePdu(decodePdu(framer.buffer, framer.start, framer.end), nowMs)
    }
    if (this.state === 'CLOSED') return
    if (framer.fault !== null) {
      this.#count('frame_error', null)
      this.#nack(framer.fault.sequence, STATUSES.ESME_RINVCMDLEN)
      this.close({ code: 'frame_error' })
      return
    }
    this.#timers.received(nowMs, framer.held > 0, completed, this.#emptiedMs)
  }

  /**
   * Does everything that is due at `nowMs`. Unless reading was paused since the last call, all octets that came before
   * `emptiedMs` have been handed over.
   */
  tick(nowMs: number, emptiedMs: number = nowMs): void {
    if (this.state === 'CLOSED' || this.state === 'CONNECTING') return
    if (this.#pausedSinceTick) this.#pausedSinceTick = this.readPaused
    else this.#emptiedMs = emptiedMs
    for (const entry of this.#window.expire(nowMs)) {
      this.#handlers.onTimeout?.(entry.token as Token)
      if (this.#isClosed()) return
    }
    if (this.state === 'UNBINDING') this.#advanceUnbind(false, nowMs)
    const event = this.#timers.due(nowMs)
    if (event === 'enquire_link' || event === 'confirm_answers') {
      this.#request({ command: 'enquire_link' }, null, true, nowMs)
      if (event === 'enquire_link') this.#timers.enquired(nowMs)
      else this.#timers.confirmationSent()
    } else if (event === 'send_unbind') {
      this.#advanceUnbind(true, nowMs)
    } else if (event !== null) {
      this.close({ code: event })
    }
  }

  #receivePdu(pdu: Pdu, nowMs: number): void {
    if (pdu.command === 'malformed') {
      this.#receiveMalformed(pdu, nowMs)
    } else if (pdu.command === 'unknown') {
      this.#count('unknown_command', pdu)
      // A response is never answered: two peers could go on for ever.
      if (pdu.commandId < RESPONSE_BIT) this.#nack(pdu.sequence, STATUSES.ESME_RINVCMDID)
    } else {
      if (pdu.tlvsTruncated) this.#count('truncated_tlv', pdu)
      if (pdu.overlong !== null) this.#count('overlong_string', pdu)
      const refusal = this.#settings.role === 'smsc' ? overlongRefusal(pdu) : null
      if (refusal !== null) this.#answer(pdu.commandId, pdu.sequence, refusal)
      else if (pdu.commandId >= RESPONSE_BIT) this.#receiveResponse(pdu as ResponsePdu, nowMs)
      else this.#receiveRequest(pdu as RequestPdu, nowMs)
    }
  }

  #receiveMalformed(pdu: MalformedPdu, nowMs: number): void {
    this.#count('malformed_pdu', pdu)
    if (pdu.commandId >= RESPONSE_BIT) this.#receiveResponse(pdu, nowMs)
    else this.#answer(pdu.commandId, pdu.sequence, pdu.answer)
  }

  #receiveRequest(pdu: RequestPdu, nowMs: number): void {
    switch (pdu.command) {
      case 'enquire_link':
        this.#answer(pdu.commandId, pdu.sequence, STATUSES.ESME_ROK)
        break
      case 'outbind':
        this.#count('outbind', pdu)
        break
      case 'bind_transmitter':
      case 'bind_receiver':
      case 'bind_transceiver':
        this.#receiveBind(pdu, nowMs)
        break
      default:
        this.#receiveBoundRequest(pdu, nowMs)
    }
  }

  #receiveBoundRequest(pdu: BoundRequest, nowMs: number): void {
    const command = COMMANDS[pdu.command]
    const allowed: readonly string[] = this.#settings.role === 'esme' ? command.smsc : command.esme
    const isAllowed = this.#boundState !== null && allowed.includes(this.#boundState)
    if (!isAllowed && !this.#tolerates(pdu)) {
      this.#refuse(pdu, STATUSES.ESME_RINVBNDSTS)
    } else if (pdu.command === 'unbind') {
      this.#answer(pdu.commandId, pdu.sequence, STATUSES.ESME_ROK)
      this.close({ code: 'peer_unbound' })
    } else if (pdu.command === 'alert_notification') {
      this.#handlers.onRequest?.(pdu)
    } else {
      this.#expectAnswer(pdu, nowMs)
      if (this.#handlers.onRequest !== undefined) this.#handlers.onRequest(pdu)
      else this.respond(pdu, STATUSES.ESME_RX_T_APPN, undefined, nowMs)
    }
  }

  /** Whether we accept it in this state although SMPP 3.4 does not allow it to be sent then. */
  #tolerates(pdu: BoundRequest): boolean {
    const { tolerated } = COMMANDS_BY_NAME.get(pdu.command)!
    if (this.#settings.role !== 'esme' || this.#boundState === null) return false
    if (tolerated === undefined || !tolerated.includes(this.#boundState)) return false
    this.#count('wrong_bind', pdu)
    return true
  }

  #receiveBind(pdu: BindPdu, nowMs: number): void {
    if (this.#settings.role === 'esme') {
      this.#refuse(pdu, STATUSES.ESME_RINVBNDSTS)
    } else if (this.#boundState !== null || this.toAnswer > 0) {
      this.#refuse(pdu, STATUSES.ESME_RALYBND)
    } else {
      this.#expectAnswer(pdu, nowMs)
      if (this.#handlers.onBind !== undefined) this.#handlers.onBind(pdu)
      else this.respond(pdu, STATUSES.ESME_RBINDFAIL, undefined, nowMs)
    }
  }

  #expectAnswer(pdu: RequestPdu, nowMs: number): void {
    this.#inbound.add(pdu)
    this.toAnswer += 1
    if (this.#inboundPaused || this.toAnswer <= this.#settings.inboundLimit) return
    this.#inboundPaused = true
    this.#readingChanged(nowMs)
  }

  #receiveResponse(pdu: ResponsePdu, nowMs: number): void {
    const commandId = pdu.commandId - RESPONSE_BIT
    const entry = this.#window.take(pdu.sequence, commandId)
    if (entry === undefined) {
      const late = this.#window.takeLate(pdu.sequence, commandId)
      this.#count(late === undefined ? 'unmatched_response' : 'late_response', pdu)
      if (late !== undefined) this.#handlers.onLateResponse?.(late.token as Token, pdu)
      return
    }
    if (!entry.internal) {
      this.#handlers.onResponse?.(entry.token as Token, pdu, nowMs - entry.sentAtMs)
      if (this.state === 'UNBINDING') this.#advanceUnbind(false, nowMs)
      return
    }
    if (entry.commandId === COMMANDS.enquire_link.id) this.#timers.enquiryAnswered()
    else if (entry.commandId === COMMANDS.unbind.id) this.close({ code: 'unbound' })
    else this.#receiveBindResponse(pdu)
  }

  #receiveBindResponse(pdu: ResponsePdu): void {
    if (pdu.status !== STATUSES.ESME_ROK || pdu.command === 'generic_nack') {
      this.close({ code: 'bind_rejected', status: pdu.status })
    } else {
      this.#enterBound(this.#settings.bind!.command)
      this.#handlers.onBound?.(pdu as BindRespPdu)
    }
  }

  #enterBound(command: BindPdu['command']): void {
    this.#boundState = BOUND_STATES[command]
    this.state = this.#boundState
    this.#timers.bound()
  }

  /** Sends the unbind once nothing is in flight in either direction, or at once when `force`d. */
  #advanceUnbind(force: boolean, nowMs: number): void {
    if (this.isUnbindSent || this.#isClosed()) return
    if (!force && (this.#window.unanswered > 0 || this.toAnswer > 0)) return
    this.isUnbindSent = true
    this.#request({ command: 'unbind' }, null, true, nowMs)
    this.#timers.unbindSent(nowMs)
  }

  #request(pdu: PduInput, token: Token | null, internal: boolean, nowMs: number): number {
    const sequence = this.#window.nextSequence()
    this.#outbox.add(pdu, sequence, 0)
    this.#window.add({ sequence, commandId: COMMANDS[pdu.command].id, token, sentAtMs: nowMs, internal })
    return sequence
  }

  #refuse(pdu: RequestPdu, status: number): void {
    this.#count('unexpected_command', pdu)
    this.#answer(pdu.commandId, pdu.sequence, status)
  }

  /** The command's own response with the peer's sequence number; nothing for a command that has none. */
  #answer(commandId: number, sequence: number, status: number, body?: ResponseBody): void {
    const response = RESPONSES.get(commandId)
    if (response === undefined) return
    this.#outbox.add(body === undefined ? response : ({ ...body, ...response } as PduInput), sequence, status)
  }

  #nack(sequence: number, status: number): void {
    this.#outbox.add({ command: 'generic_nack' }, sequence, status)
  }

  #count(anomaly: Anomaly, pdu: Pdu | null): void {
    this.anomalies[anomaly]++
    this.#handlers.onAnomaly?.(anomaly, pdu)
  }

  #readingChanged(nowMs: number): void {
    this.#pausedSinceTick ||= this.readPaused
    if (this.readPaused) this.#timers.readingPaused(nowMs, this.#outputBlocked)
    else this.#timers.readingResumed(nowMs)
  }

  /** A method, so that the compiler does not assume the state unchanged: a handler may have closed the session meanwhile. */
  #isClosed(): boolean {
    return this.state === 'CLOSED'
  }
}

type BoundRequest = Exclude<RequestPdu, BindPdu | { command: 'enquire_link' | 'outbind' }>

/** The empty response of each request, by the request's command_id. */
const RESPONSES = new Map<number, PduInput>()
for (const { id, response } of COMMANDS_BY_NAME.values())
  if (response !== null) RESPONSES.set(id, { command: response } as PduInput)
