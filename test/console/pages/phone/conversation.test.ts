import { expect, test } from 'vitest'
import type { DeliveryReceipt, InboundSmsWebhook } from '../../../../client/src/api.ts'
import { conversationOf } from '../../../../console/src/pages/phone/conversation.ts'

const at = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`
const received = (minute: number) => ({ msgId: `r${minute}`, createdAt: at(minute) }) as DeliveryReceipt
const sent = (minute: number) => ({ msgId: `s${minute}`, receivedAt: at(minute) }) as InboundSmsWebhook
const ids = (...given: Parameters<typeof conversationOf>) => conversationOf(...given).map(({ id }) => id)

test('both directions are in one order, the oldest first', () => {
  const left = { items: [received(5), received(1)], hasMore: false }
  const right = { items: [sent(4), sent(2)], hasMore: false }
  expect(ids(left, right)).toEqual(['r1', 's2', 's4', 'r5'])
})

test('nothing is shown that is older than the end of a list that goes on', () => {
  const left = { items: [received(5), received(3)], hasMore: true }
  const right = { items: [sent(4), sent(2)], hasMore: false }
  expect(ids(left, right)).toEqual(['r3', 's4', 'r5'])
})

test('an empty list holds nothing back', () => {
  expect(ids({ items: [], hasMore: false }, { items: [sent(1)], hasMore: false })).toEqual(['s1'])
})
