import { processCpuMs, treeCpuMs } from './cpu-times.ts'
import { pauseDestination, resumeDestination, waitingDeliveries } from './database.ts'
import type { ReceiverReport } from './receiver.ts'
import { addCustomer } from './setup.ts'
import { type Isolation, measureIsolation } from './webhook-isolation.ts'
import { openLoad, pause, requireArrivals, until, untilArrived, type WebhookBench } from './webhook-parts.ts'

/** The webhook part: how fast waiting events go to a fast receiver, and what a hanging one costs the others. */

interface Drain {
  readonly events: number
  readonly perSecond: number
  /** CPU milliseconds for one event. */
  readonly cpu: { readonly aldis: number; readonly postgresql: number; readonly receiver: number }
}

export interface WebhookFigures {
  readonly drain: Drain
  readonly isolation: readonly Isolation[]
}

/** Each has two events. */
const DRAINED_MESSAGES = 25_000
/** By then the service has read that a destination is paused. */
const READ_MS = 2_000

export async function measureWebhooks(bench: WebhookBench, seconds: number): Promise<WebhookFigures> {
  const drain = await measureDrain(bench)
  const steady = await addCustomer(bench.connection)
  const other = await addCustomer(bench.connection)
  const isolation = [
    await measureIsolation(bench, { hanging: 'another plan', steady, customer: other, seconds }),
    await measureIsolation(bench, { hanging: 'the same plan', steady, customer: steady, seconds }),
  ]
  return { drain, isolation }
}

/** 50,000 events wait for a destination that is paused, and is resumed. */
async function measureDrain(bench: WebhookBench): Promise<Drain> {
  const { db, servicePid, postgresPid } = bench
  const customer = await addCustomer(bench.connection)
  const { child, origin } = await bench.openReceiver(false)
  await pauseDestination(db, customer.servicePlanId, origin)
  await pause(READ_MS, bench)
  const load = await openLoad(bench, customer, origin)
  load.start(DRAINED_MESSAGES)
  const events = 2 * DRAINED_MESSAGES
  await until(bench, 'not all events waited', async () => {
    const { waiting, held } = await waitingDeliveries(db, origin)
    return waiting === events && held === 0
  })
  load.close()
  const cpu = () => ({
    aldis: processCpuMs(servicePid),
    postgresql: treeCpuMs(postgresPid),
    receiver: processCpuMs(child.pid),
  })
  const before = cpu()
  await resumeDestination(db, customer.servicePlanId, origin)
  await untilArrived(bench, child, DRAINED_MESSAGES)
  const after = cpu()
  await requireArrivals(load, child)
  const { webhooks, firstAtMs, lastAtMs } = await child.request<ReceiverReport>('report')
  await child.stop()
  return {
    events: webhooks,
    perSecond: (1_000 * (webhooks - 1)) / (lastAtMs - firstAtMs),
    cpu: {
      aldis: (after.aldis - before.aldis) / webhooks,
      postgresql: (after.postgresql - before.postgresql) / webhooks,
      receiver: (after.receiver - before.receiver) / webhooks,
    },
  }
}
