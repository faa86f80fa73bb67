import type pg from 'pg'
import type { Child } from './children.ts'
import { Load } from './load.ts'
import type { ReceiverReport } from './receiver.ts'
import { requestForms } from './requests.ts'
import type { Connection, Customer } from './setup.ts'
import { arrivalFaults } from './totals.ts'

/** What the measurements of the webhook part have in common. */

export interface WebhookBench {
  readonly connection: Connection
  readonly port: number
  readonly servicePid: number
  readonly postgresPid: number
  readonly db: pg.Client
  readonly openReceiver: (hangs: boolean) => Promise<Receiver>
  readonly onFault: (reason: string) => void
  /** Rejects as soon as something goes wrong; never resolves. */
  readonly fault: Promise<never>
}

/** One receiver is one destination. */
interface Receiver {
  readonly child: Child<{ port: number }>
  readonly origin: string
}

const CONNECTIONS = 64
const POLL_MS = 200
const WAIT_TIMEOUT_MS = 180_000

/** A load of the customer's messages whose webhooks go to `origin`; nothing is sent yet. */
export async function openLoad(bench: WebhookBench, customer: Customer, origin: string): Promise<Load> {
  const { port, onFault } = bench
  const request = requestForms({ port, callbackUrl: `${origin}/receipts`, ...customer })
  const load = new Load({ port, connections: CONNECTIONS, request, onFault })
  await load.connect()
  return load
}

/** Resolves when both webhooks of so many messages have come. */
export async function untilArrived(
  bench: WebhookBench,
  receiver: Child<{ port: number }>,
  messages: number,
): Promise<void> {
  await until(bench, 'not all webhooks came', async () => {
    const { completed } = await receiver.request<ReceiverReport>('report')
    return completed >= messages
  })
}

/** @throws (rejects) Error when something did not come exactly once and in order. */
export async function requireArrivals(load: Load, receiver: Child<{ port: number }>): Promise<void> {
  const faults = await arrivalFaults(load.accepted, receiver)
  if (faults.length > 0) throw new Error(faults.join('; '))
}

/** @throws (rejects) Error `late` when the condition does not hold within three minutes. */
export async function until(
  bench: WebhookBench,
  late: string,
  condition: () => Promise<boolean>,
): Promise<void> {
  const deadlineMs = performance.now() + WAIT_TIMEOUT_MS
  while (!(await Promise.race([condition(), bench.fault]))) {
    if (performance.now() > deadlineMs) throw new Error(`${late} within ${WAIT_TIMEOUT_MS / 1_000} s`)
    await pause(POLL_MS, bench)
  }
}

export async function pause(ms: number, { fault }: WebhookBench): Promise<void> {
  await Promise.race([new Promise((wake) => setTimeout(wake, ms)), fault])
}
