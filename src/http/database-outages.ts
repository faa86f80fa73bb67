import type { FastifyBaseLogger } from 'fastify'
import { sqlState } from '../store/database.ts'

/** In a long outage, the number of failed requests is logged this often. */
const LINES_APART_MS = 60_000

/**
 * Logs requests that fail for want of the database: the first, and once a minute how many others. In an outage all of them
 * fail alike, and the log of the directory says when it began and ended.
 */
export class DatabaseOutages {
  #toldAtMs = Number.NEGATIVE_INFINITY
  #others = 0

  failed(log: FastifyBaseLogger, error: Error, requestId: string, nowMs: number): void {
    if (nowMs - this.#toldAtMs < LINES_APART_MS) {
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
