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
  const faults: string[] = []
  const say = (count: number, fault: string) => {
    if (count > 0) faults.push(`${count} ${fault}`)
  }
  const ids = new Set(accepted)
  say(accepted.length - ids.size, 'msgIds were given twice')

  // A webhook's row goes shortly after its answer.
  const deadlineMs = performance.now() + SETTLE_TIMEOUT_MS
  while ((await queuedRows(db)) > 0 && performance.now() < deadlineMs)
    await new Promise((wake) => setTimeout(wake, POLL_MS))
  say(await queuedRows(db), 'rows were left in the queues')

  const statuses = await messageStatuses(db)
  say([...ids].filter((id) => !statuses.has(id)).length, 'accepted messages are not in the database')
  say([...ids].filter((id) => (statuses.get(id) ?? 'DELIVERED') !== 'DELIVERED').length, 'are not DELIVERED')
  say(
    [...statuses.keys()].filter((id) => !ids.has(id)).length,
    'messages in the database were never accepted',
  )

  const arrivals = new Map(await receiver.request<[string, boolean][]>('arrivals'))
  say([...ids].filter((id) => arrivals.get(id) !== true).length, 'accepted messages lack a webhook')
  say([...arrivals.keys()].filter((id) => !ids.has(id)).length, 'other messages had webhooks')
  const report = await receiver.request<ReceiverReport>('report')
  say(report.repeated, 'webhooks came more than once')
  say(report.disordered, 'messages had their webhooks in the wrong order')
  say(report.unexpected, 'webhooks had another status')
  return faults
}
