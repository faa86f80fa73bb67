import { setTimeout } from 'node:timers/promises'
import { conflict } from '../../errors.ts'
import { isConflict, sqlState } from '../../store/database.ts'

/** What becomes of a write that the database refuses because of another. */

const UNIQUE_VIOLATION = '23505'

const FOREIGN_KEY_VIOLATION = '23503'

/** For `inUse` of a write that names a plan. */
export const PLAN_GONE = 'the service plan was removed in the meantime'

interface ConflictWords {
  readonly taken?: string
  readonly inUse?: string
}

/** Two changes that deadlock are both made, one after the other. */
const MAX_TRIES = 3
/** The other change goes first: at once, this one could take again what the other waits for. */
const RETRY_MS = 50

/**
 * Runs a write, a whole transaction, and retries it after a deadlock: a route locks the row of directory_version first and
 * then those of its carriers, a change of a carrier the other way round.
 */
export async function retryConflicts<T>(write: () => Promise<T>, tries = MAX_TRIES): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (!isConflict(error) || tries === 1) throw error
    await setTimeout(RETRY_MS * (1 + Math.random()))
    return retryConflicts(write, tries - 1)
  }
}

/**
 * Runs a write and reports in the caller's words what the database's constraints refused: `taken` for a key that exists,
 * `inUse` for a row that others name (or that was removed while it was being named).
 */
export async function sayConflicts<T>(words: ConflictWords, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const state = sqlState(error)
    if (state === UNIQUE_VIOLATION && words.taken !== undefined) throw conflict(words.taken)
    if (state === FOREIGN_KEY_VIOLATION && words.inUse !== undefined) throw conflict(words.inUse)
    throw error
  }
}
