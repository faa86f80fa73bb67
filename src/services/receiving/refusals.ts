import type { Carrier } from '../../domain/configuration.ts'
import type { Log } from '../../log.ts'

export type RefusedKind = 'receipt' | 'inbound'

/**
 * stalled: the database takes nothing, or too slowly, so none was tried; unbinding: it came behind our unbind;
 * not_recorded: this one could not be recorded.
 */
export type RefusalReason = 'stalled' | 'unbinding' | 'not_recorded'

export interface RefusalsOptions {
  /** Counts one in the metrics. */
  readonly count: (kind: RefusedKind, reason: RefusalReason, carrier: Carrier) => void
  readonly log: Log
}

/** What is refused at once is told of in one line. */
const GATHER_MS = 1_000
/** From one line to the next. */
const PAUSE_MS = 60_000

/** Counts what carriers brought and were asked to offer again (ESME_RX_T_APPN), and tells of it in the log. */
export class Refusals {
  readonly #options: RefusalsOptions
  #untold = new Map<`${RefusedKind}_${RefusalReason}`, number>()
  #toldAtMs = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | null = null

  constructor(options: RefusalsOptions) {
    this.#options = options
  }

  add(kind: RefusedKind, reason: RefusalReason, carrier: Carrier): void {
    this.#options.count(kind, reason, carrier)
    const name = `${kind}_${reason}` as const
    this.#untold.set(name, (this.#untold.get(name) ?? 0) + 1)
    const pauseMs = Math.max(GATHER_MS, this.#toldAtMs + PAUSE_MS - performance.now())
    // One that comes after the stop is not to hold the process.
    this.#timer ??= setTimeout(() => this.#tell(), pauseMs).unref()
  }

  /** Tells of the last ones. */
  stop(): void {
    if (this.#timer !== null) this.#tell()
  }

  #tell(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#toldAtMs = performance.now()
    const refused = Object.fromEntries(this.#untold)
    this.#untold = new Map()
    this.#options.log.warn({ refused }, 'refused receipts or inbound messages: carriers offer them again')
  }
}
