import { Type } from 'typebox'
import { MAX_BIND_ERRORS } from '../../../domain/carriers/binds.ts'
import { BIND_STATES, bindStates, type LivingNode, nodeCondition } from '../../../domain/nodes.ts'
import { notFound } from '../../../errors.ts'
import { readNodes } from '../../../operations/read-nodes.ts'
import { type CarrierRecord, carriers } from '../../../store/carriers.ts'
import { nullableInteger, nullableNumber, nullableString, oneOf, titled } from '../../schemas/shapes.ts'
import { LinkKey } from './fields.ts'
import { addOperation } from './operations.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

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
export const CarrierBindState = titled('CarrierBindState', {
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
export function presentBinds(carrier: CarrierRecord, nodes: readonly LivingNode[]) {
  return bindStates(carrier, nodes).map((bind) => ({ ...bind, errors: [...bind.errors] }))
}
