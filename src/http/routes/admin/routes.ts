import { Type } from 'typebox'
import { completeFloor, completeRouteCarrier } from '../../../domain/configuration/settings.ts'
import { createRoute, updateRoute } from '../../../operations/manage/routes.ts'
import { type RouteRecord, routes } from '../../../store/routes.ts'
import { changeBody, Nullable, requestBody, titled } from '../../schemas/shapes.ts'
import { described, LinkName, pageQuery, RouteKey, Timestamp } from './fields.ts'
import { AT_ONCE, addChange, addCreate, addReads, addRemoval, type Resource } from './resource.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

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
const Change = changeBody(
  'RouteChange',
  {
    name: Type.Optional(LinkName),
    carriers: Type.Optional(Entries),
    qualityFloor: Type.Optional(Nullable(NewFloor)),
  },
  { qualityFloor: { minDelivered: 80 } },
)
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

const ROUTES: Resource<typeof Route, RouteRecord> = {
  table: routes,
  path: '/routes',
  texts: {
    create: 'A route lists carriers by priority and weight. Service plans and routing rules lead to routes.',
    show: 'Returns its carriers and its quality floor.',
    change: `The carriers given replace all of its carriers. ${AT_ONCE}`,
    remove: 'A route that a service plan or routing rule uses cannot be deleted.',
  },
  key: 'route',
  keyField: RouteKey,
  item: Route,
  keyOf: (route) => route.name,
  present: (route) => route,
}

export function registerRoutes(scope: AdminScope, deps: AdminDeps): void {
  addCreate(scope, deps, ROUTES, RouteCreation, (transaction, { name, carriers, qualityFloor = null }) =>
    createRoute(transaction, {
      name,
      carriers: carriers.map(completeRouteCarrier),
      qualityFloor: completeFloor(qualityFloor),
    }),
  )
  const carrier = Type.Optional(described(LinkName, 'Name of a carrier that they have'))
  addReads(scope, deps, ROUTES, pageQuery(LinkName, { carrier }))
  addChange(scope, deps, ROUTES, Change, (transaction, route, { carriers, qualityFloor, ...rest }) =>
    updateRoute(transaction, route, {
      ...rest,
      ...(carriers !== undefined && { carriers: carriers.map(completeRouteCarrier) }),
      ...(qualityFloor !== undefined && { qualityFloor: completeFloor(qualityFloor) }),
    }),
  )
  addRemoval(scope, deps, ROUTES, 'the route is still used by a service plan or a routing rule')
}
