import { describe, expect, test } from 'vitest'
import { FIRST_PART_MS, nextPartMs, parseSearch } from '../../../src/domain/messages/message-search.ts'
import type { Fault } from '../../../src/errors.ts'

describe('message search', () => {
  const NOW = Date.UTC(2026, 0, 10, 12)
  const HOUR = 3_600_000

  function search(texts: Parameters<typeof parseSearch>[0], ofPlan = false) {
    const faults: Fault[] = []
    const filters = parseSearch(texts, { ofPlan, nowMs: NOW }, faults)
    return { filters, faults: faults.map(({ field, code }) => `${field} ${code}`) }
  }

  describe('the window without a plan', () => {
    const at = (hours: number) => new Date(NOW + hours * HOUR).toISOString()

    test.each([
      ['the last 24 hours, and what nodes with clocks ahead have accepted', {}, -24, 1 / 60],
      ['24 hours from its start', { fromDate: at(-100) }, -100, -76],
      ['24 hours up to its end', { toDate: at(-100) }, -124, -100],
      ['as it is given', { fromDate: at(-50), toDate: at(-40) }, -50, -40],
      ['24 hours exactly', { fromDate: at(-50), toDate: at(-26) }, -50, -26],
    ])('%s', (_name, texts, from, to) => {
      const { filters, faults } = search(texts)
      expect(faults).toEqual([])
      expect(filters.fromDate).toBe(NOW + from * HOUR)
      expect(filters.toDate).toBe(Math.round(NOW + to * HOUR))
    })

    test('not longer; with a plan, or a carrier’s id, any', () => {
      const long = { fromDate: at(-50), toDate: at(-25) }
      expect(search(long).faults).toEqual(['toDate INVALID_RANGE'])
      expect(search(long, true).faults).toEqual([])
      expect(search({ ...long, carrierMessageId: '1f4' }).faults).toEqual([])
      expect(search({ carrierMessageId: '1f4' }).filters).toMatchObject({ fromDate: null, toDate: null })
      expect(search({}, true).filters).toMatchObject({ fromDate: null, toDate: null })
    })
  })

  test('every fault is listed', () => {
    const texts = { to: 'nobody', status: 'sent', errorCode: '1', carrierMessageId: 'a b', fromDate: 'today' }
    expect(
      search(texts)
        .faults.map((fault) => fault.split(' ')[0])
        .sort(),
    ).toEqual(['carrierMessageId', 'errorCode', 'fromDate', 'status', 'to'])
    const turned = { fromDate: '2026-01-02T00:00:00Z', toDate: '2026-01-01T00:00:00Z' }
    expect(search(turned, true).faults).toEqual(['fromDate INVALID_RANGE'])
  })

  test('parts of a window grow while they are quick, and shrink when they are slow', () => {
    expect(nextPartMs(FIRST_PART_MS, 1)).toBe(8 * FIRST_PART_MS)
    expect(nextPartMs(FIRST_PART_MS, 100)).toBe(2 * FIRST_PART_MS)
    expect(nextPartMs(FIRST_PART_MS, 300)).toBe(FIRST_PART_MS)
    expect(nextPartMs(FIRST_PART_MS, 2_000)).toBe(FIRST_PART_MS / 4)
    expect(nextPartMs(1_500, 2_000)).toBe(1_000)
  })
})
