import { sealCallbackUrl } from '../domain/callback-credentials.ts'
import type { ServicePlan } from '../domain/configuration.ts'
import { countryOf } from '../domain/countries.ts'
import type { Accepted } from '../domain/journal-entries.ts'
import { createdAtMs } from '../domain/message-ids.ts'
import type { Draft, Message } from '../domain/messages.ts'
import type { SecretKeys } from '../domain/secrets.ts'
import { countSegments } from '../domain/segments.ts'
import { type Database, isOutcomeUnknown } from '../store/database.ts'
import type { Dispatch } from '../store/dispatches.ts'
import {
  findByIdempotencyKeys,
  findOptedOutMessages,
  insertKeyedMessages,
  insertMessages,
  type KeyedMessage,
  type NewMessage,
  refuseMessages,
  settleLostMessages,
} from '../store/messages.ts'
import { acceptedFact, asFirstAnswered, dispatchOf, messageOf } from './accepted-messages.ts'
import { Batcher, type BatchMeter, writeInHalves } from './batches.ts'

export interface AcceptRequest {
  readonly plan: ServicePlan
  readonly draft: Draft
  readonly idempotency: { readonly keyHash: Buffer; readonly requestHash: Buffer } | null
}

export type AcceptOutcome =
  /** Stored and queued: 202. One whose recipient has opted out is FAILED next. */
  | { readonly kind: 'queued'; readonly message: Message; readonly optedOut: boolean }
  /** The first record of this Idempotency-Key, as first answered: 202. */
  | { readonly kind: 'replayed'; readonly message: Message }
  /** The key was used with another request: 422. */
  | { readonly kind: 'key-reused' }
  /** Not stored, and never sent later: 500 with a FAILED record. */
  | { readonly kind: 'failed'; readonly message: Message }

export interface MessageAccepter {
  /** Answers after COMMIT. Rejects only for a draft that was not validated. */
  accept(request: AcceptRequest): Promise<AcceptOutcome>
}

/** Where a new message goes: its id, and whether this node keeps it in memory to submit it at once. */
export interface Place {
  readonly msgId: string
  /** This node, which has reserved room for it until `keep` or `release`; null: it waits in the database. */
  readonly holder: number | null
  /** It is submitted at once. */
  readonly begun: boolean
  readonly routeId: number | null
  /** Carrier of another node that it is handed to; 0 or absent: none. */
  readonly chosenCarrierId?: number
}

export interface Placement {
  place(plan: ServicePlan, draft: Draft): Place
  keep(dispatch: Dispatch): void
  release(msgId: string): void
  /** Answered 500, yet perhaps stored: never to be submitted. */
  refuse(msgId: string): void
  /** Refused in the database too. */
  refused(msgId: string): void
}

export type Acceptance = 'committed' | 'lost' | 'overdue' | 'uncertain'

/** Takes messages into the memory of this process, and their acceptance into its journal. */
export interface AcceptanceJournal {
  /** Whether it takes any now. */
  readonly isOpen: boolean
  /**
   * Answers after COMMIT. `lost`: it is not in the journal. `overdue`: nobody can say so far; here nothing comes of it any
   * more. `uncertain`: another node has the lane now, and may have found it there.
   */
  accept(msgId: string, holder: number, accepted: Accepted): Promise<Acceptance>
}

export interface AccepterOptions {
  readonly db: Database
  readonly journal: AcceptanceJournal
  readonly placement: Placement
  /** Seals callback URLs that carry credentials. */
  readonly secretKey: SecretKeys
  readonly random: (bytes: number) => Uint8Array
  /** How long a lost COMMIT is asked after before 500 is answered. Default 10 s. */
  readonly lostCommitMs?: number
  readonly onError?: (message: string, error: unknown) => void
  readonly onBatch?: BatchMeter
}

/** How long an Idempotency-Key is remembered. */
export const IDEMPOTENCY_LIFETIME_MS = 24 * 3_600_000
const LOST_COMMIT_MS = 10_000
const LOST_COMMIT_RETRY_MS = 250
const MAX_BATCH = 200
/** Refusals still to be written when the database is back. Beyond this the node accepts nothing more. */
const MAX_REFUSED = 50_000
/** errorCode of a message that could not be queued. */
const NOT_QUEUED = '100'

interface Item {
  readonly row: NewMessage
  readonly key: { readonly key_hash: string; readonly request_hash: string } | null
}

/**
 * Accepts messages in groups, each answered after its COMMIT: plain ones into the journal, the others with one INSERT round
 * trip for all that arrive together.
 */
export class GroupAccepter implements MessageAccepter {
  readonly #db: Database
  readonly #sealUrl: (url: string) => string
  readonly #placement: Placement
  readonly #lostCommitMs: number
  readonly #onError: (message: string, error: unknown) => void
  readonly #journal: AcceptanceJournal
  readonly #optOuts: Batcher<NewMessage, boolean>
  /** What became of them is to be read back. */
  readonly #lost: Batcher<Item, AcceptOutcome>
  readonly #plain: Batcher<Item, AcceptOutcome>
  readonly #keyed: Batcher<Item, AcceptOutcome>
  /** Answered 500 with the outcome of their COMMIT unknown: refused in the database as soon as it answers. */
  #refused: NewMessage[] = []
  #refusing = false

  constructor(options: AccepterOptions) {
    this.#db = options.db
    this.#placement = options.placement
    this.#sealUrl = (url) => sealCallbackUrl(options.secretKey, url, () => options.random(12))
    this.#lostCommitMs = options.lostCommitMs ?? LOST_COMMIT_MS
    this.#onError = options.onError ?? (() => undefined)
    const write = (items: readonly Item[]) => {
      options.onBatch?.('accept', items.length)
      return this.#write(items)
    }
    this.#journal = options.journal
    this.#optOuts = new Batcher({
      write: (rows) => this.#areOptedOut(rows),
      maxBatch: MAX_BATCH,
      maxInFlight: 2,
    })
    this.#lost = new Batcher({
      write: (items) => this.#settleLost(items),
      maxBatch: MAX_BATCH,
      maxInFlight: 1,
    })
    this.#plain = new Batcher({ write, maxBatch: MAX_BATCH, maxInFlight: 2 })
    this.#keyed = new Batcher({ write, maxBatch: MAX_BATCH, maxInFlight: 1 })
  }

  async accept({ plan, draft, idempotency }: AcceptRequest): Promise<AcceptOutcome> {
    // All that could fail comes before room is promised.
    const contents = {
      plan_id: plan.id,
      sender: draft.sender,
      recipient: draft.recipient,
      body: draft.body,
      segments: countSegments(draft.body, plan).segments,
      country: countryOf(draft.recipient),
      callback_url: draft.callbackUrl === null ? null : this.#sealUrl(draft.callbackUrl),
    }
    const { msgId, holder, begun, routeId, chosenCarrierId = 0 } = this.#placement.place(plan, draft)
    const row: NewMessage = {
      ...contents,
      msg_id: msgId,
      holder,
      begun,
      route_id: routeId,
      ...(chosenCarrierId !== 0 && { chosen_carrier_id: chosenCarrierId }),
      created_ms: createdAtMs(msgId),
      validity_ms: plan.validitySeconds * 1_000,
      opt_outs: plan.optOut !== null,
    }
    const key = idempotency && {
      key_hash: idempotency.keyHash.toString('hex'),
      request_hash: idempotency.requestHash.toString('hex'),
    }
    let outcome: AcceptOutcome & { readonly isElsewhere?: true }
    try {
      if (this.#refused.length >= MAX_REFUSED) throw new Error('too many refusals wait for the database')
      outcome =
        holder !== null && this.#isPlain(row, key)
          ? await this.#acceptInJournal(row, holder)
          : await (key ? this.#keyed : this.#plain).add({ row, key })
    } catch (error) {
      this.#onError('message not queued', error)
      outcome = failed(row)
    }
    if (holder !== null) this.#settlePlacement(row, holder, outcome)
    return outcome
  }

  /** Anything else goes into the tables at once. PostgreSQL refuses NUL, and should do so before the message is accepted. */
  #isPlain(row: NewMessage, key: Item['key']): boolean {
    const isStorable = [row.sender, row.recipient, row.body, row.callback_url].every(
      (text) => text === null || !text.includes('\0'),
    )
    return key === null && isStorable && this.#journal.isOpen
  }

  async #acceptInJournal(
    row: NewMessage,
    holder: number,
  ): Promise<AcceptOutcome & { readonly isElsewhere?: true }> {
    const optedOut = row.opt_outs && (await this.#optOuts.add(row))
    const acceptance = await this.#journal.accept(row.msg_id, holder, acceptedFact(row, optedOut))
    if (acceptance === 'committed') return queued(row, optedOut)
    if (acceptance === 'uncertain')
      return { ...(await this.#lost.add({ row, key: null })), isElsewhere: true }
    if (acceptance === 'overdue') this.#refuseLater([row])
    return failed(row)
  }

  async #areOptedOut(rows: readonly NewMessage[]): Promise<readonly boolean[]> {
    const optedOut = new Set(await findOptedOutMessages(this.#db, rows))
    return rows.map(({ msg_id }) => optedOut.has(msg_id))
  }

  #settlePlacement(
    row: NewMessage,
    holder: number,
    { isElsewhere = false, ...outcome }: AcceptOutcome & { readonly isElsewhere?: boolean },
  ): void {
    if (outcome.kind === 'queued' && !isElsewhere)
      this.#placement.keep(dispatchOf(row, holder, outcome.optedOut))
    else this.#placement.release(row.msg_id)
  }

  async #write(items: readonly Item[]): Promise<readonly AcceptOutcome[]> {
    const insert = items[0]!.key ? this.#insertKeyed : this.#insertPlain
    let written = false
    const write = async (part: readonly Item[]) => {
      const outcomes = await insert(part)
      written = true
      return outcomes
    }
    try {
      return await writeInHalves(items, write, (item, error) => {
        this.#onError('message not queued', error)
        return failed(item.row)
      })
    } catch (error) {
      if (!written && !isOutcomeUnknown(error)) throw error
      return await this.#settleLost(items)
    }
  }

  readonly #insertPlain = async (items: readonly Item[]): Promise<readonly AcceptOutcome[]> => {
    const rows = items.map((item) => item.row)
    const optedOut = new Set(await insertMessages(this.#db, rows))
    return rows.map((row) => queued(row, optedOut.has(row.msg_id)))
  }

  readonly #insertKeyed = async (items: readonly Item[]): Promise<readonly AcceptOutcome[]> => {
    const firsts = new Map<string, Item>()
    for (const item of items) if (!firsts.has(keyOf(item))) firsts.set(keyOf(item), item)
    // In one order everywhere, so that two nodes with the same keys do not lock each other out.
    const rows = [...firsts.values()]
      .map((item): KeyedMessage => ({ ...item.row, ...item.key! }))
      .sort((a, b) => (a.key_hash < b.key_hash ? -1 : 1))
    const inserted = await insertKeyedMessages(this.#db, rows, IDEMPOTENCY_LIFETIME_MS, NOT_QUEUED)
    const stored = new Map(inserted.map((row) => [row.msg_id, row.opted_out]))
    const others = items.filter((item) => !stored.has(item.row.msg_id))
    const earlier = others.length === 0 ? new Map() : await this.#firstRecords(others)
    return items.map((item) => {
      const optedOut = stored.get(item.row.msg_id)
      if (optedOut !== undefined) return queued(item.row, optedOut)
      const first = earlier.get(keyOf(item))
      // Answered 500, and about to be refused: the key's next use after that is a new message.
      if (first === undefined || this.#isRefused(first.message.msgId)) return failed(item.row)
      if (first.requestHash !== item.key!.request_hash) return { kind: 'key-reused' }
      return { kind: 'replayed', message: first.message }
    })
  }

  async #firstRecords(
    items: readonly Item[],
  ): Promise<Map<string, { message: Message; requestHash: string }>> {
    const keys = items.map((item) => ({ plan_id: item.row.plan_id, key_hash: item.key!.key_hash }))
    const found = await findByIdempotencyKeys(this.#db, keys)
    return new Map(
      found.map(({ keyHash, requestHash, ...message }) => [
        `${message.planId}:${keyHash}`,
        { requestHash, message: asFirstAnswered(message) },
      ]),
    )
  }

  /** The connection went during COMMIT: asks until the database answers what became of the batch. */
  async #settleLost(items: readonly Item[]): Promise<readonly AcceptOutcome[]> {
    const rows = items.map((item) => item.row)
    const deadlineMs = Date.now() + this.#lostCommitMs
    while (Date.now() < deadlineMs) {
      try {
        return await writeInHalves(rows, this.#settlePart, failed)
      } catch (error) {
        this.#onError('outcome of a COMMIT still unknown', error)
        await new Promise((resolve) => setTimeout(resolve, LOST_COMMIT_RETRY_MS))
      }
    }
    this.#refuseLater(rows)
    return rows.map(failed)
  }

  /** They may be stored: as soon as the database answers they are FAILED there. */
  #refuseLater(rows: readonly NewMessage[]): void {
    this.#refused.push(...rows)
    for (const row of rows) this.#placement.refuse(row.msg_id)
    void this.#refuse()
  }

  readonly #settlePart = async (rows: readonly NewMessage[]): Promise<readonly AcceptOutcome[]> => {
    // Asked first: once they are settled, a second attempt could not tell what the first had refused.
    const optedOut = new Set(await findOptedOutMessages(this.#db, rows))
    const refused = new Set(await settleLostMessages(this.#db, rows, NOT_QUEUED))
    return rows.map((row) => (refused.has(row.msg_id) ? failed(row) : queued(row, optedOut.has(row.msg_id))))
  }

  #isRefused(msgId: string): boolean {
    return this.#refused.some((row) => row.msg_id === msgId)
  }

  /** Sees to it that what was answered 500 is never sent, once the database answers again. */
  async #refuse(): Promise<void> {
    if (this.#refusing) return
    this.#refusing = true
    while (this.#refused.length > 0) {
      const rows = this.#refused.slice(0, MAX_BATCH)
      try {
        // A row that the database cannot hold is not there either.
        await writeInHalves(rows, this.#refusePart, () => true)
        this.#refused = this.#refused.slice(rows.length)
        for (const row of rows) this.#placement.refused(row.msg_id)
      } catch (error) {
        this.#onError('messages answered 500 still to be refused', error)
        await new Promise((resolve) => setTimeout(resolve, LOST_COMMIT_RETRY_MS).unref())
      }
    }
    this.#refusing = false
  }

  readonly #refusePart = async (rows: readonly NewMessage[]): Promise<readonly true[]> => {
    await refuseMessages(this.#db, rows, NOT_QUEUED)
    return rows.map(() => true)
  }
}

function keyOf(item: Item): string {
  return `${item.row.plan_id}:${item.key!.key_hash}`
}

function queued(row: NewMessage, optedOut: boolean): AcceptOutcome {
  return { kind: 'queued', message: messageOf(row, 'QUEUED', '000'), optedOut }
}

function failed(row: NewMessage): AcceptOutcome {
  return { kind: 'failed', message: messageOf(row, 'FAILED', NOT_QUEUED) }
}
