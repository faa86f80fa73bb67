import fc from 'fast-check'
import { beforeEach, describe, expect, it, test } from 'vitest'
import { DatabaseClock, InstantSource, isoText, parseTimestamp } from '../../src/domain/instants.ts'

it.each([
  ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z'],
  ['2026-01-01t00:00:00z', '2026-01-01T00:00:00.000Z'],
  ['2026-01-01T00:00:00.5Z', '2026-01-01T00:00:00.500Z'],
  ['2026-03-29T00:00:00+02:00', '2026-03-28T22:00:00.000Z'],
  ['2026-03-29T00:00:00-23:59', '2026-03-29T23:59:00.000Z'],
  ['2026-03-29T00:00:00-00:00', '2026-03-29T00:00:00.000Z'],
  ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.999Z'],
  ['0050-01-01T00:00:00Z', '0050-01-01T00:00:00.000Z'],
])('reads %s', (text, iso) => {
  expect(parseTimestamp(text, 'down')).toBe(Date.parse(iso))
})

it.each([
  '',
  '2026-01-01',
  '2026-01-01T00:00:00',
  '2026-01-01 00:00:00Z',
  '2026-01-01T00:00:00 02:00',
  '2026-01-01T00:00Z',
  '2026-1-1T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-02-29T00:00:00Z',
  '2026-02-30T00:00:00Z',
  '2026-01-00T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:60:00Z',
  '2026-01-01T00:00:60Z',
  '2026-01-01T00:00:00+24:00',
  '2026-01-01T00:00:00+00:60',
  '2026-01-01T00:00:00.Z',
  '+275760-09-13T00:00:00.001Z',
  '２０２６-01-01T00:00:00Z',
  '1767225600000',
])('refuses %j', (text) => {
  expect(parseTimestamp(text, 'up')).toBeNull()
})

it('rounds what is beyond the millisecond as it is told', () => {
  const base = Date.parse('2026-01-01T00:00:00.123Z')
  expect(parseTimestamp('2026-01-01T00:00:00.123456789123Z', 'down')).toBe(base)
  expect(parseTimestamp('2026-01-01T00:00:00.123456789123Z', 'up')).toBe(base + 1)
  expect(parseTimestamp('2026-01-01T00:00:00.123000Z', 'up')).toBe(base)
})

it('reads every instant that it is given back', () => {
  const instants = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  fc.assert(
    fc.property(instants, (date) => {
      expect(parseTimestamp(date.toISOString(), 'down')).toBe(date.getTime())
    }),
  )
})

it('writes any instant as toISOString does', () => {
  // Near each other too, so that one finds what another has left.
  const near = fc.integer({ min: -200_000, max: 200_000 }).map((ms) => new Date(ms))
  const dates = fc.oneof(near, fc.date({ noInvalidDate: true }))
  fc.assert(fc.property(dates, (date) => isoText(date.getTime()) === date.toISOString()))
  expect(() => isoText(Number.NaN)).toThrow(RangeError)
})

it('gives the present millisecond, and never the same instant twice', () => {
  const source = new InstantSource()
  const nowMs = Date.parse('2026-03-01T10:20:30.456Z')
  expect(source.next(nowMs)).toBe('2026-03-01T10:20:30.456000Z')
  expect(source.next(nowMs)).toBe('2026-03-01T10:20:30.456001Z')
  expect(source.next(nowMs - 5)).toBe('2026-03-01T10:20:30.456002Z')
  expect(source.next(nowMs + 1)).toBe('2026-03-01T10:20:30.457000Z')
})

const DATABASE_MS = Date.UTC(2026, 0, 1)

let monotonicMs: number
let ownMs: number
let clock: DatabaseClock

beforeEach(() => {
  monotonicMs = 1_000
  ownMs = DATABASE_MS + 86_400_000
  clock = new DatabaseClock(
    () => monotonicMs,
    () => ownMs,
  )
})

/** The database answers after `tookMs`; half of it was the way there. */
function read(databaseMs: number, tookMs = 2): void {
  const askedMs = monotonicMs
  monotonicMs += tookMs
  clock.read({ databaseMs, askedMs, answeredMs: monotonicMs })
}

test("is the node's own before the database has said its time", () => {
  expect(clock.now()).toBe(ownMs)
  expect([clock.isFarOff, clock.isCertain]).toEqual([false, false])
})

describe('once the database has said its time', () => {
  beforeEach(() => read(DATABASE_MS))

  test('it is that, and goes on by the monotonic clock', () => {
    expect(clock.now()).toBe(DATABASE_MS + 1)
    monotonicMs += 60_000
    expect(clock.now()).toBe(DATABASE_MS + 60_001)
  })

  test("a node's own clock may be set to anything", () => {
    for (const off of [-3_600_000, 0, 86_400_000]) {
      ownMs = DATABASE_MS + off
      expect(clock.now()).toBe(DATABASE_MS + 1)
    }
  })

  test('a node is far off from 5 s on, ahead or behind', () => {
    for (const [off, isFarOff] of [
      [5_000, false],
      [5_001, true],
      [-5_001, true],
      [0, false],
    ] as const) {
      ownMs = clock.now() + off
      expect([clock.aheadMs, clock.isFarOff, clock.isCertain]).toEqual([off, isFarOff, !isFarOff])
    }
  })

  test('jitter of readings moves nothing; a step of the database does', () => {
    read(clock.now() + 40)
    const before = clock.now()
    read(before + 1)
    expect(clock.now()).toBe(before + 2)
    read(before + 10_000)
    expect(clock.now()).toBe(before + 10_001)
  })

  test('a reading that took longer than a second is not used', () => {
    read(DATABASE_MS + 50_000, 1_001)
    expect(clock.now()).toBe(DATABASE_MS + 1 + 1_001)
  })
})
