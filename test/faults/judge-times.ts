import type { Finding } from './findings.ts'
import type { FaultEntry, Ledgers } from './ledgers.ts'

const ACCEPT_WITHIN_MS = 5_000
const TAKEOVER_WITHIN_MS = 15_000
/** A node with this many unsubmitted messages of this age has a backlog, which drains at its carriers' pace. */
const BACKLOG = { messages: 200, ageMs: 2_500 }
/** Data that a node had handed to its connections arrives within this time of its death. */
const ON_ITS_WAY_MS = 1_000
/** A request that begins this long after SIGTERM meets a closed port. */
const DRAIN_MS = 30_000

/** Judges how long the service took to recover, and whether it ended in order. */
export function judgeTimes(ledgers: Ledgers): Finding[] {
  const findings: Finding[] = []
  for (const fault of ledgers.faults) {
    const subject = `${fault.kind} at ${Math.round(fault.startMs / 1_000)} s`
    const acceptMs = timeToAccept(ledgers, fault)
    if (acceptMs !== null && acceptMs > ACCEPT_WITHIN_MS)
      findings.push({ rule: 'slow-to-accept', subject: `${subject}: ${acceptMs} ms`, atMs: fault.endMs })
    const takeoverMs = timeToTakeOver(ledgers, fault)
    if (takeoverMs !== null && takeoverMs > TAKEOVER_WITHIN_MS)
      findings.push({ rule: 'slow-takeover', subject: `${subject}: ${takeoverMs} ms`, atMs: fault.startMs })
    if (fault.excuses.drains !== true) continue
    for (const { n, answers } of ledgers.load)
      for (const { node, failure, answeredAtMs } of answers)
        if (
          node === fault.node &&
          failure === 'reset' &&
          answeredAtMs >= fault.startMs &&
          answeredAtMs <= Math.min(fault.endMs, fault.startMs + DRAIN_MS)
        )
          findings.push({ rule: 'reset-while-draining', subject: `message ${n}`, atMs: answeredAtMs })
  }
  return findings
}

/**
 * The time from the end of a fault until each node has accepted a message sent after it. Null if some node was sent none, or if
 * another fault began too soon.
 */
export function timeToAccept(
  { faults, load }: Ledgers,
  { endMs, nodes, startMs }: FaultEntry,
): number | null {
  if (endMs <= startMs) return null
  const first = new Map<number, number>()
  for (const { answers } of load)
    for (const { node, status, sentAtMs, answeredAtMs } of answers)
      if (status === 202 && sentAtMs >= endMs && answeredAtMs < (first.get(node) ?? Number.POSITIVE_INFINITY))
        first.set(node, answeredAtMs)
  const times = nodes.map((node) => first.get(node))
  if (times.length === 0 || times.some((atMs) => atMs === undefined)) return null
  const acceptMs = Math.round(Math.max(...times.map((atMs) => atMs! - endMs)))
  const isCutShort = faults.some(
    (next) => next.begunMs >= endMs && next.begunMs <= endMs + Math.min(acceptMs, ACCEPT_WITHIN_MS),
  )
  return isCutShort ? null : acceptMs
}

/**
 * The time from the death of a node, or from when the database could give its work to others, until the last message that it
 * had accepted and not sent has reached a carrier; with a backlog, until its submits continue. Null if there was no such
 * message, or if another fault began too soon that tells nothing of when the database could.
 */
export function timeToTakeOver({ faults, load, submits }: Ledgers, fault: FaultEntry): number | null {
  if (fault.killedNode === null) return null
  const { killedNode: killed } = fault
  const freeMs = freeFrom(faults, fault)
  const firstSubmit = new Map<number, number>()
  for (const { n, atMs } of submits) if (!firstSubmit.has(n)) firstSubmit.set(n, atMs)
  const held = load.flatMap(({ n, answers }) => {
    const accepted = answers.find(({ status }) => status === 202)
    const atMs = firstSubmit.get(n)
    const isHeld =
      accepted?.node === killed &&
      accepted.answeredAtMs <= fault.startMs &&
      atMs !== undefined &&
      atMs > fault.startMs
    return isHeld
      ? [{ takenMs: Math.max(atMs - freeMs, 0), ageMs: fault.startMs - accepted.answeredAtMs }]
      : []
  })
  if (held.length === 0) return null
  const times = held.map(({ takenMs }) => takenMs)
  const isBacklog = held.filter(({ ageMs }) => ageMs > BACKLOG.ageMs).length > BACKLOG.messages
  const last = Math.max(...times)
  const first = Math.min(last, ...times.filter((ms) => ms > ON_ITS_WAY_MS))
  const takeoverMs = Math.round(isBacklog ? first : last)
  const isCutShort = faults.some((next) => next.freeMs === undefined && follows(next, fault, freeMs))
  return takeoverMs > TAKEOVER_WITHIN_MS && isCutShort ? null : takeoverMs
}

/** When the database could give the work of this fault's node to others. It may have gone away again before it did. */
function freeFrom(faults: readonly FaultEntry[], fault: FaultEntry): number {
  return faults.reduce(
    (freeMs, next) => (follows(next, fault, freeMs) ? Math.max(freeMs, next.freeMs ?? 0) : freeMs),
    fault.freeMs ?? fault.startMs,
  )
}

/** Whether it began before the takeover had to be over. */
function follows({ begunMs }: FaultEntry, fault: FaultEntry, freeMs: number): boolean {
  return begunMs > fault.startMs && begunMs <= freeMs + TAKEOVER_WITHIN_MS
}
