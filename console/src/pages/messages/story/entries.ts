/** Who did it: the customer who sent it, the carriers, or the webhooks that told the customer. */
export const LANES = ['customer', 'carrier', 'webhook'] as const
export type Lane = (typeof LANES)[number]

export const LANE_NAMES: Readonly<Record<Lane, string>> = {
  customer: 'Customer',
  carrier: 'Carrier',
  webhook: 'Webhook',
}

/** As those of the badges of the kit. */
type Tone = 'neutral' | 'info' | 'good' | 'warning' | 'bad'

export type Status = 'QUEUED' | 'SENT' | 'DELIVERED' | 'FAILED' | 'UNKNOWN'

/** One thing that happened to a message, or will. */
export interface StoryEntry {
  /** Unique in its story, and the same when the story is read again. */
  readonly id: string
  readonly lane: Lane
  readonly atMs: number
  /** When it ended, if it took time. */
  readonly endMs?: number
  readonly tone: Tone
  readonly title: string
  readonly detail?: string | null
  /** Names and values; null values are not shown. */
  readonly facts: readonly (readonly [name: string, value: string | number | null])[]
  /** As it came: a receipt's text, the headers of a webhook, the head of an answer. */
  readonly raw?: readonly (readonly [name: string, text: string])[]
  readonly isPlanned?: boolean
  /** The webhook event that can be redelivered from here. */
  readonly event?: StoryEvent
}

export interface StatusChange {
  readonly status: Status
  readonly atMs: number
}

/** Everything that is known about a message, in order. */
export interface Story {
  readonly acceptedMs: number
  readonly entries: readonly StoryEntry[]
  /** QUEUED first. */
  readonly statuses: readonly StatusChange[]
}

export interface StoryEvent {
  readonly eventId: string
  /** The status that it tells. */
  readonly status: string
  readonly state: 'pending' | 'delivered' | 'failed' | 'kept'
  readonly occurredAt: string
  readonly deliveredAt: string | null
  readonly attempts: number
  readonly nextAttemptAt: string | null
  readonly destination: string | null
  readonly attemptRecords: readonly StoryAttempt[]
}

export interface StoryAttempt {
  readonly attempt: number
  readonly attemptedAt: string
  readonly latencyMs: number
  readonly responseStatus: number | null
  readonly error: string | null
  readonly requestHeaders: Readonly<Record<string, string>> | null
  readonly responseHead: string | null
}

export const TONES = {
  QUEUED: 'neutral',
  SENT: 'info',
  DELIVERED: 'good',
  FAILED: 'bad',
  UNKNOWN: 'warning',
} as const satisfies Record<Status, Tone>

/** As the record has it, where no event says more: QUEUED, SENT, and what came last. */
export interface Recorded {
  readonly status: string
  readonly createdAt: string
  readonly sentAt: string | null
  readonly updatedAt: string
}

/** When the message changed its status: its events say so, and the record about what they lack. */
export function statusesOf(message: Recorded, events: readonly StoryEvent[]): StatusChange[] {
  const { status, createdAt, sentAt, updatedAt } = message
  const changes = new Map<Status, number>([['QUEUED', Date.parse(createdAt)]])
  for (const { status, occurredAt } of events) changes.set(status as Status, Date.parse(occurredAt))
  if (sentAt !== null && !changes.has('SENT') && status === 'SENT') changes.set('SENT', Date.parse(sentAt))
  if (!changes.has(status as Status)) changes.set(status as Status, Date.parse(updatedAt))
  return [...changes].map(([status, atMs]) => ({ status, atMs })).sort((one, other) => one.atMs - other.atMs)
}

/** The order of cause and effect where the clock does not tell. */
export function inOrder(entries: readonly StoryEntry[]): StoryEntry[] {
  const rank = ({ lane, isPlanned }: StoryEntry) => LANES.indexOf(lane) + (isPlanned ? LANES.length : 0)
  return entries.toSorted((one, other) => one.atMs - other.atMs || rank(one) - rank(other))
}
