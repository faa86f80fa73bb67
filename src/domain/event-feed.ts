import { DAY_MS } from './durations.ts'
import type { EventPayload } from './events.ts'
import { lowestIdAt } from './identifiers.ts'
import { SUBMISSION_DAYS } from './messages/messages.ts'

/** The event after which a reader of the feed continues. */
export interface FeedPlace {
  /** `events.position`, digits: it may be beyond what a number holds. */
  readonly position: string
  readonly msgId: string
  readonly sequence: number
  /** When that position was reached or, if there was nothing more to read, when it was read. Unix milliseconds. */
  readonly atMs: number
}

export const DEFAULT_FEED_PAGE = 100
export const MAX_FEED_PAGE = 1_000
/** Bytes of text in a page; the last text may exceed it. */
const FEED_PAGE_BYTES = 1_400_000

const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const HIGHEST_SEQUENCE = 32_767

/**
 * A message's status changes for the last time within ten days: it is submitted for 24 h, and a receipt is matched for
 * 8 days.
 */
const LONGEST_LIFE_MS = (SUBMISSION_DAYS + 2) * DAY_MS

/** Behind everything up to `position`, read at `atMs`. */
export function placeBehind(position: string, atMs: number): FeedPlace {
  return { position, msgId: HIGHEST_ID, sequence: HIGHEST_SEQUENCE, atMs }
}

/** No event at `ms` or later belongs to a message with a lower id, so days before it need not be read. */
export function lowestIdWithEventsAt(ms: number): string {
  return lowestIdAt(ms - LONGEST_LIFE_MS)
}

/** The first of `events` that make one page: at most `limit`, and FEED_PAGE_BYTES of text. */
export function feedPage<Event extends { payload: EventPayload }>(
  events: readonly Event[],
  limit: number,
): Event[] {
  let bytes = 0
  const tooMany = events.findIndex((event, index) => {
    if (index === limit || bytes > FEED_PAGE_BYTES) return true
    bytes += textBytes(event.payload)
    return false
  })
  return tooMany < 0 ? [...events] : events.slice(0, tooMany)
}

function textBytes(payload: EventPayload): number {
  return Buffer.byteLength(payload.direction === 'MT' ? payload.message.body : payload.inbound.body)
}
