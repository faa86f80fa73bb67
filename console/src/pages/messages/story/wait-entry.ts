import type { StoryEntry } from './entries.ts'

/** Why a message is not submitted yet. */
export interface StoryWait {
  /** Null: it is about to move between nodes. */
  readonly cause: string | null
  readonly nextAttemptAt: string | null
  /** That has it in memory; customers know none. */
  readonly node?: string | null
}

/** Id of the entry. */
export const WAIT = 'wait'

/** Waits that do not end by themselves. */
const STUCK =
  /^(carrier-(stopped|draining|unbound|silent|unavailable)|no-route|plan-inactive|ambiguous|in-doubt)$/

/**
 * What a message waits for at `nowMs`: a carrier, or a receipt once it has one. `words`: of each cause. Nothing of a message
 * that has ended.
 */
export function waitEntry(
  status: string,
  wait: StoryWait | null,
  words: Readonly<Record<string, string>>,
  nowMs: number,
): StoryEntry[] {
  const common = { id: WAIT, lane: 'carrier', isPlanned: true } as const
  if (status === 'SENT')
    return [{ ...common, atMs: nowMs, tone: 'neutral', title: 'Waiting for the receipt', facts: [] }]
  if (status !== 'QUEUED' || wait === null) return []
  const { cause, nextAttemptAt, node = null } = wait
  const atMs = nextAttemptAt === null ? nowMs : Math.max(nowMs, Date.parse(nextAttemptAt))
  return [
    {
      ...common,
      atMs,
      tone: cause !== null && STUCK.test(cause) ? 'warning' : 'neutral',
      title: 'Not submitted yet',
      detail: cause === null ? 'about to move between nodes' : (words[cause] ?? cause),
      facts: [
        ['Cause', cause],
        ['Next attempt', nextAttemptAt],
        ['Node', node],
      ],
    },
  ]
}
