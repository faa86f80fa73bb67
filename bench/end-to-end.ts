import { cpus, loadavg } from 'node:os'
import { machineUse, processCpuMs } from './cpu-times.ts'
import { type Percentiles, percentiles } from './percentiles.ts'
import type { Rig } from './rig.ts'
import type { Subject } from './subject.ts'
import { type CarrierEntry, type Ledgers, nowUs } from './tools/ledgers.ts'
import type { Carrier, Load, Receiver } from './tools/tools.ts'

/** Measures messages from the request to the answer of their last webhook. */

export interface Parts {
  readonly rig: Rig
  readonly subject: Subject
  readonly load: Load
  readonly carrier: Carrier
  readonly receiver: Receiver
}

/** CPU milliseconds by process. */
type ProcessTimes = Readonly<Record<string, number>>

export interface CpuTimes {
  readonly subject: ProcessTimes
  /** Includes the bench itself, which starts the rest and counts. */
  readonly tools: ProcessTimes
}

/** Between two moments, in microseconds of the ledgers' clock. */
export interface Span {
  readonly fromUs: number
  readonly toUs: number
}

/** Figures counted during the run. */
interface Counted extends Span {
  readonly messages: number
  readonly seconds: number
  readonly perSecond: number
  /** Messages completed in each second. */
  readonly eachSecond: readonly number[]
  /** For one message. */
  readonly cpu: CpuTimes
  /** The tools' share of the run's CPU. */
  readonly toolsShare: number
  /** Shares of the machine's processors: idle, and used by processes outside the run. */
  readonly idle: number
  readonly others: number
  /** Load average over the minute before the run. */
  readonly loadAverage: number
  readonly peakMemoryMib: number
  readonly walBytes: number | null
  /** Submits that the carrier accepted and throttled. */
  readonly carrier: { readonly accepted: number; readonly throttled: number }
}

/** From the ledgers, in milliseconds. */
export interface Latencies {
  /** From the request to its answer. */
  readonly accept: Percentiles
  /** From the request to the webhook DELIVERED. */
  readonly acceptToDelivered: Percentiles
  /** From the sending of the receipt to the webhook DELIVERED; null when the carrier does not know. */
  readonly receiptToDelivered: Percentiles | null
}

export type EndToEnd = Counted & Latencies

export interface Paced extends Latencies {
  readonly perSecond: number
}

/** A steady rate for some time. */
export interface Fill {
  readonly perSecond: number
  readonly seconds: number
}

const POLL_MS = 20
const PACED_WARM_UP_MS = 3_000
const DRAIN_TIMEOUT_MS = 300_000
/** Time limit for each waiting message; none takes longer. */
const DRAIN_MESSAGE_MS = 1
/**
 * After this long without arrivals, totals.ts counts and names what is missing. A bind whose sessions the carrier closes at once is
 * tried again after up to 60 s.
 */
const STALLED_MS = 75_000

/** The sustained rate, with a bounded number of messages in flight. */
export async function measureEndToEnd(
  parts: Parts,
  options: {
    readonly outstanding: number
    readonly warmUpSeconds: number
    readonly seconds: number
    /** Runs before the warm-up, so that receipts with a long delay come at an even rate. */
    readonly fill: Fill | null
    /** Called around the measured time. */
    readonly onStart?: () => Promise<void>
    readonly onEnd?: () => Promise<void>
  },
): Promise<Counted> {
  const { rig, load, receiver, carrier, subject } = parts
  const loadAverage = loadavg()[0] ?? 0
  if (options.fill !== null) {
    rig.progress.phase('fill')
    await load.pace(options.fill.perSecond)
    await rig.pause(options.fill.seconds * 1_000)
  }
  await load.start(options.outstanding)
  rig.progress.phase('warm-up')
  await rig.pause(options.warmUpSeconds * 1_000)
  await options.onStart?.()
  rig.progress.phase('full rate')
  const use = machineUse()
  const answersBefore = await carrier.stats()
  const walBefore = await subject.walBytes()
  const cpuBefore = cpuTimes(parts)
  const fromUs = nowUs()
  const counts = [(await receiver.report()).completed]
  for (let second = 1; second <= options.seconds; second += 1) {
    await rig.pause((fromUs - nowUs()) / 1_000 + second * 1_000)
    counts.push((await receiver.report()).completed)
  }
  const toUs = nowUs()
  const cpuAfter = cpuTimes(parts)
  const idle = 1 - use()
  const walAfter = await subject.walBytes()
  const answers = await carrier.stats()
  await options.onEnd?.()
  const messages = counts.at(-1)! - counts[0]!
  const seconds = (toUs - fromUs) / 1_000_000
  const cpu = perMessage(cpuBefore, cpuAfter, messages)
  const result = {
    fromUs,
    toUs,
    messages,
    seconds,
    perSecond: messages / seconds,
    eachSecond: counts.slice(1).map((count, index) => count - counts[index]!),
    cpu,
    toolsShare: toolsShare(cpu),
    idle,
    others: othersShare(idle, totalMs(cpu.subject) + totalMs(cpu.tools), messages / seconds),
    loadAverage,
    peakMemoryMib: subject.peakMemoryMib(),
    walBytes: walBefore === null || walAfter === null ? null : (walAfter - walBefore) / Math.max(1, messages),
    carrier: {
      accepted: answers.accepted - answersBefore.accepted,
      throttled: answers.throttled - answersBefore.throttled,
    },
  }
  await drained(parts)
  return result
}

/** A steady rate, independent of how fast answers come. */
export async function measurePaced(parts: Parts, perSecond: number, seconds: number): Promise<Span> {
  const { rig, load } = parts
  rig.progress.phase(`${Math.round(perSecond)} messages/s`)
  await load.pace(perSecond)
  await rig.pause(PACED_WARM_UP_MS)
  const fromUs = nowUs()
  await rig.pause(seconds * 1_000)
  const toUs = nowUs()
  await drained(parts)
  return { fromUs, toUs }
}

/** Ends the load and waits until every accepted message is completed. Returns the seconds that took. */
export async function drained({ rig, load, carrier, receiver }: Parts): Promise<number> {
  rig.progress.phase('drain')
  const startMs = performance.now()
  await Promise.race([load.stopSending(), rig.fault])
  await carrier.release()
  const { accepted } = await load.report()
  let last = { completed: 0, atMs: startMs }
  const waiting = accepted - (await receiver.report()).completed
  const timeoutMs = DRAIN_TIMEOUT_MS + waiting * DRAIN_MESSAGE_MS
  for (;;) {
    const { completed } = await receiver.report()
    const nowMs = performance.now()
    if (completed !== last.completed) last = { completed, atMs: nowMs }
    const isOver = nowMs - startMs > timeoutMs || nowMs - last.atMs > STALLED_MS
    if (completed >= accepted || isOver) return (nowMs - startMs) / 1_000
    await rig.pause(POLL_MS)
  }
}

/** Latencies of the messages whose answer, or whose webhook DELIVERED, came within the span. */
export function latenciesOf(ledgers: Ledgers, { fromUs, toUs }: Span): Latencies {
  const within = (us: number) => us >= fromUs && us < toUs
  const accepts: number[] = []
  const dueUs = new Map<number, number>()
  for (const entry of ledgers.load) {
    dueUs.set(entry.number, entry.dueUs)
    if (entry.status !== 0 && within(entry.dueUs + entry.latencyUs)) accepts.push(entry.latencyUs / 1_000)
  }
  const receipts = new Map<number, CarrierEntry>(ledgers.carrier.map((entry) => [entry.number, entry]))
  const fromAccept: number[] = []
  const fromReceipt: number[] = []
  for (const { number, delivered, deliveredUs } of ledgers.receiver) {
    if (delivered === 0 || !within(deliveredUs)) continue
    const acceptedUs = dueUs.get(number)
    const receiptUs = receipts.get(number)?.receiptUs ?? 0
    if (acceptedUs !== undefined) fromAccept.push((deliveredUs - acceptedUs) / 1_000)
    if (receiptUs > 0) fromReceipt.push((deliveredUs - receiptUs) / 1_000)
  }
  return {
    accept: percentiles(accepts),
    acceptToDelivered: percentiles(fromAccept),
    receiptToDelivered: fromReceipt.length === 0 ? null : percentiles(fromReceipt),
  }
}

/** The sum of all processes' times. */
export function totalMs(times: ProcessTimes): number {
  return Object.values(times).reduce((sum, ms) => sum + ms, 0)
}

export function cpuTimes({ subject, load, carrier, receiver }: Parts): CpuTimes {
  return {
    subject: subject.cpuMs(),
    tools: {
      load: processCpuMs(load.pid),
      carrier: processCpuMs(carrier.pid),
      receiver: processCpuMs(receiver.pid),
      bench: processCpuMs(process.pid),
    },
  }
}

export function perMessage(before: CpuTimes, after: CpuTimes, messages: number): CpuTimes {
  const each = (earlier: ProcessTimes, later: ProcessTimes) =>
    Object.fromEntries(
      Object.entries(later).map(([name, ms]) => [name, (ms - (earlier[name] ?? 0)) / Math.max(1, messages)]),
    )
  return { subject: each(before.subject, after.subject), tools: each(before.tools, after.tools) }
}

/** `cpuMs` is the run's CPU for a message. */
function othersShare(idle: number, cpuMs: number, perSecond: number): number {
  return Math.max(0, 1 - idle - (cpuMs * perSecond) / 1_000 / cpus().length)
}

function toolsShare({ subject, tools }: CpuTimes): number {
  return totalMs(tools) / Math.max(Number.MIN_VALUE, totalMs(tools) + totalMs(subject))
}
