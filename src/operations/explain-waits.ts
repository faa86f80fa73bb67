import { type HeldCause, type WaitingCause, waitingCause } from '../domain/backlog.ts'
import type { Directory } from '../domain/configuration/directory.ts'
import type { Status } from '../domain/messages/messages.ts'
import type { CarrierCondition } from '../domain/routing/routing.ts'
import { findWaitingMessage } from '../store/backlog.ts'
import type { Queryable } from '../store/database.ts'
import type { MessageReads } from './read-messages.ts'

/** What a node knows of the messages that wait. */
export interface WaitsOfNode {
  readonly carrierCondition: (carrierId: number, routeId: number) => CarrierCondition
  /** Why a message waits in the memory of this node; null when it is not there. */
  readonly heldCause: (msgId: string) => HeldCause | null
  readonly messages: MessageReads
}

/** Why a message waits to be submitted. */
export interface Wait {
  /** Null: it is on its way between the memory of a process and its record. */
  readonly cause: HeldCause | WaitingCause | null
  /** ISO 8601; null: as soon as that is possible. */
  readonly nextAttemptAt: string | null
}

/** Why the message waits; null when it is not to be submitted, or not any more. */
export async function waitOf(
  db: Queryable,
  directory: Directory,
  { carrierCondition, heldCause, messages }: WaitsOfNode,
  { msgId, status }: { readonly msgId: string; readonly status: Status },
): Promise<Wait | null> {
  if (status !== 'QUEUED') return null
  const held = heldCause(msgId)
  if (held !== null) return { cause: held, nextAttemptAt: null }
  const waiting = await findWaitingMessage(db, msgId)
  if (waiting === undefined) return { cause: await messages.causeElsewhere(msgId), nextAttemptAt: null }
  const { due, dueAt } = waiting
  return {
    cause: waitingCause(waiting, directory, carrierCondition),
    nextAttemptAt: due ? null : dueAt.toISOString(),
  }
}
