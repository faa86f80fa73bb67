/** Where the attempts of an event stand on its axis of time. */

interface Attempt {
  readonly attempt: number
  readonly attemptedAt: string
}

export interface Mark {
  /** From 0 to 1 along the axis. */
  readonly at: number
  readonly ms: number
}

export interface ScheduleAxis {
  readonly happened: Mark
  readonly attempts: readonly (Mark & { readonly attempt: number })[]
  /** Null: no attempt is planned. */
  readonly next: Mark | null
  /** Null when the last of the others is later. */
  readonly now: Mark | null
  readonly ticks: readonly (Mark & { readonly label: string })[]
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const TICKS: readonly (readonly [label: string, ms: number])[] = [
  ['0', 0],
  ['5 s', 5 * SECOND_MS],
  ['30 s', 30 * SECOND_MS],
  ['2 min', 2 * MINUTE_MS],
  ['10 min', 10 * MINUTE_MS],
  ['1 h', HOUR_MS],
  ['5 h', 5 * HOUR_MS],
  ['1 d', DAY_MS],
  ['3 d', 3 * DAY_MS],
  ['10 d', 10 * DAY_MS],
  ['30 d', 30 * DAY_MS],
]

/** Attempts are seconds apart at first and a day at last, so the axis is logarithmic: this long is its first part. */
const LINEAR_MS = 2 * SECOND_MS
/** A single attempt is not at the end of its axis. */
const SHORTEST_MS = 6 * SECOND_MS

/** The axis from what happened to the last attempt, the next one, or now while one is planned. */
export function scheduleAxis(
  occurredAt: string,
  attempts: readonly Attempt[],
  nextAttemptAt: string | null,
  nowMs: number,
): ScheduleAxis {
  const startMs = Date.parse(occurredAt)
  const times = attempts.map(({ attemptedAt }) => Date.parse(attemptedAt))
  const nextMs = nextAttemptAt === null ? null : Date.parse(nextAttemptAt)
  const planned = nextMs === null ? [] : [nextMs, nowMs]
  const lastMs = Math.max(startMs + SHORTEST_MS, ...times, ...planned)
  const scale = (ms: number) => Math.log1p(Math.max(0, ms) / LINEAR_MS)
  const length = scale(lastMs - startMs)
  const mark = (ms: number): Mark => ({ ms, at: scale(ms - startMs) / length })
  return {
    happened: mark(startMs),
    attempts: attempts.map(({ attempt }, index) => ({ attempt, ...mark(times[index]!) })),
    next: nextMs === null ? null : mark(nextMs),
    now: nextMs === null ? null : mark(nowMs),
    ticks: TICKS.filter(([, ms]) => startMs + ms <= lastMs).map(([label, ms]) => ({
      label,
      ...mark(startMs + ms),
    })),
  }
}
