import type { Page } from '../domain/cursors.ts'
import type { MessageFilters } from '../domain/message-filters.ts'
import type { Message } from '../domain/messages.ts'
import { type MessageInProgress, messageOf } from '../domain/messages-in-progress.ts'
import { mergeNewest, newestWanted, type WantedMessages, wantedOfPage } from '../domain/wanted-messages.ts'
import type { Queryable } from '../store/database.ts'
import { listMessages } from '../store/message-list.ts'
import { type FoundMessage, type NamelessMessage, withNames } from '../store/message-search.ts'
import { findMessage } from '../store/messages.ts'
import { findAtRest } from '../store/projection.ts'
import { findMessages, type MessageSearch, wantedOfSearch } from './search-messages.ts'

/** The messages that this process has in progress: they have no record yet. */
export interface OwnMessages {
  /** As of what is committed in this process's lane. */
  get(msgId: string): MessageInProgress | undefined
  /** Those of this plan, or more, in any order, each once; quickly, for every list goes through them. */
  all(planId: number | null): Iterable<MessageInProgress>
  readonly size: number
  /** Its record is being written: where there is one, it may be newer. */
  isLeaving(msgId: string): boolean
  /** Resolves when these are in the records and out of memory, also where they never were in memory. */
  project(msgIds: readonly string[]): Promise<void>
  /** The lane that has them; null: this process writes none, and there are none. */
  readonly lane: number | null
}

/** Those that other processes have in progress, as their lanes say. Some may have a record, which is newer then. */
export interface OtherMessages {
  /** Resolves when what was committed in their lanes by now is known here, or is in the records. */
  catchUp(): Promise<void>
  get(msgId: string): MessageInProgress | undefined
  /** As of `OwnMessages`. */
  all(planId: number | null): Iterable<MessageInProgress>
  /** They have a record. */
  forget(msgIds: Iterable<string>): void
}

export interface MessageReadsOptions {
  readonly db: Queryable
  readonly own: OwnMessages
  readonly others: OtherMessages
  /** Monotonic, milliseconds. */
  readonly clock: () => number
  readonly wait: (ms: number) => Promise<void>
}

/** A little longer than a message stays in progress. */
const MAX_WAIT_MS = 12_000
const POLL_MS = 100
/** Looked for among the records in one statement. */
const MAX_LOOKED_AT = 1_000

/**
 * Reads messages, wherever they are: in the memory of this process, in the lanes of the others, in the records. Every read
 * knows at least what was committed on any node when it began. A message goes one way, from progress into the records. So
 * who looks into progress first, and into the records afterwards, misses none; a record is newer than what a lane says.
 */
export class MessageReads {
  readonly #options: MessageReadsOptions

  constructor(options: MessageReadsOptions) {
    this.#options = options
  }

  /** One message of any of these plans. */
  async find(planIds: readonly number[], msgId: string): Promise<Message | null> {
    const { db, own, others } = this.#options
    const id = msgId.toLowerCase()
    const mine = own.get(id)
    if (mine !== undefined && !own.isLeaving(id)) return ofPlans(planIds, messageOf(mine))
    if (mine === undefined) await others.catchUp()
    const message = mine ?? others.get(id)
    // As it is now: it may change while its record is looked for.
    const inProgress = message === undefined ? null : ofPlans(planIds, messageOf(message))
    return (await findMessage(db, planIds, id)) ?? inProgress
  }

  /** Messages of one plan, newest first. */
  async list(page: Page<MessageFilters, string>): Promise<Message[]> {
    const inProgress = await this.#inProgress(wantedOfPage(page), page.limit, messageOf)
    const recorded = await listMessages(this.#options.db, page)
    return mergeNewest(recorded, inProgress, page.limit)
  }

  /** What `findMessages` gives, and the messages in progress among it. */
  async search(search: MessageSearch): Promise<{ rows: FoundMessage[]; searchedTo: string | null }> {
    const { db, clock } = this.#options
    const inProgress = await this.#inProgress(wantedOfSearch(search), search.limit, namelessMessage)
    const { rows, searchedTo } = await findMessages(db, search, clock)
    const searched = inProgress.filter(({ msgId }) => searchedTo === null || msgId >= searchedTo)
    return { rows: mergeNewest(rows, await withNames(db, searched), search.limit), searchedTo }
  }

  /**
   * Resolves when these messages, of this plan where it is given, are not in progress: what is read of them afterwards is
   * whole. This process records its own at once. Others' are waited for, at most 12 s: then the records are what there is.
   */
  async untilRecorded(msgIds: readonly string[], planId: number | null = null): Promise<void> {
    const { own } = this.#options
    const ids = msgIds.map((msgId) => msgId.toLowerCase())
    const isOfPlan = (message: MessageInProgress | undefined) =>
      planId === null || message?.accepted.planId === planId
    const mine = ids.filter((msgId) => own.get(msgId) !== undefined && isOfPlan(own.get(msgId)))
    if (mine.length > 0) await own.project(mine)
    // All of them: where this process lost its lane meanwhile, its messages are another's.
    await this.#untilOthersRecorded(ids, isOfPlan)
  }

  /** Before events are listed: of a message where it is given, else of the plan as far as this process knows it. */
  async untilEventsRecorded(planId: number, msgId: string | null): Promise<void> {
    await (msgId === null ? this.ownProjected(planId) : this.untilRecorded([msgId], planId))
  }

  /** Whether any node has messages of the plan that are not in the records yet. */
  async hasInProgress(planId: number): Promise<boolean> {
    const { own, others } = this.#options
    await others.catchUp()
    return [own, others].some((source) =>
      Iterator.from(source.all(planId)).some(({ accepted }) => accepted.planId === planId),
    )
  }

  /** Has this process record what it has in progress of a plan and has events of. */
  async ownProjected(planId: number): Promise<void> {
    const { own } = this.#options
    const ids = [...own.all(planId)]
      .filter(({ accepted, events }) => accepted.planId === planId && events.length > 0)
      .map(({ msgId }) => msgId)
    if (ids.length > 0) await own.project(ids)
  }

  /** The newest that are wanted and have no record, as they are now: they may change while the records are read. */
  async #inProgress<Row extends { readonly msgId: string }>(
    wanted: WantedMessages,
    limit: number,
    rowOf: (message: MessageInProgress) => Row,
  ): Promise<Row[]> {
    const { db, own, others } = this.#options
    await this.#catchUp()
    const sources = () => [own, others].map((source) => source.all(wanted.planId))
    const rows: Row[] = []
    // Where many have a record by now, they give way to as many older ones.
    for (let { below } = wanted, most = limit; ; most = MAX_LOOKED_AT) {
      const newest = newestWanted(sources(), { ...wanted, below }, most)
      const candidates = newest.map(rowOf)
      const doubtful = newest.filter(({ msgId }) => own.get(msgId) === undefined || own.isLeaving(msgId))
      const recorded = doubtful.length === 0 ? new Set<string>() : await findAtRest(db, doubtful.map(keyOf))
      others.forget(recorded)
      rows.push(...candidates.filter(({ msgId }) => !recorded.has(msgId)))
      if (rows.length >= limit || newest.length < most) return rows.slice(0, limit)
      below = newest.at(-1)!.msgId
    }
  }

  /** Where this process loses its lane meanwhile, its messages are to be read there. */
  async #catchUp(): Promise<void> {
    const { own, others } = this.#options
    for (let lane: number | null | undefined; lane !== own.lane; ) {
      lane = own.lane
      await others.catchUp()
    }
  }

  async #untilOthersRecorded(
    msgIds: readonly string[],
    isOfPlan: (message: MessageInProgress) => boolean,
  ): Promise<void> {
    const { db, others, clock, wait } = this.#options
    if (msgIds.length === 0) return
    const endsAtMs = clock() + MAX_WAIT_MS
    for (;;) {
      await others.catchUp()
      const theirs = msgIds.map((msgId) => others.get(msgId)).filter((message) => message !== undefined)
      const waitedFor = theirs.filter(isOfPlan)
      if (waitedFor.length === 0) return
      const recorded = await findAtRest(db, waitedFor.map(keyOf))
      others.forget(recorded)
      if (recorded.size === waitedFor.length || clock() >= endsAtMs) return
      await wait(POLL_MS)
    }
  }
}

function ofPlans(planIds: readonly number[], message: Message): Message | null {
  return planIds.includes(message.planId) ? message : null
}

function keyOf({ msgId, accepted }: MessageInProgress): { planId: number; msgId: string } {
  return { planId: accepted.planId, msgId }
}

function namelessMessage(message: MessageInProgress): NamelessMessage {
  const {
    planId,
    msgId,
    status,
    sender,
    recipient,
    segments,
    country,
    mccmnc,
    errorCode,
    sentAt,
    updatedAt,
  } = messageOf(message)
  const { carrierId, routeId, carrierCode } = message.state
  return {
    planId,
    routeId,
    carrierId,
    msgId,
    status,
    sender,
    recipient,
    segments,
    country,
    mccmnc,
    errorCode,
    carrierCode,
    sentAt,
    updatedAt,
  }
}
