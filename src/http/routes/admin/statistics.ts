import { DIMENSIONS, parseStatisticsQuery } from '../../../domain/statistics/query.ts'
import { checked } from '../../../errors.ts'
import { keyOfCarrier, keyOfPlan, keyOfRoute } from '../../../operations/manage/configuration-rows.ts'
import { readStatistics } from '../../../operations/read-statistics.ts'
import { Type } from '../../schemas/schema-builder.ts'
import {
  groupByParameter,
  presentStatistics,
  STATISTICS_PARAMETERS,
  StatisticsSchema,
} from '../../schemas/statistics.ts'
import { described, LinkKey, RouteKey, ServicePlanId } from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'

const Query = Type.Object(
  {
    servicePlanId: Type.Optional(ServicePlanId),
    carrier: Type.Optional(described(LinkKey, 'Carrier, by name or number')),
    route: Type.Optional(described(RouteKey, 'Route, by name or number')),
    groupBy: groupByParameter(DIMENSIONS),
    ...STATISTICS_PARAMETERS,
  },
  { additionalProperties: false },
)

/** Statistics of all plans, or of one. */
export function registerStatistics(scope: AdminScope, { reads, records, directory, clock }: AdminDeps): void {
  addOperation(scope, 'GET /statistics', {
    operationId: 'getStatisticsOfPlans',
    summary: 'Show statistics of all service plans, or of one',
    description:
      'Counts, prices and latencies over time. Each count is at the time when it happened. By service plan or country, without `servicePlanId`, at most 61 minutes, 25 hours or 8 days.',
    tags: ['Statistics'],
    query: Query,
    answer: StatisticsSchema,
    run: async ({ query: { servicePlanId, carrier, route, ...texts } }) => {
      const filters = {
        planIds: servicePlanId === undefined ? null : [await keyOfPlan(reads, servicePlanId)],
        carrierId: carrier === undefined ? null : await keyOfCarrier(reads, carrier),
        routeId: route === undefined ? null : await keyOfRoute(reads, route),
      }
      const nowMs = clock()
      const how = { dimensions: DIMENSIONS, nowMs }
      const query = checked((faults) => parseStatisticsQuery(texts, filters, how, faults))
      const about = { directory: directory.current(), nowMs }
      return presentStatistics(await readStatistics(records, query, about))
    },
  })
}
