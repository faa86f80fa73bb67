import { fault } from '../domain/faults.ts'
import { AppError, invalid } from '../errors.ts'
import { isConflict, sqlState } from '../store/database.ts'

/** What operations on the configuration refuse, in the words of the closed list of errors. */

const UNIQUE_VIOLATION = '23505'
const FOREIGN_KEY_VIOLATION = '23503'

export function refuseMissing(what: string): AppError {
  return new AppError('NOT_FOUND', { message: `No such ${what}` })
}

export function refuseConflict(message: string): AppError {
  return new AppError('CONFLICT', { message })
}

/** A field whose value has the right form and cannot be meant. */
export function refuseField(field: string, code: string, message: string): AppError {
  return invalid([fault(field, code, message)])
}

/** Two changes that lock each other out are both made, one after the other. */
const MAX_TRIES = 3

/**
 * Runs a write, a whole transaction, and says in the caller's words what the database's constraints refused: `taken` for a
 * key that exists, `inUse` for a row that others name (or that went while it was being named). It is run again where it
 * met a deadlock: a route takes the row of directory_version first and then its carriers', a change of a carrier the
 * other way round.
 */
export async function sayConflicts<T>(
  words: { taken?: string; inUse?: string },
  write: () => Promise<T>,
  tries = MAX_TRIES,
): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (isConflict(error) && tries > 1) return sayConflicts(words, write, tries - 1)
    const state = sqlState(error)
    if (state === UNIQUE_VIOLATION && words.taken !== undefined) throw refuseConflict(words.taken)
    if (state === FOREIGN_KEY_VIOLATION && words.inUse !== undefined) throw refuseConflict(words.inUse)
    throw error
  }
}
