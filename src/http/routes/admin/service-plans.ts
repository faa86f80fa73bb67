import type { Static } from 'typebox'
import {
  AMBIGUOUS_SUBMITS,
  TEXT_RETENTIONS,
  VALIDITY_SECONDS,
} from '../../../domain/configuration/configuration.ts'
import { rateLimitField } from '../../../domain/limits/rate-limits.ts'
import { SENDER_TYPES } from '../../../domain/messages/addresses.ts'
import { MAX_BODY_CHARACTERS } from '../../../domain/messages/messages.ts'
import { MAX_WORD_CHARACTERS, MAX_WORDS } from '../../../domain/opt-outs.ts'
import { languageNames, NATIONAL_LANGUAGES } from '../../../domain/text/gsm-national-tables.ts'
import { PLANS, removeServicePlan } from '../../../operations/configuration/service-plans.ts'
import type { ServicePlanRecord } from '../../../store/service-plans.ts'
import { PublicId } from '../../schemas/parameters.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { changeBody, Nullable, requestBody, titled } from '../../schemas/shapes.ts'
import { recordedUrl, shownUrl } from './callback-urls.ts'
import {
  AccountId,
  Amount,
  CallbackUrl,
  CountryCode,
  CurrencyCode,
  DisplayName,
  described,
  LinkKey,
  LinkName,
  NameSearch,
  NullableText,
  pageQuery,
  RateLimitField,
  ServicePlanId,
  Timestamp,
} from './fields.ts'
import type { AdminDeps, AdminScope } from './operations.ts'
import { addConfigured } from './resource.ts'

const OptOutWords = Type.Unsafe<readonly string[]>(
  Type.Array(Type.String({ minLength: 1, maxLength: MAX_WORD_CHARACTERS }), {
    title: 'OptOutWordList',
    minItems: 1,
    maxItems: MAX_WORDS,
  }),
)
const OptOutReply = Nullable(Type.String({ minLength: 1, maxLength: MAX_BODY_CHARACTERS }))
const optOut = {
  stopWords: described(OptOutWords, 'Words that count as STOP; default: STOP, UNSUBSCRIBE, CANCEL …'),
  startWords: described(OptOutWords, 'Words that count as START; default: START, UNSTOP, YES'),
  helpWords: described(OptOutWords, 'Words that count as HELP; default: HELP, INFO'),
  stopReply: described(OptOutReply, 'Reply that confirms an opt-out; null: no reply'),
  startReply: described(OptOutReply, 'Reply that confirms the end of an opt-out; null: no reply'),
  helpReply: described(OptOutReply, 'Reply to HELP; null: no reply'),
}
/** Omitted word lists are those of the field (docs/opt-outs.md); {} is a plan with all defaults. */
const OptOutChange = Type.Partial(Type.Object(optOut), {
  title: 'OptOutSetting',
  description: 'Act on STOP, START and HELP; null: treat them like any other message',
  additionalProperties: false,
})
const CapOfMessages = Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000_000 }))
const CapOfCosts = Type.Unsafe<string | number | null>({ ...Amount, type: ['string', 'number', 'null'] })
const caps = {
  messagesPerDay: CapOfMessages,
  messagesPerMonth: CapOfMessages,
  costPerDay: CapOfCosts,
  costPerMonth: CapOfCosts,
  currency: Nullable(CurrencyCode),
}
const CapsChange = Type.Partial(Type.Object(caps), {
  title: 'PlanCapsSetting',
  description:
    'Most messages, and most costs (price and pass-through fee) in a currency, of a day and of a month (UTC); null: no caps',
  additionalProperties: false,
})
const guard = {
  messagesPerPrefix: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'most messages an hour to numbers that differ in their last four digits only',
    }),
  ),
  minDelivered: Nullable(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: "least percentage of a country's messages that are delivered",
    }),
  ),
  minMessages: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    description: 'with fewer, the share is not judged; default: 100',
  }),
  windowMinutes: Type.Integer({
    minimum: 5,
    maximum: 1_440,
    description: 'how far the share looks back; default: 60',
  }),
  pauseMinutes: Type.Integer({
    minimum: 1,
    maximum: 10_080,
    description: 'how long a country is paused; default: 60',
  }),
}
const GuardChange = Type.Partial(Type.Object(guard), {
  title: 'PumpingGuardSetting',
  description: 'Pause a country when messages to it look like artificial traffic; null: pause none',
  additionalProperties: false,
})
const settings = {
  active: Type.Boolean({ description: 'Accept its messages; false: refuse them; default: true' }),
  route: Nullable(described(LinkKey, 'Route of its messages; null: none, so it cannot send')),
  inboundUrl: Nullable(described(CallbackUrl, 'URL that its inbound messages are pushed to; null: none')),
  rateLimit: Nullable(RateLimitField),
  senderTypes: Type.Array(Type.Enum([...SENDER_TYPES], { title: 'SenderType' }), {
    minItems: 1,
    uniqueItems: true,
    description: 'Types of sender that it may use; default: all',
  }),
  ambiguousSubmits: Type.Enum([...AMBIGUOUS_SUBMITS], {
    title: 'AmbiguousSubmits',
    description: 'What to do with a message that may or may not have reached the carrier; default: resubmit',
  }),
  validitySeconds: Type.Integer({
    minimum: VALIDITY_SECONDS.least,
    maximum: VALIDITY_SECONDS.most,
    description:
      'How long a message may wait for a carrier before it fails; carriers are told the rest of it; default: 86400',
  }),
  maxValiditySeconds: Type.Integer({
    minimum: VALIDITY_SECONDS.least,
    maximum: VALIDITY_SECONDS.most,
    description: 'Longest validity that the sender of a message can ask for; default: 86400',
  }),
  allowedCountries: Type.Array(CountryCode, {
    uniqueItems: true,
    description: 'Countries that it may send to (ISO 3166-1 alpha-2); empty: all; default: all',
  }),
  texts: Type.Enum([...TEXT_RETENTIONS], {
    title: 'TextRetention',
    description:
      'Keep the texts of messages with their records, or discard each when its message has ended; default: keep',
  }),
  caps: Nullable(CapsChange),
  pumpingGuard: Nullable(GuardChange),
  limitEvents: Type.Boolean({
    description: 'Push events of its limits to its inbound URL; false: push none; default: none are pushed',
  }),
  smartEncoding: Type.Boolean({
    description:
      'Replace typographic characters if that makes the whole text fit the GSM alphabet; false: send texts as they are; default: texts are sent as they are',
  }),
  nationalLanguages: Type.Array(Type.Enum([...NATIONAL_LANGUAGES], { title: 'NationalLanguage' }), {
    uniqueItems: true,
    description:
      'Languages whose GSM tables may be used for texts, the preferred one first; empty: none; default: none',
  }),
  optOut: Nullable(OptOutChange),
}
export const ServicePlanCreation = requestBody(
  'ServicePlanCreation',
  {
    servicePlanId: Type.Optional(ServicePlanId),
    accountId: AccountId,
    name: DisplayName,
    sandbox: Type.Optional(
      Type.Boolean({
        description:
          'Send its messages to the built-in simulator, free of charge, for good; false: send them to carriers; default: send them to carriers',
      }),
    ),
    ...Type.Partial(Type.Object(settings)).properties,
  },
  { servicePlanId: '65f0c0ffee65f0c0ffee65f0', accountId: '64f0c0ffee64f0c0ffee64f0', name: 'Alerts' },
)
const Change = changeBody(
  'ServicePlanChange',
  ServicePlanCreation,
  ['servicePlanId', 'accountId', 'sandbox'],
  {
    route: 'main',
    inboundUrl: 'https://hooks.example.com/inbound',
  },
)
const Query = pageQuery(PublicId, {
  accountId: Type.Optional(AccountId),
  route: Type.Optional(described({ ...LinkName, examples: ['main'] }, 'Name of their own route')),
  search: Type.Optional(NameSearch),
})
const ServicePlan = titled('ServicePlan', {
  servicePlanId: Type.String(),
  accountId: Type.String(),
  name: Type.String(),
  sandbox: Type.Boolean({
    description: 'whether its messages go to the built-in simulator, free of charge',
  }),
  complete: Type.Boolean({ description: 'whether it has a route, and so can send' }),
  ...settings,
  route: NullableText,
  inboundUrl: NullableText,
  caps: Nullable(titled('PlanCaps', { ...caps, costPerDay: NullableText, costPerMonth: NullableText })),
  pumpingGuard: Nullable(titled('PumpingGuard', guard)),
  optOut: Nullable(titled('OptOutWords', optOut)),
  createdAt: Timestamp,
})
export function registerServicePlans(scope: AdminScope, deps: AdminDeps): void {
  const { secretKey, messages } = deps
  addConfigured(scope, deps, {
    kind: PLANS,
    path: '/service-plans',
    texts: {
      create:
        'Messages are sent and received under a service plan. It can send once it has a route; a sandbox plan can send at once.',
      show: 'Returns its settings and whether it can send.',
      remove: 'A service plan that is in use cannot be deleted.',
    },
    key: 'servicePlanId',
    keyField: ServicePlanId,
    item: ServicePlan,
    creation: ServicePlanCreation,
    change: Change,
    query: Query,
    remove: (transaction, servicePlanId) => removeServicePlan(transaction, servicePlanId, messages),
    present: (plan) => withUrl(plan, shownUrl(secretKey, plan.inboundUrl)),
    settings: (plan) => withUrl(plan, recordedUrl(secretKey, plan.inboundUrl)),
  })
}

function withUrl(
  { id, routeId, messagesPerSecond, burst, ...plan }: ServicePlanRecord,
  inboundUrl: string | null,
): Static<typeof ServicePlan> {
  return {
    ...plan,
    complete: plan.route !== null,
    inboundUrl,
    rateLimit: rateLimitField({ messagesPerSecond, burst }),
    senderTypes: [...plan.senderTypes],
    allowedCountries: [...plan.allowedCountries],
    nationalLanguages: languageNames(plan.nationalLanguages),
  }
}
