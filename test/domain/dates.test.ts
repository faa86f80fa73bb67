import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isoText, parseTimestamp } from '../../src/domain/dates.ts'

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
