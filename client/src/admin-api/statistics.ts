// Made from the OpenAPI document by `npm run generate-client`.

import type { Statistics } from '../api.ts'

/** Each operation: its input, and its answer when it succeeds. */
export interface StatisticsOperations {
  /** Show statistics of all service plans, or of one. Counts, prices and latencies over time. Each count is at the time when it happened. By service plan or country, without `servicePlanId`, at most 61 minutes, 25 hours or 8 days. */
  getStatisticsOfPlans: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId?: string | undefined
      /** Carrier, by name or number. */
      carrier?: string | undefined
      /** Route, by name or number. */
      route?: string | undefined
      /** One or two of servicePlanId, carrier, route, country, status, errorCode, with a comma between. */
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
