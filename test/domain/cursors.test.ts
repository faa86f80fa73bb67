import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Cursor, openCursor, sealCursor } from '../../src/domain/cursors.ts'
import { messageId } from '../../src/domain/message-ids.ts'
import { STATUSES } from '../../src/domain/message-states.ts'

const KEY = Buffer.alloc(32, 1)
const OTHER_KEY = Buffer.alloc(32, 2)
const IV = Buffer.alloc(12, 3)

const cursor: Cursor = {
  planId: 1,
  filters: {
    from: 'Aldis',
    to: '+15551230001',
    status: 'SENT',
    country: 'US',
    mccmnc: null,
    fromDate: 0,
    toDate: null,
  },
  limit: 20,
  beforeMsgId: messageId(1_800_000_000_000, Buffer.alloc(9, 5), 9),
  expiresAtMs: 1_000,
}
const sealed = sealCursor(cursor, KEY, IV)

const cursors: fc.Arbitrary<Cursor> = fc.record({
  planId: fc.nat(),
  filters: fc.record({
    from: fc.option(fc.string({ maxLength: 11 })),
    to: fc.option(fc.string({ maxLength: 16 })),
    status: fc.option(fc.constantFrom(...STATUSES)),
    country: fc.option(fc.constantFrom('US', 'GB')),
    mccmnc: fc.option(fc.constantFrom('23410', '310260')),
    fromDate: fc.option(fc.integer()),
    toDate: fc.option(fc.integer()),
  }),
  limit: fc.integer({ min: 1, max: 100 }),
  beforeMsgId: fc.uuid(),
  expiresAtMs: fc.integer({ min: 1 }),
})

describe('openCursor', () => {
  it('gives back what was sealed', () => {
    const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
    fc.assert(
      fc.property(cursors, bytes(32), bytes(12), (one, key, iv) => {
        expect(openCursor(sealCursor(one, key, iv), [key], 0)).toEqual(one)
      }),
    )
  })

  it('opens with any of several keys, and with no other', () => {
    expect(openCursor(sealed, [OTHER_KEY, KEY], 0)).toEqual(cursor)
    expect(openCursor(sealed, [OTHER_KEY], 0)).toBeNull()
    expect(openCursor(sealed, [], 0)).toBeNull()
  })

  it('expires', () => {
    expect(openCursor(sealed, [KEY], 999)).toEqual(cursor)
    expect(openCursor(sealed, [KEY], 1_000)).toBeNull()
  })

  it('refuses every single flipped bit', () => {
    const bytes = Buffer.from(sealed, 'base64url')
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      bytes[bit >> 3]! ^= 1 << (bit & 7)
      expect(openCursor(bytes.toString('base64url'), [KEY], 0)).toBeNull()
      bytes[bit >> 3]! ^= 1 << (bit & 7)
    }
  })

  it('refuses every truncation and every text that only decodes to the same', () => {
    for (let length = 0; length < sealed.length; length += 1) {
      expect(openCursor(sealed.slice(0, length), [KEY], 0)).toBeNull()
    }
    for (const text of [`${sealed}A`, `${sealed}=`, ` ${sealed}`, `${sealed}\n`, `${sealed}.`]) {
      expect(openCursor(text, [KEY], 0)).toBeNull()
    }
  })

  it('refuses any other text', () => {
    fc.assert(fc.property(fc.string(), (text) => openCursor(text, [KEY], 0) === null))
  })
})

it('does not show what it carries', () => {
  expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('5551230001')
})
