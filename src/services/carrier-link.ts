import type { Carrier } from '../domain/directory.ts'
import { type Connection, connect } from '../smpp/connection.ts'
import type { RequestPdu, ResponsePdu } from '../smpp/pdu.ts'
import type { Anomaly, CloseReason } from '../smpp/session-handlers.ts'

export type BindCommand = 'bind_transceiver' | 'bind_transmitter' | 'bind_receiver'

/** What a link tells the submitter and the receiver. `Token` is theirs. */
export interface LinkEvents<Token> {
  /** Bound, or its window has room again after the bind. */
  onReady(link: CarrierLink<Token>): void
  /** `latencyMs` after the request was sent. */
  onResponse(token: Token, pdu: ResponsePdu, link: CarrierLink<Token>, latencyMs: number): void
  /** No answer in time: the carrier may have the message. */
  onTimeout(token: Token): void
  onLateResponse(token: Token, pdu: ResponsePdu): void
  /** The session is over; what these tokens stand for may have reached the carrier. */
  onLost(tokens: Token[], link: CarrierLink<Token>): void
  onRequest(pdu: RequestPdu, connection: Connection<Token>, carrier: Carrier): void
  /** The carrier did something that SMPP does not allow; the session goes on. */
  onAnomaly?(anomaly: Anomaly, carrier: Carrier): void
}

export interface LinkTimings {
  readonly responseTimeoutMs?: number
  readonly enquireLinkIntervalMs?: number
  readonly enquireLinkTimeoutMs?: number
  readonly bindTimeoutMs?: number
  /** How long the end of a link waits for what is in flight, then for unbind_resp. */
  readonly unbindTimeoutMs?: number
  /** First pause before a new connection; it doubles up to MAX_BACKOFF_MS. */
  readonly backoffMs?: number
}

const FIRST_BACKOFF_MS = 1_000
const MAX_BACKOFF_MS = 60_000
/** A carrier that refuses our credentials is asked again for ever, but seldom. */
const MAX_REJECTED_BACKOFF_MS = 300_000

export interface LinkStatus {
  readonly bind: BindCommand
  readonly state: string
  readonly boundSince: Date | null
  readonly lastClose: string | null
}

/** One bind to a carrier, made anew for as long as the link is not stopped. */
export class CarrierLink<Token> {
  readonly carrier: Carrier
  readonly bind: BindCommand
  readonly #events: LinkEvents<Token>
  readonly #timings: LinkTimings
  readonly #log: (message: string, details: object) => void
  #connection: Connection<Token> | null = null
  #timer: NodeJS.Timeout | null = null
  #failures = 0
  #stopped = false
  #boundSince: Date | null = null
  #lastClose: string | null = null

  constructor(
    carrier: Carrier,
    bind: BindCommand,
    events: LinkEvents<Token>,
    options: { timings: LinkTimings; log: (message: string, details: object) => void },
  ) {
    this.carrier = carrier
    this.bind = bind
    this.#events = events
    this.#timings = options.timings
    this.#log = options.log
  }

  get canSubmit(): boolean {
    return this.bind !== 'bind_receiver' && this.#boundSince !== null
  }

  get windowFree(): number {
    return this.canSubmit ? (this.#connection?.windowFree ?? 0) : 0
  }

  get unanswered(): number {
    return this.#connection?.unanswered ?? 0
  }

  get status(): LinkStatus {
    return {
      bind: this.bind,
      state: this.#connection?.state ?? 'CLOSED',
      boundSince: this.#boundSince,
      lastClose: this.#lastClose,
    }
  }

  start(): void {
    if (this.#stopped) return
    const { carrier } = this
    const { backoffMs: _, ...timings } = this.#timings
    try {
      this.#connection = connect<Token>(
        {
          host: carrier.host,
          port: carrier.port,
          ...(carrier.tls && { tls: true as const }),
          bind: {
            command: this.bind,
            system_id: carrier.systemId,
            password: carrier.password,
            system_type: carrier.systemType,
          },
          windowSize: carrier.window,
          ...timings,
        },
        {
          onBound: () => this.#bound(),
          onRequest: (pdu, connection) => this.#events.onRequest(pdu, connection, carrier),
          onResponse: (token, pdu, _connection, latencyMs) =>
            this.#events.onResponse(token, pdu, this, latencyMs),
          onTimeout: (token) => this.#events.onTimeout(token),
          onAnomaly: (anomaly) => this.#events.onAnomaly?.(anomaly, carrier),
          onLateResponse: (token, pdu) => this.#events.onLateResponse(token, pdu),
          onClose: (reason, tokens) => this.#closed(reason, tokens),
        },
      )
    } catch (error) {
      // A bind field that does not fit the PDU: settings that cannot work until they are changed.
      this.#closed({ code: 'connect_failed', error: error as Error }, [])
    }
  }

  /** Sends a request; false when the window is full or the link is not bound. @throws RangeError a field does not fit. */
  submit(pdu: Parameters<Connection<Token>['send']>[0], token: Token): boolean {
    return this.#connection !== null && this.#connection.send(pdu, token) > 0
  }

  /** The carrier says that our session is not in order: ends it, and binds again. */
  rebind(): void {
    void this.#connection?.unbind()
  }

  /** Unbinds, waiting for what is in flight, and stays down. */
  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#connection?.unbind()
  }

  #bound(): void {
    this.#failures = 0
    this.#boundSince = new Date()
    this.#log('carrier bound', { carrier: this.carrier.name, bind: this.bind })
    this.#events.onReady(this)
  }

  #closed(reason: CloseReason, tokens: Token[]): void {
    this.#connection = null
    this.#boundSince = null
    this.#lastClose = reason.code
    this.#log('carrier link closed', {
      carrier: this.carrier.name,
      bind: this.bind,
      reason: reason.code,
      status: reason.status,
      error: reason.error?.message,
      unanswered: tokens.length,
    })
    this.#events.onLost(tokens, this)
    if (this.#stopped) return
    this.#timer = setTimeout(() => this.start(), this.#backoffMs(reason))
  }

  /** 1 s, doubled up to 60 s (5 min while the bind is refused), ±20 %. */
  #backoffMs(reason: CloseReason): number {
    const first = this.#timings.backoffMs ?? FIRST_BACKOFF_MS
    const cap = reason.code === 'bind_rejected' ? MAX_REJECTED_BACKOFF_MS : MAX_BACKOFF_MS
    const base = Math.min(first * 2 ** Math.min(this.#failures, 20), cap)
    this.#failures += 1
    return base * (0.8 + 0.4 * Math.random())
  }
}
