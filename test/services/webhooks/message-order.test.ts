import { beforeEach, describe, expect, test } from 'vitest'
import { MessageOrder } from '../../../src/services/webhooks/message-order.ts'
import type { WebhookEvent } from '../../../src/store/event-deliveries.ts'

const MESSAGE = '0198c000-0000-7000-8000-000000000001'
const OTHER = '0198c000-0000-7000-8000-000000000002'

function event(seq: number, msgId = MESSAGE): WebhookEvent {
  const inbound = { planId: 1, msgId, sender: '', recipient: '', body: '', keyword: null }
  const held = { holder: 1, attempt: 0, earlierAttempts: 0, beganAtMs: 0, waited: false }
  return { planId: 1, msgId, seq, ...held, told: { direction: 'MO', inbound } }
}

let order: MessageOrder

beforeEach(() => {
  order = new MessageOrder()
})

describe('the events of one message', () => {
  test('follow one after the other', () => {
    expect([1, 2, 3].map((seq) => order.add(event(seq), 0))).toEqual(['start', 'wait', 'wait'])
    expect(order.size).toBe(1)
    expect(order.advance(MESSAGE)).toMatchObject({ seq: 2 })
    expect(order.advance(MESSAGE)).toMatchObject({ seq: 3 })
    expect(order.advance(MESSAGE)).toBeNull()
    expect([order.size, [1, 2, 3].some((seq) => order.hasEvent(MESSAGE, seq))]).toEqual([0, false])
    expect(order.add(event(4), 0)).toBe('start')
  })

  test('do not wait for those of another', () => {
    order.add(event(1), 0)
    expect(order.add(event(1, OTHER), 0)).toBe('start')
    expect(order.hasEvent(OTHER, 1)).toBe(true)
  })
})

describe('a message whose event was postponed', () => {
  test('gives all of its events, and refuses later ones for a while', () => {
    for (const seq of [1, 2]) order.add(event(seq), 0)
    expect(order.postpone(MESSAGE, 1_000).map(({ seq }) => seq)).toEqual([1, 2])
    expect(order.size).toBe(0)
    expect(order.add(event(3), 1_001)).toBe('refuse')
    expect(order.add(event(1, OTHER), 1_001)).toBe('start')
    expect(order.size).toBe(1)
    expect(order.add(event(3), 1_000 + 60_001)).toBe('start')
  })

  test('takes events again once the database has given one', () => {
    order.add(event(1), 0)
    order.postpone(MESSAGE, 0)
    order.forget(MESSAGE)
    expect(order.add(event(1), 1)).toBe('start')
  })

  test('50,000 of them are remembered, the oldest is forgotten', () => {
    for (let number = 0; number <= 50_000; number += 1) order.postpone(`message-${number}`, 0)
    expect(order.add(event(1, 'message-0'), 1)).toBe('start')
    expect(order.add(event(1, 'message-1'), 1)).toBe('refuse')
  })
})

test('an unknown message has nothing to advance or take', () => {
  expect(order.advance(MESSAGE)).toBeNull()
  expect(order.take(MESSAGE)).toEqual([])
  expect(order.size).toBe(0)
})
