import type { Directory } from '../../domain/configuration/directory.ts'
import type { Log } from '../../log.ts'
import type { Database } from '../../store/database.ts'

/** What most services of a node are made with. */
export interface NodeParts {
  readonly db: Database
  /** The configuration as last read. */
  readonly directory: () => Directory
  readonly log: Log
  /** Of the database, Unix milliseconds. */
  readonly clock: () => number
}
