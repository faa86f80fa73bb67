import { hash } from 'node:crypto'
import { isE164 } from '../domain/addresses.ts'
import { countryOf } from '../domain/countries.ts'
import type { Directory, ServicePlan } from '../domain/directory.ts'
import { createdAtMs } from '../domain/message-ids.ts'
import { type OptOutRequest, replyTo } from '../domain/opt-outs.ts'
import { countSegments } from '../domain/segments.ts'
import { VALIDITY_MS } from '../domain/submit-outcomes.ts'
import type { Queryable } from '../store/database.ts'
import { insertKeyedMessages, type KeyedMessage } from '../store/messages.ts'
import { changeOptOuts, findOptOuts, type OptOutPair } from '../store/opt-outs.ts'

/** STOP, START or HELP, as a person sent it to one of our numbers. */
export interface OptOutAsked {
  readonly plan: ServicePlan
  readonly request: OptOutRequest
  /** Our number, as it is owned. */
  readonly number: string
  /** Who wrote. */
  readonly person: string
}

interface Deps {
  readonly directory: Directory
  readonly newMessageId: () => string
}

/**
 * One answer of a kind to a person within this time: two machines that answer each other stop at once. It is kept as the
 * idempotency key of the answer, so it holds on every node, and is forgotten like those of customers.
 */
export const REPLY_PAUSE_MS = 3_600_000
/** errorCode of a refused message, whose key is free again. */
const NOT_QUEUED = '100'

/** What one person wants of one number: the last of STOP and START counts, and HELP beside it. */
interface Wish extends OptOutPair {
  readonly plan: ServicePlan
  readonly last: 'stop' | 'start' | null
  readonly help: boolean
}

/**
 * Keeps what people asked for, in the transaction that records their messages, in the order they came; and answers them
 * where the plan has a text for it. A STOP or START that changes nothing is not answered, nor is HELP of somebody who has
 * opted out. A person who is not an E.164 number cannot be sent to, so nothing is kept of them.
 */
export async function answerOptOuts(
  transaction: Queryable,
  deps: Deps,
  asked: readonly OptOutAsked[],
): Promise<void> {
  const wishes = wishesOf(asked.filter(({ person }) => isE164(person)))
  const changes = wishes.flatMap((wish) =>
    wish.last === null ? [] : [{ wish, request: wish.last, msgId: deps.newMessageId() }],
  )
  const changed = new Set(
    changes.length === 0
      ? []
      : await changeOptOuts(
          transaction,
          changes.map(({ wish: { plan_id, sender, recipient }, request, msgId }) => {
            return { plan_id, sender, recipient, opts_out: request === 'stop', reply_id: msgId }
          }),
        ),
  )
  const helped = (
    await notOptedOut(
      transaction,
      wishes.filter(({ help }) => help),
    )
  ).map((wish) => {
    return { wish, request: 'help' as const, msgId: deps.newMessageId() }
  })
  const replies = [...changes.filter(({ msgId }) => changed.has(msgId)), ...helped].flatMap(
    ({ wish, request, msgId }) => replyOf(deps.directory, wish, request, msgId),
  )
  if (replies.length === 0) return
  replies.sort((a, b) => (a.key_hash < b.key_hash ? -1 : 1))
  await insertKeyedMessages(transaction, replies, VALIDITY_MS, REPLY_PAUSE_MS, NOT_QUEUED)
}

function wishesOf(asked: readonly OptOutAsked[]): Wish[] {
  const groups = Map.groupBy(asked, ({ plan, number, person }) => JSON.stringify([plan.id, number, person]))
  return [...groups.values()].map((requests) => {
    const { plan, number, person } = requests[0]!
    const switches = requests.map(({ request }) => request).filter((request) => request !== 'help')
    return {
      plan_id: plan.id,
      sender: number,
      recipient: person,
      plan,
      last: switches.at(-1) ?? null,
      help: switches.length < requests.length,
    }
  })
}

async function notOptedOut(transaction: Queryable, wishes: readonly Wish[]): Promise<Wish[]> {
  if (wishes.length === 0) return []
  const pairs = wishes.map(({ plan_id, sender, recipient }) => ({ plan_id, sender, recipient }))
  const out = new Set((await findOptOuts(transaction, pairs)).map(pairKey))
  return wishes.filter((wish) => !out.has(pairKey(wish)))
}

function pairKey({ plan_id, sender, recipient }: OptOutPair): string {
  return JSON.stringify([plan_id, sender, recipient])
}

/** The answer as a message of the plan, which waits in the database; none without a text, or where none can be sent. */
function replyOf(
  directory: Directory,
  { plan, sender, recipient }: Wish,
  request: OptOutRequest,
  msgId: string,
): KeyedMessage[] {
  const body = plan.optOut && replyTo(request, plan.optOut)
  if (body === null || !plan.active || directory.routeFor(plan, sender, recipient) === null) return []
  // No Idempotency-Key of a customer has spaces.
  const key = hash('sha256', `opt-out reply ${request} ${sender} ${recipient}`)
  return [
    {
      plan_id: plan.id,
      msg_id: msgId,
      sender,
      recipient,
      body,
      segments: countSegments(body, plan).segments,
      country: countryOf(recipient),
      callback_url: null,
      holder: null,
      created_ms: createdAtMs(msgId),
      opt_outs: false,
      key_hash: key,
      request_hash: key,
    },
  ]
}
