import { Type } from 'typebox'
import { describeLimitEvent, publicCount } from '../../../domain/limit-events.ts'
import { CAP_STEPS } from '../../../domain/plan-caps.ts'
import { notFound } from '../../../errors.ts'
import { type CapUsage, readPlanLimits } from '../../../operations/read-plan-limits.ts'
import type { ShownLimitEvent } from '../../../store/limit-events.ts'
import { servicePlans } from '../../../store/service-plans.ts'
import { Nullable, oneOf, titled } from '../../schemas/shapes.ts'
import { NullableText, ServicePlanId, Timestamp } from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const Count = titled('LimitCount', {
  messages: Nullable(Type.Integer()),
  cost: NullableText,
  currency: NullableText,
})
const PlanLimits = titled('PlanLimits', {
  usage: Type.Array(
    titled('CapUsage', {
      per: oneOf(CAP_STEPS),
      begins: Type.String({ format: 'date' }),
      endsAt: Timestamp,
      used: Count,
      cap: Count,
      percent: Type.Integer({ description: 'of the cap, rounded down' }),
    }),
  ),
  events: Type.Array(
    titled('LimitEvent', {
      at: Timestamp,
      type: Type.String(),
      text: Type.String(),
      attempts: Type.Integer({ description: 'to push it' }),
      takenAt: Nullable(Type.String({ format: 'date-time', description: 'when its receiver took it' })),
    }),
  ),
})

export function registerPlanLimits(scope: AdminScope, { clock, reads }: AdminDeps): void {
  scope.get(
    '/service-plans/:servicePlanId/limits',
    {
      schema: {
        operationId: 'getPlanLimits',
        summary: 'Show the limits of a service plan',
        description:
          'Returns how much of its caps is used, with what nodes hold for messages to come, and its newest events.',
        tags: ['Plan limits'],
        params: Type.Object({ servicePlanId: ServicePlanId }),
        response: answers(200, PlanLimits),
      },
    },
    async ({ params }) => {
      const plan = await servicePlans.find(reads, params.servicePlanId)
      if (plan === undefined) throw notFound(servicePlans.noun)
      const { usage, events } = await readPlanLimits(reads, plan, clock())
      return { usage: usage.map(presentUsage), events: events.map(presentEvent) }
    },
  )
}

function presentUsage({ unit, step, begins, endsMs, most, taken }: CapUsage) {
  return {
    per: step,
    begins,
    endsAt: new Date(endsMs).toISOString(),
    used: publicCount(unit, taken),
    cap: publicCount(unit, most),
    percent: Math.floor((100 * taken) / most),
  }
}

function presentEvent({ at, contents, attempts, takenAt }: ShownLimitEvent) {
  return {
    at: at.toISOString(),
    type: contents.type,
    text: describeLimitEvent(contents),
    attempts,
    takenAt: takenAt?.toISOString() ?? null,
  }
}
