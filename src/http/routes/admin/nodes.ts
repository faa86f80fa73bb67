import type { Static } from 'typebox'
import { type LivingNode, NODE_ROLES, type NodeReport } from '../../../domain/nodes.ts'
import { readNodes } from '../../../operations/read-nodes.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { instant, Nullable, nullableInteger, oneOf, titled } from '../../schemas/shapes.ts'
import { NullableText, Timestamp } from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'

const Node = titled('Node', {
  nodeId: Type.Integer({ description: 'changes with each start, and when its lease has been lost' }),
  name: Type.String({ description: 'its NODE_ID; of a worker, with its number' }),
  role: oneOf(NODE_ROLES, { description: 'its NODE_ROLE' }),
  host: NullableText,
  pid: nullableInteger(),
  version: NullableText,
  worker: nullableInteger({ description: 'its number; null: it is not one of several workers' }),
  workers: nullableInteger({ description: 'how many workers its parent has' }),
  since: instant({ description: 'when it was registered, which it is again after its lease was lost' }),
  lastHeartbeatAt: Timestamp,
  leaseEndsAt: instant({ description: 'unless renewed; then its work is taken over' }),
  draining: Nullable(Type.Boolean({ description: 'it is stopping, and accepts nothing more' })),
  buckets: Type.Integer({ description: 'of 256; messages accepted here go into these' }),
  binds: Type.Integer({ description: 'binds of carriers that belong to it' }),
  boundLinks: nullableInteger({ description: 'sessions that are bound; a bind may have two' }),
  messagesInProgress: nullableInteger({ description: 'in its memory and journal' }),
  messagesHeld: nullableInteger({ description: 'of these, still to be submitted' }),
  webhooksHeld: nullableInteger({ description: 'messages with webhook events in its memory' }),
  reportAgeMs: nullableInteger({
    description: 'how old the fields are that only the node itself knows; null: it has not reported them yet',
  }),
})

/** Every living node, whichever answers. */
export function registerNodes(scope: AdminScope, { reads, ownReport = () => null }: AdminDeps): void {
  addOperation(scope, 'GET /nodes', {
    operationId: 'listNodes',
    summary: 'List the nodes',
    description:
      'Returns every node whose lease is not over. Each worker is a node. What a node says of itself is some seconds old.',
    tags: ['Nodes'],
    answer: titled('Nodes', { items: Type.Array(Node) }),
    run: async () => ({ items: (await readNodes(reads, ownReport)).map(presentNode) }),
  })
}

function presentNode({ report, ...node }: LivingNode): Static<typeof Node> {
  return {
    ...node,
    host: report?.host ?? null,
    pid: report?.pid ?? null,
    version: report?.version ?? null,
    worker: report?.worker?.number ?? null,
    workers: report?.worker?.workers ?? null,
    draining: report?.isDraining ?? null,
    boundLinks: report && boundLinks(report),
    messagesInProgress: report?.messagesInProgress ?? null,
    messagesHeld: report?.messagesHeld ?? null,
    webhooksHeld: report?.webhooksHeld ?? null,
  }
}

function boundLinks({ carriers }: NodeReport): number {
  const binds = Object.values(carriers).flatMap((carrier) => carrier.binds)
  return binds.filter(({ state }) => state === 'bound').length
}
