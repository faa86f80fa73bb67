import { isBreakerOpen, waitingDeliveries } from '../aldis/database.ts'
import type { Customer } from '../aldis/setup.ts'
import { type Percentiles, percentiles } from '../percentiles.ts'
import type { Receiver } from '../tools/tools.ts'
import { openLoad, requireArrivals, until, untilArrived, type WebhookBench } from './parts.ts'

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
  /** The plan whose destination hangs. */
  readonly hanging: 'another plan' | 'the same plan'
  /** Events that waited for the hanging receiver. */
  readonly waiting: number
  readonly undisturbed: Delays
  /** While requests hang, to the end of the window in which the breaker opens. */
  readonly untilOpen: Delays
  /** While the breaker is open. */
  readonly open: Delays
  /** While the events go to the receiver, which answers again. */
  readonly recovery: Delays
  /** The higher p99 of `untilOpen` and `open`, divided by the undisturbed one; and the same for the worst windows. */
  readonly ratio: number
  readonly worstRatio: number
  /** Seconds from the first answer, which waits for a probe, to the last. */
  readonly recoverySeconds: number
  readonly recoveryPerSecond: number
}

export interface IsolationRun {
  readonly hanging: Isolation['hanging']
  readonly steady: Customer
  /** The customer whose messages go to the hanging receiver. */
  readonly customer: Customer
  /** Measured undisturbed, and after the breaker has opened. */
  readonly seconds: number
}

const STEADY_PER_SECOND = 200
/** Each has two events. */
const HANGING_MESSAGES = 5_000
const WINDOW_MS = 4_000
const WARM_UP_MS = 3_000
const MOST_WINDOWS = 200

export async function measureIsolation(bench: WebhookBench, run: IsolationRun): Promise<Isolation> {
  const { steady, customer, hanging, seconds } = run
  bench.rig.progress.phase(`a destination of ${hanging} hangs`)
  const healthy = await bench.openReceiver(false)
  const hung = await bench.openReceiver(true)
  const load = await openLoad(bench, steady, healthy)
  await load.pace(STEADY_PER_SECOND)
  const watch = (isOver: () => Promise<boolean>) => windows(bench, healthy, isOver)
  await bench.rig.pause(WARM_UP_MS)
  const undisturbed = await watch(after(seconds))

  const backlog = await openLoad(bench, customer, hung)
  await backlog.start(HANGING_MESSAGES)
  const waiting = 2 * HANGING_MESSAGES
  await until(bench, 'not all events waited', async () => {
    return (await waitingDeliveries(bench.db, hung.origin)).waiting === waiting
  })
  const untilOpen = await watch(() => isBreakerOpen(bench.db, hung.origin))
  const open = await watch(after(seconds))

  await hung.answer()
  await until(bench, 'no probe came', async () => (await hung.report()).webhooks > 0)
  const recovery = await watch(async () => (await hung.report()).completed === HANGING_MESSAGES)
  await load.stopSending()
  await untilArrived(bench, healthy, (await load.report()).accepted)
  await requireArrivals(load, healthy)
  await requireArrivals(backlog, hung)
  const { webhooks, firstAtMs, lastAtMs } = await hung.report()
  await Promise.all([load, backlog, healthy, hung].map((tool) => tool.stop()))
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

/** The delays of each window, until one ends with `isOver`. */
async function windows(
  bench: WebhookBench,
  receiver: Receiver,
  isOver: () => Promise<boolean>,
): Promise<number[][]> {
  const all: number[][] = []
  await receiver.takeDelays()
  do {
    await bench.rig.pause(WINDOW_MS)
    all.push(await receiver.takeDelays())
    if (all.length > MOST_WINDOWS) throw new Error('what was waited for did not come')
  } while (!(await isOver()))
  return all
}

/** Whether the seconds are over, to the nearest window. */
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
