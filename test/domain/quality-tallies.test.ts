import { expect, test } from 'vitest'
import { noCounts } from '../../src/domain/quality.ts'
import { QualityTallies } from '../../src/domain/quality-tallies.ts'

const MINUTE_MS = 60_000
const AT_MS = Date.UTC(2026, 2, 10, 12)
const PAIR = { carrierId: 3, routeId: 7 }

test('counts by minute, carrier and route, and forgets what was taken', () => {
  const tallies = new QualityTallies()
  tallies.submitted(AT_MS + 1, PAIR, 'accepted', 12)
  tallies.submitted(AT_MS + 59_999, PAIR, 'throttled', 700)
  tallies.submitted(AT_MS + 2, PAIR, 'noAnswer', null)
  tallies.submitted(AT_MS + MINUTE_MS, PAIR, 'refused', 3)
  tallies.sent(AT_MS, { carrierId: 7, routeId: 3 })
  const rows = tallies.take()
  expect(rows.map(({ minuteMs, carrierId, routeId }) => [minuteMs, carrierId, routeId])).toEqual([
    [AT_MS, 3, 7],
    [AT_MS, 7, 3],
    [AT_MS + MINUTE_MS, 3, 7],
  ])
  const [first, other] = rows
  expect(first!.counts).toMatchObject({ accepted: 1, throttled: 1, noAnswer: 1, refused: 0, sent: 0 })
  expect(first!.counts.submitLatencyMaxMs).toBe(700)
  expect(first!.counts.submitLatency.reduce((sum, count) => sum + count)).toBe(2)
  expect(other!.counts).toEqual({ ...noCounts(), sent: 1 })
  expect(tallies.take()).toEqual([])
})

test('a message that was UNKNOWN and is no longer counts once', () => {
  const tallies = new QualityTallies()
  tallies.finished(AT_MS, PAIR, 'unknown', 900, false)
  tallies.finished(AT_MS, PAIR, 'delivered', 5_000, true)
  const [row] = tallies.take()
  expect(row!.counts).toMatchObject({ delivered: 1, unknown: 0 })
  expect(row!.counts.receiptLatency.reduce((sum, count) => sum + count)).toBe(1)
})

test('counts that are given back are added to what came meanwhile', () => {
  const tallies = new QualityTallies()
  const count = () => {
    tallies.submitted(AT_MS, PAIR, 'accepted', 4)
    tallies.finished(AT_MS, PAIR, 'failed', 4, false)
  }
  count()
  const rows = tallies.take()
  count()
  tallies.submitted(AT_MS, PAIR, 'accepted', 2)
  tallies.giveBack(rows)
  const all = new QualityTallies()
  for (const latencyMs of [4, 4, 2]) all.submitted(AT_MS, PAIR, 'accepted', latencyMs)
  for (let time = 0; time < 2; time += 1) all.finished(AT_MS, PAIR, 'failed', 4, false)
  expect(tallies.take()).toEqual(all.take())
})

test('what finds no room is dropped and said; what has a place goes on', () => {
  const tallies = new QualityTallies()
  for (let minute = 0; minute < 15_003; minute += 1) tallies.sent(AT_MS + minute * MINUTE_MS, PAIR)
  tallies.sent(AT_MS, PAIR)
  expect(tallies.takeDropped()).toBe(3)
  expect(tallies.takeDropped()).toBe(0)
  const rows = tallies.take()
  expect(rows).toHaveLength(15_000)
  expect(rows[0]!.counts.sent).toBe(2)
  tallies.sent(AT_MS, PAIR)
  expect(tallies.take()).toHaveLength(1)
})
