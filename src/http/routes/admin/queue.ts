import type { Backlog, WaitingMessages } from '../../../domain/backlog.ts'
import { AppError } from '../../../errors.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { instant, Nullable, titled } from '../../schemas/shapes.ts'
import { NullableText, Timestamp } from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'

const WaitingMessagesSchema = titled('WaitingMessages', {
  place: Type.String({ description: 'memory: of the node that answers; database: of all nodes' }),
  route: NullableText,
  carrier: Nullable(Type.String({ description: 'the carrier chosen for it, or that of its last attempt' })),
  cause: Type.String({ description: 'why they wait' }),
  count: Type.Integer(),
  oldestAt: instant({ description: 'when the oldest was accepted' }),
})
const WaitingWebhooksSchema = titled('WaitingWebhooks', {
  cause: Type.String({ description: 'why they wait' }),
  count: Type.Integer(),
  oldestAt: Timestamp,
})
const TroubledDestinationSchema = titled('TroubledDestination', {
  servicePlanId: Type.String(),
  destination: Type.String({ description: 'scheme, host and port' }),
  state: Type.String({ description: 'open, paused or recovering' }),
  since: Timestamp,
  error: NullableText,
  count: Type.Integer({ description: 'events that wait for it' }),
  oldestAt: Nullable(Timestamp),
})
const Queue = titled('Queue', {
  countedAt: instant({ description: 'when the database was read; at most every 10 s' }),
  messages: Type.Array(WaitingMessagesSchema),
  webhooks: Type.Array(WaitingWebhooksSchema),
  destinations: Type.Array(TroubledDestinationSchema),
  truncated: Type.Object(
    { messages: Type.Boolean(), webhooks: Type.Boolean() },
    { description: 'whether more wait in the database than were counted' },
  ),
})

/** What waits, where and why. */
export function registerQueue(scope: AdminScope, { backlog, directory }: AdminDeps): void {
  addOperation(scope, 'GET /queue', {
    operationId: 'getQueue',
    summary: 'Show the backlog',
    description:
      'Returns the waiting messages by route, carrier and cause, and the waiting webhooks by cause.',
    tags: ['Queue'],
    answer: Queue,
    run: async () => {
      if (backlog === undefined) throw new AppError('NOT_FOUND')
      const { held, waiting, webhooks, destinations, more, countedAtMs } = await backlog.read()
      const current = directory.current()
      return {
        countedAt: new Date(countedAtMs),
        messages: [...held.map(inPlace('memory')), ...waiting.map(inPlace('database'))],
        webhooks: webhooks.map(({ cause, count, oldestMs }) => ({
          cause,
          count,
          oldestAt: new Date(oldestMs),
        })),
        destinations: destinations.flatMap((row) => {
          const plan = current.planById(row.planId)
          return plan === undefined ? [] : [presentDestination(row, plan.servicePlanId)]
        }),
        truncated: more,
      }
    },
  })
}

function inPlace(place: 'memory' | 'database') {
  return ({ oldestMs, ...row }: WaitingMessages) => ({ place, ...row, oldestAt: new Date(oldestMs) })
}

function presentDestination(row: Backlog['destinations'][number], servicePlanId: string) {
  const { planId: _, oldestMs, ...rest } = row
  return { servicePlanId, ...rest, oldestAt: oldestMs === null ? null : new Date(oldestMs) }
}
