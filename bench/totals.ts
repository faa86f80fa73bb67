import type pg from 'pg'
import type { Child } from './children.ts'
import { messageStatuses, queuedRows } from './database.ts'
import type { ReceiverReport } from './receiver.ts'

const SETTLE_TIMEOUT_MS = 15_000
const POLL_MS = 50

/** Compares what was accepted with the database and with the receiver; gives every fault, none when all is exact. */
export async function totalFaults(
  accepted: readonly string[],
  db: pg.Client,
  receiver: Child<{ port: number }>,
): Promise<string[]> {
  // A webhook's row goes shortly after its answer.
  const deadlineMs = performance.now() + SETTLE_TIMEOUT_MS
  while ((await queuedRows(db)) > 0 && performance.now() < deadlineMs)
    await new Promise((wake) => setTimeout(wake, POLL_MS))
  const ids = new Set(accepted)
  const statuses = await messageStatuses(db)
  return [
    ...told(accepted.length - ids.size, 'msgIds were given twice'),
    ...told(await queuedRows(db), 'rows were left in the queues'),
    ...told([...ids].filter((id) => !statuses.has(id)).length, 'accepted messages are not in the database'),
    ...told(
      [...ids].filter((id) => (statuses.get(id) ?? 'DELIVERED') !== 'DELIVERED').length,
      'are not DELIVERED',
    ),
    ...told(
      [...statuses.keys()].filter((id) => !ids.has(id)).length,
      'messages in the database were never accepted',
    ),
    ...(await arrivalFaults(accepted, receiver)),
  ]
}

/** Compares what was accepted with what came: both webhooks of each message, exactly once and in order. */
export async function arrivalFaults(
  accepted: readonly string[],
  receiver: Child<{ port: number }>,
): Promise<string[]> {
  const ids = new Set(accepted)
  const arrivals = new Map(await receiver.request<[string, boolean][]>('arrivals'))
  const report = await receiver.request<ReceiverReport>('report')
  return [
    ...told([...ids].filter((id) => arrivals.get(id) !== true).length, 'accepted messages lack a webhook'),
    ...told([...arrivals.keys()].filter((id) => !ids.has(id)).length, 'other messages had webhooks'),
    ...told(report.repeated, 'webhooks came more than once'),
    ...told(report.disordered, 'messages had their webhooks in the wrong order'),
    ...told(report.unexpected, 'webhooks had another status'),
  ]
}

function told(count: number, fault: string): string[] {
  return count > 0 ? [`${count} ${fault}`] : []
}
