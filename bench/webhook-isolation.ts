import type { Child } from './children.ts'
import { isBreakerOpen, waitingDeliveries } from './database.ts'
import type { Load } from './load.ts'
import { type Percentiles, percentiles } from './percentiles.ts'
import type { ReceiverReport } from './receiver.ts'
import type { Customer } from './setup.ts'
import { openLoad, pause, requireArrivals, until, untilArrived, type WebhookBench } from './webhook-parts.ts'

/**
 * Steady messages of a plan, whose webhooks go to a receiver that answers, while 10,000 events wait for one that does not.
 * The delay is from the change (updatedAt) to the arrival of the first attempt: there is no second to a receiver that
 * answers.
 */

/** Delays in milliseconds; `worst` is the highest p99 of a window of four seconds. */
export interface Delays extends Percentiles {
  readonly worst: number
}

export interface Isolation {
  /** Whose destination hangs. */
  readonly hanging: 'another plan' | 'the same plan'
  /** Events that waited for it. */
  readonly waiting: number
  readonly undisturbed: Delays
  /** While its requests hang, to the end of the window in which the breaker opens. */
  readonly untilOpen: Delays
  /** While the breaker is open. */
  readonly open: Delays
  /** While the events go to the receiver, which answers again. */
  readonly recovery: Delays
  /** The higher p99 of `untilOpen` and `open` by the undisturbed one; and the same of the worst windows. */
  readonly ratio: number
  readonly worstRatio: number
  /** Seconds from the first answer, which waits for a probe, to the last. */
  readonly recoverySeconds: number
  readonly recoveryPerSecond: number
}

export interface IsolationRun {
  readonly hanging: Isolation['hanging']
  readonly steady: Customer
  /** Whose messages go to the hanging receiver. */
  readonly customer: Customer
  /** Measured undisturbed, and after the breaker has opened. */
  readonly seconds: number
}

const STEADY_PER_SECOND = 200
const STEP_MS = 5
/** Each has two events. */
const HANGING_MESSAGES = 5_000
const WINDOW_MS = 4_000
const WARM_UP_MS = 3_000
const MOST_WINDOWS = 200

export async function measureIsolation(bench: WebhookBench, run: IsolationRun): Promise<Isolation> {
  const { steady, customer, hanging, seconds } = run
  const healthy = await bench.openReceiver(false)
  const hung = await bench.openReceiver(true)
  const load = await openLoad(bench, steady, healthy.origin)
  const pacer = pace(load)
  const watch = (isOver: () => Promise<boolean>) => windows(bench, healthy.child, isOver)
  await pause(WARM_UP_MS, bench)
  const undisturbed = await watch(after(seconds))

  const backlog = await openLoad(bench, customer, hung.origin)
  backlog.start(HANGING_MESSAGES)
  const waiting = 2 * HANGING_MESSAGES
  await until(bench, 'not all events waited', async () => {
    return (await waitingDeliveries(bench.db, hung.origin)).waiting === waiting
  })
  backlog.close()
  const untilOpen = await watch(() => isBreakerOpen(bench.db, hung.origin))
  const open = await watch(after(seconds))

  await hung.child.request('answer')
  const report = () => hung.child.request<ReceiverReport>('report')
  await until(bench, 'no probe came', async () => (await report()).webhooks > 0)
  const recovery = await watch(async () => (await report()).completed === HANGING_MESSAGES)
  clearInterval(pacer)
  await load.stop()
  await untilArrived(bench, healthy.child, load.accepted.length)
  await requireArrivals(load, healthy.child)
  await requireArrivals(backlog, hung.child)
  load.close()
  const { webhooks, firstAtMs, lastAtMs } = await report()
  await Promise.all([healthy.child.stop(), hung.child.stop()])
  const delays = {
    undisturbed: delaysOf(undisturbed),
    untilOpen: delaysOf(untilOpen),
    open: delaysOf(open),
    recovery: delaysOf(recovery),
  }
  const recoverySeconds = (lastAtMs - firstAtMs) / 1_000
  const recoveryPerSecond = (webhooks - 1) / recoverySeconds
  return { hanging, waiting, ...delays, ...ratios(delays), recoverySeconds, recoveryPerSecond }
}

/** Sends at a steady rate, however fast the answers come. */
function pace(load: Load): NodeJS.Timeout {
  const startMs = performance.now()
  return setInterval(() => {
    load.start(Math.floor(((performance.now() - startMs) * STEADY_PER_SECOND) / 1_000))
  }, STEP_MS)
}

/** The delays of each window, until one ends with `isOver`. */
async function windows(
  bench: WebhookBench,
  receiver: Child<{ port: number }>,
  isOver: () => Promise<boolean>,
): Promise<number[][]> {
  const all: number[][] = []
  await receiver.request('takeDelays')
  do {
    await pause(WINDOW_MS, bench)
    all.push(await receiver.request<number[]>('takeDelays'))
    if (all.length > MOST_WINDOWS) throw new Error('what was waited for did not come')
  } while (!(await isOver()))
  return all
}

/** Whether so many seconds are over, to the nearest window. */
function after(seconds: number): () => Promise<boolean> {
  const endMs = performance.now() + seconds * 1_000 - WINDOW_MS / 2
  return async () => performance.now() > endMs
}

function delaysOf(all: readonly number[][]): Delays {
  return { ...percentiles(all.flat()), worst: Math.max(...all.map((window) => percentiles(window).p99)) }
}

function ratios({ undisturbed, untilOpen, open }: Pick<Isolation, 'undisturbed' | 'untilOpen' | 'open'>) {
  return {
    ratio: Math.max(untilOpen.p99, open.p99) / undisturbed.p99,
    worstRatio: Math.max(untilOpen.worst, open.worst) / undisturbed.worst,
  }
}
