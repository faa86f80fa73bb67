import { Type } from 'typebox'
import { MESSAGE_STATUSES } from '../../domain/messages/messages.ts'
import { Nullable, nullableInteger, nullableString, oneOf, titled } from './shapes.ts'

/** What the simulator of the sandbox plans does. */

const Refusal = titled('SandboxRefusal', {
  commandStatus: Type.String({ description: 'of submit_sm_resp, such as ESME_RTHROTTLED' }),
  attempts: nullableInteger({ description: 'how many submits of a message get it; null: all' }),
})

const Delay = titled('SandboxDelay', {
  least: Type.Integer(),
  most: Type.Integer(),
})

const Outcome = titled('SandboxOutcome', {
  lastDigits: nullableString({ description: 'of the destination; null: any others' }),
  summary: Type.String(),
  status: oneOf(MESSAGE_STATUSES, {
    title: 'MessageStatus',
    description: 'that the message gets; SENT if no receipt comes',
  }),
  refusal: Nullable({ ...Refusal, description: 'null: every submit is accepted' }),
  receipts: Type.Array(
    titled('SandboxReceipt', {
      state: Type.String({ description: 'such as DELIVRD' }),
      error: Type.String({ description: 'err: of the receipt' }),
    }),
    { description: 'in the order in which they are sent' },
  ),
  receiptDelayMs: Nullable({
    ...Delay,
    description: 'milliseconds from the submit to the first receipt; null: there is none',
  }),
})

const OwnNumber = titled('SandboxNumber', {
  number: Type.String(),
  keywords: Type.Array(Type.String()),
})

export const SandboxSchema = titled('Sandbox', {
  servicePlanId: Type.String(),
  numbers: Type.Array(OwnNumber, { description: 'the inbound numbers of the plan; at most 1,000' }),
  outcomes: Type.Array(Outcome, { description: 'by the last digits of a destination' }),
})

export const HandsetMessageSchema = titled('HandsetMessage', {
  servicePlanId: Type.String(),
  from: Type.String(),
  to: Type.String(),
  encoding: oneOf(['GSM7', 'UCS2']),
  parts: Type.Integer({ description: 'deliver_sm that carried the text' }),
})
