import { Type } from 'typebox'
import { countByStatus, type Status } from '../../domain/messages/messages.ts'
import { titled } from './shapes.ts'

/** At most this many messages are looked at, the newest. */
export const MOST_COUNTED = 1_000

const Count = Type.Integer()

export const StatusCountsSchema = titled('StatusCounts', {
  counted: Type.Integer({ description: `Messages that match; at most the newest ${MOST_COUNTED}` }),
  hasMore: Type.Boolean({ description: 'More match than were counted' }),
  counts: titled('CountsByStatus', {
    QUEUED: Count,
    SENT: Count,
    DELIVERED: Count,
    FAILED: Count,
    UNKNOWN: Count,
  }),
})

/** `newest`: one more than MOST_COUNTED tells that there are more. */
export function presentCounts(newest: readonly { readonly status: Status }[], isCutOff = false) {
  const counted = newest.slice(0, MOST_COUNTED)
  const hasMore = isCutOff || newest.length > counted.length
  return { counted: counted.length, hasMore, counts: countByStatus(counted) }
}
