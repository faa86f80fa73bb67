import type { Carrier } from '../../domain/configuration/configuration.ts'
import type { Log } from '../../log.ts'

export type RefusedKind = 'receipt' | 'inbound'

/**
 * stalled: the database takes nothing or, for an inbound message, is too slow, so nothing was tried. unbinding: the PDU came
 * after our unbind. not_recorded: this PDU could not be recorded.
 */
export type RefusalReason = 'stalled' | 'unbinding' | 'not_recorded'

export interface RefusedPdusOptions {
  /** Adds one to the metrics. */
  readonly count: (kind: RefusedKind, reason: RefusalReason, carrier: Carrier) => void
  readonly log: Log
}

/** Refusals within this time are logged in one line. */
const GATHER_MS = 1_000
/** Pause between two lines. */
const PAUSE_MS = 60_000

/** Counts the PDUs that carriers were asked to offer again (ESME_RX_T_APPN), and logs them. */
export class RefusedPdus {
  readonly #options: RefusedPdusOptions
  #unlogged = new Map<`${RefusedKind}_${RefusalReason}`, number>()
  #loggedAtMs = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | null = null

  constructor(options: RefusedPdusOptions) {
    this.#options = options
  }

  add(kind: RefusedKind, reason: RefusalReason, carrier: Carrier): void {
    this.#options.count(kind, reason, carrier)
    const name = `${kind}_${reason}` as const
    this.#unlogged.set(name, (this.#unlogged.get(name) ?? 0) + 1)
    const pauseMs = Math.max(GATHER_MS, this.#loggedAtMs + PAUSE_MS - performance.now())
    // A refusal after the stop must not keep the process alive.
    this.#timer ??= setTimeout(() => this.#log(), pauseMs).unref()
  }

  /** Logs the last refusals. */
  stop(): void {
    if (this.#timer !== null) this.#log()
  }

  #log(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#loggedAtMs = performance.now()
    const refused = Object.fromEntries(this.#unlogged)
    this.#unlogged = new Map()
    this.#options.log.warn({ refused }, 'refused receipts or inbound messages; carriers offer them again')
  }
}
