import { Type } from 'typebox'
import type { QualityFloor } from '../../../domain/directory.ts'
import { changeRoute, createRoute, removeRoute } from '../../../operations/manage-routes.ts'
import { refuseMissing } from '../../../operations/refuse-administration.ts'
import { findRoute, listRoutes, type RouteRecord } from '../../../store/routes.ts'
import { LinkKey, LinkName, limitOf, Nullable, page, pageOf, pageQuery, Timestamp } from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const Priority = Type.Integer({ minimum: 0, maximum: 1_000, description: 'lowest first' })
const Weight = Type.Integer({ minimum: 1, maximum: 1_000, description: 'share among equal priorities' })
const Entries = Type.Array(
  Type.Object(
    { carrier: LinkName, priority: Type.Optional(Priority), weight: Type.Optional(Weight) },
    { additionalProperties: false },
  ),
  { maxItems: 100 },
)
const floor = {
  minDelivered: Type.Integer({
    minimum: 1,
    maximum: 100,
    description: 'percent of the messages with a receipt',
  }),
  windowMinutes: Type.Integer({ minimum: 5, maximum: 1_440, description: 'how far back is looked' }),
  minMessages: Type.Integer({ minimum: 10, maximum: 1_000_000, description: 'with fewer nothing is judged' }),
  pauseMinutes: Type.Integer({ minimum: 1, maximum: 1_440, description: 'how long a carrier is out of use' }),
}
const { minDelivered, ...judged } = floor
const NewFloor = Type.Object(
  { minDelivered, ...Type.Partial(Type.Object(judged)).properties },
  { additionalProperties: false },
)
const Creation = Type.Object(
  { name: LinkName, carriers: Entries, qualityFloor: Type.Optional(Nullable(NewFloor)) },
  { additionalProperties: false },
)
const Change = Type.Object(
  {
    name: Type.Optional(LinkName),
    carriers: Type.Optional(Entries),
    qualityFloor: Type.Optional(Nullable(NewFloor)),
  },
  { additionalProperties: false, minProperties: 1 },
)
const Params = Type.Object({ route: LinkKey })
const Route = Type.Object({
  routeId: Type.Integer(),
  name: Type.String(),
  carriers: Type.Array(Type.Object({ carrier: Type.String(), priority: Priority, weight: Weight })),
  qualityFloor: Nullable(
    Type.Object(floor, { description: 'null: no carrier is taken out of use for its delivery rate' }),
  ),
  createdAt: Timestamp,
})

export function registerRoutes(scope: AdminScope, { db }: AdminDeps): void {
  const tags = ['routes']

  scope.post(
    '/routes',
    { schema: { tags, body: Creation, response: answers(201, Route) } },
    async ({ body }, reply) => {
      const route = await createRoute(db, {
        name: body.name,
        carriers: body.carriers.map(withDefaults),
        qualityFloor: judgedBy(body.qualityFloor ?? null),
      })
      reply.code(201).header('location', `/admin/v1/routes/${route.name}`)
      return present(route)
    },
  )

  scope.get(
    '/routes',
    { schema: { tags, querystring: pageQuery(LinkName, {}), response: answers(200, pageOf(Route)) } },
    async ({ query }) => {
      const { shown, fetched } = limitOf(query)
      const rows = await listRoutes(db, { after: query.after ?? '', limit: fetched })
      return page(rows, shown, (row) => row.name, present)
    },
  )

  scope.get(
    '/routes/:route',
    { schema: { tags, params: Params, response: answers(200, Route) } },
    async ({ params }) => {
      const route = await findRoute(db, params.route)
      if (route === undefined) throw refuseMissing('route')
      return present(route)
    },
  )

  scope.patch(
    '/routes/:route',
    { schema: { tags, params: Params, body: Change, response: answers(200, Route) } },
    async ({ params, body }) => {
      const { carriers, qualityFloor, ...rest } = body
      const change = {
        ...rest,
        ...(carriers !== undefined && { carriers: carriers.map(withDefaults) }),
        ...(qualityFloor !== undefined && { qualityFloor: judgedBy(qualityFloor) }),
      }
      return present(await changeRoute(db, params.route, change))
    },
  )

  scope.delete(
    '/routes/:route',
    { schema: { tags, params: Params, response: answers(204, Type.Null()) } },
    async ({ params }, reply) => {
      await removeRoute(db, params.route)
      return reply.code(204).send(null)
    },
  )
}

function withDefaults(entry: { carrier: string; priority?: number; weight?: number }) {
  return { priority: 0, weight: 1, ...entry }
}

/** An hour tells a bad carrier from a bad minute; half an hour gives it time to mend. */
function judgedBy(given: Type.Static<typeof NewFloor> | null): QualityFloor | null {
  return given && { windowMinutes: 60, minMessages: 100, pauseMinutes: 30, ...given }
}

function present(route: RouteRecord) {
  return { ...route, carriers: [...route.carriers], createdAt: route.createdAt.toISOString() }
}
