import { type Static, Type } from 'typebox'
import { NATIONAL_LANGUAGES } from '../../../domain/gsm-national-tables.ts'
import { canonicalPublicId } from '../../../domain/identifiers.ts'
import { MAX_WORD_CHARACTERS, MAX_WORDS } from '../../../domain/opt-outs.ts'
import { MAX_BODY_CHARACTERS } from '../../../domain/send-requests.ts'
import { AMBIGUOUS_SUBMITS, SENDER_KINDS } from '../../../domain/settings.ts'
import {
  changeServicePlan,
  createServicePlan,
  removeServicePlan,
} from '../../../operations/manage-service-plans.ts'
import { refuseMissing } from '../../../operations/refuse-administration.ts'
import { findServicePlan, listServicePlans, type ServicePlanRecord } from '../../../store/service-plans.ts'
import { shownUrl, storableUrl } from './callback-urls.ts'
import {
  CallbackUrl,
  DisplayName,
  LinkKey,
  limitOf,
  Nullable,
  PublicId,
  page,
  pageOf,
  pageQuery,
  RateLimitField,
  rateLimitColumns,
  rateLimitField,
  Timestamp,
} from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const SenderTypes = Type.Array(Type.Enum([...SENDER_KINDS]), { minItems: 1, uniqueItems: true })
const AmbiguousSubmits = Type.Enum([...AMBIGUOUS_SUBMITS])
const OptOutWords = Type.Unsafe<readonly string[]>(
  Type.Array(Type.String({ minLength: 1, maxLength: MAX_WORD_CHARACTERS }), {
    minItems: 1,
    maxItems: MAX_WORDS,
  }),
)
const OptOutReply = Nullable(Type.String({ minLength: 1, maxLength: MAX_BODY_CHARACTERS }))
const optOut = {
  stopWords: OptOutWords,
  startWords: OptOutWords,
  helpWords: OptOutWords,
  stopReply: OptOutReply,
  startReply: OptOutReply,
  helpReply: OptOutReply,
}
/** Words left out are those of the field (docs/opt-outs.md); {} is a plan that goes by the defaults. */
const OptOutChange = Type.Partial(Type.Object(optOut), { additionalProperties: false })
const NationalLanguages = Type.Array(Type.Enum([...NATIONAL_LANGUAGES]), {
  uniqueItems: true,
  description: 'whose tables of the GSM alphabet texts may be sent with, the preferred one first',
})
const SmartEncoding = Type.Boolean({
  description: 'replaces typographic characters where that makes the whole text fit the GSM alphabet',
})
const settings = {
  active: Type.Optional(Type.Boolean()),
  route: Type.Optional(Nullable(LinkKey)),
  inboundUrl: Type.Optional(Nullable(CallbackUrl)),
  rateLimit: Type.Optional(Nullable(RateLimitField)),
  senderTypes: Type.Optional(SenderTypes),
  ambiguousSubmits: Type.Optional(AmbiguousSubmits),
  smartEncoding: Type.Optional(SmartEncoding),
  nationalLanguages: Type.Optional(NationalLanguages),
  optOut: Type.Optional(Nullable(OptOutChange)),
}
const Creation = Type.Object(
  { servicePlanId: Type.Optional(PublicId), accountId: PublicId, name: DisplayName, ...settings },
  { additionalProperties: false },
)
const Change = Type.Object(
  { name: Type.Optional(DisplayName), ...settings },
  { additionalProperties: false, minProperties: 1 },
)
const Params = Type.Object({ servicePlanId: PublicId })
const ServicePlan = Type.Object({
  servicePlanId: Type.String(),
  accountId: Type.String(),
  name: Type.String(),
  active: Type.Boolean(),
  complete: Type.Boolean({ description: 'has a route: it can send' }),
  route: Nullable(Type.String()),
  inboundUrl: Nullable(Type.String()),
  rateLimit: Nullable(RateLimitField),
  senderTypes: SenderTypes,
  ambiguousSubmits: AmbiguousSubmits,
  smartEncoding: SmartEncoding,
  nationalLanguages: NationalLanguages,
  optOut: Nullable(Type.Object(optOut)),
  createdAt: Timestamp,
})
const DEFAULTS = {
  active: true,
  route: null,
  inboundUrl: null,
  messagesPerSecond: null,
  burst: null,
  senderTypes: SENDER_KINDS,
  ambiguousSubmits: 'resubmit',
  smartEncoding: false,
  nationalLanguages: [],
} as const

export function registerServicePlans(scope: AdminScope, deps: AdminDeps): void {
  const { db, secretKey } = deps
  const tags = ['service plans']

  scope.post(
    '/service-plans',
    { schema: { tags, body: Creation, response: answers(201, ServicePlan) } },
    async ({ body }, reply) => {
      const { rateLimit, nationalLanguages, ...rest } = body
      const inboundUrl = await storableUrl(deps, 'inboundUrl', rest.inboundUrl ?? null)
      const plan = await createServicePlan(db, {
        ...DEFAULTS,
        ...rest,
        inboundUrl,
        ...rateLimitColumns(rateLimit),
        ...languageColumn(nationalLanguages),
      })
      reply.code(201).header('location', `/admin/v1/service-plans/${plan.servicePlanId}`)
      return present(plan, secretKey)
    },
  )

  const Query = pageQuery(PublicId, { accountId: Type.Optional(PublicId) })
  scope.get(
    '/service-plans',
    { schema: { tags, querystring: Query, response: answers(200, pageOf(ServicePlan)) } },
    async ({ query }) => {
      const { shown, fetched } = limitOf(query)
      const accountId = query.accountId === undefined ? null : canonicalPublicId(query.accountId)
      const after = canonicalPublicId(query.after ?? '')
      const rows = await listServicePlans(db, { after, limit: fetched, accountId })
      return page(
        rows,
        shown,
        (row) => row.servicePlanId,
        (row) => present(row, secretKey),
      )
    },
  )

  scope.get(
    '/service-plans/:servicePlanId',
    { schema: { tags, params: Params, response: answers(200, ServicePlan) } },
    async ({ params }) => {
      const plan = await findServicePlan(db, canonicalPublicId(params.servicePlanId))
      if (plan === undefined) throw refuseMissing('service plan')
      return present(plan, secretKey)
    },
  )

  scope.patch(
    '/service-plans/:servicePlanId',
    { schema: { tags, params: Params, body: Change, response: answers(200, ServicePlan) } },
    async ({ params, body }) => {
      const { rateLimit, inboundUrl, nationalLanguages, ...rest } = body
      const url = await storableUrl(deps, 'inboundUrl', inboundUrl)
      const change = {
        ...rest,
        ...rateLimitColumns(rateLimit),
        ...languageColumn(nationalLanguages),
        ...(url === undefined ? {} : { inboundUrl: url }),
      }
      return present(await changeServicePlan(db, params.servicePlanId, change), secretKey)
    },
  )

  scope.delete(
    '/service-plans/:servicePlanId',
    { schema: { tags, params: Params, response: answers(204, Type.Null()) } },
    async ({ params }, reply) => {
      await removeServicePlan(db, params.servicePlanId)
      return reply.code(204).send(null)
    },
  )
}

/** Identifiers count from 1. */
function languageColumn(names: Static<typeof NationalLanguages> | undefined) {
  if (names === undefined) return {}
  return { nationalLanguages: names.map((name) => NATIONAL_LANGUAGES.indexOf(name) + 1) }
}

function present(plan: ServicePlanRecord, secretKey: Uint8Array) {
  return {
    servicePlanId: plan.servicePlanId,
    accountId: plan.accountId,
    name: plan.name,
    active: plan.active,
    complete: plan.route !== null,
    route: plan.route,
    inboundUrl: shownUrl(secretKey, plan.inboundUrl),
    rateLimit: rateLimitField(plan),
    senderTypes: [...plan.senderTypes],
    ambiguousSubmits: plan.ambiguousSubmits,
    smartEncoding: plan.smartEncoding,
    nationalLanguages: plan.nationalLanguages.map((identifier) => NATIONAL_LANGUAGES[identifier - 1]!),
    optOut: plan.optOut,
    createdAt: plan.createdAt.toISOString(),
  }
}
