import { describe, expect, test } from 'vitest'
import { EVENT_FILTERS, parseEventFilters } from '../../src/domain/event-filters.ts'
import type { Fault } from '../../src/domain/faults.ts'

const MSG_ID = '0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'
const AT = '2026-01-02T03:04:05.678Z'

function parsed(texts: Parameters<typeof parseEventFilters>[0]) {
  const faults: Fault[] = []
  const filters = parseEventFilters(texts, faults)
  return { filters, faults: faults.map(({ field, code }) => `${field} ${code}`) }
}

describe('filters of events', () => {
  const none = { state: null, msgId: null, destination: null, fromDate: null, toDate: null }

  test('what is not given is not filtered, and what is no filter is left to others', () => {
    expect(parsed({})).toEqual({ filters: none, faults: [] })
    const query = { servicePlanId: 'a'.repeat(24), limit: '7', state: 'kept' }
    expect(parsed(query)).toEqual({ filters: { ...none, state: 'kept' }, faults: [] })
  })

  test('each in its canonical form', () => {
    const destination = 'https://hooks.example.com:8443'
    const texts = { state: 'kept', msgId: MSG_ID.toUpperCase(), destination, fromDate: AT, toDate: AT }
    expect(parsed(texts)).toEqual({
      filters: {
        state: 'kept',
        msgId: MSG_ID,
        destination,
        fromDate: Date.parse(AT),
        toDate: Date.parse(AT),
      },
      faults: [],
    })
  })

  test.each<[Parameters<typeof parseEventFilters>[0], string[]]>([
    [{ state: 'lost' }, ['state INVALID_FORMAT']],
    [{ state: '' }, ['state INVALID_FORMAT']],
    [{ msgId: `${MSG_ID}-1` }, ['msgId INVALID_FORMAT']],
    [{ destination: 'https://hooks.example.com/dlr' }, ['destination INVALID_FORMAT']],
    [{ fromDate: '2026-01-02', toDate: 'now' }, ['fromDate INVALID_FORMAT', 'toDate INVALID_FORMAT']],
    [{ fromDate: AT, toDate: '2026-01-02T03:04:05.677Z' }, ['fromDate INVALID_RANGE']],
  ])('%j is at fault', (texts, faults) => {
    expect(parsed(texts).faults).toEqual(faults)
  })

  test('a window may be of any length', () => {
    expect(parsed({ fromDate: '2020-01-01T00:00:00Z', toDate: AT }).faults).toEqual([])
  })

  test('every state is one', () => {
    const states = ['pending', 'delivered', 'failed', 'kept']
    expect(states.map((state) => EVENT_FILTERS.state.parse(state))).toEqual(states)
  })
})
