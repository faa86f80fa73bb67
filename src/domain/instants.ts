import { isoText } from './dates.ts'

/**
 * Instants that differ although they fall into one millisecond: ISO 8601 with microseconds, the last three digits
 * counted up. A batch that changes records is told from every other by its instant.
 */
export class InstantSource {
  #lastUs = 0

  next(nowMs: number): string {
    this.#lastUs = Math.max(nowMs * 1000, this.#lastUs + 1)
    const us = String(this.#lastUs % 1000).padStart(3, '0')
    return `${isoText(Math.floor(this.#lastUs / 1000)).slice(0, -1)}${us}Z`
  }
}
