import { expect, test } from 'vitest'
import { change, writtenRate } from '../../../../console/src/pages/overview/rates.ts'
import { countedMs, timeWindow, windowOfPlans } from '../../../../console/src/pages/overview/time-window.ts'

const NOW = Date.parse('2026-11-23T12:34:56Z')
const HOUR = 3_600_000
const iso = (ms: number) => new Date(ms).toISOString().slice(5, 16)

test.each([
  [HOUR / 4, '11-23T12:20', '11-23T12:35'],
  [HOUR, '11-23T11:35', '11-23T12:35'],
  [6 * HOUR, '11-23T06:00', '11-23T12:35'],
  [24 * HOUR, '11-22T12:00', '11-23T13:00'],
  [7 * 24 * HOUR, '11-16T00:00', '11-23T13:00'],
  [30 * 24 * HOUR, '10-24T00:00', '11-24T00:00'],
] as const)('%i ms begin with a whole interval of charts and tables', (span, from, to) => {
  const { fromMs, toMs } = timeWindow(span, NOW)
  expect([iso(fromMs), iso(toMs)]).toEqual([from, to])
})

test('by plan or country over all plans there are at most 8 days', () => {
  expect(iso(windowOfPlans(timeWindow(30 * 24 * HOUR, NOW)).fromMs)).toBe('11-16T00:00')
  expect(windowOfPlans(timeWindow(7 * 24 * HOUR, NOW))).toEqual(timeWindow(7 * 24 * HOUR, NOW))
  expect(windowOfPlans(timeWindow(24 * HOUR, NOW))).toEqual(timeWindow(24 * HOUR, NOW))
})

test('a rate is known of what is counted whole, and of a long beginning', () => {
  const until = (text: string) => Date.parse(`2026-11-23T${text}Z`)
  expect(countedMs(until('12:33:00'), 'minute', until('12:34:00'))).toBe(60_000)
  expect(countedMs(until('12:34:00'), 'minute', until('12:34:50'))).toBeNull()
  expect(countedMs(until('12:00:00'), 'hour', until('12:04:00'))).toBeNull()
  expect(countedMs(until('12:00:00'), 'hour', until('12:30:00'))).toBe(1_800_000)
})

test('rates and changes are written in numbers that read well', () => {
  expect([0.004_21, 0.0003, 0.000_000_5].map((rate) => writtenRate(rate, 900))).toEqual([
    '4.21/s',
    '18/min',
    '1.8/h',
  ])
  const hourMs = 3_600_000
  expect([7.08, 9.2, 0.29].map((each) => writtenRate(each / hourMs, 7))).toEqual(['', '9/h', '0.3/h'])
  expect(writtenRate(0, 0)).toBe('')
  expect([change(3, 2), change(1, 2), change(2, 2), change(30, 2), change(1, 0)]).toEqual([
    '+50 %',
    '−50 %',
    '±0 %',
    '×15',
    null,
  ])
})
