import type { FastifyInstance } from 'fastify'
import type { Static } from 'typebox'
import { SharedSlots } from '../../collections/shared-room.ts'
import type { RateLimit } from '../../domain/configuration/configuration.ts'
import { type EventKey, eventId, parseEventId } from '../../domain/identifiers.ts'
import { RateLimiter, refusalHeaders } from '../../domain/limits/rate-limits.ts'
import { type EventFilters, parseEventFilters } from '../../domain/lists.ts'
import { AppError, checked, fault, notFound } from '../../errors.ts'
import { retryConflicts } from '../../operations/manage/configuration-rows.ts'
import { redeliverEvent, redeliverEvents } from '../../operations/redeliver-events.ts'
import type { TestEvents } from '../../operations/send-tests.ts'
import type { Queryable } from '../../store/database.ts'
import { findEvent } from '../../store/event-list.ts'
import { planToRead } from '../authentication.ts'
import { takeOrRefuse } from '../rate-limiting.ts'
import { answered } from '../schemas/error-body.ts'
import { EventPathSchema, PlanParameter } from '../schemas/parameters.ts'
import { REDELIVERED, REDELIVERED_WEBHOOK_EVENT, TEST_EVENT } from '../schemas/response-examples.ts'
import { Type } from '../schemas/schema-builder.ts'
import { oneOf, requestBody } from '../schemas/shapes.ts'
import {
  DestinationField,
  DryRunField,
  EVENT_TYPES,
  MsgIdField,
  presentEventDetail,
  RedeliveredSchema,
  TestEventSchema,
  WebhookEventDetailSchema,
} from '../schemas/webhooks.ts'
import { type EventDetailDeps, eventOfPath } from './webhook-events.ts'

export interface WebhookActionDeps extends EventDetailDeps {
  /** For statements that write: `db` has a short timeout. */
  readonly writes: Queryable
  readonly testEvents: TestEvents
  readonly clock: () => number
}

const OneBody = requestBody(
  'RedeliverEventRequest',
  { servicePlanId: PlanParameter },
  { servicePlanId: '65f0c0ffee65f0c0ffee65f0' },
)

const ManyBody = requestBody(
  'RedeliverEventsRequest',
  {
    servicePlanId: PlanParameter,
    state: Type.Optional(
      oneOf(['failed', 'kept'], {
        description: 'default: failed; kept: events that had no URL, and have one now',
      }),
    ),
    msgId: Type.Optional(MsgIdField),
    destination: Type.Optional(DestinationField),
    fromDate: Type.Optional(
      Type.String({ maxLength: 64, format: 'date-time', description: "Of messages' createdAt, inclusive" }),
    ),
    toDate: Type.Optional(Type.String({ maxLength: 64, format: 'date-time', description: 'Inclusive' })),
    dryRun: DryRunField,
    after: Type.Optional(Type.String({ maxLength: 42, description: 'nextAfter of the previous response' })),
  },
  { servicePlanId: '65f0c0ffee65f0c0ffee65f0', state: 'failed', fromDate: '2026-11-01T00:00:00Z' },
)

const TestBody = requestBody(
  'TestEventRequest',
  {
    servicePlanId: PlanParameter,
    type: Type.Optional(oneOf(EVENT_TYPES, { title: 'EventType', description: 'default: deliveryReceipt' })),
    url: Type.Optional(
      Type.String({
        format: 'uri',
        description: "When absent: the account's default DLR URL, or the plan's inbound URL",
      }),
    ),
  },
  { servicePlanId: '65f0c0ffee65f0c0ffee65f0', url: 'https://hooks.example.com/receipts' },
)

const COMMON = { tags: ['Webhook deliveries'] }

const ONE = {
  ...COMMON,
  operationId: 'redeliverWebhookEvent',
  summary: 'Redeliver an event',
  description:
    'The event keeps its id, the count of its attempts continues, and its schedule starts again. A pending event becomes due now.',
  params: EventPathSchema,
  body: OneBody,
  response: answered(
    202,
    WebhookEventDetailSchema,
    'To be delivered',
    REDELIVERED_WEBHOOK_EVENT,
    [404, 409, 413, 415],
  ),
}

const MANY = {
  ...COMMON,
  operationId: 'redeliverWebhookEvents',
  summary: 'Redeliver all events of a plan that failed, or were kept',
  description: 'Redelivers up to 10,000 in one request; nextAfter says where to continue.',
  body: ManyBody,
  response: answered(202, RedeliveredSchema, 'To be delivered', REDELIVERED, [413, 415]),
}

const TEST = {
  ...COMMON,
  operationId: 'sendTestWebhook',
  summary: 'Send a signed test event and return the result',
  description:
    'At most one a second for each account. It has the header aldis-test: true, and is not retried.',
  body: TestBody,
  response: answered(200, TestEventSchema, 'The result', TEST_EVENT, [409, 413, 415]),
}

/** Most events that one request redelivers, and looks at: about a second of work. */
const MANY_AT_ONCE = { redelivered: 10_000, lookedAt: 100_000 }
const MANY_LIMIT: RateLimit = { perSecond: 1, burst: 5 }
/** For all accounts on this node; one account may have one of them. */
const MANY_UNDER_WAY = 2

/** `POST /v1/webhooks/events/{eventId}/redeliver` and `/v1/webhooks/redeliver`. */
export function registerRedeliveries(app: FastifyInstance, deps: WebhookActionDeps): void {
  const { directory, writes, messages } = deps
  app.post('/v1/webhooks/events/:eventId/redeliver', { schema: ONE }, async (request, reply) => {
    const { servicePlanId } = request.body as Static<typeof OneBody>
    const key = eventOfPath(request)
    const plan = planToRead(await directory(), request, servicePlanId)
    await messages.untilRecorded([key.msgId], plan.id)
    await retryConflicts(() => redeliverEvent(writes, plan.id, key))
    const event = await findEvent(writes, plan.id, key)
    if (event === null) throw notFound('event')
    return reply.code(202).send(presentEventDetail(event, plan, deps.headerSettings))
  })

  const turns = new Redeliveries(deps.clock)
  app.post('/v1/webhooks/redeliver', { schema: MANY }, async (request, reply) => {
    const body = request.body as Static<typeof ManyBody>
    const { filters, after } = readRedelivery(body)
    const plan = planToRead(await directory(), request, body.servicePlanId)
    const query = {
      ...filters,
      planId: plan.id,
      state: body.state ?? 'failed',
      dryRun: body.dryRun ?? false,
      after,
    }
    const { redelivered, nextAfter } = await turns.run(plan.account.id, async () => {
      await messages.untilEventsRecorded(plan.id, query.msgId)
      return redeliverEvents((redelivery) => retryConflicts(() => redelivery(writes)), query, MANY_AT_ONCE)
    })
    return reply.code(202).send({ redelivered, nextAfter: nextAfter === null ? null : eventId(nextAfter) })
  })
}

/** `POST /v1/webhooks/test`. It may take as long as a delivery attempt. */
export function registerWebhookTest(
  app: FastifyInstance,
  { directory, testEvents }: WebhookActionDeps,
): void {
  app.post('/v1/webhooks/test', { schema: TEST }, async (request) => {
    const { servicePlanId, type, url } = request.body as Static<typeof TestBody>
    const plan = planToRead(await directory(), request, servicePlanId)
    return testEvents.send(plan, type ?? 'deliveryReceipt', url ?? null)
  })
}

function readRedelivery({ after, ...texts }: Static<typeof ManyBody>): {
  filters: EventFilters
  after: EventKey | null
} {
  return checked((faults) => {
    const filters = parseEventFilters(texts, faults)
    const key = after === undefined ? null : parseEventId(after)
    if (after !== undefined && key === null) {
      faults.push(fault('after', 'INVALID_FORMAT', 'must be nextAfter of the previous response'))
    }
    return { filters, after: key }
  })
}

/** Redelivers many events, in batches. */
class Redeliveries {
  readonly #clock: () => number
  readonly #limiter = new RateLimiter()
  readonly #slots = new SharedSlots(MANY_UNDER_WAY)

  constructor(clock: () => number) {
    this.#clock = clock
  }

  async run<T>(accountId: number, redeliver: () => Promise<T>): Promise<T> {
    const name = 'redeliveries'
    takeOrRefuse(this.#limiter, { name, key: accountId, limit: MANY_LIMIT, nowMs: this.#clock() })
    if (!this.#slots.take(accountId)) {
      throw new AppError('RATE_LIMITED', { headers: refusalHeaders(name, MANY_LIMIT, 1_000) })
    }
    try {
      return await redeliver()
    } finally {
      this.#slots.release(accountId)
    }
  }
}
