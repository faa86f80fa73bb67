import type { Static } from 'typebox'
import { countByStatus, type Status } from '../../domain/messages/messages.ts'
import {
  DIMENSIONS,
  INTERVALS,
  type Interval,
  LATENCY_BOUNDS_MS,
  LATENCY_BUCKETS,
  MOST_GROUPS,
  MOST_POINTS,
} from '../../domain/statistics/query.ts'
import type { StatisticsAnswer } from '../../operations/read-statistics.ts'
import { Type } from './schema-builder.ts'
import { Nullable, nullableInteger, nullableString, oneOf, titled } from './shapes.ts'

/** The parameters and the answer of statistics, for customers and operators. */

const at = (description: string) => Type.String({ format: 'date-time', description })
const text = (description: string, ...examples: string[]) =>
  Type.Optional(Type.String({ maxLength: 100, description, ...(examples.length > 0 && { examples }) }))

/** Each is judged by the domain, which knows what goes together. */
export const STATISTICS_PARAMETERS = {
  fromDate: text('Start, RFC 3339, inclusive; default: 24 hours before toDate'),
  toDate: text('End, RFC 3339, exclusive; default: now'),
  interval: text(
    'minute (of the last 8 days), hour or day, in UTC; default: minute up to 3 hours, hour up to 10 days, then day',
    'hour',
  ),
  country: text('Country (ISO 3166-1 alpha-2)', 'US'),
  status: text('Count only changes to this status'),
  errorCode: text('Count only changes with this error code, 3 digits'),
}

export function groupByParameter(dimensions: readonly string[]) {
  return text(`One or two of ${dimensions.join(', ')}, with a comma between`, 'country')
}

const Latency = titled('StatisticsLatency', {
  count: Type.Integer(),
  p50: Type.Integer({ description: 'ms, interpolated within its bucket' }),
  p99: Type.Integer({ description: 'ms; above the last bound, that bound' }),
  buckets: Type.Array(Type.Integer(), {
    description: `${LATENCY_BUCKETS} counts: up to each of latencyBoundsMs, and above the last`,
  }),
})
const Latencies = Type.Object(
  {
    accept: Nullable(Latency),
    submit: Nullable(Latency),
    receipt: Nullable(Latency),
    webhook: Nullable(Latency),
  },
  {
    title: 'StatisticsLatencies',
    description:
      'accept: from the request to its commit; submit: from then to the carrier’s answer to the last segment; receipt: from then to the receipt that changed the status; webhook: from the change to its 2xx',
  },
)
const Price = titled('StatisticsPrice', {
  currency: Type.String(),
  price: Type.String({ description: 'exact decimal' }),
})
const FIGURES = {
  accepted: Type.Integer(),
  sent: Type.Integer({ description: 'taken whole by a carrier' }),
  delivered: Type.Integer(),
  failed: Type.Integer(),
  unknown: Type.Integer({ description: 'also those that got a final status later' }),
  inbound: nullableInteger({ description: 'null, as what follows, by status or error code' }),
  segments: nullableInteger({ description: 'of sent messages' }),
  prices: Nullable(Type.Array(Price, { description: 'of sent messages, in each currency' })),
  latencyMs: Nullable(Latencies),
}
const OptionalText = Type.Optional(nullableString())
const Group = Type.Object(
  {
    ...(Object.fromEntries(DIMENSIONS.map((name) => [name, OptionalText])) as Record<
      (typeof DIMENSIONS)[number],
      typeof OptionalText
    >),
    servicePlanName: Type.Optional(
      nullableString({ description: 'with servicePlanId; null: deleted, or inbound messages of none' }),
    ),
  },
  {
    title: 'StatisticsGroup',
    description: 'A value for each of groupBy; null: none, or not known yet; # and a number: deleted',
  },
)
const Bounds = Type.Array(Type.Integer())

export const StatisticsSchema = titled('Statistics', {
  from: at('as asked for, at the start of an interval'),
  to: at('exclusive, at the end of an interval; not later than the present one'),
  interval: oneOf(Object.keys(INTERVALS) as Interval[]),
  groupBy: Type.Array(oneOf(DIMENSIONS)),
  completeUntil: at(
    'what happened before this is counted; processes write their counts every 5 s, and a crash loses those of at most 10 s',
  ),
  latencyBoundsMs: Type.Object(
    { accept: Bounds, submit: Bounds, receipt: Bounds, webhook: Bounds },
    { title: 'StatisticsBounds', description: 'upper bounds of the buckets, ms' },
  ),
  series: Type.Array(
    titled('StatisticsSeries', {
      group: Nullable(Group),
      totals: titled('StatisticsFigures', FIGURES),
      points: Type.Array(titled('StatisticsPoint', { at: at('start of the interval'), ...FIGURES })),
    }),
    {
      description: `The largest groups first, at most ${MOST_GROUPS} and ${MOST_POINTS} points in all; then, with group null, all others together`,
    },
  ),
})

export function presentStatistics(answer: StatisticsAnswer): Static<typeof StatisticsSchema> {
  const { fromMs, toMs, interval, groupBy, completeUntilMs, series } = answer
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    interval,
    groupBy: [...groupBy],
    completeUntil: new Date(completeUntilMs).toISOString(),
    latencyBoundsMs: LATENCY_BOUNDS_MS as Static<typeof StatisticsSchema>['latencyBoundsMs'],
    series: series.map(({ group, totals, points }) => ({
      group,
      totals,
      points: points.map(({ atMs, ...figures }) => ({ at: new Date(atMs).toISOString(), ...figures })),
    })) as Static<typeof StatisticsSchema>['series'],
  }
}

/** At most this many messages are looked at, the newest. */
export const MOST_COUNTED = 1_000

const Count = Type.Integer()

export const StatusCountsSchema = titled('StatusCounts', {
  counted: Type.Integer({ description: `Messages that match; at most the newest ${MOST_COUNTED}` }),
  hasMore: Type.Boolean({ description: 'More match than were counted' }),
  counts: titled('CountsByStatus', {
    QUEUED: Count,
    SENT: Count,
    DELIVERED: Count,
    FAILED: Count,
    UNKNOWN: Count,
  }),
})

/** `newest`: one more than MOST_COUNTED tells that there are more. */
export function presentCounts(newest: readonly { readonly status: Status }[], isCutOff = false) {
  const counted = newest.slice(0, MOST_COUNTED)
  const hasMore = isCutOff || newest.length > counted.length
  return { counted: counted.length, hasMore, counts: countByStatus(counted) }
}
