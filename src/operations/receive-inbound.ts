import { setTimeout as wait } from 'node:timers/promises'
import type { InboundNumber, ServicePlan } from '../domain/configuration/configuration.ts'
import type { Directory } from '../domain/configuration/directory.ts'
import type { EventHolder, InboundMessage } from '../domain/events.ts'
import { bucketOf, createdAtMs } from '../domain/identifiers.ts'
import { matchKeyword, type OptOutRequest, optOutRequest } from '../domain/opt-outs.ts'
import type { SegmentNumber } from '../domain/text/concatenation.ts'
import { sameLanguage } from '../domain/text/gsm-national-tables.ts'
import { decodeInbound, decodeInboundParts } from '../domain/text/inbound-text.ts'
import type { Log } from '../log.ts'
import { awayPlans, isAway } from '../store/citus.ts'
import {
  type Database,
  isOutcomeUnknown,
  type Queryable,
  type Transaction,
  withTransaction,
} from '../store/database.ts'
import {
  type InboundPartCounts,
  insertInboundMessages,
  type NewInboundMessage,
  type NewOffers,
} from '../store/inbound-messages.ts'
import { countOffers } from '../store/inbound-offers.ts'
import {
  type InboundPart,
  insertInboundParts,
  type StoredPart,
  takeCompleteSets,
  takeFinishedSets,
  takeOldSets,
  takeSupersededSets,
} from '../store/inbound-parts.ts'
import { answerOptOuts } from './answer-opt-outs.ts'

/** One deliver_sm (or data_sm) that is not a receipt. Addresses are in our form; content is without its user data header. */
export interface InboundSegment extends Omit<InboundPart, keyof SegmentNumber> {
  readonly part: SegmentNumber | null
}

export interface InboundDeps {
  readonly db: Database
  readonly directory: Directory
  /** A new id in a bucket of this node; its millisecond is the message's receivedAt. */
  readonly newMessageId: () => string
  readonly holder: EventHolder
  readonly log: Log
  /** Called with the number of messages to numbers that nobody owns. They are kept for the operator. */
  readonly onUnowned?: ((count: number) => void) | undefined
  /** Called for each message of a plan once it is recorded. */
  readonly onOwned?: ((received: ReceivedInbound) => void) | undefined
  /** The PDUs that the segments came in, recorded with them. */
  readonly offers?: NewOffers
}

/** A recorded message that somebody owns. */
export interface ReceivedInbound {
  readonly inbound: InboundMessage
  readonly carrierId: number
  readonly plan: ServicePlan
  /** This node delivers its event from memory. */
  readonly held: boolean
}

/**
 * Parts kept of one sender with one carrier. Above that, its oldest incomplete messages are recorded as they stand. If the
 * surplus were refused instead, the carrier would offer it again and again, delaying everybody else's messages, and abandoned
 * parts would win over new ones. With a new sender in each part, a flood is bounded by what the link carries in 30 minutes.
 * It costs disk, never memory.
 */
const MAX_PARTS_PER_SENDER = 1_000

/** A message is recorded incomplete when its oldest part has waited this long. */
const INCOMPLETE_AFTER_MS = 30 * 60_000

/** Sets taken in one transaction of a sweep (parts, for the old ones), and transactions in one sweep. */
const SWEEP_LIMIT = 500
const MAX_SWEEPS = 20

/** A whole message, or those of its parts that have arrived. */
interface Content extends InboundPartCounts {
  readonly carrierId: number
  readonly sender: string
  readonly recipient: string
  readonly text: string
}

/**
 * Records a batch in one transaction; a deliver_sm is acknowledged only after it resolves. Returns the messages that are
 * whole now and have an owner. After a COMMIT of unknown outcome, the offers are read back. When this rejects, nothing was
 * recorded, or nobody can say yet (isOutcomeUnknown). The carrier should then offer the batch again, and its offers tell.
 */
export async function receiveInbound(
  deps: InboundDeps,
  segments: readonly InboundSegment[],
): Promise<ReceivedInbound[]> {
  const unconfirmed: Unconfirmed = { messages: [] }
  try {
    return counted(deps, await recordSegments(deps, segments, unconfirmed))
  } catch (error) {
    if (!isOutcomeUnknown(error) || !(await isRecorded(deps))) throw error
    return counted(
      deps,
      recordedOf(unconfirmed.messages, ({ row }) => isHeldBy(deps.holder, row)),
    )
  }
}

/** What was about to be recorded, in case the answer to its COMMIT is lost. */
interface Unconfirmed {
  messages: readonly Addressed[]
}

async function recordSegments(
  deps: InboundDeps,
  segments: readonly InboundSegment[],
  unconfirmed: Unconfirmed,
): Promise<Recorded> {
  const contents = segments.filter(({ part }) => part === null).map(singleContent)
  const rounds = roundsOf(segments.flatMap(partOf))
  if (rounds.length === 0) return recordSingles(deps, contents, unconfirmed)
  return withTransaction(deps.db, async (transaction) => {
    for (const parts of rounds) {
      contents.push(...joinedContents(await takeSupersededSets(transaction, parts)))
      await insertInboundParts(transaction, parts)
      const senders = parts.map(({ carrierId, sender }) => ({ carrierId, sender }))
      contents.push(...joinedContents(await takeFinishedSets(transaction, senders, MAX_PARTS_PER_SENDER)))
    }
    unconfirmed.messages = addressed(deps, contents)
    return recordAndAnswer(transaction, deps, unconfirmed.messages)
  })
}

/** How long, and how often, the database is asked about a COMMIT whose answer was lost. */
const LOST_COMMIT_MS = 5_000
const LOST_COMMIT_RETRY_MS = 250

/** Also false when the database does not say. */
async function isRecorded({ db, offers }: InboundDeps): Promise<boolean> {
  if (offers === undefined || offers.offers.length === 0) return false
  const deadlineMs = performance.now() + LOST_COMMIT_MS
  while (performance.now() < deadlineMs) {
    const count = await countOffers(db, offers.offers).catch(() => null)
    if (count !== null) return count > 0
    await wait(LOST_COMMIT_RETRY_MS)
  }
  return false
}

/** Same rule as insert_inbound_messages. */
function isHeldBy({ nodeId, buckets }: EventHolder, { announced, msgId }: NewInboundMessage): boolean {
  return announced && nodeId !== null && buckets.includes(bucketOf(msgId))
}

/**
 * Records messages whose missing parts did not come within `olderThanMs` as they stand: in sequence, skipping gaps. Bounded:
 * the rest waits for the next call. Safe on several nodes at once.
 */
export async function deliverIncompleteSets(
  deps: InboundDeps,
  olderThanMs = INCOMPLETE_AFTER_MS,
): Promise<ReceivedInbound[]> {
  return sweep(deps, (transaction, away) => takeOldSets(transaction, olderThanMs, SWEEP_LIMIT, away))
}

/**
 * Records messages whose last two parts were stored by two nodes at the same moment, so that neither saw the set complete.
 * Bounded and safe like the other sweep.
 */
export async function deliverCompleteSets(deps: InboundDeps): Promise<ReceivedInbound[]> {
  return sweep(deps, (transaction, away) => takeCompleteSets(transaction, SWEEP_LIMIT, away))
}

/** Sets for plans whose records cannot be written now are left for a later sweep. */
async function sweep(
  deps: InboundDeps,
  take: (transaction: Queryable, away: readonly string[]) => Promise<StoredPart[]>,
): Promise<ReceivedInbound[]> {
  const received: ReceivedInbound[] = []
  for (let sweeps = 0; sweeps < MAX_SWEEPS; sweeps += 1) {
    const away = numbersAway(deps)
    const recorded = await withTransaction(deps.db, async (transaction) =>
      recordAndAnswer(transaction, deps, addressed(deps, joinedContents(await take(transaction, away)))),
    )
    if (recorded.received.length + recorded.unowned === 0) break
    received.push(...counted(deps, recorded))
  }
  return received
}

/** The numbers of plans whose server, of several, is away, in either form that carriers write (`ownerOf`). */
function numbersAway({ db, directory }: InboundDeps): string[] {
  if (awayPlans(db).length === 0) return []
  return [...directory.contents.inboundNumbers].flatMap(([number, { plan }]) =>
    isAway(db, plan.id) ? [number, otherForm(number)] : [],
  )
}

interface Recorded {
  readonly received: ReceivedInbound[]
  readonly unowned: number
}

/** Uses one statement, unless somebody asks for STOP, START or HELP. */
async function recordSingles(
  deps: InboundDeps,
  contents: readonly Content[],
  unconfirmed: Unconfirmed,
): Promise<Recorded> {
  const messages = addressed(deps, contents)
  unconfirmed.messages = messages
  if (messages.every(({ request }) => request === null)) return record(deps.db, deps, messages)
  return withTransaction(deps.db, (transaction) => recordAndAnswer(transaction, deps, messages))
}

async function recordAndAnswer(
  transaction: Transaction,
  deps: InboundDeps,
  messages: readonly Addressed[],
): Promise<Recorded> {
  const recorded = await record(transaction, deps, messages)
  const asked = messages.flatMap(({ row, owner, request }) =>
    owner === undefined || request === null
      ? []
      : [{ plan: owner.plan, request, number: owner.number, person: row.sender }],
  )
  if (asked.length > 0) await answerOptOuts(transaction, deps, asked)
  return recorded
}

async function record(db: Queryable, deps: InboundDeps, messages: readonly Addressed[]): Promise<Recorded> {
  const { offers } = deps
  if (messages.length === 0 && !offers?.offers.length) return { received: [], unowned: 0 }
  const rows = messages.map(({ row }) => row)
  const held = new Set(await insertInboundMessages(db, rows, deps.holder, offers))
  return recordedOf(messages, ({ row }) => held.has(row.msgId))
}

function recordedOf(messages: readonly Addressed[], isHeld: (message: Addressed) => boolean): Recorded {
  const received = messages.flatMap((message) => {
    const { row, owner } = message
    if (owner === undefined) return []
    const { carrierId } = row
    return [{ inbound: inboundOf(row, owner), carrierId, plan: owner.plan, held: isHeld(message) }]
  })
  return { received, unowned: messages.length - received.length }
}

/** Counted after the COMMIT, because a batch that was rolled back comes again. */
function counted(
  { log, onOwned, onUnowned }: InboundDeps,
  { received, unowned }: Recorded,
): ReceivedInbound[] {
  if (onOwned !== undefined) for (const each of received) onOwned(each)
  if (unowned === 0) return received
  log.warn({ count: unowned }, 'inbound messages to numbers that nobody owns')
  onUnowned?.(unowned)
  return received
}

/** A message, its owner, and what it asks of its plan, if its plan listens. */
interface Addressed {
  readonly row: NewInboundMessage
  readonly owner: InboundNumber | undefined
  readonly request: OptOutRequest | null
}

/** The owner's number is recorded as it was configured, however the carrier wrote it. */
function addressed({ directory, newMessageId }: InboundDeps, contents: readonly Content[]): Addressed[] {
  return contents.map((content) => {
    const owner = ownerOf(directory, content)
    const msgId = newMessageId()
    const { carrierId, parts, partsExpected, sender, text: body } = content
    const row = {
      msgId,
      carrierId,
      parts,
      partsExpected,
      sender,
      body,
      planId: owner?.plan.id ?? null,
      recipient: owner?.number ?? content.recipient,
      keyword: owner ? matchKeyword(body, owner.keywords) : null,
      announced: owner !== undefined && owner.plan.inboundUrl !== null,
      occurredAtMs: createdAtMs(msgId),
    }
    const settings = owner?.plan.optOut ?? null
    return { row, owner, request: settings === null ? null : optOutRequest(content.text, settings) }
  })
}

/**
 * Carriers write a number with and without its `+`. A short code of 7 or 8 digits under TON unknown was taken for an
 * international number and given one. The simulator delivers to numbers of sandbox plans only, and carriers to all others.
 */
export function ownerOf(
  directory: Directory,
  { carrierId, recipient }: Pick<Content, 'carrierId' | 'recipient'>,
): InboundNumber | undefined {
  const number = directory.inboundNumber(recipient) ?? directory.inboundNumber(otherForm(recipient))
  return number?.plan.sandbox === directory.isSandboxCarrier(carrierId) ? number : undefined
}

/** With the `+`, or without it. */
function otherForm(number: string): string {
  return number.startsWith('+') ? number.slice(1) : `+${number}`
}

function inboundOf(row: NewInboundMessage, { plan }: InboundNumber): InboundMessage {
  const { msgId, sender, recipient, body, keyword } = row
  return { planId: plan.id, msgId, sender, recipient, body, keyword }
}

function singleContent(segment: InboundSegment): Content {
  const { carrierId, sender, recipient, payload, dataCoding, language } = segment
  const text = decodeInbound(payload, dataCoding, language)
  return { carrierId, sender, recipient, text, parts: 1, partsExpected: 1 }
}

function partOf({ part, ...segment }: InboundSegment): InboundPart[] {
  return part === null ? [] : [{ ...segment, ...part }]
}

/** Parts of any number of sets, each set joined in sequence. */
function joinedContents(parts: readonly StoredPart[]): Content[] {
  return [...Map.groupBy(parts, setKey).values()].map((set) => {
    const { carrierId, sender, recipient, total } = set[0]!
    const counts = { parts: set.length, partsExpected: total }
    return { carrierId, sender, recipient, text: decodeInboundParts(set), ...counts }
  })
}

/**
 * One round, unless the batch holds the same part with different contents: the second then belongs to another message with
 * the same reference, and is stored after the first. A mere repetition is dropped.
 */
function roundsOf(parts: readonly InboundPart[]): InboundPart[][] {
  const rounds: Map<string, InboundPart>[] = []
  for (const part of parts) {
    const key = `${part.sequence} ${setKey(part)}`
    let index = 0
    while (rounds[index]?.has(key) && !sameContent(rounds[index]!.get(key)!, part)) index += 1
    const round = rounds[index] ?? new Map<string, InboundPart>()
    rounds[index] = round
    if (!round.has(key)) round.set(key, part)
  }
  return rounds.map((round) => [...round.values()])
}

function setKey({ carrierId, sender, recipient, kind, reference, total }: StoredPart): string {
  return JSON.stringify([carrierId, sender, recipient, kind, reference, total])
}

function sameContent(one: StoredPart, other: StoredPart): boolean {
  return (
    one.dataCoding === other.dataCoding &&
    sameLanguage(one.language, other.language) &&
    one.payload.equals(other.payload)
  )
}
