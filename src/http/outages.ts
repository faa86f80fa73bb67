import type { FastifyBaseLogger } from 'fastify'
import type { Directory } from '../domain/configuration/directory.ts'
import { AppError } from '../errors.ts'
import { type Outage, sqlState } from '../store/database.ts'

/** The current configuration: at once, or after a short wait. Throws or rejects with SERVICE_UNAVAILABLE. */
export type DirectorySource = () => Directory | Promise<Directory>

/** About as long as a database takes to restart. */
const RETRY_AFTER_SECONDS = 2

/** A node that cannot learn of revoked tokens serves nobody: it answers 503 when `fresh` returns null. */
export function freshDirectory(service: { fresh(): Directory | Promise<Directory | null> }): DirectorySource {
  return () => {
    const directory = service.fresh()
    return directory instanceof Promise ? directory.then(orUnavailable) : directory
  }
}

function orUnavailable(directory: Directory | null): Directory {
  if (directory !== null) return directory
  throw unavailable()
}

/** The database does not answer, and the request had no effect. */
export function unavailable(): AppError {
  return new AppError('SERVICE_UNAVAILABLE', { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } })
}

/** In a long outage, the number of failed requests is logged this often. */
const LINES_APART_MS = 60_000

const MESSAGES: Readonly<Record<Outage, string>> = {
  unreachable: 'requests fail because the database cannot be reached',
  unanswered: 'requests fail because the database does not answer in time',
  busy: 'requests fail because no database connection of this process is free in time',
}

interface Logged {
  lineAtMs: number
  failedAtMs: number
  others: number
}

interface Failed {
  readonly outage: Outage
  readonly error: unknown
  readonly requestId: string
}

/**
 * Logs requests that fail because of an outage: the first, and once a minute how many others. All of them fail alike, and the
 * log of the directory says when the database was away.
 */
export class DatabaseOutages {
  readonly #logged = new Map<Outage, Logged>()

  failed(log: FastifyBaseLogger, { outage, error, requestId }: Failed, nowMs = performance.now()): void {
    const logged = this.#logged.get(outage)
    // Those of an earlier outage say nothing about this one.
    const isFirst = logged === undefined || nowMs - logged.failedAtMs >= LINES_APART_MS
    if (!isFirst && nowMs - logged.lineAtMs < LINES_APART_MS) {
      logged.failedAtMs = nowMs
      logged.others += 1
      return
    }
    this.#logged.set(outage, { lineAtMs: nowMs, failedAtMs: nowMs, others: 0 })
    const { name: type, message } = error as Error
    const others = isFirst ? 0 : logged.others
    log.error({ requestId, error: { type, message, sqlState: sqlState(error) }, others }, MESSAGES[outage])
  }
}
