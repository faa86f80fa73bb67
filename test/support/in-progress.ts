import type { Directory } from '../../src/domain/configuration/directory.ts'
import type { EventHolder } from '../../src/domain/events.ts'
import type { ChangedMessage } from '../../src/domain/journal/messages-in-progress.ts'
import {
  MessagesInProgress,
  type MessagesInProgressOptions,
} from '../../src/services/messages/messages-in-progress.ts'
import type { Database } from '../../src/store/database.ts'
import { aDirectory } from './directory.ts'
import { KeptLog, strictLog } from './log.ts'

/** What messages in progress and their records are in. */
export const MESSAGE_TABLES = [
  ...['lanes', 'journal', 'messages', 'dispatches', 'submissions', 'events', 'event_deliveries'],
]

const nothing = new WeakMap<Database, MessagesInProgress>()

/**
 * The messages in progress of a process that has no journal: there are none, everything is in the records. One for each
 * database, since each listens to it until it is stopped.
 */
export function nothingInProgress(db: Database): MessagesInProgress {
  const made = nothing.get(db)
  if (made !== undefined) return made
  const inProgress = new MessagesInProgress({
    ...{ db, clock: Date.now, log: strictLog },
    directory: () => aDirectory(),
  })
  nothing.set(db, inProgress)
  return inProgress
}

/** Messages in progress of a process that is this node, and what is told of them. None is so old that it is recorded. */
export async function inProgressAt(
  nodeId: number,
  { directory, eventHolder }: { directory: () => Directory; eventHolder: () => EventHolder },
  options: Pick<MessagesInProgressOptions, 'db'> & Partial<MessagesInProgressOptions>,
) {
  const told = {
    changed: [] as ChangedMessage[],
    projected: [] as string[],
    returned: [] as string[],
    left: [] as string[],
    log: new KeptLog(),
  }
  const { log } = told
  const inProgress = new MessagesInProgress({
    ...{ directory, clock: Date.now, log, ageMs: 3_600_000 },
    ...options,
  })
  inProgress.heardBy({
    eventHolder,
    onChanged: (messages) => told.changed.push(...messages),
    onProjected: (submissions) =>
      told.projected.push(...submissions.map(({ carrierMessageId }) => carrierMessageId)),
    onOutcomeLost: (outcome) => told.returned.push(...outcome.facts.map(({ kind }) => kind)),
    onLeft: (msgIds) => told.left.push(...msgIds),
  })
  await inProgress.register(nodeId)
  return { inProgress, ...told }
}
