import type { Static } from 'typebox'
import {
  deliveryRate,
  MISSING_AFTER_MINUTES,
  minuteOf,
  percentileMs,
  RECEIPT_LATENCY_BOUNDS_MS,
  SUBMIT_LATENCY_BOUNDS_MS,
} from '../../../domain/carriers/quality.ts'
import { MINUTE_MS } from '../../../domain/instants.ts'
import { notFound } from '../../../errors.ts'
import { keyOfCarrier, keyOfRoute } from '../../../operations/manage/configuration-rows.ts'
import type { Queryable } from '../../../store/database.ts'
import {
  type CarrierPause,
  endPause,
  listPauses,
  type QualitySums,
  qualitySeries,
  sumQuality,
} from '../../../store/quality.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { Nullable, titled } from '../../schemas/shapes.ts'
import { described, LinkKey, Minutes, RouteKey, Timestamp } from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'

const DEFAULT_MINUTES = 60
/** Most pairs of carrier and route in one answer: those with most traffic. */
const MAX_ITEMS = 1_000
/** Beyond this, a series has hourly steps: 180 points at most, or 168. */
const MAX_MINUTE_STEPS = 180
const MINUTE_S = 60
const HOUR_S = 3_600

const Count = Type.Integer()
const Ms = Nullable(Type.Integer())
const Figures = {
  submits: Type.Object(
    {
      total: Count,
      accepted: Count,
      refused: Count,
      throttled: Count,
      noAnswer: Count,
      latencyMs: Type.Object({ p50: Ms, p95: Ms, max: Ms }),
    },
    { title: 'SubmitFigures', description: 'submit_sm, one for each segment' },
  ),
  messages: titled('MessageFigures', {
    sent: Count,
    delivered: Count,
    failed: Count,
    unknown: Count,
    missing: Type.Integer({
      description: `sent more than ${MISSING_AFTER_MINUTES} minutes ago, without a final receipt`,
    }),
    deliveryRate: Nullable(Type.Number({ description: 'percent of those with a final receipt' })),
    receiptLatencyMs: Type.Object({ p50: Ms, p95: Ms }),
  }),
}
const Pause = titled('QualityPause', {
  route: Type.String(),
  carrier: Type.String(),
  since: Timestamp,
  until: Timestamp,
  reason: Type.String(),
})
const Quality = titled('Quality', {
  from: Timestamp,
  to: Timestamp,
  items: Type.Array(
    titled('CarrierQuality', {
      route: Type.String(),
      carrier: Type.String(),
      ...Figures,
      outOfUseUntil: Nullable(Timestamp),
    }),
  ),
  truncated: Type.Boolean({
    description: `more than ${MAX_ITEMS} carriers in routes: those with most traffic`,
  }),
  series: Type.Optional(
    Type.Array(titled('QualityPoint', { at: Timestamp, ...Figures }), {
      description: `totals of everything selected, by minute, beyond ${MAX_MINUTE_STEPS} minutes by hour`,
    }),
  ),
})
const Query = Type.Object(
  {
    carrier: Type.Optional(described(LinkKey, 'Carrier, by name or number')),
    route: Type.Optional(described(RouteKey, 'Route, by name or number')),
    minutes: Type.Optional(Minutes),
    series: Type.Optional(
      Type.Enum(['true', 'false'], {
        description: 'Show totals over time, for everything selected',
      }),
    ),
  },
  { additionalProperties: false },
)
const Params = Type.Object({ route: RouteKey, carrier: LinkKey })

export function registerQuality(scope: AdminScope, { change, reads, quality }: AdminDeps): void {
  const tags = ['Quality']
  const clock = () => quality?.clock() ?? Date.now()

  addOperation(scope, 'GET /quality', {
    operationId: 'getQuality',
    summary: 'Show the quality of carriers',
    description: 'Returns the answers, receipts and latencies of each carrier in each route.',
    tags,
    query: Query,
    answer: Quality,
    run: ({ query }) => qualityOf(reads, query, clock()),
  })

  addOperation(scope, 'GET /quality/pauses', {
    operationId: 'listQualityPauses',
    summary: 'List quality pauses',
    description: 'Returns the carriers that the quality floor of a route has taken out of use.',
    tags,
    answer: titled('QualityPauses', { items: Type.Array(Pause) }),
    run: async () => ({ items: (await listPauses(reads, new Date(clock()))).map(presentPause) }),
  })

  addOperation(scope, 'DELETE /quality/pauses/:route/:carrier', {
    operationId: 'endQualityPause',
    summary: 'Delete a quality pause',
    description: 'The pause ends: the route uses the carrier again, and judges it by messages sent since.',
    tags,
    params: Params,
    run: async (request) => {
      const now = new Date(clock())
      await change(request, async (transaction) => {
        const pause = await endPause(transaction, request.params, now)
        if (pause === null) throw notFound('pause')
        const { route, carrier } = pause
        const before = presentPause(pause)
        const objectId = `${route}/${carrier}`
        return { value: null, entry: { objectType: 'quality-pause', objectId, before, after: null } }
      })
      await quality?.refresh()
    },
  })
}

async function qualityOf(reads: Queryable, query: Static<typeof Query>, now: number) {
  const minutes = Number(query.minutes ?? DEFAULT_MINUTES)
  const selected = {
    from: new Date(minuteOf(now) - (minutes - 1) * MINUTE_MS),
    missingBefore: new Date(minuteOf(now) - MISSING_AFTER_MINUTES * MINUTE_MS),
    ...(await keysOf(reads, query)),
  }
  const pairs = await sumQuality(reads, selected, MAX_ITEMS + 1)
  const pauses = await listPauses(reads, new Date(now))
  const step = minutes > MAX_MINUTE_STEPS ? HOUR_S : MINUTE_S
  const series = query.series === 'true' ? await qualitySeries(reads, selected, step) : null
  return {
    from: selected.from,
    to: new Date(now),
    items: pairs.slice(0, MAX_ITEMS).map(({ route, carrier, ...sums }) => {
      const pause = pauses.find((one) => one.route === route && one.carrier === carrier)
      return { route, carrier, ...figures(sums), outOfUseUntil: pause?.until ?? null }
    }),
    truncated: pairs.length > MAX_ITEMS,
    ...(series !== null && { series: series.map(({ at, ...sums }) => ({ at, ...figures(sums) })) }),
  }
}

async function keysOf(
  reads: Queryable,
  query: { carrier?: string; route?: string },
): Promise<{ carrierId: number | null; routeId: number | null }> {
  return {
    carrierId: query.carrier === undefined ? null : await keyOfCarrier(reads, query.carrier),
    routeId: query.route === undefined ? null : await keyOfRoute(reads, query.route),
  }
}

function figures(sums: QualitySums) {
  const { accepted, refused, throttled, noAnswer, submitLatency, submitLatencyMaxMs } = sums
  const { sent, delivered, failed, unknown, missing, receiptLatency } = sums
  const answered = accepted + refused + throttled
  const submitMs = (share: number) =>
    percentileMs(SUBMIT_LATENCY_BOUNDS_MS, submitLatency, share, submitLatencyMaxMs)
  const receiptMs = (share: number) => percentileMs(RECEIPT_LATENCY_BOUNDS_MS, receiptLatency, share)
  return {
    submits: {
      total: answered + noAnswer,
      accepted,
      refused,
      throttled,
      noAnswer,
      latencyMs: { p50: submitMs(0.5), p95: submitMs(0.95), max: answered > 0 ? submitLatencyMaxMs : null },
    },
    messages: {
      sent,
      delivered,
      failed,
      unknown,
      missing,
      deliveryRate: deliveryRate(sums),
      receiptLatencyMs: { p50: receiptMs(0.5), p95: receiptMs(0.95) },
    },
  }
}

function presentPause({ route, carrier, since, until, reason }: CarrierPause) {
  return { route, carrier, since, until, reason }
}
