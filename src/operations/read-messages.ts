import type { HeldCause } from '../domain/backlog.ts'
import { type MessageInProgress, messageOf } from '../domain/journal/messages-in-progress.ts'
import type { MessageFilters, Page } from '../domain/lists.ts'
import {
  isWanted,
  mergeNewest,
  newestWanted,
  type WantedMessages,
  wantedOfPage,
  wantedOfRecord,
} from '../domain/messages/message-search.ts'
import type { Message } from '../domain/messages/messages.ts'
import type { Queryable } from '../store/database.ts'
import { listMessages } from '../store/message-list.ts'
import { type FoundMessage, type NamelessMessage, withNames } from '../store/message-search.ts'
import { findMessage, type InLane } from '../store/messages.ts'
import type { MessageKey } from '../store/messages-at-rest.ts'
import { findRecorded } from '../store/projection.ts'
import { type MessageSearch, searchMessages, wantedOfSearch } from './search-messages.ts'

/** The messages that this process has in progress. */
export interface OwnMessages {
  /** The message as committed in this process's lane. */
  get(msgId: string): MessageInProgress | undefined
  /** The messages of this plan, and perhaps others, in any order, each once. Fast, because every list goes through them. */
  all(planId: number | null): Iterable<MessageInProgress>
  readonly size: number
  /** Its record is being written. If there is one, it may be newer. */
  isLeaving(msgId: string): boolean
  /** Resolves when these are in the records and out of memory, even if they never were in memory. */
  project(msgIds: readonly string[]): Promise<void>
  /** The lane that has these messages; null: this process writes none, and has none. */
  readonly lane: number | null
}

/** What the lanes of other processes say. A message may be in several lanes; its record says which one has it in progress. */
export interface OtherMessages {
  /** Resolves when everything committed in their lanes by now is known here, or is in the records. */
  catchUp(): Promise<void>
  /** As this lane last began it; null: as any lane has it. */
  get(msgId: string, lane: number | null): MessageInProgress | undefined
  /** The same as in `OwnMessages`, for each lane. */
  all(planId: number | null): readonly Iterable<MessageInProgress>[]
  /** These messages are no longer in progress in their lanes. A message that has begun again meanwhile is kept. */
  drop(messages: Iterable<MessageInProgress>): void
}

export interface MessageReadsOptions {
  readonly db: Queryable
  /** Where records are listed and looked up. Each statement sees at least what `db` has when it begins. */
  readonly records: Queryable
  readonly own: OwnMessages
  readonly others: OtherMessages
  /** Monotonic, milliseconds. */
  readonly clock: () => number
  readonly wait: (ms: number) => Promise<void>
}

/** Slightly longer than a message stays in progress. */
const MAX_WAIT_MS = 12_000
const POLL_MS = 100
/** Messages looked up in the records by one statement. */
const MAX_LOOKED_AT = 1_000

/** How often to reread records whose messages were loaded, and were at rest again, before their lanes were read. */
const MOST_LOOKS = 5

/**
 * Reads messages wherever they are: in the memory of this process, in the lanes of the others, or in the records. Every read
 * includes at least what was committed on any node when it began. A record is read by its `lane`. If that is null, the record
 * is the message. If it names a lane, which is read afterwards and has the message, then the lane counts. If the lane does
 * not have it, the message has moved since, and the record is read again. If a lane has it once more, it was loaded in
 * between, and the record is as it was then. A message without a record is in the lane that accepted it.
 */
export class MessageReads {
  readonly #options: MessageReadsOptions

  constructor(options: MessageReadsOptions) {
    this.#options = options
  }

  /**
   * One message of any of these plans. One of another plan is looked for like one that does not exist: not even the time tells
   * them apart.
   */
  async find(planIds: readonly number[], msgId: string): Promise<Message | null> {
    const { db, records, own, others } = this.#options
    const id = msgId.toLowerCase()
    const mine = own.get(id)
    if (isOf(planIds, mine) && !own.isLeaving(id)) return messageOf(mine)
    let record: (Message & InLane) | null = null
    for (let look = 0; look < 2; look += 1) {
      // What was not found is asked of the primary again.
      record = await findMessage(look === 0 ? records : db, planIds, id)
      // No record, and in no lane when they were read before: there is no such message.
      if (record?.lane === null || (record === null && look > 0)) break
      const lane = record?.lane ?? null
      if (!isOf(planIds, this.#inMemory(id, lane))) await others.catchUp()
      const message = this.#inProgress(id, lane)
      if (isOf(planIds, message)) return messageOf(message)
    }
    return record === null ? null : withoutLane(record)
  }

  /** Why a message waits in the memory of another process, as far as the journal tells; null: in none. */
  async causeElsewhere(msgId: string): Promise<HeldCause | null> {
    const { others } = this.#options
    await others.catchUp()
    const dispatch = others.get(msgId, null)?.state.dispatch ?? null
    if (dispatch === null) return null
    return dispatch.begun ? 'in-flight' : 'queued'
  }

  /** Messages of one plan, newest first. */
  async list(page: Page<MessageFilters, string>): Promise<Message[]> {
    const { records } = this.#options
    const { after, limit } = page
    const wanted = wantedOfPage(page)
    const inProgress = await this.#newestInProgress(wanted, limit, messageOf)
    const recorded = await this.#recorded(
      async (part) => ({ rows: await listMessages(records, { ...page, ...part }), searchedTo: null }),
      { after, limit, wanted, rowOf: messageOf },
    )
    return mergeNewest(recorded.rows, mergeNewest(recorded.inProgress, inProgress, limit), limit)
  }

  /** The rows of `searchMessages`, and matching messages in progress. */
  async search(search: MessageSearch): Promise<{ rows: FoundMessage[]; searchedTo: string | null }> {
    const { db, records, clock } = this.#options
    const { after, limit } = search
    const wanted = wantedOfSearch(search)
    const inProgress = await this.#newestInProgress(wanted, limit, namelessMessage)
    const recorded = await this.#recorded((part) => searchMessages(records, { ...search, ...part }, clock), {
      after,
      limit,
      rowOf: namelessMessage,
      wanted: wantedOfRecord(wanted),
    })
    const { rows, searchedTo } = recorded
    const nameless = mergeNewest(recorded.inProgress, inProgress, limit)
    const searched = nameless.filter(({ msgId }) => searchedTo === null || msgId >= searchedTo)
    return { rows: mergeNewest(rows, await withNames(db, searched), limit), searchedTo }
  }

  /**
   * Resolves when these messages (of this plan, if given) are not in progress, so that later reads of them are complete. This
   * process records its own messages at once. It waits at most 12 s for other processes; after that the records are what
   * there is.
   */
  async untilRecorded(msgIds: readonly string[], planId: number | null = null): Promise<void> {
    const { own } = this.#options
    const ids = msgIds.map((msgId) => msgId.toLowerCase())
    const isOfPlan = (message: MessageInProgress | undefined) =>
      planId === null || message?.accepted.planId === planId
    const mine = ids.filter((msgId) => own.get(msgId) !== undefined && isOfPlan(own.get(msgId)))
    if (mine.length > 0) await own.project(mine)
    // All of them, because if this process lost its lane meanwhile, its messages are another's.
    await this.#untilOthersRecorded(ids, isOfPlan)
  }

  /** Called before events are listed: for one message if given, else for the plan as far as this process knows it. */
  async untilEventsRecorded(planId: number, msgId: string | null): Promise<void> {
    await (msgId === null ? this.projectOwn(planId) : this.untilRecorded([msgId], planId))
  }

  /** Those of these plans of which any node has messages that are not in the records yet. */
  async plansInProgress(planIds: readonly number[]): Promise<ReadonlySet<number>> {
    const { own, others } = this.#options
    await others.catchUp()
    const isInProgress = (planId: number) =>
      [own.all(planId), ...others.all(planId)].some((source) =>
        Iterator.from(source).some(({ accepted }) => accepted.planId === planId),
      )
    return new Set(planIds.filter(isInProgress))
  }

  /** Makes this process record the messages of a plan that it has in progress and has events of. */
  async projectOwn(planId: number): Promise<void> {
    const { own } = this.#options
    const ids = [...own.all(planId)]
      .filter(({ accepted, events }) => accepted.planId === planId && events.length > 0)
      .map(({ msgId }) => msgId)
    if (ids.length > 0) await own.project(ids)
  }

  /** The newest matching messages in progress, as they are now. They may change while the records are read. */
  async #newestInProgress<Row extends { readonly msgId: string }>(
    wanted: WantedMessages,
    limit: number,
    rowOf: (message: MessageInProgress) => Row,
  ): Promise<Row[]> {
    const { own, others } = this.#options
    await this.#catchUp()
    const rows: Row[] = []
    // If many are not in progress any more, as many older ones take their place.
    for (let { below } = wanted, most = limit; ; most = MAX_LOOKED_AT) {
      const sources = [own.all(wanted.planId), ...others.all(wanted.planId)]
      const newest = newestWanted(sources, { ...wanted, below }, most)
      rows.push(...(await this.#stillInProgress(newest, wanted, rowOf)))
      if (rows.length >= limit || newest.length < most) return rows.slice(0, limit)
      below = newest.at(-1)!.msgId
    }
  }

  async #stillInProgress<Row>(
    newest: readonly MessageInProgress[],
    wanted: WantedMessages,
    rowOf: (message: MessageInProgress) => Row,
  ): Promise<Row[]> {
    const { db, own, others } = this.#options
    const found = newest.map((message) => {
      const isCertain = own.get(message.msgId) === message && !own.isLeaving(message.msgId)
      return { message, isCertain, row: rowOf(message) }
    })
    const doubtful = found.flatMap(({ message, isCertain }) => (isCertain ? [] : [message]))
    const recorded = doubtful.length > 0 ? await findRecorded(db, doubtful.map(keyOf)) : NONE_RECORDED
    // A message may have begun again since its lane was read.
    if (recorded.values().some((lane) => this.#isElsewhere(lane))) await this.#catchUp()
    others.drop(doubtful.filter((message) => !isInProgress(others, message, recorded)))
    const rows = new Map<string, Row>()
    for (const { message, isCertain, row } of found) {
      const { msgId } = message
      const lane = recorded.get(msgId)
      const now = lane === undefined || lane === null ? undefined : this.#inProgress(msgId, lane)
      if (isCertain || (lane === undefined && message.loaded === null)) rows.set(msgId, row)
      else if (now !== undefined && isWanted(wanted, now)) rows.set(msgId, rowOf(now))
    }
    return [...rows.values()]
  }

  /** At least `limit` records, or all there are. Those of messages in progress are as they are now. */
  async #recorded<Recorded extends { readonly msgId: string }, Row>(
    read: (part: Part) => Promise<Records<Recorded>>,
    {
      after,
      limit,
      wanted,
      rowOf,
    }: Part & { readonly wanted: WantedMessages; readonly rowOf: (message: MessageInProgress) => Row },
  ) {
    const rows: Recorded[] = []
    const inProgress: Row[] = []
    // If many no longer match, the records behind them are read.
    for (let part: Part = { after, limit }; ; ) {
      const { records, searchedTo, found } = await this.#readRecords(read, part)
      for (const record of records) {
        const message = found.get(record.msgId)
        if (message === undefined) rows.push(withoutLane(record))
        else if (isWanted(wanted, message)) inProgress.push(rowOf(message))
      }
      const isFull = rows.length + inProgress.length >= limit
      if (isFull || searchedTo !== null || records.length < part.limit)
        return { rows, inProgress, searchedTo }
      part = { after: records.at(-1)!.msgId, limit: MAX_LOOKED_AT }
    }
  }

  async #readRecords<Recorded extends { readonly msgId: string }>(
    read: (part: Part) => Promise<Records<Recorded>>,
    part: Part,
  ) {
    const missed = new Set<string>()
    for (let look = 1; ; look += 1) {
      const { rows: records, searchedTo } = await read(part)
      const loaded = records.filter(({ lane }) => lane !== null)
      if (loaded.some(({ lane }) => this.#isElsewhere(lane))) await this.#catchUp()
      const found = new Map<string, MessageInProgress>()
      for (const { msgId, lane } of loaded) {
        const message = this.#inProgress(msgId, lane)
        if (message !== undefined) found.set(msgId, message)
      }
      const moved = loaded.filter(({ msgId }) => !found.has(msgId) && !missed.has(msgId))
      if (moved.length === 0 || look === MOST_LOOKS) return { records, searchedTo, found }
      for (const { msgId } of moved) missed.add(msgId)
    }
  }

  #isElsewhere(lane: number | null): boolean {
    return lane !== null && lane !== this.#options.own.lane
  }

  /** The message as the lane named by its record has it; null: it has no record. */
  #inProgress(msgId: string, lane: number | null): MessageInProgress | undefined {
    return this.#inMemory(msgId, lane) ?? this.#options.others.get(msgId, lane)
  }

  /** The same, for messages of this process. */
  #inMemory(msgId: string, lane: number | null): MessageInProgress | undefined {
    return this.#isElsewhere(lane) ? undefined : this.#options.own.get(msgId)
  }

  /** If this process loses its lane meanwhile, its messages must be read there. */
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
      const theirs = msgIds.map((msgId) => others.get(msgId, null)).filter((message) => message !== undefined)
      const waitedFor = theirs.filter(isOfPlan)
      if (waitedFor.length === 0) return
      const recorded = await findRecorded(db, waitedFor.map(keyOf))
      others.drop(waitedFor.filter((message) => !isInProgress(others, message, recorded)))
      const isThere = ({ msgId, loaded }: MessageInProgress) => {
        const lane = recorded.get(msgId)
        return lane === undefined ? loaded === null : lane !== null && others.get(msgId, lane) !== undefined
      }
      if (!waitedFor.some(isThere) || clock() >= endsAtMs) return
      await wait(POLL_MS)
    }
  }
}

/** A stretch of a list of records, after `after`. */
interface Part {
  readonly after: string | null
  readonly limit: number
}

interface Records<Recorded> {
  readonly rows: readonly (Recorded & InLane)[]
  readonly searchedTo: string | null
}

const NONE_RECORDED: ReadonlyMap<string, number | null> = new Map()

/** Whether the message is the latest of its lane and, by the result of `findRecorded`, that lane has it. */
export function isInProgress(
  others: Pick<OtherMessages, 'get'>,
  message: MessageInProgress,
  recorded: ReadonlyMap<string, number | null>,
): boolean {
  const lane = recorded.get(message.msgId)
  if (lane === undefined) return message.loaded === null
  return lane !== null && others.get(message.msgId, lane) === message
}

function isOf(
  planIds: readonly number[],
  message: MessageInProgress | undefined,
): message is MessageInProgress {
  return message !== undefined && planIds.includes(message.accepted.planId)
}

export function keyOf({ msgId, accepted }: MessageInProgress): MessageKey {
  return { planId: accepted.planId, msgId }
}

function withoutLane<Recorded>({ lane: _, ...record }: Recorded & InLane): Recorded {
  return record as Recorded
}

function namelessMessage(message: MessageInProgress): NamelessMessage {
  const { body, callbackUrl, price, ptf, currency, ...shown } = messageOf(message)
  const { carrierId, routeId, carrierCode } = message.state
  return { ...shown, carrierId, routeId, carrierCode }
}
