import { Type } from 'typebox'
import { FAILURE_FIELDS } from './error-body.ts'
import { Nullable, nullableInteger, nullableNumber, nullableString, oneOf, titled } from './shapes.ts'

/** What a send would do. What cannot be determined is null. */

const Text = titled('PreflightText', {
  encoding: oneOf(['GSM7', 'UCS2']),
  segments: Type.Integer({ description: 'As the record counts them' }),
  segmentTexts: Type.Array(Type.String(), { description: 'The text that each segment carries' }),
  ucs2Characters: Type.Array(
    titled('Ucs2Character', {
      character: Type.String(),
      codePoint: Type.String({ description: 'such as U+2019' }),
      position: Type.Integer({ description: 'of the first in the body, in code points from 0' }),
    }),
    { description: 'Of a text in UCS-2: the characters that the GSM 7-bit alphabet lacks, each once' },
  ),
  smartReplacements: Type.Array(
    titled('SmartReplacement', {
      characters: Type.String(),
      replacement: Type.String(),
      position: Type.Integer({ description: 'of the first in the body, in code points from 0' }),
    }),
    {
      description:
        'What smart encoding could replace, if the plan has it. Nothing is replaced if the text then still needs UCS-2',
    },
  ),
})

const Sender = titled('PreflightSender', {
  kind: nullableString({ description: 'short-code, e164 or alphanumeric' }),
  allowed: Nullable(Type.Boolean()),
  errorCode: nullableString({ description: 'why it is not allowed' }),
  errorMessage: nullableString(),
})

const Recipient = titled('PreflightRecipient', {
  valid: Type.Boolean(),
  msisdn: nullableString({ description: 'the number as a send has to write it' }),
  country: nullableString({ description: 'ISO 3166-1 alpha-2' }),
  mccmnc: nullableString({ description: 'of the number ranges; a receipt may correct it' }),
  optedOut: Nullable(Type.Boolean({ description: 'a send would be accepted, and fail at once' })),
})

const Route = titled('PreflightRoute', {
  name: Type.String(),
  reason: Type.String({ description: "the rule, or that it is the plan's own route" }),
  available: Type.Boolean({
    description:
      'Whether a carrier of it takes messages now; false: the send would be accepted, and the message would wait',
  }),
})

const Charge = titled('PreflightCharge', {
  price: nullableNumber({ description: 'of all segments, as the record will have it' }),
  ptf: nullableNumber({ description: 'pass-through fee of all segments' }),
  currency: Type.String({ description: 'ISO 4217' }),
})

const Headroom = titled('PreflightHeadroom', {
  messages: nullableInteger({ description: 'that may be sent now; null: there is no rate limit' }),
  limitedBy: nullableString({ description: 'whose rate limit it is: account or plan' }),
})

const CallbackUrl = titled('PreflightCallbackUrl', {
  allowed: Type.Boolean(),
  code: nullableString({ description: 'of the fault' }),
  message: nullableString(),
})

const UnknownField = titled('UnknownField', {
  field: Type.String(),
  suggestion: nullableString({ description: 'the field that may be meant' }),
})

const Refusal = titled('SendRefusal', {
  status: Type.Integer({ description: 'HTTP status of the response to the send' }),
  ...FAILURE_FIELDS,
})

export const PreflightSchema = titled('Preflight', {
  refusal: Nullable({ ...Refusal, description: 'What a send would be answered; null: it would be accepted' }),
  text: Nullable({ ...Text, description: 'Null if the plan or the text is not valid' }),
  sender: Sender,
  recipient: Recipient,
  route: Nullable({
    ...Route,
    description: 'Null unless the plan has one, the sender is allowed and the recipient is valid',
  }),
  charge: Nullable({
    ...Charge,
    description: 'Null if the recipient or the text is not valid, or no rate applies',
  }),
  sandbox: Nullable(
    Type.Boolean({
      description:
        'The send would go to the simulator instead of a carrier, and cost nothing. Null if the plan is not valid',
    }),
  ),
  headroom: Nullable({
    ...Headroom,
    description: 'On the process that answers; null if the plan is not valid',
  }),
  callbackUrl: Nullable({ ...CallbackUrl, description: 'Null without one in the request' }),
  unknownFields: Type.Array(UnknownField, { description: 'Fields that a send ignores; at most 50' }),
})
