import type { TProperties, TSchema, TString } from 'typebox'
import {
  INBOUND_NUMBER,
  INBOUND_SENDER,
  KEYWORD,
  LINK_NAME,
  MCCMNC,
  NUMBER_PREFIX,
  SENDSMS_USERNAME,
} from '../../../domain/configuration/configuration.ts'
import {
  BASIC_PASSWORD,
  BASIC_USERNAME,
  WEBHOOK_HEADER_NAME,
  WEBHOOK_HEADER_VALUE,
} from '../../../domain/webhooks/requests.ts'
import { PublicId } from '../../schemas/parameters.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { instant, Nullable, titled } from '../../schemas/shapes.ts'
import { type Annotations, PATTERN_MEANINGS, patterned } from '../../validate.ts'

/** Fields shared by several resources of the admin API, and the form of pages and errors. */

/** The schema with a description of its own. */
export function described<T extends TSchema>(schema: T, description: string): T {
  return { ...schema, description }
}

export const AccountId = {
  ...described(PublicId, 'Id of the account, 24 hex digits'),
  examples: ['64f0c0ffee64f0c0ffee64f0'],
} as typeof PublicId
export const ServicePlanId = described(PublicId, 'Id of the service plan, 24 hex digits')
/** The plan of a rule or rate. Without it, the rule or rate is for all plans. */
export const PlanOrAll = described(ServicePlanId, 'Id of the service plan, 24 hex digits; null: all plans')
export const LinkName = patterned(
  LINK_NAME,
  'must begin with a letter and have at most 63 letters, digits, dots, underscores or dashes',
  { description: 'Name', examples: ['acme'] },
)
/** A carrier's or route's name or number. */
export const LinkKey = patterned(/^[A-Za-z0-9._-]{1,63}$/, 'must be a name or a number', {
  description: 'Name or number',
  examples: ['acme'],
})
export const RouteKey = { ...LinkKey, examples: ['main'] } as TString
export const InboundNumberField = patterned(INBOUND_NUMBER, 'must be an E.164 number or 3 to 8 digits', {
  description: 'E.164 number or short code',
  examples: ['71234'],
})
export const InboundSender = patterned(
  INBOUND_SENDER,
  'must have 1 to 64 printable characters and no space at the ends',
  { description: 'Sender, in the form that its carrier uses', examples: ['+15551230001'] },
)
export const SendsmsUsername = patterned(
  SENDSMS_USERNAME,
  'must begin with a letter or a digit and have at most 64 letters, digits and . _ @ + -',
  { description: 'Username', examples: ['tester'] },
)
export const NumberPrefix = patterned(
  NUMBER_PREFIX,
  'must be "+" and 1 to 15 digits, starting with the country code',
  {
    description: 'Beginning of E.164 numbers',
    examples: ['+4477'],
  },
)
export const Mccmnc = patterned(MCCMNC, 'must be 5 or 6 digits: mobile country code and network code', {
  description: 'Mobile country code and network code',
  examples: ['23410'],
})
export const CountryCode = patterned(
  /^[A-Z]{2}$/,
  'must be a country code of two capital letters (ISO 3166-1)',
  { description: 'Country (ISO 3166-1 alpha-2)', examples: ['GB'] },
)
export const CurrencyCode = patterned(
  /^[A-Z]{3}$/,
  'must be a currency code of three capital letters (ISO 4217)',
  { description: 'Currency (ISO 4217)', examples: ['EUR'] },
)
const AMOUNT = /^[0-9]{1,7}(?:\.[0-9]{1,6})?$/
PATTERN_MEANINGS.set(
  AMOUNT.source,
  'must be a decimal with at most 6 decimal places, without sign or exponent',
)
/** Money as decimal text; a number with as many places is accepted too. */
export const Amount = Type.Unsafe<string | number>({
  type: ['string', 'number'],
  pattern: AMOUNT.source,
  minimum: 0,
  maximum: 1_000_000,
})
/** The number that the service has given to an object without a name. */
export const RowId = patterned(/^(?:0|[1-9][0-9]{0,8})$/, 'must be a whole number', { examples: ['1'] })
export const RuleId = described(RowId, 'Number of the rule, as listed')
/** How far back to look, within the 8 days that minutes are kept. */
export const Minutes = patterned(/^(?:[1-9][0-9]{0,3}|10000)$/, 'must be a whole number from 1 to 10000', {
  description: 'How many minutes to look back, at most 10,000; default: 60',
  examples: ['60'],
})
export const MessageId = patterned(
  /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/,
  'must be a message id (UUID)',
  { description: 'UUID of the message', examples: ['019dab2c-7000-7a3b-8c4d-5e6f70819203'] },
)
export const EventId = patterned(
  /^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}-(?:0|[1-9][0-9]{0,4})$/,
  'must be an event id: a message id, a dash and a number',
  {
    description: 'Message id, a dash, and the place among the events of the message',
    examples: ['019dab2c-7000-7a3b-8c4d-5e6f70819203-1'],
  },
)
export const TokenId = patterned(/^[1-9][0-9]{0,8}$/, 'must be a token number', {
  description: 'Number of the token, as listed',
  examples: ['1'],
})
/** A text that is only compared with stored ones, none of which has control characters. */
export const PlainText = patterned(
  /^(?=.{0,300}$)[^\p{Cc}]*$/u,
  'must have at most 300 characters, and no control characters',
)
/** A name for people: any printable text, no control characters, no space at the ends. */
export const DisplayName = patterned(
  /^(?=.{1,100}$)[^\s\p{Cc}\p{Cs}](?:[^\p{Cc}\p{Cs}]*[^\s\p{Cc}\p{Cs}])?$/u,
  'must have 1 to 100 printable characters and no space at the ends',
  { title: 'DisplayName', description: 'Name to show', examples: ['Example Ltd'] },
)
/** The filter of lists of what has a name for people. */
export const NameSearch = {
  ...DisplayName,
  description: 'Beginning of their name, in any case',
} as typeof DisplayName
export const Keyword = patterned(KEYWORD, 'must be one word of at most 32 characters', {
  description: 'One word, matched in any case',
  examples: ['JOIN'],
})
export const SubscriptionStatus = patterned(
  /^(?=.{1,32}$)[^\s\p{Cc}\p{Cs}](?:[^\p{Cc}\p{Cs}]*[^\s\p{Cc}\p{Cs}])?$/u,
  'must have 1 to 32 printable characters and no space at the ends',
  { description: 'approved, pending or denied', examples: ['approved'] },
)
export const WebhookHeaderName = patterned(
  WEBHOOK_HEADER_NAME,
  'must be a header name: 1 to 100 letters, digits or RFC 9110 token characters',
)
export const WebhookHeaderValue = patterned(
  WEBHOOK_HEADER_VALUE,
  'must have 1 to 1000 ASCII characters, no controls, and no space at the ends',
)
export const BasicUsername = patterned(
  BASIC_USERNAME,
  'must have at most 255 characters, no colon and no controls',
)
export const BasicPassword = patterned(BASIC_PASSWORD, 'must have at most 255 characters and no controls')
/** Characters that a C-octet string of a bind PDU may have (SMPP 3.4 §3.1). */
export function octetString(maximum: number, minimum = 0, annotations: Annotations = {}) {
  return patterned(
    new RegExp(`^[\\x20-\\x7e]{${minimum},${maximum}}$`),
    `must have ${minimum} to ${maximum} ASCII characters`,
    annotations,
  )
}

/** The state of an object of any kind, or null. */
export const AnyState = (description: string) =>
  Type.Unsafe<object | null>({ type: ['object', 'null'], additionalProperties: true, description })
export const CallbackUrl = Type.String({ maxLength: 2048 })
export const NullableText = Nullable(Type.String())
export const Timestamp = instant()
export const PositiveInteger = Type.Integer({ minimum: 1, maximum: 1_000_000 })

export const RateLimitField = Type.Object(
  { messagesPerSecond: PositiveInteger, burst: Type.Optional(PositiveInteger) },
  {
    title: 'RateLimit',
    description: 'Messages a second, and how many may come at once; null: no limit',
    additionalProperties: false,
  },
)

const DEFAULT_LIMIT = 100

const Limit = patterned(/^(?:[1-9][0-9]{0,2}|1000)$/, 'must be a whole number from 1 to 1000', {
  description: 'Maximum number of items; default: 100',
  examples: ['100'],
})

/** A filter of a list: any text. */
export const plainText = (description: string, example: string) =>
  Type.Optional({ ...PlainText, description, examples: [example] } as typeof PlainText)
/** The window of a list, for `parseWindow`. */
export const WINDOW = {
  fromDate: plainText('Start of the window, RFC 3339, inclusive', '2026-11-01T00:00:00Z'),
  toDate: plainText('End of the window, RFC 3339, inclusive', '2026-11-30T23:59:59Z'),
}

/** Query of a list: `after` is the key of the last item of the previous page. */
export function pageQuery<F extends TProperties>(after: TSchema, filters: F) {
  const After = { ...after, examples: undefined, description: 'nextAfter of the previous page' } as unknown
  return Type.Object(
    { limit: Type.Optional(Limit), after: Type.Optional(After as TString), ...filters },
    { additionalProperties: false },
  )
}

/** The page schema of a titled item. */
export function pageOf<T extends TSchema>(item: T) {
  const { title } = item as { title?: string }
  return titled(`${title}Page`, { items: Type.Array(item), nextAfter: NullableText })
}

/** How many items a list requests from the store: one more than it shows, which tells whether there is another page. */
export function limitOf(query: { limit?: string }): { shown: number; fetched: number } {
  const shown = Number(query.limit ?? DEFAULT_LIMIT)
  return { shown, fetched: shown + 1 }
}

/** The page made from the rows fetched with `limitOf`. */
export function page<Row, Item>(
  rows: readonly Row[],
  shown: number,
  key: (row: Row) => string,
  present: (row: Row) => Item,
): { items: Item[]; nextAfter: string | null } {
  const last = rows.length > shown ? rows[shown - 1] : undefined
  return { items: rows.slice(0, shown).map(present), nextAfter: last === undefined ? null : key(last) }
}
