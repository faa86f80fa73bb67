import type { Finding, Rule } from './findings.ts'
import { mayHaveDied } from './judge-deaths.ts'
import { isInDoubt } from './judge-submits.ts'
import type { Answer, FeedItem, Ledgers, LoadEntry, RecordedMessage, Submit } from './ledgers.ts'
import { rankOf } from './ledgers.ts'

/** Compares the answers that the client got with the records and the carriers. */
export function judgeMessages(ledgers: Ledgers): Finding[] {
  const findings: Finding[] = []
  const find = (rule: Rule, subject: string, atMs: number) => findings.push({ rule, subject, atMs })
  const inDoubt = toldInDoubt(ledgers.feed)
  const recorded = Map.groupBy(ledgers.record.messages, ({ n }) => n)
  const submits = Map.groupBy(ledgers.submits, ({ n }) => n)
  const entries = new Map(ledgers.load.map((entry) => [entry.n, entry]))

  for (const entry of ledgers.load) {
    const accepted = entry.answers.filter(({ status }) => status === 202)
    const records = recorded.get(entry.n) ?? []
    const ids = new Set(accepted.map(({ msgId }) => msgId))
    if (ids.size > 1) find('key-answered-twice', `message ${entry.n}`, accepted[0]!.answeredAtMs)
    for (const { msgId, answeredAtMs } of accepted)
      if (!records.some((record) => record.msgId === msgId))
        find('lost', `message ${entry.n}, ${msgId}`, answeredAtMs)
    if (records.filter((record) => !isFailedAnswer(record, entry)).length > 1)
      find('recorded-twice', `message ${entry.n}`, entry.answers[0]!.sentAtMs)
    const [first] = submits.get(entry.n) ?? []
    if (first !== undefined && isRefused(entry.answers))
      find('sent-though-refused', `message ${entry.n}`, first.atMs)
  }
  for (const [n, [first]] of submits)
    if (!recorded.has(n)) find('unrecorded', `message ${n} at the carrier`, first!.atMs)
  for (const message of ledgers.record.messages) {
    const sent = submits.get(message.n) ?? []
    const entry = entries.get(message.n)
    const sinceMs = timeOf(entry, sent)
    const atMs = inDoubt.get(message.msgId) ?? sinceMs
    const subject = `message ${message.n}, ${message.msgId}, ${message.status}`
    const rule = faultOfRecord(message, sent, entry, ledgers)
    if (rule !== null) find(rule, subject, sinceMs)
    if (isUnoffered(message, sent) && !mayBeSwallowed(entry, atMs, ledgers))
      findings.push({ rule: 'unknown-never-offered', subject, atMs, sinceMs })
  }
  for (const look of ledgers.lookUps) {
    if (look.httpStatus >= 500 || look.httpStatus === 429) continue
    const isStale = look.httpStatus !== 200 || rankOf(look.status!) < rankOf(look.atLeast)
    if (isStale) find('stale-read', `${look.msgId} at node ${look.node}: ${look.httpStatus}`, look.atMs)
  }
  return findings
}

/** Every answer says that the message is not accepted. Without an answer it may be. */
function isRefused(answers: readonly Answer[]): boolean {
  return answers.every(({ status, failure }) => failure === 'refused' || (status !== null && status !== 202))
}

/** The errorCode of a message that could not be queued. */
const NOT_QUEUED = '100'

/** The record of a request that was answered 5xx, or by closing its connection: FAILED, sent nowhere, and not announced. */
export function isFailedAnswer(
  { msgId, status, errorCode }: RecordedMessage,
  entry: LoadEntry | undefined,
): boolean {
  return (
    entry !== undefined &&
    status === 'FAILED' &&
    errorCode === NOT_QUEUED &&
    entry.answers.some((answer) => (answer.status ?? 0) >= 500 || answer.failure === 'reset') &&
    !entry.answers.some((answer) => answer.status === 202 && answer.msgId === msgId)
  )
}

/** When the feed said of messages that they are UNKNOWN. Until then they may have waited in a node for long. */
function toldInDoubt(feed: readonly FeedItem[]): ReadonlyMap<string, number> {
  return new Map(feed.filter(({ status }) => status === 'UNKNOWN').map(({ msgId, atMs }) => [msgId, atMs]))
}

function isUnoffered({ status }: RecordedMessage, sent: readonly Submit[]): boolean {
  return status === 'UNKNOWN' && sent.length === 0
}

function mayBeSwallowed(
  entry: LoadEntry | undefined,
  doubtfulAtMs: number,
  { faults, plans }: Ledgers,
): boolean {
  if (entry === undefined || !plans[entry.plan]!.keepsDoubtful) return false
  const acceptedAtMs = entry.answers.at(-1)!.answeredAtMs
  return faults.some(
    ({ excuses, startMs, endMs }) =>
      excuses.swallows === true && acceptedAtMs <= endMs && startMs <= doubtfulAtMs,
  )
}

/** Without the id of its submit_sm_resp, a receipt says nothing about the segment. */
function wasInDoubt(submit: Submit, ledgers: Ledgers): boolean {
  const { sessions, faults } = ledgers
  const session = sessions[submit.session]!
  return (
    isInDoubt(submit, session.endedAtMs ?? Number.POSITIVE_INFINITY, session, faults) ||
    (submit.answeredAtMs !== null && mayHaveDied(submit.answeredAtMs, Number.POSITIVE_INFINITY, ledgers))
  )
}

function timeOf(entry: LoadEntry | undefined, sent: readonly Submit[]): number {
  return sent[0]?.atMs ?? entry?.answers[0]?.answeredAtMs ?? 0
}

/** Judges the last status of a message by the receipts that its carriers had acknowledged. */
function faultOfRecord(
  message: RecordedMessage,
  sent: readonly Submit[],
  entry: LoadEntry | undefined,
  ledgers: Ledgers,
): Rule | null {
  const { status, segments, plan } = message
  if (isFailedAnswer(message, entry) || isUnoffered(message, sent)) return null
  if (status === 'UNKNOWN') {
    const mayStay = ledgers.plans[plan]!.keepsDoubtful && sent.some((submit) => wasInDoubt(submit, ledgers))
    return mayStay ? null : 'wrong-status'
  }
  if (status === 'QUEUED' || status === 'SENT') return 'unfinished'
  if (new Set(sent.map(({ segment }) => segment)).size < segments)
    return status === 'DELIVERED' ? 'unsubmitted' : 'wrong-status'
  const expected = sent.some(({ state }) => state === 'UNDELIV') ? 'FAILED' : 'DELIVERED'
  return status === expected ? null : 'wrong-status'
}
