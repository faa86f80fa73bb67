import { BindErrors, type LinkFailure, nextPauseMs } from '../../domain/carriers/binds.ts'
import { CONFIRMED_AFTER_MS } from '../../domain/carriers/inbound-offers.ts'
import type { BindType, Carrier } from '../../domain/configuration/configuration.ts'
import type { BindReport, LinkStatus } from '../../domain/nodes.ts'
import type { Log } from '../../log.ts'
import { type Connection, connect, probe } from '../../smpp/connection.ts'
import type { Pdu, RequestPdu, ResponsePdu } from '../../smpp/pdu.ts'
import type { Anomaly, CloseReason } from '../../smpp/session-handlers.ts'
import { statusName } from '../../smpp/statuses.ts'
import { closeError, errorText, failureOf, reasonText, tlsAdvice } from './close-reasons.ts'

export type BindCommand = `bind_${BindType}`

/** What a link tells the submitter. `Token` is the submitter's. */
export interface SubmitEvents<Token> {
  /** The link is bound, or its window has room again. */
  onReady(link: CarrierLink<Token>): void
  /** `latencyMs`: time since the request was sent. */
  onResponse(token: Token, pdu: ResponsePdu, link: CarrierLink<Token>, latencyMs: number): void
  /** No answer in time. The carrier may have the message. */
  onTimeout(token: Token): void
  onLateResponse(token: Token, pdu: ResponsePdu): void
  /** The session is over. The requests of these tokens may have reached the carrier. */
  onLost(tokens: Token[], link: CarrierLink<Token>): void
}

/** Those who act on the events of a link. */
export interface LinkListeners<Token> {
  readonly submitter: SubmitEvents<Token>
  readonly receiver: {
    /** `toAnswer`: requests of the session that we have not answered yet, including this one. */
    onRequest(pdu: RequestPdu, connection: Connection<Token>, carrier: Carrier, toAnswer: number): void
  }
  /** The carrier violated SMPP. `pdu` is null if no PDU was at fault. */
  readonly onAnomaly?: (anomaly: Anomaly, carrier: Carrier, pdu: Pdu | null) => void
}

export interface LinkTimings {
  readonly connectTimeoutMs?: number
  readonly responseTimeoutMs?: number
  readonly enquireLinkIntervalMs?: number
  readonly enquireLinkTimeoutMs?: number
  readonly bindTimeoutMs?: number
  readonly pduReadTimeoutMs?: number
  /** How long a link that must end soon waits for requests in flight, and then for unbind_resp. */
  readonly unbindTimeoutMs?: number
  /** How long a link that need not end soon waits for requests in flight: it was stopped, or its settings have changed. */
  readonly answersTimeoutMs?: number
  /** First pause before a new connection; see domain/carriers/binds.ts. */
  readonly backoffMs?: number
}

const FIRST_BACKOFF_MS = 1_000
/** A link that closes again for the same reason is logged at most this often. */
const LOG_EVERY_MS = 60_000

/** A session that the carrier ends sooner counts as refused: the pause before the next keeps growing. */
const STEADY_MS = 1_000
/** The same for a session that we ended because the carrier said it was not in order. */
const STEADY_REBOUND_MS = 10_000
/** After a rebind, for this long, a session that has accepted a message is in order, however it answers other messages. */
const REBIND_EVERY_MS = 20_000
/** Submits in a row without an answer after which a session may be cut. */
const MIN_SILENT_SUBMITS = 3
/** Longer than it takes to prove that an answer was read, because an answer is noted a little after it is written. */
const CONFIRM_ANSWERS_MS = CONFIRMED_AFTER_MS + 250
/** A request without an answer by then probably gets none. Waiting is better than making it ambiguous. */
const ANSWERS_TIMEOUT_MS = 15_000

export interface CarrierLinkOptions<Token> {
  readonly carrier: Carrier
  readonly number: number
  readonly bind: BindCommand
  readonly listeners: LinkListeners<Token>
  readonly timings: LinkTimings
  readonly log: Log
}

/** One bind to a carrier. It is bound again after each close, until the link is stopped. */
export class CarrierLink<Token> {
  /** Its current settings. Those that a bind is not made with may change during the session. */
  carrier: Carrier
  readonly number: number
  readonly bind: BindCommand
  readonly #options: CarrierLinkOptions<Token>
  #connection: Connection<Token> | null = null
  #timer: NodeJS.Timeout | null = null
  /** The last pause, without jitter; 0 after a session that was in order. */
  #pauseMs = 0
  /** Sessions in a row that the carrier closed. */
  #closes = 0
  #loggedAtMs = Number.NEGATIVE_INFINITY
  #stopped = false
  #boundSince: Date | null = null
  /** When it was made, or when its last session that was bound ended. */
  #downSince = new Date()
  /** When the pause before the next session ends; null: there is none. */
  #retryAt: Date | null = null
  readonly #errors = new BindErrors()
  #boundAtMs = Number.POSITIVE_INFINITY
  #lastClose: string | null = null
  /** When the carrier last said that the session was not in order. */
  #reboundAtMs = Number.NEGATIVE_INFINITY
  /** This session has taken a message. */
  #hasAccepted = false
  /** Submits without an answer since the last answer, or since the bind. */
  #silentSubmits = 0
  /** It was cut because it answered no submit, and has answered none since. */
  #isDoubtful = false

  constructor(options: CarrierLinkOptions<Token>) {
    this.carrier = options.carrier
    this.number = options.number
    this.bind = options.bind
    this.#options = options
  }

  /** Whether its session can submit, whatever the state of the carrier. */
  get canSubmit(): boolean {
    return this.bind !== 'bind_receiver' && this.#boundSince !== null
  }

  get windowFree(): number {
    return Math.max(0, Math.min(this.#connection?.windowFree ?? 0, this.places - this.unanswered))
  }

  /** It was cut because it answered no submit, and has answered none since. A message sent over it is a trial. */
  get isDoubtful(): boolean {
    return this.#isDoubtful
  }

  /**
   * How many PDUs may be in flight over it. Each submit that was never answered takes a place until one is answered. A link
   * whose last session was cut because it answered no submit has one place until it answers.
   */
  get places(): number {
    if (!this.canSubmit || this.#isSilent) return 0
    return this.#isDoubtful ? 1 : Math.max(1, this.carrier.window - this.#silentSubmits)
  }

  /** It answers no submit, though it may answer enquire_link. */
  get #isSilent(): boolean {
    const most = this.#isDoubtful ? 1 : Math.max(MIN_SILENT_SUBMITS, this.carrier.window)
    return this.#silentSubmits >= most
  }

  get unanswered(): number {
    return this.#connection?.unanswered ?? 0
  }

  get status(): LinkStatus {
    return {
      number: this.number,
      bind: this.bind,
      state: this.#connection?.state ?? 'CLOSED',
      boundSince: this.#boundSince?.toISOString() ?? null,
      lastClose: this.#lastClose,
      unanswered: this.unanswered,
    }
  }

  get report(): BindReport {
    return {
      number: this.number,
      type: this.bind.slice('bind_'.length) as BindType,
      state: this.#state,
      since: (this.#boundSince ?? this.#downSince).toISOString(),
      retryAt: this.#retryAt?.toISOString() ?? null,
      window: this.carrier.window,
      unanswered: this.unanswered,
      errors: this.#errors.list(),
    }
  }

  get #state(): BindReport['state'] {
    if (this.#stopped || this.#connection?.state === 'UNBINDING') return 'unbinding'
    if (this.#retryAt !== null) return 'backing-off'
    return this.#boundSince === null ? 'connecting' : 'bound'
  }

  start(): void {
    if (this.#stopped) return
    this.#retryAt = null
    const { carrier } = this
    const { listeners, timings } = this.#options
    const { submitter, receiver } = listeners
    const { backoffMs: _, answersTimeoutMs: __, ...sessionTimings } = timings
    try {
      this.#connection = connect<Token>(
        {
          host: carrier.host,
          port: carrier.port,
          ...(carrier.tls && { tls: tlsOf(carrier) }),
          bind: {
            command: this.bind,
            system_id: carrier.systemId,
            password: carrier.password,
            system_type: carrier.systemType,
          },
          windowSize: carrier.window,
          confirmAnswersMs: CONFIRM_ANSWERS_MS,
          ...sessionTimings,
        },
        {
          onBound: () => this.#bound(),
          onRequest: (pdu, connection, toAnswer) =>
            receiver.onRequest(pdu, connection, this.carrier, toAnswer),
          onResponse: (token, pdu, _connection, latencyMs) => {
            this.#answered(pdu)
            submitter.onResponse(token, pdu, this, latencyMs)
          },
          onTimeout: (token) => {
            this.#silentSubmits += 1
            submitter.onTimeout(token)
            // Requests in flight over it would get no answer either, and other carriers of the route do better.
            if (this.#isSilent) void this.#connection?.close({ code: 'submits_unanswered' })
          },
          onAnomaly: (anomaly, pdu) => listeners.onAnomaly?.(anomaly, this.carrier, pdu),
          onLateResponse: (token, pdu) => {
            const { places } = this
            this.#answered(pdu)
            submitter.onLateResponse(token, pdu)
            if (this.places > places) submitter.onReady(this)
          },
          onClose: (reason, tokens) => this.#closed(reason, tokens),
        },
      )
    } catch (error) {
      // A bind field does not fit the PDU. These settings cannot work until they are changed.
      this.#closed({ code: 'connect_failed', error: error as Error }, [])
    }
  }

  /**
   * Sends a request. Returns false when the window is full or the link is not bound. @throws RangeError a field does not fit.
   */
  submit(pdu: Parameters<Connection<Token>['send']>[0], token: Token): boolean {
    return this.#connection !== null && this.#connection.send(pdu, token) > 0
  }

  /** Identifies the current session of the link; null: it is not bound. */
  get session(): object | null {
    return this.#boundSince
  }

  /**
   * The carrier says that our session is not in order. Ends it and binds again. Returns false if that was done less than 20 s
   * ago and the session has taken a message since: then it is in order.
   */
  rebind(): boolean {
    if (this.#connection?.state === 'UNBINDING') return true
    const nowMs = performance.now()
    if (this.#hasAccepted && nowMs - this.#reboundAtMs < REBIND_EVERY_MS) return false
    this.#reboundAtMs = nowMs
    void this.#connection?.unbind()
    return true
  }

  /** Unbinds once requests in flight are answered, and stays down. */
  async stop(): Promise<void> {
    await this.#end(this.#options.timings.answersTimeoutMs ?? ANSWERS_TIMEOUT_MS)
  }

  /** Stops soon: a session that is not over after `mostMs` is cut. Also hastens a `stop` in progress. */
  async close(mostMs: number = Number.POSITIVE_INFINITY): Promise<void> {
    const connection = this.#connection
    const cut = Number.isFinite(mostMs) ? setTimeout(() => connection?.destroy(), mostMs) : null
    await this.#end()
    if (cut !== null) clearTimeout(cut)
  }

  async #end(waitMs?: number): Promise<void> {
    this.#stopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#connection?.unbind(waitMs)
  }

  #answered({ command, status }: ResponsePdu): void {
    this.#silentSubmits = 0
    this.#isDoubtful = false
    if (status !== 0)
      this.#errors.note({ error: 'submit_sm', status: statusName(status), detail: null }, Date.now())
    else if (command === 'submit_sm_resp') this.#hasAccepted = true
  }

  #bound(): void {
    this.#boundSince = new Date()
    this.#hasAccepted = false
    this.#silentSubmits = 0
    this.#boundAtMs = performance.now()
    const { carrier, bind, number } = this
    this.#options.log.info({ carrier: carrier.name, bind, number }, 'carrier bound')
    this.#options.listeners.submitter.onReady(this)
  }

  #closed(reason: CloseReason, tokens: Token[]): void {
    if (reason.code === 'submits_unanswered') this.#isDoubtful = true
    const boundMs = performance.now() - this.#boundAtMs
    if (!this.#isDoubtful && boundMs >= (reason.code === 'unbound' ? STEADY_REBOUND_MS : STEADY_MS))
      this.#pauseMs = 0
    const failure = failureOf(reason, { isDoubtful: this.#isDoubtful, isEarly: boundMs < STEADY_MS })
    this.#connection = null
    if (this.#boundSince !== null) this.#downSince = new Date()
    this.#boundSince = null
    this.#boundAtMs = Number.POSITIVE_INFINITY
    const isRepeated = this.#pauseMs > 0 && this.#lastClose === reasonText(reason)
    this.#lastClose = reasonText(reason)
    if (!isRepeated || performance.now() - this.#loggedAtMs >= LOG_EVERY_MS)
      this.#logClose(reason, tokens.length)
    this.#errors.note(closeError(reason), Date.now())
    // First, so that the link is bound again even if `onLost` throws.
    if (!this.#stopped) this.#startLater(failure)
    try {
      this.#options.listeners.submitter.onLost(tokens, this)
    } catch (error) {
      const details = { carrier: this.carrier.name, error: (error as Error).message }
      this.#options.log.warn(details, 'failed to process the in-flight messages of a closed link')
    }
  }

  /** Logs a warning if only a change of settings, here or at the carrier, can help. */
  #logClose({ code, status, error }: CloseReason, unanswered: number): void {
    const details = {
      carrier: this.carrier.name,
      bind: this.bind,
      number: this.number,
      reason: code,
      status: status === undefined ? undefined : statusName(status),
      error: error === undefined ? undefined : errorText(error),
      unanswered,
    }
    const { log } = this.#options
    this.#loggedAtMs = performance.now()
    if (code === 'bind_rejected') log.warn({ command: this.bind, ...details }, 'the carrier refused the bind')
    else if (tlsAdvice(error) === null) log.info(details, 'carrier link closed')
    else log.warn(details, 'carrier link closed')
  }

  #startLater(failure: LinkFailure): void {
    const firstMs = this.#options.timings.backoffMs ?? FIRST_BACKOFF_MS
    this.#closes = failure === 'closed' ? this.#closes + 1 : 0
    this.#pauseMs = nextPauseMs(failure, { lastMs: this.#pauseMs, firstMs, closes: this.#closes })
    // Links that were cut together should not come back together.
    const pauseMs = this.#pauseMs * (0.8 + 0.2 * Math.random())
    this.#timer = setTimeout(() => this.start(), pauseMs)
    this.#retryAt = new Date(Date.now() + pauseMs)
  }
}

/**
 * Connects to a carrier as its binds do, and closes without a bind.
 * @throws Error of the socket, or ETIMEDOUT
 */
export function reachCarrier(carrier: Carrier, connectTimeoutMs: number): Promise<void> {
  const { host, port, tls } = carrier
  return probe({ host, port, connectTimeoutMs, ...(tls && { tls: tlsOf(carrier) }) })
}

/**
 * The certificate is checked against the carrier's own authorities or the default ones, its name against tlsServerName or the
 * host.
 */
function tlsOf({ tlsCa, tlsServerName }: Carrier): true | { ca?: string; servername?: string } {
  return {
    ...(tlsCa !== null && { ca: tlsCa }),
    ...(tlsServerName !== null && { servername: tlsServerName }),
  }
}
