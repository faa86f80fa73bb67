import { NO_HOLDER } from '../../domain/events.ts'
import { canonicalPublicId } from '../../domain/identifiers.ts'
import { matchKeyword } from '../../domain/opt-outs.ts'
import { isSandbox } from '../../domain/sandbox.ts'
import { AppError, invalidField } from '../../errors.ts'
import { carriers } from '../../store/carriers.ts'
import type { Transaction } from '../../store/database.ts'
import { insertInboundMessages, takeUnownedInboundMessage } from '../../store/inbound-messages.ts'
import { inboundNumbers } from '../../store/inbound-numbers.ts'
import { planOf } from './configuration-rows.ts'

/**
 * Makes an unowned inbound message one of a service plan. It keeps its id, and is announced to the plan's inbound URL as if
 * it had arrived at `nowMs` (Unix milliseconds). STOP, START and HELP are not obeyed, because the message may be days
 * old. Throws for a sandbox plan unless the simulator delivered the message, and for any other plan if it did.
 */
export async function giveUnownedInbound(
  transaction: Transaction,
  input: { readonly msgId: string; readonly servicePlanId: string },
  nowMs: number,
): Promise<void> {
  const message = await takeUnownedInboundMessage(transaction, input.msgId)
  if (message === undefined) throw new AppError('MESSAGE_NOT_FOUND')
  const plan = await planOf(transaction, input.servicePlanId)
  const carrier = await carriers.find(transaction, String(message.carrierId))
  if (plan.sandbox !== (carrier !== undefined && isSandbox(carrier))) {
    const rule = plan.sandbox
      ? 'must not be a sandbox plan: a carrier delivered the message'
      : 'must be a sandbox plan: the simulator delivered the message'
    throw invalidField('servicePlanId', 'NOT_ALLOWED', rule)
  }
  const number = await inboundNumbers.find(transaction, message.recipient)
  const isOwner = number?.servicePlanId === canonicalPublicId(input.servicePlanId)
  const keyword = isOwner ? matchKeyword(message.body, number.keywords) : null
  const announced = plan.inboundUrl !== null
  await insertInboundMessages(
    transaction,
    [{ ...message, planId: plan.id, keyword, announced, occurredAtMs: nowMs }],
    NO_HOLDER,
  )
}
