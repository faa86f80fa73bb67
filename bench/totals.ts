import type pg from 'pg'
import { lowestIdAt } from '../src/domain/identifiers.ts'
import { messageCount, messageStatuses, queuedRows } from './aldis/database.ts'
import type { CarrierEntry, Ledgers, LoadEntry, ReceiverEntry } from './tools/ledgers.ts'
import type { CarrierStats, ReceiverReport } from './tools/tools.ts'

/** Compares accepted messages with what came. Each function returns every fault it finds, none when all is exact. */

const SETTLE_TIMEOUT_MS = 15_000
const POLL_MS = 50
const ACCEPTED = 202

/** Every message must be accepted, and both webhooks of each must have come once. */
export function arrivalFaults(load: readonly LoadEntry[], receiver: readonly ReceiverEntry[]): string[] {
  const arrivals = new Map(receiver.map((entry) => [entry.number, entry]))
  const accepted = new Map(load.filter(isAccepted).map((entry) => [entry.number, entry]))
  const ids = load.flatMap(({ msgId }) => (msgId === null ? [] : [msgId]))
  const count = (holds: (entry: LoadEntry, arrival: ReceiverEntry | undefined) => boolean) =>
    [...accepted.values()].filter((entry) => holds(entry, arrivals.get(entry.number))).length
  return [
    ...told(accepted.size === 0 ? 1 : 0, 'runs had no accepted message'),
    ...told(load.length - accepted.size, 'requests were not accepted'),
    ...told(ids.length - new Set(ids).size, 'msgIds were given twice'),
    ...told(
      count((_, arrival) => arrival === undefined || arrival.sent === 0 || arrival.delivered === 0),
      'accepted messages lack a webhook',
    ),
    ...told(
      count((_, arrival) => arrival !== undefined && (arrival.sent > 1 || arrival.delivered > 1)),
      'messages had a webhook more than once',
    ),
    ...told(
      count((entry, arrival) => arrival !== undefined && arrival.msgId !== entry.msgId),
      'messages had webhooks with the msgId of another',
    ),
    ...told(receiver.filter(({ number }) => !accepted.has(number)).length, 'other messages had webhooks'),
  ]
}

/** Faults that only the receiver saw. Kannel sends callbacks concurrently, so their order proves nothing. */
export function receiverFaults(report: ReceiverReport, isOrdered: boolean): string[] {
  return [
    ...told(report.unexpected, 'webhooks had another status, number or msgId'),
    ...told(isOrdered ? report.disordered : 0, 'messages had their webhooks in the wrong order'),
  ]
}

/** Each accepted message must be submitted once, and each receipt answered with ESME_ROK. */
export function carrierFaults(
  load: readonly LoadEntry[],
  carrier: readonly CarrierEntry[],
  stats: CarrierStats,
): string[] {
  const submits = new Map(carrier.map((entry) => [entry.number, entry.submits]))
  const accepted = new Set(load.filter(isAccepted).map(({ number }) => number))
  return [
    ...told(
      [...accepted].filter((number) => !submits.has(number)).length,
      'accepted messages were not submitted',
    ),
    ...told(carrier.filter((entry) => entry.submits > 1).length, 'messages were submitted more than once'),
    ...told(carrier.filter(({ number }) => !accepted.has(number)).length, 'other messages were submitted'),
    ...told(stats.receiptsSent - stats.receiptsAcknowledged, 'receipts were not acknowledged'),
    ...told(stats.receiptsRefused, 'receipts were refused'),
    ...told(stats.receiptsWaiting, 'receipts were not sent'),
  ]
}

/** In Aldis' database each accepted message must be DELIVERED, with no other message made since and nothing queued. */
export async function databaseFaults(
  load: readonly LoadEntry[],
  db: pg.Client,
  sinceMs: number,
): Promise<string[]> {
  const accepted = load.filter(isAccepted)
  const ids = new Set(accepted.map(({ msgId }) => msgId))
  const since = lowestIdAt(sinceMs)
  // A message is projected, and the row of a webhook goes, shortly after the last answer.
  const deadlineMs = performance.now() + SETTLE_TIMEOUT_MS
  const isSettled = async () =>
    (await queuedRows(db)) === 0 && (await messageCount(db, since)) >= accepted.length
  while (!(await isSettled()) && performance.now() < deadlineMs)
    await new Promise((wake) => setTimeout(wake, POLL_MS))
  const statuses = await messageStatuses(db, since)
  const statusOf = ({ msgId }: LoadEntry) => (msgId === null ? undefined : statuses.get(msgId))
  return [
    ...told(await queuedRows(db), 'rows were left in the queues'),
    ...told(
      accepted.filter((entry) => statusOf(entry) === undefined).length,
      'accepted messages are not in the database',
    ),
    ...told(
      accepted.filter((entry) => (statusOf(entry) ?? 'DELIVERED') !== 'DELIVERED').length,
      'are not DELIVERED',
    ),
    ...told(
      [...statuses.keys()].filter((id) => !ids.has(id)).length,
      'messages in the database were never accepted',
    ),
  ]
}

export function acceptedCount({ load }: Pick<Ledgers, 'load'>): number {
  return load.filter(isAccepted).length
}

function isAccepted({ status }: LoadEntry): boolean {
  return status === ACCEPTED
}

function told(count: number, fault: string): string[] {
  return count > 0 ? [`${count} ${fault}`] : []
}
