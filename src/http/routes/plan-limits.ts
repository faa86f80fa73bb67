import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { readPlanUsage } from '../../operations/read-plan-limits.ts'
import { planToRead } from '../authentication.ts'
import type { ListDeps } from '../cursor-pages.ts'
import { answered } from '../schemas/error-body.ts'
import { LookupQuerySchema } from '../schemas/parameters.ts'
import { CapUsageSchema, CountryPauseSchema, presentUsage } from '../schemas/plan-limits.ts'
import { PLAN_LIMITS } from '../schemas/response-examples.ts'
import { Type } from '../schemas/schema-builder.ts'
import { titled } from '../schemas/shapes.ts'

const OwnLimits = titled('OwnLimits', {
  servicePlanId: Type.String(),
  usage: Type.Array(CapUsageSchema, { description: 'Of each cap; empty for a plan without caps' }),
  pauses: Type.Array(CountryPauseSchema, {
    description: 'Countries to which sends are answered 429 COUNTRY_PAUSED now',
  }),
})

const SCHEMA = {
  operationId: 'getLimits',
  summary: 'Show the limits of a service plan',
  description:
    'Returns how much of its caps the plan has used in this day and month (UTC), and the countries that are paused for it. What nodes hold for messages to come counts as used.',
  tags: ['Messages'],
  querystring: LookupQuerySchema,
  response: answered(200, OwnLimits, 'What is used, and what is paused', PLAN_LIMITS),
}

/** `GET /v1/limits`. */
export function registerLimits(app: FastifyInstance, { directory, db, clock }: ListDeps): void {
  app.get('/v1/limits', { schema: SCHEMA }, async (request: FastifyRequest) => {
    const { servicePlanId } = request.query as Static<typeof LookupQuerySchema>
    const plan = planToRead(await directory(), request, servicePlanId)
    const { usage, pauses } = await readPlanUsage(db, plan, clock())
    return { servicePlanId: plan.servicePlanId, usage: usage.map(presentUsage), pauses }
  })
}
