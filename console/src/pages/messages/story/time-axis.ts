import type { StatusChange, Story, StoryEntry } from './entries.ts'

/** Entries of one instant, and how long after the ones before. */
export interface Moment {
  readonly atMs: number
  /** Since the message was accepted. */
  readonly offsetMs: number
  readonly gapMs: number
  readonly entries: readonly StoryEntry[]
  /** The status that the message has from now on. */
  readonly change: StatusChange | null
}

/** The story by its instants, in order. A change of status belongs to what happened last before it. */
export function momentsOf({ acceptedMs, entries, statuses }: Story): Moment[] {
  const instants = [...new Set(entries.map(({ atMs }) => atMs))].map(
    (at) => [at, entries.filter(({ atMs }) => atMs === at)] as const,
  )
  const past = instants.filter(([, entries]) => !entries[0]!.isPlanned).map(([atMs]) => atMs)
  const changes = new Map(statuses.map((change) => [past.findLast((atMs) => atMs <= change.atMs), change]))
  return instants.map(([atMs, entries], index) => ({
    atMs,
    offsetMs: atMs - acceptedMs,
    gapMs: index === 0 ? 0 : atMs - instants[index - 1]![0],
    entries,
    change: changes.get(atMs) ?? null,
  }))
}

/**
 * Places instants between 0 and 1 so that gaps of milliseconds and of hours can both be seen: each gap takes room by
 * its logarithm.
 */
export class TimeScale {
  readonly #instants: readonly number[]
  readonly #places: readonly number[]

  constructor(instants: readonly number[]) {
    this.#instants = [...new Set(instants)].sort((one, other) => one - other)
    const room = this.#instants.map((at, index) =>
      index === 0 ? 0 : 1 + Math.log2(1 + at - this.#instants[index - 1]!),
    )
    const total = room.reduce((sum, one) => sum + one, 0)
    let place = 0
    this.#places = room.map((one) => {
      place += one
      return total === 0 ? 0 : place / total
    })
  }

  /** Of an instant that it was made with. */
  placeOf(atMs: number): number {
    return this.#places[this.#instants.indexOf(atMs)] ?? 1
  }
}

/** Room between two moments of a list in rem, by the logarithm of the time between them. */
export function roomOf(gapMs: number): number {
  return Math.min(3, 0.5 + 0.35 * Math.log10(1 + gapMs))
}
