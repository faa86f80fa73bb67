import type { StatisticsRow } from '../../src/domain/statistics/query.ts'

/** Counts of a combination in a minute: none but those given. */
export function statisticsRow(more: Partial<StatisticsRow> = {}): StatisticsRow {
  return {
    ...{ atMs: 0, planId: 1, routeId: 1, carrierId: 1, country: 'US' },
    ...{ accepted: 0, sent: 0, delivered: 0, failed: 0, unknown: 0, inbound: 0, segments: 0 },
    ...{ codes: [], codeCounts: [], currencies: [], prices: [] },
    ...{ accept: null, submit: null, receipt: null, webhook: null },
    ...more,
  }
}
