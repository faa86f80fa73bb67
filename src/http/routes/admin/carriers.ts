import { Type } from 'typebox'
import { ID_RULES } from '../../../domain/carrier-message-ids.ts'
import { BIND_MODES } from '../../../domain/settings.ts'
import { changeCarrier, createCarrier, removeCarrier } from '../../../operations/manage-carriers.ts'
import { refuseMissing } from '../../../operations/refuse-administration.ts'
import { type CarrierRecord, findCarrier, listCarriers } from '../../../store/carriers.ts'
import {
  LinkKey,
  LinkName,
  limitOf,
  Nullable,
  octetString,
  PositiveInteger,
  page,
  pageOf,
  pageQuery,
  Timestamp,
} from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

/** Lengths of system_id, password and system_type: SMPP 3.4 §5.2.1-§5.2.3, without their NUL. */
const required = { host: Type.String({ minLength: 1, maxLength: 253 }), systemId: octetString(15, 1) }
const Password = octetString(8)
const settings = {
  state: Type.Enum(['started', 'draining', 'stopped']),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  tls: Type.Boolean(),
  bindMode: Type.Enum([...BIND_MODES]),
  systemType: octetString(12),
  window: Type.Integer({ minimum: 1, maximum: 1_000, description: 'submit_sm without an answer at once' }),
  messagesPerSecond: Nullable(PositiveInteger),
  idRule: Type.Enum([...ID_RULES, 'auto']),
}
const Creation = Type.Object(
  { name: LinkName, ...required, password: Password, ...Type.Partial(Type.Object(settings)).properties },
  { additionalProperties: false },
)
const Change = Type.Partial(Type.Object({ name: LinkName, ...required, password: Password, ...settings }), {
  additionalProperties: false,
  minProperties: 1,
})
const Params = Type.Object({ carrier: LinkKey })
const Link = Type.Object({
  state: Type.String(),
  since: Nullable(Timestamp),
  lastError: Nullable(Type.String()),
})
const Carrier = Type.Object({
  carrierId: Type.Integer(),
  name: Type.String(),
  host: Type.String(),
  systemId: Type.String(),
  ...settings,
  link: Nullable(Link),
  createdAt: Timestamp,
})
const DEFAULTS = {
  state: 'started',
  port: 2775,
  tls: false,
  tlsCa: null,
  tlsServerName: null,
  bindMode: 'transceiver',
  binds: 1,
  systemType: '',
  window: 10,
  messagesPerSecond: null,
  senderMessagesPerSecond: null,
  longMessages: 'udh',
  submitOutcomes: {},
  idRule: 'exact',
} as const

export function registerCarriers(scope: AdminScope, deps: AdminDeps): void {
  const { db, secretKey } = deps
  const tags = ['carriers']
  const present = (carrier: CarrierRecord) => ({
    ...carrier,
    link: deps.linkStatus?.(carrier.carrierId) ?? null,
    createdAt: carrier.createdAt.toISOString(),
  })

  scope.post(
    '/carriers',
    { schema: { tags, body: Creation, response: answers(201, Carrier) } },
    async ({ body }, reply) => {
      const carrier = await createCarrier(db, secretKey, { ...DEFAULTS, ...body })
      reply.code(201).header('location', `/admin/v1/carriers/${carrier.name}`)
      return present(carrier)
    },
  )

  scope.get(
    '/carriers',
    { schema: { tags, querystring: pageQuery(LinkName, {}), response: answers(200, pageOf(Carrier)) } },
    async ({ query }) => {
      const { shown, fetched } = limitOf(query)
      const rows = await listCarriers(db, { after: query.after ?? '', limit: fetched })
      return page(rows, shown, (row) => row.name, present)
    },
  )

  scope.get(
    '/carriers/:carrier',
    { schema: { tags, params: Params, response: answers(200, Carrier) } },
    async ({ params }) => {
      const carrier = await findCarrier(db, params.carrier)
      if (carrier === undefined) throw refuseMissing('carrier')
      return present(carrier)
    },
  )

  scope.patch(
    '/carriers/:carrier',
    { schema: { tags, params: Params, body: Change, response: answers(200, Carrier) } },
    async ({ params, body }) => present(await changeCarrier(db, secretKey, params.carrier, body)),
  )

  scope.delete(
    '/carriers/:carrier',
    { schema: { tags, params: Params, response: answers(204, Type.Null()) } },
    async ({ params }, reply) => {
      await removeCarrier(db, params.carrier)
      return reply.code(204).send(null)
    },
  )
}
