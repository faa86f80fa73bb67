import { canonicalPublicId } from '../../../domain/identifiers.ts'
import { describeLimitEvent } from '../../../domain/limits/plan-limits.ts'
import { notFound } from '../../../errors.ts'
import { keyOfPlanInPath } from '../../../operations/manage/configuration-rows.ts'
import { readPlanLimits } from '../../../operations/read-plan-limits.ts'
import { type CountryPause, endCountryPause } from '../../../store/country-pauses.ts'
import type { ShownLimitEvent } from '../../../store/limit-events.ts'
import { servicePlans } from '../../../store/service-plans.ts'
import { CapUsageSchema, CountryPauseSchema, presentUsage } from '../../schemas/plan-limits.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { instant, Nullable, titled } from '../../schemas/shapes.ts'
import { CountryCode, ServicePlanId, Timestamp } from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'

const Params = Type.Object({ servicePlanId: ServicePlanId, country: CountryCode })
const tags = ['Plan limits']
const PlanLimits = titled('PlanLimits', {
  usage: Type.Array(CapUsageSchema),
  pauses: Type.Array(CountryPauseSchema),
  events: Type.Array(
    titled('LimitEvent', {
      at: Timestamp,
      type: Type.String(),
      text: Type.String(),
      attempts: Type.Integer({ description: 'to push it' }),
      takenAt: Nullable(instant({ description: 'when its receiver took it' })),
    }),
  ),
})

export function registerPlanLimits(
  scope: AdminScope,
  { change, clock, reads, refreshPauses }: AdminDeps,
): void {
  addOperation(scope, 'GET /service-plans/:servicePlanId/limits', {
    operationId: 'getPlanLimits',
    summary: 'Show the limits of a service plan',
    description:
      'Returns how much of its caps is used, with what nodes hold for messages to come, the countries that its pumping guard has paused, and its newest events.',
    tags,
    params: Type.Object({ servicePlanId: ServicePlanId }),
    answer: PlanLimits,
    run: async ({ params }) => {
      const plan = await servicePlans.find(reads, params.servicePlanId)
      if (plan === undefined) throw notFound(servicePlans.noun)
      const { usage, pauses, events } = await readPlanLimits(reads, plan, clock())
      return {
        usage: usage.map(presentUsage),
        pauses: pauses.map(presentPause),
        events: events.map(presentEvent),
      }
    },
  })

  addOperation(scope, 'DELETE /service-plans/:servicePlanId/pauses/:country', {
    operationId: 'endCountryPause',
    summary: 'Delete a country pause',
    description: 'The plan may send to the country again. Only messages from now on are judged.',
    tags,
    params: Params,
    run: async (request) => {
      const { servicePlanId, country } = request.params
      await change(request, async (transaction) => {
        const planId = await keyOfPlanInPath(transaction, servicePlanId)
        const pause = await endCountryPause(transaction, { planId, country }, new Date(clock()))
        if (pause === null) throw notFound('pause')
        const objectId = `${canonicalPublicId(servicePlanId)}/${country}`
        const entry = { objectType: 'country-pause', objectId, before: presentPause(pause), after: null }
        return { value: null, entry }
      })
      await refreshPauses?.()
    },
  })
}

function presentPause({ country, since, until, reason }: CountryPause) {
  return { country, since, until, reason }
}

function presentEvent({ at, contents, attempts, takenAt }: ShownLimitEvent) {
  return {
    at,
    type: contents.type,
    text: describeLimitEvent(contents),
    attempts,
    takenAt,
  }
}
