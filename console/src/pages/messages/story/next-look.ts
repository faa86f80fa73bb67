import type { StoryEvent } from './entries.ts'

const SOON_MS = 1_500
const LATER_MS = 10_000
const RECENTLY_MS = 60_000

type Watched = Pick<StoryEvent, 'status' | 'state' | 'nextAttemptAt'>

/** How long until a story is read again: not long while the message moves, longer while it waits; false when it has ended. */
export function nextLookMs(
  { status, updatedAt }: { readonly status: string; readonly updatedAt: string },
  events: readonly Watched[],
  nowMs: number,
): number | false {
  if (status === 'QUEUED' || status === 'SENT') return SOON_MS
  const isTold = events.some((event) => event.status === status)
  if (!isTold && nowMs - Date.parse(updatedAt) < RECENTLY_MS) return SOON_MS
  const pending = events.filter(({ state }) => state === 'pending')
  if (pending.length === 0) return status === 'UNKNOWN' ? LATER_MS : false
  const isSoon = pending.some(
    ({ nextAttemptAt }) => nextAttemptAt === null || Date.parse(nextAttemptAt) - nowMs < LATER_MS,
  )
  return isSoon ? SOON_MS : LATER_MS
}
