import type { SimulatorStats } from '../src/simulator/counters.ts'
import type { Child } from './children.ts'
import { machineUse, processCpuMs, treeCpuMs } from './cpu-times.ts'
import type { Load } from './load.ts'
import { type Percentiles, percentiles } from './percentiles.ts'
import type { ReceiverReport, ReceiverTimings } from './receiver.ts'
import type { ServiceReady } from './service.ts'

export interface Parts {
  readonly service: Child<ServiceReady>
  readonly postgresPid: number
  readonly carrier: Child<{ port: number }>
  readonly receiver: Child<{ port: number }>
  readonly load: Load
  /** Rejects as soon as something goes wrong; never resolves. */
  readonly fault: Promise<never>
}

/** CPU milliseconds. */
interface CpuTimes {
  readonly aldis: number
  readonly postgresql: number
  readonly load: number
  readonly carrier: number
  readonly receiver: number
}

export interface EndToEnd {
  readonly messages: number
  readonly seconds: number
  readonly perSecond: number
  /** Messages completed in each second. */
  readonly eachSecond: readonly number[]
  /** CPU milliseconds of each part for one message. */
  readonly cpu: CpuTimes
  /** Share of the machine's processors in use, whoever used them. */
  readonly machineUse: number
  readonly accept: Percentiles
  readonly timings: ReceiverTimings
  readonly serviceMemoryMib: number
  /** Answers of the carrier in the measured time. */
  readonly carrier: { readonly accepted: number; readonly throttled: number }
}

export interface Accepts {
  readonly messages: number
  readonly perSecond: number
  readonly latency: Percentiles
  /** Messages that waited for the carrier when the load ended, and how fast they went the rest of the way. */
  readonly backlog: number
  readonly drainPerSecond: number
}

const POLL_MS = 20
const DRAIN_TIMEOUT_MS = 300_000
/** Nothing arrives any more: what is missing is counted and named by totals.ts. */
const STALLED_MS = 45_000
const ACCEPT_WARM_UP_MS = 2_000

function cpuTimes({ service, postgresPid, carrier, receiver }: Parts): CpuTimes {
  return {
    aldis: processCpuMs(service.pid),
    postgresql: treeCpuMs(postgresPid),
    load: processCpuMs(process.pid),
    carrier: processCpuMs(carrier.pid),
    receiver: processCpuMs(receiver.pid),
  }
}

/** The sustained rate of messages that go the whole way, with a bounded number of them under way. */
export async function measureEndToEnd(
  parts: Parts,
  options: {
    outstanding: number
    warmUpSeconds: number
    seconds: number
    /** Around the measured time. */
    onStart?: () => Promise<void>
    onEnd?: () => Promise<void>
  },
): Promise<EndToEnd> {
  const { load, receiver, service, carrier } = parts
  const carrierStats = () => carrier.request<SimulatorStats>('stats')
  const completed = async () => (await receiver.request<ReceiverReport>('report')).completed
  load.start(options.outstanding)
  await pause(options.warmUpSeconds * 1_000, parts)
  await options.onStart?.()
  await receiver.request('reset')
  load.reset()
  const use = machineUse()
  const answersBefore = await carrierStats()
  const cpuBefore = cpuTimes(parts)
  const startMs = performance.now()
  const counts = [await completed()]
  for (let second = 1; second <= options.seconds; second += 1) {
    await pause(startMs + second * 1_000 - performance.now(), parts)
    counts.push(await completed())
  }
  const answers = await carrierStats()
  const seconds = (performance.now() - startMs) / 1_000
  const cpuAfter = cpuTimes(parts)
  const machine = use()
  const messages = counts.at(-1)! - counts[0]!
  const timings = await receiver.request<ReceiverTimings>('timings')
  const accept = percentiles(load.latencies)
  await options.onEnd?.()
  const serviceMemoryMib = (await service.request<number>('memory')) / 1024 ** 2
  await drained(parts)
  return {
    messages,
    seconds,
    perSecond: messages / seconds,
    eachSecond: counts.slice(1).map((count, index) => count - counts[index]!),
    cpu: perMessage(cpuBefore, cpuAfter, messages),
    machineUse: machine,
    accept,
    timings,
    serviceMemoryMib,
    carrier: {
      accepted: answers.accepted - answersBefore.accepted,
      throttled: answers.throttled - answersBefore.throttled,
    },
  }
}

/** Accepts as fast as they are answered, whatever waits behind them; then everything goes the rest of its way. */
export async function measureAccepts(parts: Parts, measuredSeconds: number): Promise<Accepts> {
  const { load, receiver } = parts
  await load.connect()
  load.start(Number.POSITIVE_INFINITY)
  await pause(ACCEPT_WARM_UP_MS, parts)
  load.reset()
  const startMs = performance.now()
  await pause(measuredSeconds * 1_000, parts)
  const latencies = load.latencies
  const seconds = (performance.now() - startMs) / 1_000
  await load.stop()
  const { completed } = await receiver.request<ReceiverReport>('report')
  const backlog = load.accepted.length - completed
  const drainSeconds = await drained(parts)
  return {
    messages: latencies.length,
    perSecond: latencies.length / seconds,
    latency: percentiles(latencies),
    backlog,
    drainPerSecond: backlog / drainSeconds,
  }
}

/** Ends the load and waits until everything accepted has gone the whole way; gives the seconds that took. */
async function drained({ load, receiver, fault }: Parts): Promise<number> {
  const startMs = performance.now()
  await Promise.race([load.stop(), fault])
  let last = { completed: 0, atMs: startMs }
  for (;;) {
    const { completed } = await receiver.request<ReceiverReport>('report')
    const nowMs = performance.now()
    if (completed !== last.completed) last = { completed, atMs: nowMs }
    const isOver = nowMs - startMs > DRAIN_TIMEOUT_MS || nowMs - last.atMs > STALLED_MS
    if (completed >= load.accepted.length || isOver) return (nowMs - startMs) / 1_000
    await Promise.race([new Promise((wake) => setTimeout(wake, POLL_MS)), fault])
  }
}

function perMessage(before: CpuTimes, after: CpuTimes, messages: number): CpuTimes {
  const of = (part: keyof CpuTimes) => (after[part] - before[part]) / Math.max(1, messages)
  return {
    aldis: of('aldis'),
    postgresql: of('postgresql'),
    load: of('load'),
    carrier: of('carrier'),
    receiver: of('receiver'),
  }
}

async function pause(ms: number, { fault }: Parts): Promise<void> {
  await Promise.race([new Promise((wake) => setTimeout(wake, Math.max(0, ms))), fault])
}
