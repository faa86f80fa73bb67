import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { CUSTOMER_DIMENSIONS, parseStatisticsQuery } from '../../domain/statistics/query.ts'
import { checked } from '../../errors.ts'
import { readStatistics } from '../../operations/read-statistics.ts'
import { planToRead, tokenOf } from '../authentication.ts'
import type { ListDeps } from '../cursor-pages.ts'
import { answered } from '../schemas/error-body.ts'
import { PlanParameter } from '../schemas/parameters.ts'
import { STATISTICS } from '../schemas/response-examples.ts'
import { Type } from '../schemas/schema-builder.ts'
import {
  groupByParameter,
  presentStatistics,
  STATISTICS_PARAMETERS,
  StatisticsSchema,
} from '../schemas/statistics.ts'

const Query = Type.Object({
  servicePlanId: Type.Optional({
    ...PlanParameter,
    description: 'Service plan; default: all that the token may read',
  } as typeof PlanParameter),
  groupBy: groupByParameter(CUSTOMER_DIMENSIONS),
  ...STATISTICS_PARAMETERS,
})

const SCHEMA = {
  operationId: 'getStatistics',
  summary: 'Show statistics',
  description:
    'Counts, prices and latencies over time, of one service plan or of all that the token may read. Each count is at the time when it happened.',
  tags: ['Statistics'],
  querystring: Query,
  response: answered(200, StatisticsSchema, 'Series with a point for each interval', STATISTICS),
}

/** `GET /v1/statistics` */
export function registerStatistics(app: FastifyInstance, deps: ListDeps): void {
  app.get('/v1/statistics', { schema: SCHEMA }, async (request: FastifyRequest) => {
    const { servicePlanId, ...texts } = request.query as Static<typeof Query>
    const directory = await deps.directory()
    const planIds =
      servicePlanId === undefined
        ? directory.readablePlanIds(tokenOf(request))
        : [planToRead(directory, request, servicePlanId).id]
    const nowMs = deps.clock()
    const filters = { planIds, carrierId: null, routeId: null }
    const how = { dimensions: CUSTOMER_DIMENSIONS, nowMs }
    const query = checked((faults) => parseStatisticsQuery(texts, filters, how, faults))
    return presentStatistics(await readStatistics(deps.records, query, { directory, nowMs }))
  })
}
