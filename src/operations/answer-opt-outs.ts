import { hash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { ServicePlan } from '../domain/configuration/configuration.ts'
import { createdAtMs } from '../domain/identifiers.ts'
import { isE164 } from '../domain/messages/addresses.ts'
import { validityMs } from '../domain/messages/messages.ts'
import { type OptOutRequest, replyTo } from '../domain/opt-outs.ts'
import { countryOf } from '../domain/routing/recipients.ts'
import { countSegments } from '../domain/text/segments.ts'
import { type Queryable, RowFaultError, type Transaction } from '../store/database.ts'
import { takeIdempotencyKeys } from '../store/idempotency-keys.ts'
import { changeOptOuts, letRepliesOut, type OptOutPair } from '../store/opt-outs.ts'
import type { NewMessage } from '../store/records.ts'
import { writeRecords } from '../store/records.ts'
import { NOT_QUEUED, newRecord } from './sends/pending-sends.ts'

/** STOP, START or HELP, as a person sent it to one of our numbers. */
export interface OptOutAsked {
  readonly plan: ServicePlan
  readonly request: OptOutRequest
  /** Our number, as it is configured. */
  readonly number: string
  /** Who wrote. */
  readonly person: string
}

interface Deps {
  readonly newMessageId: () => string
}

/**
 * A person gets one answer of a kind within this time, so that two machines answering each other stop at once. It is stored
 * as the answer's idempotency key, so it holds on every node, and is forgotten like customers' keys.
 */
export const REPLY_PAUSE_MS = 3_600_000

/** Another transaction that answers the same person takes a few milliseconds. */
const BUSY_RETRY_MS = 50
const MOST_TRIES = 10

/** What one person wants of one number: the last of STOP and START, and whether they asked for HELP. */
interface Wish extends OptOutPair {
  readonly plan: ServicePlan
  readonly last: 'stop' | 'start' | null
  readonly help: boolean
}

/** A wish to be answered, by the message with this id. */
interface Answer {
  readonly wish: Wish
  readonly request: OptOutRequest
  readonly msgId: string
}

/** An answer as it is sent. */
interface Reply extends NewMessage {
  readonly keyHash: Buffer
}

/**
 * Stores what people asked for, in the transaction that records their messages and in the order they came, and answers if the
 * plan has a text for it. STOP and HELP are always answered, even after an earlier opt-out, as carriers demand (CTIA Short
 * Code Monitoring Handbook). A START that changes nothing is not. A person whose number is not E.164 cannot be sent to, so
 * nothing is stored for them.
 */
export async function answerOptOuts(
  transaction: Transaction,
  deps: Deps,
  asked: readonly OptOutAsked[],
): Promise<void> {
  const wishes = wishesOf(asked.filter(({ person }) => isE164(person)))
  const answers = [...(await switched(transaction, deps, wishes)), ...helped(deps, wishes)]
  const replies = answers.flatMap(replyOf)
  if (replies.length === 0) return
  const kept = await firstOfTheirKind(transaction, replies)
  if (kept.length === 0) return
  await writeRecords(transaction, kept.map(newRecord), null)
  await letRepliesOut(
    transaction,
    kept.map(({ msgId, accepted: { planId, sender, recipient } }) => {
      return { planId, sender, recipient, replyId: msgId }
    }),
  )
}

function wishesOf(asked: readonly OptOutAsked[]): Wish[] {
  const groups = Map.groupBy(asked, ({ plan, number, person }) => JSON.stringify([plan.id, number, person]))
  return [...groups.values()].map((requests) => {
    const { plan, number, person } = requests[0]!
    const switches = requests.map(({ request }) => request).filter((request) => request !== 'help')
    return {
      planId: plan.id,
      sender: number,
      recipient: person,
      plan,
      last: switches.at(-1) ?? null,
      help: switches.length < requests.length,
    }
  })
}

/** Stores or ends opt-outs. Returns every STOP, and each START that changed something. */
async function switched(transaction: Queryable, deps: Deps, wishes: readonly Wish[]): Promise<Answer[]> {
  const answers = wishes.flatMap((wish) =>
    wish.last === null ? [] : [{ wish, request: wish.last, msgId: deps.newMessageId() }],
  )
  if (answers.length === 0) return []
  const changes = answers.map(({ wish, request, msgId }) => {
    return { ...pairOf(wish), optsOut: request === 'stop', replyId: msgId }
  })
  const effective = new Set(await changeOptOuts(transaction, changes))
  return answers.filter(({ request, msgId }) => request === 'stop' || effective.has(msgId))
}

/** Answers for those who asked for HELP. Someone who also opted out gets only the answer to STOP. */
function helped(deps: Deps, wishes: readonly Wish[]): Answer[] {
  return wishes
    .filter(({ help, last }) => help && last !== 'stop')
    .map((wish) => ({ wish, request: 'help', msgId: deps.newMessageId() }))
}

function pairOf({ planId, sender, recipient }: OptOutPair): OptOutPair {
  return { planId, sender, recipient }
}

/**
 * Replies without an earlier answer of their kind. While another transaction may be answering the same person, this waits.
 *
 * @throws RowFaultError when that takes long: the carrier then offers the message again, and others of its batch are recorded
 */
async function firstOfTheirKind(transaction: Transaction, replies: readonly Reply[]): Promise<Reply[]> {
  const kept: Reply[] = []
  let open = replies
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    if (tries > 0) await wait(BUSY_RETRY_MS)
    const keys = open.map(({ msgId, accepted, keyHash }) => {
      return { msgId, planId: accepted.planId, keyHash, requestHash: keyHash }
    })
    const { taken, busy } = await takeIdempotencyKeys(transaction, keys, REPLY_PAUSE_MS, NOT_QUEUED)
    kept.push(...open.filter(({ msgId }) => taken.has(msgId)))
    open = open.filter(({ msgId }) => busy.has(msgId))
    if (open.length === 0) return kept
  }
  throw new RowFaultError('another transaction has been answering the same person for too long')
}

/** The answer as a message of the plan, which waits in the database. None without a text, or if the plan cannot send. */
function replyOf({ wish, request, msgId }: Answer): Reply[] {
  const { plan, sender, recipient } = wish
  const body = plan.optOut && replyTo(request, plan.optOut)
  if (body === null || !plan.active || plan.route === null) return []
  // No Idempotency-Key of a customer has spaces.
  const keyHash = hash('sha256', `opt-out reply ${request} ${sender} ${recipient}`, 'buffer')
  const accepted = {
    planId: plan.id,
    sender,
    recipient,
    body,
    segments: countSegments(body, plan).segments,
    country: countryOf(recipient),
    callbackUrl: null,
    // This message is what tells them that they have opted out.
    optedOut: false,
    discardsText: plan.texts === 'discard',
    begun: false,
    routeId: 0,
    expiresAtMs: createdAtMs(msgId) + validityMs(plan),
  }
  return [{ msgId, accepted, keyHash }]
}
