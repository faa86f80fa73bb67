import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eventId, eventType, parseEventId } from '../../src/domain/events.ts'

const MSG_ID = '0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'

test('an id is that of the message, a dash and the number', () => {
  expect(eventId({ msgId: MSG_ID, seq: 2 })).toBe(`${MSG_ID}-2`)
  expect(parseEventId(`${MSG_ID.toUpperCase()}-0`)).toEqual({ msgId: MSG_ID, seq: 0 })
  fc.assert(
    fc.property(fc.uuid(), fc.integer({ min: 0, max: 32_767 }), (msgId, seq) => {
      expect(parseEventId(eventId({ msgId, seq }))).toEqual({ msgId, seq })
    }),
  )
})

test.each([
  '',
  '-',
  MSG_ID,
  `${MSG_ID}-`,
  `${MSG_ID}-x`,
  `${MSG_ID}-01`,
  `${MSG_ID}--1`,
  `${MSG_ID}-32768`,
  `${MSG_ID}-1 `,
  `${MSG_ID}-1-2`,
  `${MSG_ID.slice(1)}-1`,
])('%j is none', (text) => {
  expect(parseEventId(text)).toBeNull()
})

test('only the inbound message itself has the number 0', () => {
  expect([0, 1, 2].map(eventType)).toEqual(['inboundMessage', 'deliveryReceipt', 'deliveryReceipt'])
})
