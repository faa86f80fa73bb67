import { MessagesInProgress } from '../../src/services/messages/messages-in-progress.ts'
import type { Database } from '../../src/store/database.ts'
import { aDirectory } from './directory.ts'
import { strictLog } from './log.ts'

/** The messages in progress of a process that has no journal: there are none, everything is in the records. */
export function nothingInProgress(db: Database): MessagesInProgress {
  return new MessagesInProgress({
    db,
    directory: () => aDirectory(),
    nowMs: Date.now,
    log: strictLog,
  })
}
