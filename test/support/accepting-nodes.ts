/** Nodes that accept messages, each as far as that goes: nobody submits what they accept. */

import { randomBytes } from 'node:crypto'
import type { ServicePlan } from '../../src/domain/configuration/configuration.ts'
import {
  type AcceptOutcome,
  GroupAccepter,
  type Placement,
} from '../../src/operations/sends/accept-messages.ts'
import { MessagesInProgress } from '../../src/services/messages/messages-in-progress.ts'
import type { Database } from '../../src/store/database.ts'
import { aDirectory } from './directory.ts'
import { type Around, gatedDatabase } from './gated-database.ts'
import { newId } from './installation.ts'
import { quietLog } from './log.ts'
import { readsOf } from './message-reads.ts'
import { NODE } from './stored-messages.ts'

export interface AcceptingNode {
  readonly group: GroupAccepter
  readonly inProgress: MessagesInProgress
  readonly kept: string[]
  readonly released: string[]
}

/** A node that accepts into its lane; `keeps` false: it has no room for any message. */
export async function anAcceptingNode(
  db: Database,
  {
    around = (_, run) => run(),
    keeps = true,
    hasLane = keeps,
    overdueMs = 10_000,
    answerWithinMs = 10_000,
  }: {
    around?: Around
    keeps?: boolean
    hasLane?: boolean
    overdueMs?: number
    answerWithinMs?: number
  } = {},
): Promise<AcceptingNode> {
  const gated = gatedDatabase(db, around, { inTransactions: true })
  const inProgress = new MessagesInProgress({
    db: gated,
    directory: () => aDirectory(),
    clock: Date.now,
    log: quietLog,
    overdueMs,
  })
  if (hasLane) await inProgress.register(NODE)
  const [kept, released]: [string[], string[]] = [[], []]
  const placement: Placement = {
    place: (_plan, _draft, { isAppended }) => ({
      ...{ msgId: newId(Date.now()), owner: keeps ? NODE : null, routeId: 7 },
      begun: keeps && isAppended,
    }),
    enqueue: (msgId) => void kept.push(msgId),
    release: (msgId) => void released.push(msgId),
  }
  const group = new GroupAccepter({
    db: gated,
    journal: inProgress,
    messages: readsOf(db, inProgress),
    placement,
    secretKey: randomBytes(32),
    random: randomBytes,
    answerWithinMs,
    log: quietLog,
  })
  return { group, inProgress, kept, released }
}

export function acceptBy(
  { group }: Pick<AcceptingNode, 'group'>,
  plan: ServicePlan,
  { body, key }: { readonly body: string; readonly key: string | null },
): Promise<AcceptOutcome> {
  const hash = (text: string) => Buffer.from(text.padEnd(32).slice(0, 32))
  return group.accept({
    plan,
    draft: { sender: 'Aldis', recipient: '+15551230000', body, callbackUrl: null },
    idempotencyKey: key === null ? null : { keyHash: hash(key), requestHash: hash(body) },
  })
}
