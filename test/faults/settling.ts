/** Waits, within a bound, until a healthy service has nothing left to do; then reads its whole record. */
import type { Bed } from './bed.ts'
import { holdsWithin } from './clock.ts'
import { unannouncedOf } from './judge-inbound.ts'
import { recordsOfCopies } from './judge-submits.ts'
import { numberIn, type RecordedCopy, type RecordedMessage, type ServiceRecord } from './ledgers.ts'
import { listAll, type Plan, readSurely } from './service-client.ts'

const INTERVAL_MS = 1_000
/** A node's clock may be wrong by a day. */
const MARGIN_MS = 3 * 86_400_000
const AT_ONCE = 4

export interface Settling {
  readonly isSettled: boolean
  /** What was still open at the end; null: nothing. */
  readonly last: string | null
}

/** Polls until nothing is open, or the time is over. */
export async function settle(bed: Bed, deadlineMs: number, signal: AbortSignal): Promise<Settling> {
  let last: string | null = null
  const isSettled = await holdsWithin(
    deadlineMs,
    async () => {
      if (signal.aborted) return true
      const open = await openNow(bed).catch((error) => String(error))
      last = open ?? last
      return open === null
    },
    INTERVAL_MS,
  )
  return { isSettled: isSettled && !signal.aborted, last }
}

async function openNow(bed: Bed): Promise<string | null> {
  if (!bed.isBound()) return 'a carrier is not bound'
  const offers = bed.carriers.reduce((sum, { unacknowledged }) => sum + unacknowledged, 0)
  if (offers > 0) return `${offers} deliver_sm are not acknowledged`
  const untold = unannouncedOf(bed).length
  if (untold > 0) return `${untold} inbound messages are not announced`
  for (const plan of bed.plans) {
    if (await hasEventsWaiting(bed, plan)) return `plan ${plan.index} has events pending`
    for (const status of ['QUEUED', 'SENT'])
      if ((await firstOf(bed, plan, '/v1/messages/sms', { status })) !== undefined)
        return `plan ${plan.index} has messages ${status}`
  }
  return null
}

/** Events may wait up to a day for their next attempt, so it is made at once. */
async function hasEventsWaiting(bed: Bed, plan: Plan): Promise<boolean> {
  const { json } = await readSurely(bed.baseUrls, plan, '/v1/webhooks/destinations', {})
  const waiting = (
    json.items as { destination: string; waiting: number; parked: number; state: string }[]
  ).filter(({ waiting, parked }) => waiting + parked > 0)
  for (const { destination } of waiting)
    await fetch(`${bed.baseUrls[0]}/v1/webhooks/destinations/resume`, {
      method: 'POST',
      headers: { authorization: `Bearer ${plan.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ servicePlanId: plan.servicePlanId, destination }),
      signal: AbortSignal.timeout(20_000),
    })
  const pending = await firstOf(bed, plan, '/v1/webhooks/events', { state: 'pending' })
  return waiting.length > 0 || pending !== undefined
}

async function firstOf(bed: Bed, plan: Plan, path: string, query: Record<string, string>): Promise<unknown> {
  const { json } = await readSurely(bed.baseUrls, plan, path, { ...query, limit: '1' })
  return json.items[0]
}

export async function readRecord(bed: Bed): Promise<ServiceRecord> {
  const window = {
    fromDate: new Date(Date.now() - MARGIN_MS).toISOString(),
    toDate: new Date(Date.now() + MARGIN_MS).toISOString(),
  }
  const messages: RecordedMessage[] = []
  const inbound: { msgId: string; k: number }[] = []
  for (const plan of bed.plans) {
    const own = await listAll<Omit<RecordedMessage, 'plan' | 'n'> & { body: string }>(
      bed.baseUrls,
      plan,
      '/v1/messages/sms',
      window,
    )
    for (const { msgId, body, status, errorCode, segments } of own)
      messages.push({ msgId, plan: plan.index, n: numberIn(body), status, errorCode, segments })
    const received = await listAll<{ msgId: string; body: string }>(
      bed.baseUrls,
      plan,
      '/v1/inbound/sms',
      window,
    )
    for (const { msgId, body } of received) inbound.push({ msgId, k: numberIn(body) })
  }
  return { messages, inbound, copies: await readCopies(bed, messages) }
}

/** For messages that a carrier got twice: whether the operator sees that they were sent again. */
async function readCopies(bed: Bed, messages: readonly RecordedMessage[]): Promise<RecordedCopy[]> {
  const left = recordsOfCopies(bed.submits, messages)
  const copies: RecordedCopy[] = []
  const readOn = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { n, msgIds } = next
      const shown = await Promise.all(msgIds.map((id) => bed.admin('GET', `/messages/${id}`)))
      const attempts = (shown as Shown[]).flatMap((one) => one.attempts)
      copies.push({ n, isFlagged: attempts.some(({ resubmission }) => resubmission) })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, readOn))
  return copies
}

interface Shown {
  readonly attempts: readonly { readonly resubmission: boolean }[]
}
