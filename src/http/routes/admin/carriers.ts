import type { Static } from 'typebox'
import { MAX_BIND_ERRORS } from '../../../domain/carriers/binds.ts'
import { ID_RULES } from '../../../domain/carriers/message-ids.ts'
import { ERROR_OUTCOMES } from '../../../domain/carriers/statuses.ts'
import {
  BIND_MODES,
  LONG_MESSAGES,
  MAX_BINDS,
  MAX_SUBMIT_OUTCOMES,
  OPERATING_STATES,
  outcomesByHexStatus,
  VALIDITY_FORMATS,
  VALIDITY_SECONDS,
} from '../../../domain/configuration/configuration.ts'
import { BIND_STATES, bindStates, type LivingNode, nodeCondition } from '../../../domain/nodes.ts'
import { notFound } from '../../../errors.ts'
import { CARRIERS } from '../../../operations/configuration/carriers.ts'
import { readNodes } from '../../../operations/read-nodes.ts'
import { type CarrierRecord, carriers, carriers as table } from '../../../store/carriers.ts'
import { Type } from '../../schemas/schema-builder.ts'
import {
  changeBody,
  Nullable,
  nullableInteger,
  nullableNumber,
  nullableString,
  oneOf,
  requestBody,
  titled,
} from '../../schemas/shapes.ts'
import {
  described,
  LinkKey,
  LinkName,
  NullableText,
  octetString,
  PositiveInteger,
  pageQuery,
  Timestamp,
} from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'
import { AT_ONCE, addConfigured, addList, type ConfiguredResource, documentOf } from './resource.ts'

const BindError = titled('BindError', {
  at: Type.String({ format: 'date-time', description: 'when last' }),
  error: Type.String({
    description: 'why the session ended; submit_sm: an answer to a submit other than ESME_ROK',
  }),
  status: nullableString({ description: 'command_status, by name or in hexadecimal' }),
  detail: nullableString({ description: 'the error of the connection' }),
  count: Type.Integer({ description: 'how often' }),
})
const CarrierNode = titled('CarrierNode', {
  node: Type.String(),
  condition: Type.String({
    description: 'what it can do now: usable, throttled, silent, unbound, draining or stopped',
  }),
  queued: Type.Integer({ description: 'messages in its memory that wait for their turn' }),
  sentLastSecond: Type.Integer({ description: 'submit_sm' }),
  configuredRate: nullableNumber({ description: 'its share of messagesPerSecond; null: no limit' }),
  measuredRate: nullableNumber({
    description: 'submit_sm a second, as learned from ESME_RTHROTTLED; null: the carrier does not throttle',
  }),
  reportAgeMs: nullableInteger({ description: 'how old this is, and what it says of its binds' }),
})
const CarrierBindState = titled('CarrierBindState', {
  number: Type.Integer({ description: 'which of the binds, from 0' }),
  type: Type.String({ description: 'transceiver, transmitter or receiver' }),
  node: nullableString({ description: 'null: no node has it' }),
  state: oneOf(BIND_STATES, {
    title: 'BindState',
    description: 'unassigned: no node has it; unreported: its node has not reported it yet',
  }),
  since: nullableString({
    format: 'date-time',
    description: 'when the session came up; of a bind that is not bound, when it went down',
  }),
  retryAt: nullableString({ format: 'date-time', description: 'of a bind that backs off' }),
  window: Type.Integer(),
  unanswered: nullableInteger({ description: 'submit_sm whose answer is awaited' }),
  errors: Type.Array(BindError, {
    description: `at most ${MAX_BIND_ERRORS} different ones, the newest first`,
  }),
})
const CarrierBinds = titled('CarrierBinds', {
  carrier: Type.String(),
  state: Type.String({ description: 'started, draining or stopped' }),
  host: Type.String(),
  port: Type.Integer(),
  systemId: Type.String(),
  bindMode: Type.String(),
  idRule: Type.String({ description: 'how message ids in receipts match those in answers' }),
  learnedIdRule: nullableString({ description: 'what idRule auto has learned; null: nothing yet' }),
  nodes: Type.Array(CarrierNode, { description: 'those that have binds of it' }),
  binds: Type.Array(CarrierBindState),
})

/** The binds of a carrier on all nodes, whichever answers. */
export function registerCarrierBinds(scope: AdminScope, { reads, ownReport = () => null }: AdminDeps): void {
  addOperation(scope, 'GET /carriers/:carrier/binds', {
    operationId: 'listCarrierBinds',
    summary: 'Show the binds of a carrier',
    description: 'Returns the state of each bind on every node. What other nodes say is some seconds old.',
    tags: ['Carriers'],
    params: Type.Object({ carrier: LinkKey }),
    answer: CarrierBinds,
    run: async ({ params }) => {
      const carrier = await carriers.find(reads, params.carrier)
      if (carrier === undefined) throw notFound('carrier')
      const nodes = await readNodes(reads, ownReport)
      return {
        ...carrier,
        carrier: carrier.name,
        nodes: nodes.flatMap(({ name: node, report, reportAgeMs }) => {
          const own = report?.carriers[carrier.carrierId]
          if (own === undefined) return []
          const { binds: _, ...traffic } = own
          return [{ node, ...traffic, condition: nodeCondition(carrier, own), reportAgeMs }]
        }),
        binds: presentBinds(carrier, nodes),
      }
    },
  })
}

/** The binds of a carrier on these nodes. */
function presentBinds(carrier: CarrierRecord, nodes: readonly LivingNode[]) {
  return bindStates(carrier, nodes).map((bind) => ({ ...bind, errors: [...bind.errors] }))
}

/** Limits of host names and of the PEM text: more than the usual lists of a carrier, within the limit of a request. */
const MAX_NAME_CHARACTERS = 253
const MAX_PEM_CHARACTERS = 32_768

/** Lengths of system_id and system_type: SMPP 3.4 §5.2.1, §5.2.3, without their NUL. */
const required = {
  host: Type.String({
    minLength: 1,
    maxLength: MAX_NAME_CHARACTERS,
    description: 'Host name or address of its SMSC',
  }),
  systemId: octetString(15, 1, { description: 'system_id to bind with' }),
}
/** SMPP 3.4 §5.2.2 has 8 octets; many carriers issue longer ones. */
const Password = octetString(64, 0, { description: 'Password to bind with' })
const settings = {
  state: Type.Enum([...OPERATING_STATES], {
    title: 'OperatingState',
    description: 'draining: bound, but nothing new is submitted; stopped: unbound; default: started',
  }),
  port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'TCP port; default: 2775' }),
  tls: Type.Boolean({ description: 'Connect with TLS; false: connect without TLS; default: no TLS' }),
  tlsCa: Nullable(
    Type.String({
      minLength: 1,
      maxLength: MAX_PEM_CHARACTERS,
      description:
        'Authorities (PEM) that its certificate may come from; null: those that Node.js or the system trusts',
    }),
  ),
  tlsServerName: Nullable(
    Type.String({
      minLength: 1,
      maxLength: MAX_NAME_CHARACTERS,
      description: 'Name that its certificate must have; null: its host',
    }),
  ),
  bindMode: Type.Enum([...BIND_MODES], {
    title: 'BindMode',
    description: 'How to bind; default: transceiver',
  }),
  binds: Type.Integer({
    minimum: 1,
    maximum: MAX_BINDS,
    description: 'Binds of each kind, shared among the nodes; default: 1',
  }),
  systemType: octetString(12, 0, { description: 'system_type to bind with; default: none' }),
  window: Type.Integer({
    minimum: 1,
    maximum: 1_000,
    description: 'Unanswered submit_sm of each bind, at most; default: 10',
  }),
  messagesPerSecond: Nullable(described(PositiveInteger, 'Messages a second, at most; null: no limit')),
  senderMessagesPerSecond: Nullable(
    described(PositiveInteger, 'Messages a second from one sender, at most; null: no limit'),
  ),
  longMessages: Type.Enum([...LONG_MESSAGES], {
    title: 'LongMessages',
    description:
      'How a long text is sent: UDH with an 8- or 16-bit reference, sar_* TLVs, or whole in message_payload; default: udh',
  }),
  validitySeconds: Nullable(
    Type.Integer({
      minimum: VALIDITY_SECONDS.least,
      maximum: VALIDITY_SECONDS.most,
      description: 'Longest validity_period that it is given; null: the remaining validity of the message',
    }),
  ),
  validityFormat: Type.Enum([...VALIDITY_FORMATS], {
    description:
      'How validity_period of submit_sm is written (SMPP 3.4 §7.1.1); none: the field is empty; default: relative',
  }),
  submitOutcomes: Type.Record(Type.String(), Type.Enum([...ERROR_OUTCOMES], { title: 'ErrorOutcome' }), {
    maxProperties: MAX_SUBMIT_OUTCOMES,
    description: `What a command_status (0x45 or 69) of submit_sm_resp means: ${ERROR_OUTCOMES.join(', ')}; empty: the default table`,
  }),
  idRule: Type.Enum([...ID_RULES, 'auto'], {
    title: 'IdRule',
    description:
      'How message ids in receipts match those in answers; auto: learned from the first receipts; default: auto',
  }),
}
export const CarrierCreation = requestBody(
  'CarrierCreation',
  { name: LinkName, ...required, password: Password, ...Type.Partial(Type.Object(settings)).properties },
  { name: 'acme', host: 'smpp.example.net', systemId: 'aldis', password: 'secret08', binds: 2 },
)
const Change = changeBody('CarrierChange', CarrierCreation, [], { messagesPerSecond: 100 })
const Link = titled('CarrierLink', {
  state: Type.String(),
  since: Nullable(Timestamp),
  lastError: NullableText,
  unanswered: Type.Integer({ description: 'submit_sm whose answer is awaited' }),
  links: Type.Array(
    titled('CarrierBind', {
      number: Type.Integer({ description: 'which of the binds, from 0' }),
      bind: Type.String(),
      state: Type.String(),
      boundSince: Nullable(Timestamp),
      lastClose: NullableText,
      unanswered: Type.Integer(),
    }),
  ),
})
const Carrier = titled('Carrier', {
  carrierId: Type.Integer(),
  name: Type.String(),
  host: Type.String(),
  systemId: Type.String(),
  ...settings,
  port: Type.Integer({ description: 'TCP port; 0: that of the simulator in each node (carrier sandbox)' }),
  learnedIdRule: Nullable(Type.String({ description: 'what idRule auto has learned; null: nothing yet' })),
  leases: Type.Array(titled('BindLease', { bind: Type.Integer(), node: Type.String() }), {
    description: 'which node has which bind',
  }),
  link: Type.Unsafe<Static<typeof Link> | null>({
    ...Nullable(Link),
    description: 'of the node that answers; null: it has none',
  }),
  anomalies: Type.Record(Type.String(), Type.Integer(), {
    description:
      'how often the carrier violated SMPP 3.4, by kind, as counted by the node that answers since it started',
  }),
  createdAt: Timestamp,
})
const ListedCarrier = titled('ListedCarrier', {
  ...Carrier.properties,
  bindStates: Type.Array(CarrierBindState, {
    description: 'its binds on all nodes; what other nodes say is some seconds old',
  }),
})

export function registerCarriers(scope: AdminScope, deps: AdminDeps): void {
  const carriers = carriersOf(deps)
  addConfigured(scope, deps, carriers)
  addCarrierList(scope, deps, carriers)
}

/** The settings of each, and the binds on every node: of the whole page in one read. */
function addCarrierList(
  scope: AdminScope,
  { reads, ownReport = () => null }: AdminDeps,
  carriers: Carriers,
): void {
  addList(scope, carriers.path, {
    ...documentOf({ ...carriers, table }, 'list'),
    query: pageQuery(LinkName, {}),
    item: ListedCarrier,
    fetch: async ({ query: { after = '' } }, limit) => {
      const rows = await table.list(reads, { after, limit })
      const nodes = await readNodes(reads, ownReport)
      return rows.map((carrier) => ({ carrier, nodes }))
    },
    keyOf: ({ carrier }) => carrier.name,
    present: ({ carrier, nodes }) => ({
      ...carriers.present(carrier),
      bindStates: presentBinds(carrier, nodes),
    }),
  })
}

type Carriers = ConfiguredResource<typeof Carrier, CarrierRecord>

function carriersOf({ linkSummary, carrierAnomalies }: AdminDeps): Carriers {
  return {
    kind: CARRIERS,
    path: '/carriers',
    texts: {
      create:
        'The service connects and binds at once, unless the state says otherwise. The password is never shown again.',
      show: 'Returns its settings, except its password, and the state of its binds on the node that answers.',
      change: `Binds are renewed where the change needs it. ${AT_ONCE}`,
      remove: 'A carrier that a route uses cannot be deleted.',
    },
    key: 'carrier',
    keyField: LinkKey,
    item: Carrier,
    creation: CarrierCreation,
    change: Change,
    inUse: 'the carrier is still used by a route',
    keyOf: (carrier) => carrier.name,
    present: (carrier) => ({
      ...settingsOf(carrier),
      leases: [...carrier.leases],
      link: linkSummary?.(carrier.carrierId) ?? null,
      anomalies: { ...carrierAnomalies?.(carrier.carrierId) },
    }),
    settings: settingsOf,
  }
}

function settingsOf({ leases, submitOutcomes, createdAt, ...carrier }: CarrierRecord) {
  return {
    ...carrier,
    submitOutcomes: outcomesByHexStatus(submitOutcomes),
    createdAt: createdAt.toISOString(),
  }
}
