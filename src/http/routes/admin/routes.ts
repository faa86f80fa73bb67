import { FAILURES } from '../../../domain/error-codes.ts'
import { MAX_BODY_CHARACTERS } from '../../../domain/messages/messages.ts'
import { explainRoute, type RouteExplanation } from '../../../domain/messages/preflight.ts'
import { fieldFaults } from '../../../domain/messages/send-requests.ts'
import { ERRORS, type ErrorCode, type Fault, fault, invalid } from '../../../errors.ts'
import { ROUTES } from '../../../operations/configuration/routes.ts'
import { findOptOuts } from '../../../store/opt-outs.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { changeBody, Nullable, requestBody, titled } from '../../schemas/shapes.ts'
import { described, LinkName, NullableText, pageQuery, RouteKey, ServicePlanId, Timestamp } from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'
import { AT_ONCE, addConfigured } from './resource.ts'

const Priority = Type.Integer({ minimum: 0, maximum: 1_000, description: 'lowest first; default: 0' })
const Weight = Type.Integer({
  minimum: 1,
  maximum: 1_000,
  description: 'share among equal priorities; default: 1',
})
const Entries = Type.Array(
  Type.Object(
    { carrier: LinkName, priority: Type.Optional(Priority), weight: Type.Optional(Weight) },
    { title: 'RouteCarrierSetting', additionalProperties: false },
  ),
  { maxItems: 100, description: 'Its carriers; empty: no carrier' },
)
const floor = {
  minDelivered: Type.Integer({
    minimum: 1,
    maximum: 100,
    description: 'percent of the messages with a receipt',
  }),
  windowMinutes: Type.Integer({
    minimum: 5,
    maximum: 1_440,
    description: 'how many minutes to look back; default: 60',
  }),
  minMessages: Type.Integer({
    minimum: 10,
    maximum: 1_000_000,
    description: 'fewer messages are not judged; default: 100',
  }),
  pauseMinutes: Type.Integer({
    minimum: 1,
    maximum: 1_440,
    description: 'how many minutes the carrier is out of use; default: 30',
  }),
}
const { minDelivered, ...judged } = floor
const NewFloor = Type.Object(
  { minDelivered, ...Type.Partial(Type.Object(judged)).properties },
  {
    title: 'QualityFloorSetting',
    description:
      'Take a carrier out of use when it delivers less than this percentage; null: never take one out of use',
    additionalProperties: false,
  },
)
export const RouteCreation = requestBody(
  'RouteCreation',
  { name: LinkName, carriers: Entries, qualityFloor: Type.Optional(Nullable(NewFloor)) },
  { name: 'main', carriers: [{ carrier: 'acme', priority: 0, weight: 1 }] },
)
const Change = changeBody('RouteChange', RouteCreation, [], { qualityFloor: { minDelivered: 80 } })
const Route = titled('Route', {
  routeId: Type.Integer(),
  name: Type.String(),
  carriers: Type.Array(
    titled('RouteCarrier', { carrier: Type.String(), priority: Priority, weight: Weight }),
  ),
  qualityFloor: Nullable(
    Type.Object(floor, {
      title: 'QualityFloor',
      description: 'null: no carrier is taken out of use for its delivery rate',
    }),
  ),
  createdAt: Timestamp,
})

const Carrier = Type.Optional(described(LinkName, 'Name of a carrier that they have'))

export function registerRoutes(scope: AdminScope, deps: AdminDeps): void {
  addConfigured(scope, deps, {
    kind: ROUTES,
    path: '/routes',
    texts: {
      create:
        'A route lists carriers by priority and weight. Service plans and routing rules lead to routes.',
      show: 'Returns its carriers and its quality floor.',
      change: `The carriers given replace all of its carriers. ${AT_ONCE}`,
      remove: 'A route that a service plan or routing rule uses cannot be deleted.',
    },
    key: 'route',
    keyField: RouteKey,
    item: Route,
    keyOf: (route) => route.name,
    creation: RouteCreation,
    change: Change,
    query: pageQuery(LinkName, { carrier: Carrier }),
    inUse: 'the route is still used by a service plan or a routing rule',
    present: (route) => route,
  })
}

const Query = Type.Object(
  {
    servicePlanId: ServicePlanId,
    from: Type.String({ description: 'Sender', examples: ['Aldis'] }),
    to: Type.String({ description: 'Recipient', examples: ['+15551230001'] }),
    body: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_BODY_CHARACTERS,
        description: 'Text of the message; default: any text of one segment',
      }),
    ),
  },
  { additionalProperties: false },
)
const recipients = { prefix: NullableText, country: NullableText, mccmnc: NullableText }
const Explanation = titled('RouteExplanation', {
  servicePlanId: Type.String(),
  from: Type.String(),
  to: Type.String(),
  country: NullableText,
  mccmnc: Nullable(Type.String({ description: 'of the number ranges' })),
  problems: Type.Array(titled('SendProblem', { errorCode: Type.String(), errorMessage: Type.String() }), {
    description: 'why a send would be refused, or would fail at once',
  }),
  route: NullableText,
  rule: Nullable(
    Type.Object(
      { ruleId: Type.Integer(), servicePlanId: NullableText, from: NullableText, ...recipients },
      { title: 'ExplainedRule', description: "null: the route is the plan's own" },
    ),
  ),
  carriers: Type.Array(
    titled('ExplainedCarrier', {
      carrier: Type.String(),
      priority: Type.Integer(),
      weight: Type.Integer(),
      condition: Type.String({
        description: 'on this node: usable, throttled, out-of-use, silent, unbound, draining, stopped',
      }),
      share: Type.Number({ description: 'percentage of the messages that it currently gets' }),
      reason: Nullable(Type.String({ description: 'as it is stored with a message' })),
    }),
  ),
  encoding: NullableText,
  segments: Type.Integer(),
  charge: Nullable(
    titled('ExplainedCharge', {
      price: Type.String(),
      ptf: Type.String(),
      currency: Type.String(),
      rate: titled('ExplainedRate', { rateId: Type.Integer(), servicePlanId: NullableText, ...recipients }),
    }),
  ),
})

export function registerRouteExplanation(scope: AdminScope, deps: AdminDeps): void {
  const { reads, directory, carrierCondition = () => 'unbound' as const } = deps

  addOperation(scope, 'GET /route-explanation', {
    operationId: 'explainRoute',
    summary: 'Explain the route of a message',
    description: 'Returns which carrier a message would take, why, and what it would cost. Nothing is sent.',
    tags: ['Routes'],
    query: Query,
    answer: Explanation,
    run: async ({ query }) => {
      const snapshot = directory.current()
      const { body = null, servicePlanId, from, to } = query
      const plan = snapshot.planByPublicId(servicePlanId)
      const faults: Fault[] = fieldFaults({ from, to, body })
      if (plan === undefined)
        faults.push(fault('servicePlanId', 'NOT_FOUND', 'must be an existing service plan'))
      if (plan === undefined || faults.length > 0) throw invalid(faults)
      const explanation = explainRoute(snapshot, { plan, from, to, body }, carrierCondition)
      const publicId = (planId: number | null) =>
        planId === null ? null : (snapshot.planById(planId)?.servicePlanId ?? null)
      // Opt-outs are kept for a plan that does not use them, but they do not count.
      const pair = { planId: plan.id, sender: from, recipient: to }
      const optOuts = plan.optOut === null ? [] : await findOptOuts(reads, [pair])
      const problems = [...problemsOf(explanation), ...(optOuts.length > 0 ? [OPTED_OUT] : [])]
      return { servicePlanId: plan.servicePlanId, from, to, problems, ...present(explanation, publicId) }
    },
  })
}

function present(explanation: RouteExplanation, publicId: (planId: number | null) => string | null) {
  const { rule, carriers, rate, charge } = explanation
  return {
    ...explanation,
    rule: rule && { ...rule, ruleId: rule.id, servicePlanId: publicId(rule.planId), from: rule.sender },
    carriers: [...carriers],
    charge: rate &&
      charge && { ...charge, rate: { ...rate, rateId: rate.id, servicePlanId: publicId(rate.planId) } },
  }
}

const OPTED_OUT = { errorCode: '307', errorMessage: FAILURES['307'] }

/** In the order in which a send is checked. Rates, caps and pauses of countries are not. */
function problemsOf({ isActive, isComplete, senderRefusal, recipientRefusal }: RouteExplanation) {
  const problems: { errorCode: ErrorCode; errorMessage: string }[] = []
  const add = (code: ErrorCode, message: string = ERRORS[code].message) =>
    problems.push({ errorCode: code, errorMessage: message })
  if (!isActive) add('SERVICE_PLAN_INACTIVE')
  if (!isComplete) add('SERVICE_PLAN_INCOMPLETE')
  for (const refusal of [senderRefusal, recipientRefusal])
    if (refusal !== null) add(refusal.code, refusal.message)
  return problems
}
