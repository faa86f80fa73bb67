import type { DeliveryReceipt } from '../../../../../client/src/api.ts'
import { counted } from '../../../kit/formats.ts'
import { PUBLIC_CAUSES } from '../../../kit/waiting.ts'
import { inOrder, type Story, type StoryEntry, type StoryEvent, statusesOf, TONES } from './entries.ts'
import { type StoryWait, waitEntry } from './wait-entry.ts'
import { webhookEntries } from './webhook-entries.ts'

const TITLES = {
  SENT: 'Taken by the carrier',
  DELIVERED: 'Delivered to the handset',
  FAILED: 'Failed',
  UNKNOWN: 'Nothing reliable is known',
} as const

/** A message as the customers' API told it at `nowMs`: no carrier has a name. */
export function customerStory(
  message: DeliveryReceipt,
  events: readonly StoryEvent[],
  wait: StoryWait | null,
  nowMs: number,
): Story {
  const statuses = statusesOf(message, events)
  const acceptedMs = Date.parse(message.createdAt)
  const changes = statuses.flatMap(({ status, atMs }): StoryEntry[] => {
    if (status === 'QUEUED') return []
    const isLast = status === message.status
    const code = isLast && message.errorCode !== '000' ? message.errorCode : null
    return [
      {
        id: status,
        lane: 'carrier',
        atMs,
        tone: TONES[status],
        title: TITLES[status],
        detail: code === null ? null : `${code} ${message.errorMessage}`,
        facts: [
          ['Status', status],
          ['Error code', code],
          ['Segments', message.segments],
          ['Network', isLast ? message.mccmnc : null],
        ],
      },
    ]
  })
  return {
    acceptedMs,
    statuses,
    entries: inOrder([
      acceptedEntry(message),
      ...changes,
      ...waitEntry(message.status, wait, PUBLIC_CAUSES, nowMs),
      ...webhookEntries(events, null),
    ]),
  }
}

interface Accepted {
  readonly createdAt: string
  readonly msgId: string
  readonly segments: number | null
  readonly servicePlanId: string | null
  readonly accountId: string | null
}

export function acceptedEntry(message: Accepted): StoryEntry {
  const { segments } = message
  return {
    id: 'accepted',
    lane: 'customer',
    atMs: Date.parse(message.createdAt),
    tone: 'neutral',
    title: 'Accepted',
    detail: segments === null ? '202' : `202, ${counted(segments, 'segment')}`,
    facts: [
      ['Message id', message.msgId],
      ['Request id', 'the message id, unless one request made several messages'],
      ['Service plan', message.servicePlanId],
      ['Account', message.accountId],
    ],
  }
}
