import { pauseDestination, resumeDestination, waitingDeliveries } from '../aldis/database.ts'
import { addCustomer } from '../aldis/setup.ts'
import { processCpuMs } from '../cpu-times.ts'
import { type Isolation, measureIsolation } from './isolation.ts'
import { openLoad, requireArrivals, until, untilArrived, type WebhookBench } from './parts.ts'

/** The webhook part: how fast waiting events go to a fast receiver, and what a hanging one costs the others. */

interface Drain {
  readonly events: number
  readonly perSecond: number
  /** CPU milliseconds for one event. */
  readonly cpu: Readonly<Record<string, number>>
}

export interface WebhookFigures {
  readonly drain: Drain
  readonly isolation: readonly Isolation[]
}

/** Each has two events. */
const DRAINED_MESSAGES = 25_000
/** Long enough for the service to read that a destination is paused. */
const READ_MS = 2_000

export async function measureWebhooks(bench: WebhookBench, seconds: number): Promise<WebhookFigures> {
  const drain = await measureDrain(bench)
  const { connection } = bench.aldis
  const steady = await addCustomer(connection)
  const other = await addCustomer(connection)
  const isolation = [
    await measureIsolation(bench, { hanging: 'another plan', steady, customer: other, seconds }),
    await measureIsolation(bench, { hanging: 'the same plan', steady, customer: steady, seconds }),
  ]
  return { drain, isolation }
}

/** 50,000 events wait for a paused destination, which is then resumed. */
async function measureDrain(bench: WebhookBench): Promise<Drain> {
  const { rig, db, aldis } = bench
  rig.progress.phase('waiting webhooks')
  const customer = await addCustomer(aldis.connection)
  const receiver = await bench.openReceiver(false)
  await pauseDestination(db, customer.servicePlanId, receiver.origin)
  await rig.pause(READ_MS)
  const load = await openLoad(bench, customer, receiver)
  await load.start(DRAINED_MESSAGES)
  const events = 2 * DRAINED_MESSAGES
  await until(bench, 'not all events waited', async () => {
    const { waiting, held } = await waitingDeliveries(db, receiver.origin)
    return waiting === events && held === 0
  })
  const cpu = (): Readonly<Record<string, number>> => ({
    ...aldis.cpuMs(),
    receiver: processCpuMs(receiver.pid),
  })
  const before = cpu()
  await resumeDestination(db, customer.servicePlanId, receiver.origin)
  await untilArrived(bench, receiver, DRAINED_MESSAGES)
  const after = cpu()
  await requireArrivals(load, receiver)
  const { webhooks, firstAtMs, lastAtMs } = await receiver.report()
  await Promise.all([load.stop(), receiver.stop()])
  return {
    events: webhooks,
    perSecond: (1_000 * (webhooks - 1)) / (lastAtMs - firstAtMs),
    cpu: Object.fromEntries(
      Object.entries(after).map(([name, ms]) => [name, (ms - (before[name] ?? 0)) / webhooks]),
    ),
  }
}
