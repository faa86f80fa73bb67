/**
 * Compares three accounts of the same messages: the client's, the carrier's and the database's.
 */
import type { Submission } from '../../src/simulator/submissions.ts'
import type { Database } from '../../src/store/database.ts'
import { eventually } from '../support/process.ts'
import { type Entry, numberIn } from './load.ts'

export interface StoredMessage {
  readonly msgId: string
  readonly n: number
  readonly status: string
  readonly segments: number
}

/** Waits until nothing is left to do, then gives every message there is. */
export async function settledMessages(db: Database): Promise<StoredMessage[]> {
  await eventually(async () => {
    const { rows } = await db.query<{ open: number }>(`
      select (select count(*) from dispatches)::integer
           + (select count(*) from messages where status in ('QUEUED', 'SENT'))::integer as open`)
    return rows[0]!.open === 0
  }, 25_000)
  const { rows } = await db.query<{ msgId: string; body: string; status: string; segments: number }>(
    'select msg_id as "msgId", body, status, segments from messages',
  )
  return rows.map(({ body, ...message }) => ({ ...message, n: numberIn(body) }))
}

const CONCATENATION_HEADER_OCTETS = 6

/** Submits of each segment, by `n/segment`, in order of arrival. */
export function submitsBySegment<Submit extends Pick<Submission, 'payload'>>(
  submissions: readonly Submit[],
): Map<string, Submit[]> {
  return Map.groupBy(submissions, ({ payload }) => {
    const hasHeader = payload[0] === CONCATENATION_HEADER_OCTETS - 1
    const segment = hasHeader ? payload[CONCATENATION_HEADER_OCTETS - 1]! - 1 : 0
    return `${numberIn(payload.toString('latin1'))}/${segment}`
  })
}

export interface Comparison {
  /** Answered 202 and not in the database under that id and with that text. */
  readonly lost: Entry[]
  /** Stored with another final status than DELIVERED, or than FAILED for what was answered 500. */
  readonly wrong: StoredMessage[]
  /** `n/segment` of what is DELIVERED without ever having reached the carrier. */
  readonly unsent: string[]
  /** Numbers of what was answered 500 and submitted all the same. */
  readonly sentThough500: number[]
  /** Numbers of what was submitted and is not in the database. */
  readonly unknown: number[]
  /** `n/segment` of what was submitted more than once. */
  readonly repeated: string[]
}

export function compare(
  entries: readonly Entry[],
  stored: readonly StoredMessage[],
  submissions: readonly Submission[],
): Comparison {
  const byNumber = new Map(stored.map((message) => [message.n, message]))
  const submits = submitsBySegment(submissions)
  const submitted = new Set([...submits.keys()].map((key) => Number(key.split('/')[0])))
  const refused = new Set(entries.filter(({ status }) => (status ?? 0) >= 500).map(({ n }) => n))
  const segmentKeys = stored
    .filter(({ status }) => status === 'DELIVERED')
    .flatMap(({ n, segments }) => Array.from({ length: segments }, (_, segment) => `${n}/${segment}`))
  return {
    lost: entries.filter(({ n, status, msgId }) => status === 202 && byNumber.get(n)?.msgId !== msgId),
    wrong: stored.filter(({ n, status }) => status !== (refused.has(n) ? 'FAILED' : 'DELIVERED')),
    unsent: segmentKeys.filter((key) => !submits.has(key)),
    sentThough500: [...refused].filter((n) => submitted.has(n)),
    unknown: [...submitted].filter((n) => !byNumber.has(n)),
    repeated: [...submits].filter(([, list]) => list.length > 1).map(([key]) => key),
  }
}
