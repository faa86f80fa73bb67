import {
  type CpuTimes,
  cpuTimes,
  drained,
  latenciesOf,
  type Parts,
  perMessage,
  type Span,
} from './end-to-end.ts'
import type { BenchOptions } from './options.ts'
import { type Percentiles, percentiles } from './percentiles.ts'
import { type CarrierEntry, type Ledgers, type LoadEntry, nowUs } from './tools/ledgers.ts'

/** Messages are accepted while the carrier is down; then it comes back, and they are completed. */

interface QueuedRun {
  readonly accepting: Span
  readonly acceptCpu: CpuTimes
  readonly eachSecond: readonly number[]
  readonly memoryMib: number
  readonly messages: number
  readonly upUs: number
  readonly drainCpu: CpuTimes
  readonly drainMemoryMib: number
}

export interface Accepting {
  readonly perSecond: number
  readonly latency: Percentiles
}

export interface Queued {
  readonly messages: number
  /** Rates in the first and the last tenth of the time. */
  readonly first: Accepting
  readonly last: Accepting
  /** Accepted in each second. */
  readonly eachSecond: readonly number[]
  /** CPU for one message: to accept it, and to complete it. */
  readonly acceptCpu: CpuTimes
  readonly drainCpu: CpuTimes
  /** Highest resident memory until all were accepted, and until all were delivered. */
  readonly memoryMib: number
  readonly drainMemoryMib: number
  /** Seconds from the carrier's return to the first submit. */
  readonly returnSeconds: number
  /** Rate from the first submit to the last webhook. */
  readonly drainPerSecond: number
  /** How much younger each message was than the oldest that still waited when it was submitted, in milliseconds. */
  readonly overtaken: Percentiles
}

const SECOND_MS = 1_000
const POLL_MS = 100
/**
 * No message may overtake one that is older by more than this. The messages in memory when the carrier went down, and those of
 * a batch that is read from the database, differ by less.
 */
const MOST_OVERTAKEN_MS = 5_000
/** Progress is reported for each of this many parts. */
const PARTS_TOLD = 10

/** Begins after a warm-up with the carrier, which must have sent every receipt. */
export async function runQueued(parts: Parts, options: BenchOptions): Promise<QueuedRun> {
  const { rig, load, carrier, subject } = parts
  await load.start(options.outstanding)
  rig.progress.phase('warm-up')
  await rig.pause(options.warmUpSeconds * SECOND_MS)
  await drained(parts)
  await carrier.down()
  const before = (await load.report()).accepted
  const cpuBefore = cpuTimes(parts)
  const fromUs = nowUs()
  await load.start()
  const eachSecond = await accepted(parts, before, options.queued)
  const toUs = nowUs()
  await Promise.race([load.stopSending(), rig.fault])
  const messages = (await load.report()).accepted - before
  const memoryMib = subject.peakMemoryMib()
  const cpuQueued = cpuTimes(parts)
  const upUs = nowUs()
  await carrier.up()
  await drained(parts)
  return {
    accepting: { fromUs, toUs },
    acceptCpu: perMessage(cpuBefore, cpuQueued, messages),
    eachSecond,
    memoryMib,
    messages,
    upUs,
    drainCpu: perMessage(cpuQueued, cpuTimes(parts), messages),
    drainMemoryMib: subject.peakMemoryMib(),
  }
}

/** Resolves when `messages` more are accepted, with the number for each second. */
async function accepted({ rig, load }: Parts, before: number, messages: number): Promise<number[]> {
  const counts = [0]
  let nextMs = performance.now() + SECOND_MS
  let told = -1
  for (;;) {
    const count = (await load.report()).accepted - before
    if (performance.now() >= nextMs) {
      counts.push(count)
      nextMs += SECOND_MS
    }
    const part = Math.floor((count / messages) * PARTS_TOLD)
    if (part > told) rig.progress.phase(`${count} of ${messages} queued`)
    told = part
    if (count >= messages) return counts.slice(1).map((value, index) => value - counts[index]!)
    await rig.pause(POLL_MS)
  }
}

/** @throws Error when the queue did not drain in order of age. */
export function queuedFigures(run: QueuedRun, ledgers: Ledgers): Queued {
  const { accepting, upUs, messages, ...rest } = run
  const tenthUs = (accepting.toUs - accepting.fromUs) / 10
  const acceptingIn = (fromUs: number, toUs: number): Accepting => {
    const latency = latenciesOf({ ...ledgers, receiver: [] }, { fromUs, toUs }).accept
    return { perSecond: (latency.count * 1_000_000) / (toUs - fromUs), latency }
  }
  const submitted = ledgers.carrier.filter(({ submittedUs }) => submittedUs >= upUs)
  const firstUs = least(submitted.map(({ submittedUs }) => submittedUs))
  const lastUs = -least(ledgers.receiver.map(({ deliveredUs }) => -deliveredUs))
  const overtaken = percentiles(overtakenMs(ledgers.load, submitted))
  if (overtaken.max > MOST_OVERTAKEN_MS)
    throw new Error(`a message overtook one that was ${Math.round(overtaken.max)} ms older`)
  return {
    ...rest,
    messages,
    first: acceptingIn(accepting.fromUs, accepting.fromUs + tenthUs),
    last: acceptingIn(accepting.toUs - tenthUs, accepting.toUs),
    returnSeconds: (firstUs - upUs) / 1_000_000,
    drainPerSecond: (messages * 1_000_000) / (lastUs - firstUs),
    overtaken,
  }
}

/** For each submit in order: how much younger its message was than the oldest submitted after it; 0 if all were younger. */
export function overtakenMs(load: readonly LoadEntry[], submitted: readonly CarrierEntry[]): number[] {
  const dueUs = new Map(load.map((entry) => [entry.number, entry.dueUs]))
  const inOrder = submitted.toSorted((a, b) => a.submittedUs - b.submittedUs)
  let oldestUs = Number.POSITIVE_INFINITY
  const younger: number[] = []
  for (const { number } of inOrder.toReversed()) {
    const ownUs = dueUs.get(number)!
    younger.push(Math.max(0, (ownUs - oldestUs) / 1_000))
    oldestUs = Math.min(oldestUs, ownUs)
  }
  return younger.reverse()
}

function least(values: readonly number[]): number {
  return values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
}
