import { isoText } from './dates.ts'

/**
 * Distinct instants, even within one millisecond: ISO 8601 with microseconds, whose last three digits are counted up.
 * Each batch that changes records is identified by its instant.
 */
export class InstantSource {
  #lastUs = 0

  next(nowMs: number): string {
    this.#lastUs = Math.max(nowMs * 1000, this.#lastUs + 1)
    const us = String(this.#lastUs % 1000).padStart(3, '0')
    return `${isoText(Math.floor(this.#lastUs / 1000)).slice(0, -1)}${us}Z`
  }
}
