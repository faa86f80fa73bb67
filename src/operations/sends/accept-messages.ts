import { setTimeout as wait } from 'node:timers/promises'
import type { ServicePlan } from '../../domain/configuration/configuration.ts'
import { createdAtMs } from '../../domain/identifiers.ts'
import type { Accepted } from '../../domain/journal/message-facts.ts'
import { type Draft, type Message, validityMs } from '../../domain/messages/messages.ts'
import { countryOf } from '../../domain/routing/recipients.ts'
import type { SecretKeys } from '../../domain/secrets.ts'
import { countSegments } from '../../domain/text/segments.ts'
import { sealCallbackUrl } from '../../domain/webhooks/callback-url.ts'
import type { Log } from '../../log.ts'
import { isAway, ServerAwayError } from '../../store/citus.ts'
import {
  CommitOutcomeUnknownError,
  type Database,
  isRowFault,
  type Queryable,
  RowFaultError,
  withTransaction,
} from '../../store/database.ts'
import { findIdempotencyKeys, type IdempotencyKey } from '../../store/idempotency-keys.ts'
import { areOptedOut } from '../../store/opt-outs.ts'
import { decideUncertainMessages, writeRecords } from '../../store/records.ts'
import { Batcher, type BatchMeter, writeInHalves } from '../batches.ts'
import type { MessageReads } from '../read-messages.ts'
import { firstOfKeys, keyOf, NO_KEYS, type OfKeys } from './idempotency-keys.ts'
import {
  AnswerDeadline,
  asFirstAnswered,
  failed,
  NOT_QUEUED,
  newRecord,
  notStored,
  type PendingSend,
  pairOf,
  queued,
  UNAVAILABLE,
  UNKNOWN,
} from './pending-sends.ts'

type SendKey = Pick<IdempotencyKey, 'keyHash' | 'requestHash'>
type PlanKey = Pick<IdempotencyKey, 'planId' | 'keyHash'>

export interface AcceptRequest {
  readonly plan: ServicePlan
  readonly draft: Draft
  /** How long it may wait for a carrier, if its sender says so. */
  readonly validitySeconds?: number | undefined
  readonly idempotencyKey: SendKey | null
  /** As the request had it. */
  readonly traceparent?: string | undefined
}

export type AcceptOutcome =
  /** Stored and queued: 202. If the recipient has opted out, the message is FAILED next. */
  | { readonly kind: 'queued'; readonly message: Message }
  /** The first message with this Idempotency-Key, as first answered: 202. */
  | { readonly kind: 'replayed'; readonly message: Message }
  /** The key was used with another request: 422. */
  | { readonly kind: 'key-reused' }
  /** Not stored, and never sent later: 500 with a FAILED record. */
  | { readonly kind: 'failed'; readonly message: Message }
  /** Not stored, but another message may have its Idempotency-Key: 503, which says nothing about that message. */
  | { readonly kind: 'unavailable' }
  /** It is not known in time whether the message is stored. If it is, it is sent. The client gets no answer. */
  | { readonly kind: 'unknown' }

/** Where a new message goes: its id, and whether this node keeps it in memory to submit it at once. */
interface Placed {
  readonly msgId: string
  /** This node, which has reserved room for it until `enqueue` or `release`; null: it waits in the database. */
  readonly owner: number | null
  /** It is submitted at once. */
  readonly begun: boolean
  readonly routeId: number | null
  /** The carrier of another node that it is handed to; 0 or absent: none. */
  readonly chosenCarrierId?: number
}

export interface Placement {
  /** `isAppended`: if the message is kept, its acceptance is appended to the journal in this turn of the event loop. */
  place(
    plan: ServicePlan,
    draft: Draft,
    message: { readonly segments: number; readonly isAppended: boolean },
  ): Placed
  /** It is committed, and this node submits it. */
  enqueue(msgId: string): void
  /** This node does not submit it after all. */
  release(msgId: string): void
}

/**
 * `lost`: the lane was taken over without the message. `retracted`: the database takes nothing now, and the message is not in
 * the journal. `uncertain`: another node has the lane now, and may have found the message there.
 */
export type Acceptance = 'committed' | 'lost' | 'retracted' | 'uncertain'

/** A message to keep in the memory of this process, as this node. */
export interface KeptMessage {
  readonly msgId: string
  readonly owner: number
  readonly accepted: Accepted
  /** Called just before it is written. Returns false if it must not be, because its client has been answered. */
  readonly mayStore?: () => boolean
}

/** Takes messages into the memory of this process, and writes their acceptance into its journal. */
export interface AcceptanceJournal {
  /** Whether it takes messages of this plan now. */
  takes(planId: number): boolean
  /** Answers after COMMIT. */
  accept(message: KeptMessage): Promise<Acceptance>
  /**
   * Accepts the messages that `decide` returns, together with its statements. The answer is for all of them; without any
   * there is no COMMIT. Rejects when nothing is stored.
   */
  acceptWith(decide: (tx: Queryable) => Promise<readonly KeptMessage[]>): Promise<Acceptance>
}

export interface AccepterOptions {
  readonly db: Database
  readonly journal: AcceptanceJournal
  /** Finds the first message with a key, wherever it is. */
  readonly messages: Pick<MessageReads, 'find'>
  readonly placement: Placement
  /** Seals callback URLs that carry credentials. */
  readonly secretKey: SecretKeys
  readonly random: (bytes: number) => Uint8Array
  /** Each client is answered within this time, or never. Default 10 s. */
  readonly answerWithinMs?: number
  readonly log: Log
  readonly onBatch?: BatchMeter
  /** Called once for each message that is stored, with the milliseconds since its request. */
  readonly onAccepted?: (message: PendingSend, latencyMs: number, request: AcceptRequest) => void
}

const ANSWER_WITHIN_MS = 10_000
const UNCERTAIN_RETRY_MS = 250
const MAX_BATCH = 200
/** Each key takes one of the server's locks, of which there are some thousands. */
const MAX_KEYS = 100
const BUSY_KEY_RETRY_MS = 50
/** `isHere`: this process has the message in memory. */
type Stored = AcceptOutcome & { readonly isHere?: true }
/** Null: another message has its key. `busy`: another transaction is taking its key, and nothing is stored. */
type Written = Stored | 'busy' | null
/** The result of a transaction; null: it has said nothing about the keys. */
interface Judged {
  keys: OfKeys | null
}
type Write = (items: readonly PendingSend[], judged: Judged) => Promise<readonly Written[]>

/**
 * Accepts messages in groups, and answers each after its COMMIT. Messages that this node submits go into the journal, the
 * others into the records.
 */
export class GroupAccepter {
  readonly #options: AccepterOptions
  readonly #optOuts: Batcher<PendingSend, boolean>
  readonly #keyed: Batcher<PendingSend, Written>
  readonly #records: Batcher<PendingSend, Written>
  readonly #firsts: Batcher<PlanKey, IdempotencyKey | null>
  /** Messages of which nobody knows yet whether they are stored. */
  readonly #uncertain: Batcher<PendingSend, AcceptOutcome>

  constructor(options: AccepterOptions) {
    this.#options = options
    const batcher = <T, Item = PendingSend>(
      write: (items: readonly Item[]) => Promise<readonly T[]>,
      maxInFlight: number,
      maxBatch = MAX_BATCH,
    ) => new Batcher({ write, maxBatch, maxInFlight })
    this.#optOuts = batcher((items) => areOptedOut(options.db, items.map(pairOf)), 2)
    this.#keyed = batcher((items) => this.#writeBatch(items, this.#acceptKeyed), 1, MAX_KEYS)
    this.#records = batcher((items) => this.#writeBatch(items, this.#writeRecords), 2, MAX_KEYS)
    this.#firsts = batcher((keys) => this.#findFirsts(keys), 2)
    this.#uncertain = batcher((items) => this.#decideUncertain(items), 1)
  }

  /**
   * Answers after COMMIT, or at the deadline. Rejects only for a draft that was not validated. `segments`: of its text, if they
   * have been counted.
   */
  async accept(
    request: AcceptRequest,
    segments: number = countSegments(request.draft.body, request.plan).segments,
  ): Promise<AcceptOutcome> {
    const beganAtMs = performance.now()
    const { promise, resolve, reject } = Promise.withResolvers<AcceptOutcome>()
    const onOver = (mayBeStored: boolean) => resolve(mayBeStored ? UNKNOWN : notStored(item))
    const item = this.#newItem(request, segments, onOver)
    // Continues after the deadline, because a message that turns out to be stored here is sent.
    this.#outcomeOf(item, request, beganAtMs).then(resolve, reject)
    return await promise
  }

  #newItem(
    { plan, draft, validitySeconds, idempotencyKey }: AcceptRequest,
    segments: number,
    onOver: (mayBeStored: boolean) => void,
  ): PendingSend {
    // Everything that can fail comes before room is promised.
    const { answerWithinMs = ANSWER_WITHIN_MS, placement, random, secretKey } = this.#options
    const { callbackUrl: url } = draft
    const callbackUrl = url === null ? null : sealCallbackUrl(secretKey, url, () => random(12))
    const isAppended = plan.optOut === null && idempotencyKey === null
    const placed = placement.place(plan, draft, { segments, isAppended })
    const { msgId, owner, begun, routeId, chosenCarrierId = 0 } = placed
    const accepted: Accepted = {
      kind: 'accepted',
      planId: plan.id,
      sender: draft.sender,
      recipient: draft.recipient,
      body: draft.body,
      segments,
      country: countryOf(draft.recipient),
      callbackUrl,
      optedOut: false,
      discardsText: plan.texts === 'discard',
      begun,
      routeId: routeId ?? 0,
      expiresAtMs: createdAtMs(msgId) + validityMs(plan, validitySeconds),
    }
    const deadline = new AnswerDeadline(answerWithinMs, onOver)
    return { msgId, accepted, owner, chosenCarrierId, idempotencyKey, deadline }
  }

  async #outcomeOf(item: PendingSend, request: AcceptRequest, beganAtMs: number): Promise<AcceptOutcome> {
    const { msgId, accepted, owner, deadline } = item
    const { optOut } = request.plan
    let stored: Stored
    try {
      const optedOut = optOut !== null && (await this.#optOuts.add(item))
      stored = await this.#store(optedOut ? { ...item, accepted: { ...accepted, optedOut } } : item)
    } catch (error) {
      this.#options.log.error({ err: error }, 'message not queued')
      stored = error instanceof RowFaultError ? failed(item) : notStored(item)
    }
    deadline.clear()
    const { isHere = false, ...outcome } = stored
    if (outcome.kind === 'queued') this.#options.onAccepted?.(item, performance.now() - beganAtMs, request)
    if (owner !== null && isHere) this.#options.placement.enqueue(msgId)
    else if (owner !== null) this.#options.placement.release(msgId)
    return outcome
  }

  async #store(item: PendingSend): Promise<Stored> {
    const { sender, recipient, body, callbackUrl } = item.accepted
    if ([sender, recipient, body, callbackUrl].some((text) => text?.includes('\0')))
      throw new RowFaultError('PostgreSQL stores no NUL')
    let written = await this.#write(item)
    // Only sends with the same key wait for the transaction that has it.
    while (written === 'busy') {
      await wait(BUSY_KEY_RETRY_MS)
      written = await this.#write(item)
    }
    const { accepted, idempotencyKey } = item
    return written ?? (await this.#answerRepeated(accepted.planId, idempotencyKey!)) ?? UNAVAILABLE
  }

  #write(item: PendingSend): Promise<Written> {
    const { msgId, accepted, owner, idempotencyKey, deadline } = item
    const { journal } = this.#options
    if (owner === null || !journal.takes(accepted.planId))
      return isAway(this.#options.db, accepted.planId)
        ? Promise.resolve(notStored(item))
        : this.#records.add(item)
    if (idempotencyKey !== null) return this.#keyed.add(item)
    const acceptance = journal.accept({ msgId, accepted, owner, mayStore: () => deadline.mayStore() })
    return acceptance.then((one) => this.#conclude(item, one))
  }

  #conclude(item: PendingSend, acceptance: Acceptance): Written | Promise<Written> {
    if (acceptance === 'committed') return { ...queued(item), isHere: true }
    if (acceptance === 'lost') return this.#records.add(item)
    if (acceptance === 'uncertain') return this.#uncertain.add(item)
    return failed(item)
  }

  /** A message that the database refuses for its content fails alone. Never rejects. */
  async #writeBatch(items: readonly PendingSend[], write: Write): Promise<readonly Written[]> {
    this.#options.onBatch?.('accept', items.length)
    const fail = (item: PendingSend, error: unknown): Written => {
      this.#options.log.error({ err: error }, 'message not queued')
      return error instanceof ServerAwayError ? notStored(item) : failed(item)
    }
    const writePart = async (part: readonly PendingSend[]) => {
      const judged: Judged = { keys: null }
      try {
        return await write(part, judged)
      } catch (error) {
        if (isRowFault(error)) throw error
        this.#options.log.error({ err: error }, 'messages not queued')
        const { keys } = judged
        return keys === null ? part.map(notStored) : outcomesOf(part, keys, keys.first.map(failed))
      }
    }
    return await writeInHalves<PendingSend, Written>(items, writePart, fail)
  }

  readonly #acceptKeyed: Write = async (items, judged) => {
    let keys = NO_KEYS
    const acceptance = await this.#options.journal.acceptWith(async (tx) => {
      keys = judged.keys = await firstOfKeys(tx, items)
      return keys.first.map((item) => ({ ...item, owner: item.owner! }))
    })
    const conclude = (some: readonly PendingSend[]) =>
      Promise.all(some.map((item) => this.#conclude(item, acceptance)))
    // Nothing is stored, not even the keys.
    if (acceptance === 'lost') return await conclude(items)
    return outcomesOf(items, keys, await conclude(keys.first))
  }

  readonly #writeRecords: Write = async (items, judged) => {
    let keys = NO_KEYS
    try {
      await withTransaction(this.#options.db, async (tx) => {
        keys = judged.keys = await firstOfKeys(tx, items)
        const { first } = keys
        if (first.length > 0) await writeRecords(tx, first.map(newRecord), null)
      })
      return outcomesOf(items, keys, keys.first.map(queued))
    } catch (error) {
      if (!(error instanceof CommitOutcomeUnknownError)) throw error
      return outcomesOf(items, keys, await this.#decideUncertain(keys.first))
    }
  }

  /** The answer to a send whose key was used before; otherwise null. Stores nothing. Rejects if that cannot be told. */
  async repeatedAnswer({ plan, idempotencyKey }: AcceptRequest): Promise<AcceptOutcome | null> {
    return idempotencyKey && (await this.#answerRepeated(plan.id, idempotencyKey))
  }

  /** Answers from the first message with this key, wherever it is. Null: there is none, or it is gone or was not queued. */
  async #answerRepeated(planId: number, { keyHash, requestHash }: SendKey): Promise<AcceptOutcome | null> {
    const first = await this.#firsts.add({ planId, keyHash })
    if (first === null) return null
    if (!first.requestHash.equals(requestHash)) return { kind: 'key-reused' }
    const message = await this.#options.messages.find([planId], first.msgId)
    if (message === null || message.errorCode === NOT_QUEUED) return null
    return { kind: 'replayed', message: asFirstAnswered(message) }
  }

  async #findFirsts(keys: readonly PlanKey[]): Promise<readonly (IdempotencyKey | null)[]> {
    const found = await findIdempotencyKeys(this.#options.db, keys)
    const firsts = new Map(found.map((first) => [keyOf(first.planId, first), first]))
    return keys.map((key) => firsts.get(keyOf(key.planId, key)) ?? null)
  }

  /** The answer to their COMMIT was lost. Asks what became of the messages as long as anybody waits for an answer. */
  async #decideUncertain(items: readonly PendingSend[]): Promise<readonly AcceptOutcome[]> {
    while (items.some(({ deadline }) => !deadline.isOver)) {
      try {
        return await writeInHalves(items, this.#decidePart, (item, error) => {
          if (error instanceof ServerAwayError) throw error
          return failed(item)
        })
      } catch (error) {
        this.#options.log.error({ err: error }, 'outcome of a COMMIT is still unknown')
        await wait(UNCERTAIN_RETRY_MS)
      }
    }
    return items.map(() => UNKNOWN)
  }

  readonly #decidePart = async (items: readonly PendingSend[]): Promise<readonly AcceptOutcome[]> => {
    const refused = await decideUncertainMessages(this.#options.db, items, NOT_QUEUED)
    return items.map((item) => (refused.has(item.msgId) ? failed(item) : queued(item)))
  }
}

/** What became of each of these items. `outcomes`: those of the items that are first with their keys. */
function outcomesOf(
  items: readonly PendingSend[],
  { first, busy }: OfKeys,
  outcomes: readonly Written[],
): readonly Written[] {
  const known = new Map(first.map((item, at) => [item, outcomes[at]!]))
  const other = (item: PendingSend) => (item.deadline.isOver ? UNKNOWN : busy.has(item) ? 'busy' : null)
  return items.map((item) => known.get(item) ?? other(item))
}
