import type { Directory } from '../domain/configuration/directory.ts'
import { AppError } from '../errors.ts'

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
