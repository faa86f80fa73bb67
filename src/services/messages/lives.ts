import type { Accepted } from '../../domain/journal-entries.ts'
import { MessagesByPlan } from '../../domain/messages-by-plan.ts'
import type { MessageInProgress } from '../../domain/messages-in-progress.ts'
import type { SubmissionId } from '../../store/receipts.ts'

/** A message in this process's memory. */
export interface Live {
  message: MessageInProgress
  /** The node that accepted or took it: this process, or what it was before its lease was lost. */
  readonly holder: number
  /** The entry with which it begins in the journal. */
  entry: number
  /** When that was committed, by the monotonic clock. */
  sinceMs: number
  /** Facts of it that are not committed yet. */
  pending: number
  /** It is being written: from now on its record is what counts. */
  leaving: boolean
  /** It is submitted later, by whoever takes it out of its record. */
  postponed: boolean
  /** While its record is written with which it goes on here: facts of it, to be appended then. */
  deferred: (() => void)[] | null
  /** Its events go to a URL. */
  delivers: boolean
  /** The last event that was pushed nowhere: there was no URL; 0: none. */
  unpushed: number
  /** Events that are not in memory for delivery; null: all that are not taken are. */
  released: Set<number> | null
  /** Under what ids its segments are known here. */
  readonly ids: string[]
  /** Receipts of these ids of carriers wait among the parked ones until it has left. */
  readonly parked: SubmissionId[]
  /** Somebody waits for its record. */
  gone: PromiseWithResolvers<void> | null
}

/** A message that has just been accepted, or taken out of its record, by this entry. */
export function newLive(message: MessageInProgress, by: Pick<Live, 'holder' | 'entry'>): Live {
  return {
    ...by,
    message,
    sinceMs: performance.now(),
    pending: 0,
    leaving: false,
    postponed: false,
    deferred: null,
    delivers: false,
    unpushed: 0,
    // Behind events that wait in the records new ones wait there too.
    released: message.loaded?.hasWaitingEvents === true ? new Set() : null,
    ids: [],
    parked: [],
    gone: null,
  }
}

/** It was recorded, and goes on from what this entry has of it. */
export function beginAnew(live: Live, message: MessageInProgress, entry: number): Live {
  const submissions = live.message.submissions.map((one) => ({ ...one, isRecorded: true as const }))
  live.message = { ...message, submissions }
  live.entry = entry
  live.sinceMs = performance.now()
  if (message.loaded?.hasWaitingEvents) live.released ??= new Set()
  return live
}

/** It is being submitted here, or is about to be: nobody else may take it up. */
export function isOpen({ message, postponed }: Live): boolean {
  return message.state.submission !== null && !postponed
}

/** Of messages in memory, some 31,000 of one segment: beyond, new ones go into the records at once. */
const MOST_BYTES = 192 * 1_048_576
/** Of that: what is beyond leaves memory before its time, */
const CROWDED_SHARE = 0.5
/** and little more is taken out of the records beyond this. */
const LOADED_SHARE = 0.625

/**
 * Bytes that a message takes here, more rather than less: itself, what carriers and receivers say of it, and its events. One
 * of one segment was measured at 5 kB while its webhooks waited.
 */
export function bytesOf({ body, segments }: Pick<Accepted, 'body' | 'segments'>): number {
  return 4_500 + 1_500 * segments + 2 * body.length
}

/** The messages in this process's memory. */
export class Lives {
  readonly #mostBytes: number
  readonly #lives = new MessagesByPlan<Live>(({ message }) => message)
  #bytes = 0

  constructor(mostBytes = MOST_BYTES) {
    this.#mostBytes = mostBytes
  }

  /** New messages find no room here. */
  get isFull(): boolean {
    return this.#bytes >= this.#mostBytes
  }

  /** Whether many more may be taken out of the records. */
  get hasRoom(): boolean {
    return this.#bytes < LOADED_SHARE * this.#mostBytes
  }

  /** Of messages that are to leave before their time; none are unless it is positive. */
  get excessBytes(): number {
    return this.#bytes - CROWDED_SHARE * this.#mostBytes
  }

  get size(): number {
    return this.#lives.size
  }

  get(msgId: string): Live | undefined {
    return this.#lives.get(msgId)
  }

  /** Null where it takes no more facts. */
  usable(msgId: string): Live | null {
    const live = this.#lives.get(msgId)
    return live === undefined || live.leaving ? null : live
  }

  /** In the order of the entries with which they begin. */
  values(): IteratorObject<Live> {
    return this.#lives.of(null)
  }

  of(planId: number | null): Iterable<MessageInProgress> {
    return this.#lives.of(planId).map(({ message }) => message)
  }

  /** Behind all others, as the one that begins with the newest entry. */
  add(live: Live): void {
    if (!this.#lives.add(live)) this.#bytes += bytesOf(live.message.accepted)
  }

  delete({ message }: Live): void {
    if (this.#lives.delete(message.msgId)) this.#bytes -= bytesOf(message.accepted)
  }

  /** Facts that wait until their messages have begun anew in the journal. */
  get deferred(): number {
    return this.values().reduce((sum, { deferred }) => sum + (deferred?.length ?? 0), 0)
  }

  clear(): void {
    this.#lives.clear()
    this.#bytes = 0
  }
}
