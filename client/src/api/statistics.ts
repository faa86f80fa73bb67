// Made from the OpenAPI document by `npm run generate-client`.

export interface Statistics {
  /** as asked for, at the start of an interval. */
  from: string
  /** exclusive, at the end of an interval; not later than the present one. */
  to: string
  interval: 'minute' | 'hour' | 'day'
  groupBy: ('servicePlanId' | 'carrier' | 'route' | 'country' | 'status' | 'errorCode')[]
  /** what happened before this is counted; processes write their counts every 5 s, and a crash loses those of at most 10 s. */
  completeUntil: string
  /** upper bounds of the buckets, ms. */
  latencyBoundsMs: StatisticsBounds
  /** The largest groups first, at most 50 and 1500 points in all; then, with group null, all others together. */
  series: StatisticsSeries[]
}

export interface StatisticsBounds {
  accept: number[]
  submit: number[]
  receipt: number[]
  webhook: number[]
}

export interface StatisticsFigures {
  accepted: number
  /** taken whole by a carrier. */
  sent: number
  delivered: number
  failed: number
  /** also those that got a final status later. */
  unknown: number
  /** null, as what follows, by status or error code. */
  inbound: number | null
  /** of sent messages. */
  segments: number | null
  /** of sent messages, in each currency. */
  prices: StatisticsPrice[] | null
  /** accept: from the request to its commit; submit: from then to the carrier’s answer to the last segment; receipt: from then to the receipt that changed the status; webhook: from the change to its 2xx. */
  latencyMs: StatisticsLatencies | null
}

export interface StatisticsGroup {
  servicePlanId?: string | null | undefined
  carrier?: string | null | undefined
  route?: string | null | undefined
  country?: string | null | undefined
  status?: string | null | undefined
  errorCode?: string | null | undefined
  /** with servicePlanId; null: deleted, or inbound messages of none. */
  servicePlanName?: string | null | undefined
}

export interface StatisticsLatencies {
  accept: StatisticsLatency | null
  submit: StatisticsLatency | null
  receipt: StatisticsLatency | null
  webhook: StatisticsLatency | null
}

export interface StatisticsLatency {
  count: number
  /** ms, interpolated within its bucket. */
  p50: number
  /** ms; above the last bound, that bound. */
  p99: number
  /** 16 counts: up to each of latencyBoundsMs, and above the last. */
  buckets: number[]
}

export interface StatisticsPoint {
  /** start of the interval. */
  at: string
  accepted: number
  /** taken whole by a carrier. */
  sent: number
  delivered: number
  failed: number
  /** also those that got a final status later. */
  unknown: number
  /** null, as what follows, by status or error code. */
  inbound: number | null
  /** of sent messages. */
  segments: number | null
  /** of sent messages, in each currency. */
  prices: StatisticsPrice[] | null
  /** accept: from the request to its commit; submit: from then to the carrier’s answer to the last segment; receipt: from then to the receipt that changed the status; webhook: from the change to its 2xx. */
  latencyMs: StatisticsLatencies | null
}

export interface StatisticsPrice {
  currency: string
  /** exact decimal. */
  price: string
}

export interface StatisticsSeries {
  /** A value for each of groupBy; null: none, or not known yet; # and a number: deleted. */
  group: StatisticsGroup | null
  totals: StatisticsFigures
  points: StatisticsPoint[]
}

/** Each operation: its input, and its answer when it succeeds. */
export interface StatisticsOperations {
  /** Show statistics. Counts, prices and latencies over time, of one service plan or of all that the token may read. Each count is at the time when it happened. */
  getStatistics: {
    input: {
      /** Service plan; default: all that the token may read. */
      servicePlanId?: string | undefined
      /** One or two of servicePlanId, country, status, errorCode, with a comma between. */
      groupBy?: string | undefined
      /** Start, RFC 3339, inclusive; default: 24 hours before toDate. */
      fromDate?: string | undefined
      /** End, RFC 3339, exclusive; default: now. */
      toDate?: string | undefined
      /** minute (of the last 8 days), hour or day, in UTC; default: minute up to 3 hours, hour up to 10 days, then day. */
      interval?: string | undefined
      /** Country (ISO 3166-1 alpha-2). */
      country?: string | undefined
      /** Count only changes to this status. */
      status?: string | undefined
      /** Count only changes with this error code, 3 digits. */
      errorCode?: string | undefined
    }
    answer: Statistics
  }
}
