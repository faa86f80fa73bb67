import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { messageId } from '../../src/domain/identifiers.ts'
import { type Cursor, type ListName, openCursor, sealCursor } from '../../src/domain/lists.ts'

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
