import { SlotMap } from '../collections/slot-map.ts'

/** §3.2: sequence numbers run from 1 to 0x7FFFFFFF. */
const MAX_SEQUENCE = 0x7fffffff

/** A request of ours that has no response yet. `internal` ones (bind, enquire_link, unbind) are the session's own. */
export interface Outstanding<Token> {
  readonly sequence: number
  readonly commandId: number
  readonly token: Token
  readonly sentAtMs: number
  readonly internal: boolean
}

export interface WindowOptions {
  /** Most requests without a response; the session's own are not counted. */
  readonly size: number
  readonly responseTimeoutMs: number
  /** How many timed-out requests are remembered, and how long, so that a late response finds its token. */
  readonly lateLimit: number
  readonly lateTtlMs: number
  /** The sequence number before the first. */
  readonly initialSequence: number
}

/**
 * Our requests by sequence number: those in flight, and those that timed out a while ago. Responses are matched in
 * any order. Both maps keep the order of sending, so the oldest come first.
 */
export class Window<Token> {
  readonly #options: WindowOptions
  readonly #outstanding = new SlotMap<number, Outstanding<Token>>()
  readonly #late = new SlotMap<number, Outstanding<Token>>()
  #internal = 0
  #sequence: number

  constructor(options: WindowOptions) {
    this.#options = options
    this.#sequence = options.initialSequence
  }

  /** How many more requests may be sent. */
  get free(): number {
    return Math.max(0, this.#options.size - this.unanswered)
  }

  /** Requests of the application in flight. */
  get unanswered(): number {
    return this.#outstanding.size - this.#internal
  }

  /** The next sequence number, skipping every one that a response may still name. Ends, because both maps are bounded. */
  nextSequence(): number {
    do {
      this.#sequence = this.#sequence >= MAX_SEQUENCE ? 1 : this.#sequence + 1
    } while (this.#outstanding.has(this.#sequence) || this.#late.has(this.#sequence))
    return this.#sequence
  }

  add(entry: Outstanding<Token>): void {
    this.#outstanding.set(entry.sequence, entry)
    if (entry.internal) this.#internal++
  }

  /** Takes out the request that this response answers, and returns it; undefined when there is none of that command. */
  take(sequence: number, commandId: number): Outstanding<Token> | undefined {
    const entry = this.#outstanding.get(sequence)
    if (entry === undefined || (commandId !== NACK && entry.commandId !== commandId)) return undefined
    this.#outstanding.delete(sequence)
    if (entry.internal) this.#internal--
    return entry
  }

  /** Like `take`, among the requests that timed out. */
  takeLate(sequence: number, commandId: number): Outstanding<Token> | undefined {
    const entry = this.#late.get(sequence)
    if (entry === undefined || (commandId !== NACK && entry.commandId !== commandId)) return undefined
    this.#late.delete(sequence)
    return entry
  }

  /**
   * Yields every request whose time is up, oldest first, as each moves to the late ones: those behind it are in flight
   * until their turn comes.
   */
  *expire(nowMs: number): Generator<Outstanding<Token>, void, undefined> {
    for (const entry of this.#late.values()) {
      if (nowMs - entry.sentAtMs < this.#options.responseTimeoutMs + this.#options.lateTtlMs) break
      this.#late.delete(entry.sequence)
    }
    for (const entry of this.#outstanding.values()) {
      if (nowMs - entry.sentAtMs < this.#options.responseTimeoutMs) break
      if (entry.internal) continue
      this.#outstanding.delete(entry.sequence)
      this.#late.set(entry.sequence, entry)
      // Many entries pass through, so it is a SlotMap. A SlotMap has no limit, so the limit is applied here.
      if (this.#late.size > this.#options.lateLimit) this.#late.delete(this.#late.keys().next().value!)
      yield entry
    }
  }

  /** Forgets everything; returns the tokens of the application's unanswered requests in the order of sending. */
  drain(): Token[] {
    const tokens: Token[] = []
    for (const entry of this.#outstanding.values()) {
      if (!entry.internal) tokens.push(entry.token)
    }
    this.#outstanding.clear()
    this.#late.clear()
    this.#internal = 0
    return tokens
  }
}

/** command_id of generic_nack without its response bit: it answers a request of any command (§4.3). */
const NACK = 0
