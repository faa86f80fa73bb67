import { Type } from 'typebox'
import { FAILURES } from '../../../domain/error-codes.ts'
import { fieldFaults, MAX_BODY_CHARACTERS } from '../../../domain/messages/send-requests.ts'
import { explainRoute, type RouteExplanation } from '../../../domain/routing/route-explanation.ts'
import { ERRORS, type ErrorCode, type Fault, fault, invalid } from '../../../errors.ts'
import { findOptOuts } from '../../../store/opt-outs.ts'
import { Nullable, titled } from '../../schemas/shapes.ts'
import { NullableText, ServicePlanId } from './fields.ts'
import { addOperation } from './operations.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

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

/** In the order in which a send is checked. */
function problemsOf({ isActive, isComplete, senderRefusal }: RouteExplanation) {
  const problems: { errorCode: ErrorCode; errorMessage: string }[] = []
  const add = (code: ErrorCode, message: string = ERRORS[code].message) =>
    problems.push({ errorCode: code, errorMessage: message })
  if (!isActive) add('SERVICE_PLAN_INACTIVE')
  if (!isComplete) add('SERVICE_PLAN_INCOMPLETE')
  if (senderRefusal !== null) add(senderRefusal.code, senderRefusal.message)
  return problems
}
