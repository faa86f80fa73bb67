import { describe, expect, test } from 'vitest'
import { messageId } from '../../../src/domain/identifiers.ts'
import { MINUTE_MS } from '../../../src/domain/instants.ts'
import type { LaterFact, MessageState } from '../../../src/domain/journal/message-facts.ts'
import { acceptedState, applyFact } from '../../../src/domain/journal/message-states.ts'
import { LATEST_WRITE_MS, type StatisticsRow } from '../../../src/domain/statistics/query.ts'
import { StatisticsTallies } from '../../../src/domain/statistics/tallies.ts'

const NOW_MS = Date.UTC(2026, 2, 10, 12)
const CHARGE = { price: '0.0075', ptf: '0.003', currency: 'USD' }
const ACCEPTED = {
  kind: 'accepted',
  planId: 1,
  sender: 'Aldis',
  recipient: '+15551230000',
  body: 'hello',
  segments: 1,
  country: 'US',
  callbackUrl: null,
  optedOut: false,
  discardsText: false,
  begun: true,
  routeId: 2,
  expiresAtMs: NOW_MS + 3_600_000,
} as const
const MESSAGE = { msgId: messageId(NOW_MS, new Uint8Array(9), 0), accepted: ACCEPTED }

const settled = (status: 'SENT' | 'FAILED', atMs = NOW_MS + 60): LaterFact => ({
  kind: 'settled',
  atMs,
  status,
  errorCode: status === 'SENT' ? '000' : '301',
  carrierCode: null,
  carrierId: 3,
  routeId: 2,
  routeReason: null,
  segments: null,
  segmentation: null,
  mccmnc: null,
  charge: status === 'SENT' ? CHARGE : null,
})
const receipt = (outcome: 'DELIVERED' | 'UNKNOWN', more: object = {}): LaterFact => ({
  kind: 'receipt',
  atMs: NOW_MS + 1_060,
  outcome,
  segmentBits: 1n,
  segmentation: null,
  errorCode: outcome === 'DELIVERED' ? '000' : '600',
  carrierCode: null,
  mccmnc: null,
  segmentCharge: null,
  evidence: {
    carrierId: 3,
    carrierMessageId: 'm-1',
    receivedAt: new Date(NOW_MS).toISOString(),
    matchedAtMs: null,
    outcome,
    errorCode: '000',
    kept: null,
  },
  ...more,
})

/** Counts what these facts do to a message. */
function tell(tallies: StatisticsTallies, facts: readonly LaterFact[]): MessageState {
  let before = acceptedState(1, NOW_MS)
  for (const fact of facts) {
    const after = applyFact(before, fact as Parameters<typeof applyFact>[1])
    tallies.changed(NOW_MS, { message: MESSAGE, before, after, fact })
    before = after
  }
  return before
}

/** Takes what is to be written; the sums of all plans apart. */
function written(
  tallies: StatisticsTallies,
  nowMs = NOW_MS,
): { rows: StatisticsRow[]; sums: StatisticsRow[] } {
  const rows = tallies.due(nowMs).minutes.flatMap((minute) => {
    const news = minute.takeNews()
    tallies.written(minute)
    return news
  })
  return { rows: rows.filter(({ planId }) => planId !== 0), sums: rows.filter(({ planId }) => planId === 0) }
}

function total(rows: readonly StatisticsRow[], name: 'accepted' | 'inbound' = 'accepted'): number {
  return rows.reduce((sum, row) => sum + row[name], 0)
}

describe('what is counted of a message', () => {
  test('acceptance, segments, price, and the latencies of each step', () => {
    const tallies = new StatisticsTallies()
    tallies.accepted(NOW_MS, ACCEPTED, 4)
    tell(tallies, [settled('SENT'), receipt('DELIVERED')])
    tallies.webhook(NOW_MS, 1, 'US', 12)
    const { rows, sums } = written(tallies)
    const of = (carrierId: number, routeId: number) =>
      rows.find((row) => row.carrierId === carrierId && row.routeId === routeId)!
    expect(of(0, 2)).toMatchObject({
      atMs: NOW_MS,
      planId: 1,
      country: 'US',
      accepted: 1,
      sent: 0,
      submit: null,
    })
    expect(of(0, 2).accept![3]).toBe(1)
    expect(of(3, 2)).toMatchObject({
      sent: 1,
      segments: 1,
      delivered: 1,
      currencies: ['USD'],
      prices: [7_500],
    })
    expect([of(3, 2).submit![4], of(3, 2).receipt![2]]).toEqual([1, 1])
    expect(of(0, 0).webhook![2]).toBe(1)
    expect(sums.map(({ country, carrierId }) => [country, carrierId]).sort()).toEqual([
      ['', 0],
      ['', 0],
      ['', 3],
    ])
  })

  test('a refusal has its code and no receipt; facts that change nothing count nothing', () => {
    const tallies = new StatisticsTallies()
    tell(tallies, [settled('FAILED'), receipt('DELIVERED'), settled('FAILED')])
    const { rows } = written(tallies)
    expect(rows).toMatchObject([
      { failed: 1, sent: 0, delivered: 0, codes: [301], codeCounts: [1], receipt: null },
    ])
  })

  test('a receipt before the answer: delivered, then sent with its price', () => {
    const tallies = new StatisticsTallies()
    tell(tallies, [receipt('DELIVERED'), settled('SENT', NOW_MS + 2_000)])
    const { rows } = written(tallies)
    expect(rows.find(({ carrierId }) => carrierId === 0)).toMatchObject({
      delivered: 1,
      sent: 0,
      receipt: null,
    })
    expect(rows.find(({ carrierId }) => carrierId === 3)).toMatchObject({ sent: 1, prices: [7_500] })
  })

  test('UNKNOWN and delivered after all; a corrected price', () => {
    const tallies = new StatisticsTallies()
    const ported = { mccmnc: '31026', segmentCharge: { ...CHARGE, price: '0.01' } }
    tell(tallies, [settled('SENT'), receipt('UNKNOWN'), receipt('DELIVERED', ported)])
    const { rows } = written(tallies)
    expect(rows).toMatchObject([{ unknown: 1, delivered: 1, codes: [1_600], prices: [10_000] }])
  })
})

describe('rows', () => {
  test('hold the whole minute each time, and are written only when they have news', () => {
    const tallies = new StatisticsTallies()
    tallies.accepted(NOW_MS, ACCEPTED, 1)
    expect(total(written(tallies).rows)).toBe(1)
    expect(written(tallies).rows).toEqual([])
    tallies.accepted(NOW_MS + 30_000, ACCEPTED, 1)
    expect(total(written(tallies, NOW_MS + 30_000).rows)).toBe(2)
  })

  test('of an earlier minute are kept until they are written, and dropped when that is too late', () => {
    const tallies = new StatisticsTallies()
    tallies.accepted(NOW_MS, ACCEPTED, 1)
    for (const minute of tallies.due(NOW_MS).minutes) {
      minute.takeNews()
      minute.putBack()
    }
    tallies.accepted(NOW_MS + MINUTE_MS, ACCEPTED, 1)
    const { rows } = written(tallies, NOW_MS + MINUTE_MS)
    expect(rows.map(({ atMs, accepted }) => [atMs - NOW_MS, accepted])).toEqual([
      [0, 1],
      [MINUTE_MS, 1],
    ])
    tallies.accepted(NOW_MS + 2 * MINUTE_MS, ACCEPTED, 1)
    tallies.accepted(NOW_MS + LATEST_WRITE_MS + 2 * MINUTE_MS, ACCEPTED, 1)
    expect(tallies.due(NOW_MS + LATEST_WRITE_MS + 2 * MINUTE_MS).dropped).toBe(1)
    expect(total(written(tallies, NOW_MS + LATEST_WRITE_MS + 2 * MINUTE_MS).rows)).toBe(1)
  })

  test('of a minute whose write is refused when the next one has begun are written later', () => {
    const tallies = new StatisticsTallies()
    tallies.inbound(NOW_MS, 1, 3, 'US')
    const [minute] = tallies.due(NOW_MS).minutes
    minute!.takeNews()
    tallies.inbound(NOW_MS + MINUTE_MS, 1, 3, 'US')
    minute!.putBack()
    expect(written(tallies, NOW_MS + MINUTE_MS).rows).toMatchObject([
      { atMs: NOW_MS, inbound: 1 },
      { atMs: NOW_MS + MINUTE_MS, inbound: 1 },
    ])
    expect(tallies.due(NOW_MS + MINUTE_MS).minutes).toHaveLength(1)
  })

  test('a clock that goes back counts in the present minute', () => {
    const tallies = new StatisticsTallies()
    tallies.accepted(NOW_MS, ACCEPTED, 1)
    tallies.accepted(NOW_MS - MINUTE_MS, ACCEPTED, 1)
    expect(written(tallies).rows).toMatchObject([{ atMs: NOW_MS, accepted: 2 }])
  })
})

describe('bounds', () => {
  const COUNTRIES = ['US', 'GB', 'DE', 'FR', 'ES', 'IT', 'PL', 'SE']

  test('a plan beyond its share loses countries, then carriers, and no count; others keep theirs', () => {
    const tallies = new StatisticsTallies({ rows: 100, rowsOfPlan: 4 })
    for (const country of COUNTRIES)
      for (const carrierId of [1, 2, 2_000]) tallies.inbound(NOW_MS, 1, carrierId, country)
    for (const country of COUNTRIES.slice(0, 3)) tallies.inbound(NOW_MS, 2, 1, country)
    const { rows, sums } = written(tallies)
    const ofFirst = rows.filter(({ planId }) => planId === 1)
    expect(ofFirst.length).toBeLessThanOrEqual(9)
    expect(total(ofFirst, 'inbound')).toBe(24)
    expect(rows.filter(({ planId }) => planId === 2).map(({ country }) => country)).toEqual([
      'US',
      'GB',
      'DE',
    ])
    expect(total(sums, 'inbound')).toBe(27)
  })

  test('when there is no room at all, each plan still has a row', () => {
    const tallies = new StatisticsTallies({ rows: 2, rowsOfPlan: 4 })
    for (let planId = 1; planId <= 20; planId += 1)
      for (const country of COUNTRIES) tallies.inbound(NOW_MS, planId, 7, country)
    const { rows } = written(tallies)
    expect(rows.length).toBeLessThanOrEqual(24)
    for (let planId = 1; planId <= 20; planId += 1)
      expect(
        total(
          rows.filter((row) => row.planId === planId),
          'inbound',
        ),
      ).toBe(COUNTRIES.length)
  })

  test('combinations are told apart, whatever their keys', () => {
    const tallies = new StatisticsTallies()
    const keys = [0, 1, 1_023, 1_024, 65_536, 2_000_000]
    for (const routeId of keys)
      for (const country of [...COUNTRIES, 'AA', 'ZZ', null])
        tallies.accepted(NOW_MS, { ...ACCEPTED, routeId, country }, 1)
    for (const carrierId of keys) tallies.inbound(NOW_MS, 1, carrierId, 'US')
    const { rows } = written(tallies)
    expect(rows.length).toBe(keys.length * (COUNTRIES.length + 3) + keys.length - 1)
    expect(new Set(rows.map((row) => `${row.routeId} ${row.carrierId} ${row.country}`)).size).toBe(
      rows.length,
    )
  })
})
