import {
  MessageReads,
  type MessageReadsOptions,
  type OwnMessages,
} from '../../src/operations/read-messages.ts'
import { LaneFollower, type LaneFollowerOptions } from '../../src/services/journal/lane-follower.ts'
import type { Queryable } from '../../src/store/database.ts'
import { quietLog } from './log.ts'

/** Of a process that has none, and writes no lane. */
export const NO_OWN_MESSAGES: OwnMessages = {
  get: () => undefined,
  all: () => [],
  size: 0,
  isLeaving: () => false,
  project: async () => undefined,
  lane: null,
}

/** What a node reads messages by, beside its own. */
export function readsOf(
  db: Queryable,
  own: OwnMessages = NO_OWN_MESSAGES,
  options: Partial<MessageReadsOptions & LaneFollowerOptions> = {},
): MessageReads {
  return new MessageReads({
    db,
    records: db,
    own,
    others: new LaneFollower({ db, ownLane: () => own.lane, log: quietLog, ...options }),
    clock: () => performance.now(),
    wait: () => new Promise((resume) => setImmediate(resume)),
    ...options,
  })
}
