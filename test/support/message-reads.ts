import {
  MessageReads,
  type MessageReadsOptions,
  NO_OWN_MESSAGES,
  type OwnMessages,
} from '../../src/operations/read-messages.ts'
import { LaneFollower, type LaneFollowerOptions } from '../../src/services/lane-follower.ts'
import type { Queryable } from '../../src/store/database.ts'

/** What a node reads messages by, beside its own. */
export function readsOf(
  db: Queryable,
  own: OwnMessages = NO_OWN_MESSAGES,
  options: Partial<MessageReadsOptions & LaneFollowerOptions> = {},
): MessageReads {
  return new MessageReads({
    db,
    own,
    others: new LaneFollower({ db, ownLane: () => own.lane, onError: () => undefined, ...options }),
    clock: () => performance.now(),
    wait: () => new Promise((resume) => setImmediate(resume)),
    ...options,
  })
}
