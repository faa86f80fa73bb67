import type { Directory } from './configuration/directory.ts'
import type { CarrierCondition } from './routing/routing.ts'

/** What is waiting, where and why. The causes are closed lists because they are labels of metrics. */

/** Why a message in memory waits. queued: for its turn, the window or the carrier's rate; in-flight: for an answer. */
export type HeldCause = 'queued' | 'in-flight' | 'throttled' | 'sender-rate'

/**
 * Why a message in the database waits. retry: the carrier refused it for now; ambiguous: it may have been sent; no-room:
 * it waits for room in memory.
 */
export type WaitingCause =
  | 'no-route'
  | 'plan-inactive'
  | 'carrier-stopped'
  | 'carrier-draining'
  | 'carrier-unbound'
  | 'carrier-silent'
  | 'throttled'
  | 'sender-rate'
  | 'recipient-full'
  | 'retry'
  | 'ambiguous'
  | 'no-room'

/** The same for customers, who do not know carriers. */
export const PUBLIC_CAUSES = [
  'turn',
  'carrier-answer',
  'rate-limit',
  'recipient',
  'retry',
  'in-doubt',
  'carrier-unavailable',
  'no-route',
  'plan-inactive',
] as const
type PublicCause = (typeof PUBLIC_CAUSES)[number]

const PUBLIC_CAUSE_OF: Readonly<Record<HeldCause | WaitingCause, PublicCause>> = {
  queued: 'turn',
  'no-room': 'turn',
  'in-flight': 'carrier-answer',
  throttled: 'rate-limit',
  'sender-rate': 'rate-limit',
  'recipient-full': 'recipient',
  retry: 'retry',
  ambiguous: 'in-doubt',
  'carrier-stopped': 'carrier-unavailable',
  'carrier-draining': 'carrier-unavailable',
  'carrier-unbound': 'carrier-unavailable',
  'carrier-silent': 'carrier-unavailable',
  'no-route': 'no-route',
  'plan-inactive': 'plan-inactive',
}

export function publicCause(cause: HeldCause | WaitingCause): PublicCause {
  return PUBLIC_CAUSE_OF[cause]
}

/**
 * Why a webhook in the database waits. due: for room in memory; retry: for its next attempt; behind: for an earlier event
 * of its message. The others are states of its destination.
 */
export const WEBHOOK_CAUSES = ['due', 'retry', 'behind', 'breaker-open', 'paused', 'recovering'] as const
type WebhookCause = (typeof WEBHOOK_CAUSES)[number]

/** Messages in memory that wait for the same reason. */
export interface HeldGroup {
  readonly routeId: number
  readonly carrierId: number
  readonly cause: HeldCause
  readonly count: number
  readonly oldestMsgId: string
}

/** Messages in the database that are alike. `carrierId`: the carrier they are handed to, or else that of the last attempt. */
export interface WaitingGroup {
  readonly planId: number
  readonly routeId: number
  readonly carrierId: number | null
  readonly ambiguous: boolean
  readonly retried: boolean
  readonly due: boolean
  readonly count: number
  readonly oldestMsgId: string
}

/** Waiting messages of one route, carrier and cause. Names are those of the configuration; null where there is none. */
export interface WaitingMessages {
  readonly route: string | null
  readonly carrier: string | null
  readonly cause: HeldCause | WaitingCause
  readonly count: number
  /** Unix milliseconds: when the oldest was accepted. */
  readonly oldestMs: number
}

export interface WaitingWebhooks {
  readonly cause: WebhookCause
  readonly count: number
  /** Unix milliseconds: when the schedule of the oldest began. */
  readonly oldestMs: number
}

/** A destination in trouble. */
export interface WaitingDestination {
  readonly planId: number
  readonly destination: string
  readonly state: 'open' | 'paused' | 'recovering'
  readonly since: Date
  readonly error: string | null
  readonly count: number
  /** Null when nothing waits for it. */
  readonly oldestMs: number | null
}

/** Everything that waits, as one node sees it. */
export interface Backlog {
  /** In the memory of this node. */
  readonly held: readonly WaitingMessages[]
  /** In the database, for all nodes. */
  readonly waiting: readonly WaitingMessages[]
  readonly webhooks: readonly WaitingWebhooks[]
  readonly destinations: readonly WaitingDestination[]
  /** There are more than were counted. */
  readonly more: { readonly messages: boolean; readonly webhooks: boolean }
  /** When the database was read, Unix milliseconds. */
  readonly countedAtMs: number
}

type ConditionOf = (carrierId: number, routeId: number) => CarrierCondition

/** Why these messages wait, given the configuration and what carriers can do now. */
export function waitingCause(
  { planId, routeId, ambiguous, retried, due }: WaitingGroup,
  directory: Directory,
  conditionOf: ConditionOf,
): WaitingCause {
  const plan = directory.planById(planId)
  if (plan === undefined || !plan.active) return 'plan-inactive'
  // Route 0: not known yet.
  const route = routeId === 0 ? plan.route : directory.contents.routes.find(({ id }) => id === routeId)
  if (route == null || route.carriers.length === 0) return 'no-route'
  if (!due && ambiguous) return 'ambiguous'
  if (!due && retried) return 'retry'
  const conditions = route.carriers.map(({ carrierId }) => conditionOf(carrierId, route.id))
  const closed = closedCause(conditions)
  if (closed !== null) return closed
  if (due) return conditions.some(canSend) ? 'no-room' : 'throttled'
  const isSlowed = route.carriers.some(
    ({ carrierId }) => directory.carrierById(carrierId)?.senderMessagesPerSecond != null,
  )
  return isSlowed ? 'sender-rate' : 'recipient-full'
}

/** Why no carrier takes anything; null when one does. */
function closedCause(conditions: readonly CarrierCondition[]): WaitingCause | null {
  if (conditions.some((one) => canSend(one) || one === 'throttled')) return null
  if (conditions.includes('unbound')) return 'carrier-unbound'
  if (conditions.includes('silent')) return 'carrier-silent'
  return conditions.includes('draining') ? 'carrier-draining' : 'carrier-stopped'
}

function canSend(condition: CarrierCondition): boolean {
  return condition === 'usable' || condition === 'out-of-use'
}

interface Counted {
  readonly count: number
  readonly oldestMs: number
}

/** Adds up the rows of each key and returns the sums, largest first. */
export function summed<Row extends Counted>(rows: Iterable<Row>, keyOf: (row: Row) => string): Row[] {
  const sums = new Map<string, Row>()
  for (const row of rows) {
    const key = keyOf(row)
    const sum = sums.get(key)
    const oldestMs = Math.min(sum?.oldestMs ?? Number.POSITIVE_INFINITY, row.oldestMs)
    sums.set(key, { ...row, count: (sum?.count ?? 0) + row.count, oldestMs })
  }
  return [...sums.values()].sort((a, b) => b.count - a.count)
}

const OTHER = 'other'

/** Adds up by route, carrier and cause. Rows beyond the `most` largest are counted under the route and carrier `other`. */
export function shownMessages(rows: Iterable<WaitingMessages>, most: number): WaitingMessages[] {
  const keyOf = ({ route, carrier, cause }: WaitingMessages) => `${route} ${carrier} ${cause}`
  const sums = summed(rows, keyOf)
  const others = sums.slice(most).map((row) => ({ ...row, route: OTHER, carrier: OTHER }))
  return [...sums.slice(0, most), ...summed(others, keyOf)]
}
