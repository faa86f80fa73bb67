import type { Finding } from './findings.ts'
import type { FaultEntry, Ledgers, RecordedMessage, Session, Submit } from './ledgers.ts'

/** A crash excuses submits up to this long before it, because an answer waits for its record. */
const BEFORE_MS = 5_000

/** Duplicates: segments that a carrier took more than once. */
export function judgeSubmits({ submits, sessions, record, faults }: Ledgers): Finding[] {
  const findings: Finding[] = []
  const flagged = new Map(record.copies.map(({ n, isFlagged }) => [n, isFlagged]))
  const copies = copiesOf(submits)
  for (const { submit, again } of copies) {
    const subject = `message ${submit.n}, segment ${submit.segment}`
    if (flagged.get(submit.n) !== true) findings.push({ rule: 'copy-not-flagged', subject, atMs: again.atMs })
    if (!isInDoubt(submit, again.atMs, sessions[submit.session]!, faults))
      findings.push({ rule: 'copy-without-crash', subject, atMs: again.atMs })
  }
  // At most a window of submits is in doubt when a session ends or its node stands still.
  for (const [index, own] of Map.groupBy(copies, ({ submit }) => submit.session)) {
    const session = sessions[index]!
    const crashes = Math.max(1, crashesOf(session, faults))
    const beyond = own.length - session.window * crashes
    for (const { submit, again } of beyond > 0 ? own.slice(-beyond) : [])
      findings.push({ rule: 'copies-beyond-window', subject: `message ${submit.n}`, atMs: again.atMs })
  }
  return findings
}

export interface Copy {
  readonly submit: Submit
  readonly again: Submit
}

export function copiesOf(submits: readonly Submit[]): Copy[] {
  const last = new Map<string, Submit>()
  const copies: Copy[] = []
  for (const submit of submits) {
    const key = `${submit.n}/${submit.segment}`
    const before = last.get(key)
    if (before !== undefined) copies.push({ submit: before, again: submit })
    last.set(key, submit)
  }
  return copies
}

/** Messages that a carrier got twice. A request with a key that was answered 500 and repeated has a record for each try. */
export function recordsOfCopies(
  submits: readonly Submit[],
  messages: readonly RecordedMessage[],
): { readonly n: number; readonly msgIds: readonly string[] }[] {
  const records = Map.groupBy(messages, ({ n }) => n)
  const numbers = new Set(copiesOf(submits).map(({ submit }) => submit.n))
  return [...numbers].map((n) => ({ n, msgIds: (records.get(n) ?? []).map(({ msgId }) => msgId) }))
}

/** Whether the service could not have known for sure, at that time, that the carrier had taken it. */
export function isInDoubt(
  submit: Submit,
  atMs: number,
  session: Session,
  faults: readonly FaultEntry[],
): boolean {
  if (submit.answeredAtMs === null || submit.answeredAtMs > atMs) return true
  const isBroken = session.endedAtMs !== null && session.endedAtMs <= atMs && !session.isOrderly
  if (isBroken && session.endedAtMs! - submit.answeredAtMs <= BEFORE_MS) return true
  return faults.some(
    ({ excuses, startMs, endMs }) =>
      excuses.copies === true && startMs <= atMs && submit.atMs <= endMs + BEFORE_MS,
  )
}

function crashesOf({ boundAtMs, endedAtMs }: Session, faults: readonly FaultEntry[]): number {
  const until = endedAtMs ?? Number.POSITIVE_INFINITY
  return faults.filter(
    ({ excuses, startMs, endMs }) => excuses.copies === true && startMs <= until && boundAtMs <= endMs,
  ).length
}
