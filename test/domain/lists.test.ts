import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { messageId } from '../../src/domain/identifiers.ts'
import {
  type Cursor,
  contradictions,
  EVENT_FILTERS,
  FEED_FILTERS,
  type FilterRules,
  INBOUND_FILTERS,
  type ListName,
  MESSAGE_FILTERS,
  openCursor,
  parseEventFilters,
  parseFilters,
  sealCursor,
  WINDOW_RULES,
  windowFaults,
} from '../../src/domain/lists.ts'
import { fromCarrierAddress } from '../../src/domain/messages/addresses.ts'
import type { Fault } from '../../src/errors.ts'

describe('cursors', () => {
  const KEY = Buffer.alloc(32, 1)
  const OTHER_KEY = Buffer.alloc(32, 2)
  const IV = Buffer.alloc(12, 3)

  const cursor: Cursor<object, string> = {
    list: 'messages',
    planId: 1,
    filters: { from: 'Aldis', to: '+15551230001', status: 'SENT', mccmnc: null, fromDate: 0, toDate: null },
    limit: 20,
    after: messageId(1_800_000_000_000, Buffer.alloc(9, 5), 9),
    expiresAtMs: 1_000,
  }
  const sealed = sealCursor(cursor, KEY, IV)

  function open(text: string, { keys = [KEY], nowMs = 0 } = {}) {
    return openCursor(text, cursor, keys, nowMs)
  }

  const LISTS: readonly ListName[] = ['messages', 'inbound-messages', 'events', 'destinations', 'feed']
  const cursors: fc.Arbitrary<Cursor<object, unknown>> = fc.record({
    list: fc.constantFrom(...LISTS),
    planId: fc.nat(),
    filters: fc.dictionary(
      fc.constantFrom('from', 'to', 'status', 'fromDate', 'destination'),
      fc.oneof(fc.string({ maxLength: 20 }), fc.integer(), fc.constant(null)),
      { noNullPrototype: true },
    ),
    limit: fc.integer({ min: 1, max: 100 }),
    after: fc.oneof(fc.uuid(), fc.record({ msgId: fc.uuid(), sequence: fc.nat() })),
    expiresAtMs: fc.option(fc.integer({ min: 1 })),
  })

  describe('openCursor', () => {
    it('gives back what was sealed', () => {
      const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
      fc.assert(
        fc.property(cursors, bytes(32), bytes(12), (one, key, iv) => {
          expect(openCursor(sealCursor(one, key, iv), one, [key], 0)).toEqual(one)
        }),
      )
    })

    it('opens with any of several keys, and with no other', () => {
      expect(open(sealed, { keys: [OTHER_KEY, KEY] })).toEqual(cursor)
      expect(open(sealed, { keys: [OTHER_KEY] })).toBeNull()
      expect(open(sealed, { keys: [] })).toBeNull()
    })

    it('expires', () => {
      expect(open(sealed, { nowMs: 999 })).toEqual(cursor)
      expect(open(sealed, { nowMs: 1_000 })).toBeNull()
    })

    it('keeps one without expiry for ever', () => {
      const lasting = { ...cursor, expiresAtMs: null }
      expect(open(sealCursor(lasting, KEY, IV), { nowMs: Number.MAX_SAFE_INTEGER })).toEqual(lasting)
    })

    it('opens no cursor of another list or plan', () => {
      for (const list of LISTS.slice(1)) {
        expect(openCursor(sealed, { list, planId: 1 }, [KEY], 0)).toBeNull()
      }
      expect(openCursor(sealed, { list: 'messages', planId: 2 }, [KEY], 0)).toBeNull()
    })

    it('refuses every single flipped bit', () => {
      const bytes = Buffer.from(sealed, 'base64url')
      for (let bit = 0; bit < bytes.length * 8; bit += 1) {
        bytes[bit >> 3]! ^= 1 << (bit & 7)
        expect(open(bytes.toString('base64url'))).toBeNull()
        bytes[bit >> 3]! ^= 1 << (bit & 7)
      }
    })

    it('refuses every truncation and every text that only decodes to the same', () => {
      for (let length = 0; length < sealed.length; length += 1) {
        expect(open(sealed.slice(0, length))).toBeNull()
      }
      for (const text of [`${sealed}A`, `${sealed}=`, ` ${sealed}`, `${sealed}\n`, `${sealed}.`]) {
        expect(open(text)).toBeNull()
      }
    })

    it('refuses any other text', () => {
      fc.assert(fc.property(fc.string(), (text) => open(text) === null))
    })
  })

  it('does not show what it carries', () => {
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('5551230001')
  })
})

describe('filters', () => {
  /** Filters and faults, by the rules of a list. */
  function parsedBy<Filters extends object>(rules: FilterRules<Filters>) {
    return (texts: Partial<Record<keyof Filters, string>>) => {
      const faults: Fault[] = []
      const filters = parseFilters(rules, texts, faults)
      return { filters, faults: faults.map(({ field, code }) => `${field} ${code}`) }
    }
  }

  describe('list filters', () => {
    interface Colours {
      readonly colour: 'red' | 'blue' | null
      readonly fromDate: number | null
      readonly toDate: number | null
    }

    const RULES: FilterRules<Colours> = {
      colour: {
        parse: (text) => (text === 'red' || text === 'blue' ? text : null),
        meaning: 'must be red or blue',
      },
      ...WINDOW_RULES,
    }
    const NONE: Colours = { colour: null, fromDate: null, toDate: null }

    it('parseFilters reads each text by its rule, and lists those at fault', () => {
      const fromDate = '2026-01-01T00:00:00.0001Z'
      expect(parseFilters(RULES, { colour: 'red', fromDate }, [])).toEqual({
        colour: 'red',
        fromDate: Date.parse('2026-01-01T00:00:00.001Z'),
        toDate: null,
      })
      const faults: Fault[] = []
      expect(parseFilters(RULES, { colour: 'green', toDate: 'today' } as never, faults)).toEqual(NONE)
      expect(faults).toEqual([
        { field: 'colour', code: 'INVALID_FORMAT', message: 'must be red or blue' },
        { field: 'toDate', code: 'INVALID_FORMAT', message: WINDOW_RULES.toDate.meaning },
      ])
    })

    const window = (fromDate: unknown, toDate: unknown) =>
      windowFaults({ fromDate, toDate }).map(({ field, code }) => `${field} ${code}`)

    it('a window has at most 31 days', () => {
      expect(window('2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z')).toEqual([])
      expect(window('2026-01-01T00:00:00Z', '2026-02-01T00:00:00.001Z')).toEqual(['toDate RANGE_TOO_LARGE'])
    })

    it('a window may be within one millisecond, and not reversed', () => {
      const at = (fraction: string) => `2026-01-01T00:00:00.${fraction}Z`
      expect(window(at('1234'), at('1234'))).toEqual([])
      expect(window(at('1232'), at('1239'))).toEqual([])
      expect(window(at('124'), at('123'))).toEqual(['fromDate INVALID_RANGE'])
      expect(window(at('1240'), at('1239'))).toEqual(['fromDate INVALID_RANGE'])
    })

    it('a window of which an end is missing or at fault has no faults of its own', () => {
      const date = '2026-01-01T00:00:00Z'
      expect([window(date, undefined), window(date, 'today'), window([date], date)]).toEqual([[], [], []])
    })

    it('contradictions names the filters that differ from the cursor', () => {
      const carried: Colours = { colour: 'red', fromDate: 5, toDate: null }
      expect(contradictions(carried, NONE)).toEqual([])
      expect(contradictions(carried, { ...NONE, colour: 'red', fromDate: 5 })).toEqual([])
      const differing = contradictions(carried, { colour: 'blue', fromDate: 6, toDate: 7 })
      expect(differing.map(({ field }) => field)).toEqual(['colour', 'fromDate', 'toDate'])
    })
  })

  describe('message filters', () => {
    const parsed = parsedBy(MESSAGE_FILTERS)

    it('reads every filter into its canonical form', () => {
      const texts = {
        from: '+15550001111',
        to: '+447400123456',
        status: 'SENT',
        country: 'gb',
        mccmnc: '23410',
        fromDate: '2026-01-01T00:00:00Z',
        toDate: '2026-02-01T00:00:00Z',
      }
      const dates = { fromDate: Date.parse(texts.fromDate), toDate: Date.parse(texts.toDate) }
      expect(parsed(texts)).toEqual({ filters: { ...texts, ...dates, country: 'GB' }, faults: [] })
    })

    it('refuses what is none of its kind', () => {
      expect(parsed({ from: '_', to: '12345', status: 'sent', country: 'USA', mccmnc: '1' }).faults).toEqual([
        'from INVALID_FORMAT',
        'to INVALID_FORMAT',
        'status INVALID_FORMAT',
        'country INVALID_FORMAT',
        'mccmnc INVALID_FORMAT',
      ])
    })

    it('reads names of object members as values like any other', () => {
      expect(parsed({ country: 'constructor', status: 'toString' }).faults).toEqual([
        'status INVALID_FORMAT',
        'country INVALID_FORMAT',
      ])
      expect(parsed({ from: 'constructor' }).faults).toEqual([])
    })
  })

  describe('inbound filters', () => {
    const parsed = parsedBy(INBOUND_FILTERS)

    it('reads every filter into its canonical form', () => {
      const texts = { from: '+15551230001', to: '+46701234567', keyword: 'JOIN' }
      const window = { fromDate: '2026-01-01T00:00:00Z', toDate: '2026-01-02T00:00:00Z' }
      const dates = { fromDate: Date.parse(window.fromDate), toDate: Date.parse(window.toDate) }
      expect(parsed({ ...texts, ...window })).toEqual({ filters: { ...texts, ...dates }, faults: [] })
    })

    describe('from', () => {
      it.each([
        ['+15551230001', 1],
        ['71234', 0],
        ['0701234567', 2],
        ['Bank of Åland', 5],
        ['*#100#', 0],
        ['x'.repeat(100), 5],
      ])('takes what is stored of a carrier’s %s', (address, ton) => {
        const from = fromCarrierAddress(address, ton)
        expect(parsed({ from })).toMatchObject({ filters: { from }, faults: [] })
      })
    })

    it.each([
      ['from', 'a\u0000b'],
      ['from', ' Aldis'],
      ['from', 'x'.repeat(65)],
      ['to', 'Aldis'],
      ['to', '+0'],
      ['to', '123456789'],
      ['keyword', 'two words'],
      ['keyword', '\u0000'],
      ['keyword', 'x'.repeat(33)],
    ])('refuses %s %j', (field, text) => {
      expect(parsed({ [field]: text }).faults).toEqual([`${field} INVALID_FORMAT`])
    })
  })

  describe('event filters', () => {
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
  })

  it('since is rounded up, so that nothing from before is in it', () => {
    const filters = parseFilters(FEED_FILTERS, { since: '2026-03-01T12:00:00.0001Z' }, [])
    expect(filters).toEqual({ since: Date.parse('2026-03-01T12:00:00.001Z') })
  })
})
