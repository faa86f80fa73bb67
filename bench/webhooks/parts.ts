import type pg from 'pg'
import { type Aldis, messageForms } from '../aldis/aldis.ts'
import type { Customer } from '../aldis/setup.ts'
import type { Rig } from '../rig.ts'
import type { Load, Receiver, Toolbox } from '../tools/tools.ts'
import { arrivalFaults, receiverFaults } from '../totals.ts'

/** What the measurements of the webhook part have in common. */

export interface WebhookBench {
  readonly rig: Rig
  readonly aldis: Aldis
  readonly tools: Toolbox
  readonly db: pg.Client
  /** Opens a receiver, which is one destination. It reports delays, and may hang. */
  readonly openReceiver: (hangs: boolean) => Promise<Receiver>
}

const CONNECTIONS = 64
const POLL_MS = 200
const WAIT_TIMEOUT_MS = 180_000

/** A load of the customer's messages whose webhooks go to the receiver; nothing is sent yet. */
export function openLoad(bench: WebhookBench, customer: Customer, receiver: Receiver): Promise<Load> {
  const { port } = bench.aldis
  const forms = messageForms(port, customer, `${receiver.origin}/receipts`)
  return bench.tools.load({ ports: [port], connections: CONNECTIONS, forms })
}

/** Resolves when both webhooks of this many messages have come. */
export async function untilArrived(bench: WebhookBench, receiver: Receiver, messages: number): Promise<void> {
  await until(bench, 'not all webhooks came', async () => (await receiver.report()).completed >= messages)
}

/** @throws (rejects) Error when something did not come exactly once and in order. */
export async function requireArrivals(load: Load, receiver: Receiver): Promise<void> {
  const faults = [
    ...arrivalFaults(await load.ledger(), await receiver.ledger()),
    ...receiverFaults(await receiver.report(), true),
  ]
  if (faults.length > 0) throw new Error(faults.join('; '))
}

/** @throws (rejects) Error `late` when the condition does not hold within three minutes. */
export async function until(
  bench: WebhookBench,
  late: string,
  condition: () => Promise<boolean>,
): Promise<void> {
  const deadlineMs = performance.now() + WAIT_TIMEOUT_MS
  while (!(await Promise.race([condition(), bench.rig.fault]))) {
    if (performance.now() > deadlineMs) throw new Error(`${late} within ${WAIT_TIMEOUT_MS / 1_000} s`)
    await bench.rig.pause(POLL_MS)
  }
}
