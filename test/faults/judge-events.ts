import type { Finding, Rule } from './findings.ts'
import { mayHaveDied } from './judge-deaths.ts'
import { isFailedAnswer } from './judge-messages.ts'
import { type FaultEntry, type FeedItem, type Ledgers, rankOf, type Submit, type Webhook } from './ledgers.ts'

/** An attempt takes at most this long, so a fault explains repeats of events accepted up to this long before it. */
const ATTEMPT_MS = 15_000
/**
 * Doubts left by a fault are settled at most this long after its end: a lease, and a node's checks once a minute. The time of
 * later faults does not count.
 */
const SETTLED_MS = 75_000

/**
 * A receipt of a message in doubt is matched by its addresses so long after it was acknowledged, at the latest: perhaps while
 * feed and record are read at the end.
 */
const MATCHED_MS = 85_000

/** Judges the status changes and inbound messages that receivers and the feed's reader got. */
export function judgeEvents(ledgers: Ledgers): Finding[] {
  const findings: Finding[] = []
  const find = (rule: Rule, subject: string, atMs: number) => findings.push({ rule, subject, atMs })
  const feed = feedOf(ledgers.feed, find)
  judgeFeedOfMessages(ledgers, feed, find)
  judgeWebhooks(ledgers, feed, find)
  return findings
}

type Find = (rule: Rule, subject: string, atMs: number) => void

/** By event id. The feed returns each event once, and the events of a message in order. */
function feedOf(items: readonly FeedItem[], find: Find): Map<string, FeedItem> {
  const known = new Map<string, FeedItem>()
  const latest = new Map<string, FeedItem>()
  for (const item of items) {
    if (known.has(item.eventId)) find('feed-repeated', item.eventId, item.atMs)
    known.set(item.eventId, item)
    const before = latest.get(item.msgId)
    if (before !== undefined && item.sequence < before.sequence)
      find('feed-disordered', item.eventId, item.atMs)
    latest.set(item.msgId, item)
  }
  return known
}

function judgeFeedOfMessages(
  { load, plans, record, submits }: Ledgers,
  feed: ReadonlyMap<string, FeedItem>,
  find: Find,
): void {
  const byMessage = Map.groupBy(feed.values(), ({ msgId }) => msgId)
  const entries = new Map(load.map((entry) => [entry.n, entry]))
  const late = lateReceipts(submits)
  for (const message of record.messages) {
    const { msgId, n, status } = message
    if (isFailedAnswer(message, entries.get(n))) continue
    const own = (byMessage.get(msgId) ?? []).toSorted((one, other) => one.sequence - other.sequence)
    const atMs = own.at(-1)?.atMs ?? entries.get(n)?.answers[0]?.answeredAtMs ?? 0
    if (own.some(({ sequence }, index) => sequence !== index + 1))
      find('event-missing', `feed of ${msgId}`, atMs)
    const last = own.at(-1)?.status ?? 'QUEUED'
    const wasInDoubt = plans[message.plan]!.keepsDoubtful && [last, status].includes('UNKNOWN')
    const mayBeMatched = wasInDoubt && late.has(n)
    if (last !== status && !mayBeMatched) find('event-missing', `feed of ${msgId}: ${status}`, atMs)
    const ranks = [0, ...own.map((item) => rankOf(item.status!))]
    if (ranks.some((rank, index) => index > 0 && rank <= ranks[index - 1]!))
      find('status-backwards', `feed of ${msgId}`, atMs)
  }
}

/** Numbers of the messages whose receipts were among the last. */
function lateReceipts(submits: readonly Submit[]): Set<number> {
  const endMs = submits.reduce((latest, { receiptAcknowledgedAtMs: atMs }) => Math.max(latest, atMs ?? 0), 0)
  const isLate = ({ receiptAcknowledgedAtMs: atMs }: Submit) => atMs !== null && atMs > endMs - MATCHED_MS
  return new Set(submits.filter(isLate).map(({ n }) => n))
}

function judgeWebhooks(
  { webhooks, feed: items, load, faults, record }: Ledgers,
  feed: ReadonlyMap<string, FeedItem>,
  find: Find,
): void {
  const pushed = new Set(load.filter(({ isPushed }) => isPushed).map(({ n }) => n))
  const numbers = new Map(record.messages.map(({ msgId, n }) => [msgId, n]))
  const byEvent = Map.groupBy(webhooks, ({ eventId }) => eventId)
  for (const [eventId, requests] of byEvent)
    judgeEvent(eventId, requests, feed.get(eventId), { load, faults }, find)
  for (const item of items) {
    if (item.status === null || !pushed.has(numbers.get(item.msgId) ?? -1)) continue
    if (!(byEvent.get(item.eventId) ?? []).some(({ isAccepted }) => isAccepted))
      find('event-missing', `webhook ${item.eventId}`, item.atMs)
  }
  for (const own of Map.groupBy(webhooks, ({ msgId }) => msgId).values()) judgeOrder(own, find)
}

function judgeEvent(
  eventId: string,
  requests: readonly Webhook[],
  item: FeedItem | undefined,
  ledgers: Pick<Ledgers, 'load' | 'faults'>,
  find: Find,
): void {
  const [first] = requests
  if (item === undefined) find('event-unknown', eventId, first!.begunAtMs)
  const digests = new Set([...requests.map(({ digest }) => digest), ...(item ? [item.digest] : [])])
  if (digests.size > 1) find('event-changed', eventId, first!.begunAtMs)
  const accepted = requests.find(({ isAccepted }) => isAccepted)
  if (accepted === undefined) return
  for (const again of requests.filter(({ begunAtMs }) => begunAtMs > accepted.answeredAtMs!))
    if (
      !repeatIsExcused(accepted.answeredAtMs!, again.begunAtMs, ledgers.faults) &&
      !mayHaveDied(accepted.answeredAtMs!, again.begunAtMs, ledgers)
    )
      find('event-repeated', eventId, again.begunAtMs)
}

function repeatIsExcused(acceptedAtMs: number, againAtMs: number, faults: readonly FaultEntry[]): boolean {
  return faults.some(
    (fault) =>
      fault.excuses.repeats === true &&
      fault.begunMs - ATTEMPT_MS <= acceptedAtMs &&
      acceptedAtMs <= fault.endMs + ATTEMPT_MS &&
      fault.begunMs <= againAtMs &&
      againAtMs <= settledAtMs(fault, faults),
  )
}

/** When the doubts left by a fault are settled, at the latest. */
function settledAtMs({ endMs }: FaultEntry, faults: readonly FaultEntry[]): number {
  let atMs = endMs + SETTLED_MS
  for (const other of faults.toSorted((one, two) => one.startMs - two.startMs))
    if (other.startMs < atMs) atMs += Math.max(0, other.endMs - Math.max(other.startMs, endMs))
  return atMs
}

/** A message's event comes only after the previous one was accepted, and never after a later one. */
function judgeOrder(requests: readonly Webhook[], find: Find): void {
  const accepted = new Map<number, number>()
  for (const { sequence, answeredAtMs, isAccepted } of requests)
    if (isAccepted)
      accepted.set(sequence, Math.min(accepted.get(sequence) ?? Number.POSITIVE_INFINITY, answeredAtMs!))
  const history = requests.map(historyOf).join(', ')
  let highest = 0
  for (const { eventId, sequence, begunAtMs } of requests) {
    const before = accepted.get(sequence - 1)
    const isEarly = sequence > 1 && (before === undefined || before > begunAtMs)
    if (isEarly || sequence < highest) find('event-disordered', `${eventId}, of ${history}`, begunAtMs)
    highest = Math.max(highest, sequence)
  }
}

function historyOf({ sequence, begunAtMs, answeredAtMs, isAccepted }: Webhook): string {
  const end = isAccepted ? 'accepted' : 'not accepted'
  return `${sequence} at ${Math.round(begunAtMs)} ${end}${answeredAtMs === null ? '' : ` at ${Math.round(answeredAtMs)}`}`
}
