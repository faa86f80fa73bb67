import type { FastifyBaseLogger } from 'fastify'
import { sqlState } from '../store/database.ts'

/** In a long outage, the number of failed requests is logged this often. */
const LINES_APART_MS = 60_000

/**
 * Logs requests that fail because the database cannot be reached: the first of an outage, and once a minute how many others.
 * All of them fail alike, and the log of the directory says when the outage began and ended.
 */
export class DatabaseOutages {
  #toldAtMs = Number.NEGATIVE_INFINITY
  #failedAtMs = Number.NEGATIVE_INFINITY
  #others = 0

  failed(log: FastifyBaseLogger, error: Error, requestId: string, nowMs: number): void {
    const isFirst = nowMs - this.#failedAtMs >= LINES_APART_MS
    this.#failedAtMs = nowMs
    // Those of an earlier outage say nothing about this one.
    if (isFirst) this.#others = 0
    else if (nowMs - this.#toldAtMs < LINES_APART_MS) {
      this.#others += 1
      return
    }
    const { name: type, message } = error
    const others = this.#others
    log.error(
      { requestId, error: { type, message, sqlState: sqlState(error) }, others },
      'requests fail because the database cannot be reached',
    )
    this.#toldAtMs = nowMs
    this.#others = 0
  }
}
