import { beforeEach, describe, expect, test } from 'vitest'
import { SharedRoom } from '../../../src/collections/shared-room.ts'
import { MessageOrder } from '../../../src/services/webhooks/message-order.ts'
import type { WebhookEvent } from '../../../src/store/event-deliveries.ts'

const MESSAGE = '0198c000-0000-7000-8000-000000000001'
const OTHER = '0198c000-0000-7000-8000-000000000002'

function event(sequence: number, msgId = MESSAGE): WebhookEvent {
  const inbound = { planId: 1, msgId, sender: '', recipient: '', body: '', keyword: null }
  const held = { holder: 1, failedAttempts: 0, earlierAttempts: 0, beganAtMs: 0, waited: false }
  return { planId: 1, msgId, sequence, ...held, payload: { direction: 'MO', inbound } }
}

let room: SharedRoom
let order: MessageOrder

beforeEach(() => {
  room = new SharedRoom(1_000)
  order = new MessageOrder(room)
})

describe('the events of one message', () => {
  test('follow one after the other', () => {
    expect([1, 2, 3].map((sequence) => order.add(event(sequence), 0))).toEqual(['start', 'wait', 'wait'])
    expect(room.taken).toBe(1)
    expect(order.advance(MESSAGE)).toMatchObject({ sequence: 2 })
    expect(order.advance(MESSAGE)).toMatchObject({ sequence: 3 })
    expect(order.advance(MESSAGE)).toBeNull()
    expect([room.taken, [1, 2, 3].some((sequence) => order.hasEvent(MESSAGE, sequence))]).toEqual([0, false])
    expect(order.add(event(4), 0)).toBe('start')
  })

  test('do not wait for those of another', () => {
    order.add(event(1), 0)
    expect(order.add(event(1, OTHER), 0)).toBe('start')
    expect(order.hasEvent(OTHER, 1)).toBe(true)
  })
})

describe('a message whose event was requeued', () => {
  test('gives all of its events, and refuses later ones until a while after they were written', () => {
    for (const sequence of [1, 2]) order.add(event(sequence), 0)
    const requeued = order.takeOut(MESSAGE)
    expect(requeued.events.map(({ sequence }) => sequence)).toEqual([1, 2])
    expect(room.taken).toBe(0)
    expect(order.add(event(3), 1_001)).toBe('refuse')
    expect(order.add(event(1, OTHER), 1_001)).toBe('start')
    expect(room.taken).toBe(1)
    expect(order.add(event(3), 600_000)).toBe('refuse')
    order.written(requeued, 600_000)
    expect(order.add(event(3), 600_000 + 59_999)).toBe('refuse')
    expect(order.add(event(3), 600_000 + 60_000)).toBe('start')
  })

  test('that is requeued again refuses later ones, although the first time is written and over', () => {
    order.add(event(1), 0)
    const first = order.takeOut(MESSAGE)
    order.loaded(MESSAGE)
    order.add(event(1), 1)
    order.takeOut(MESSAGE)
    order.written(first, 2)
    expect(order.add(event(2), 600_000)).toBe('refuse')
  })

  test('takes events again once one was taken from the database', () => {
    order.add(event(1), 0)
    order.takeOut(MESSAGE)
    order.loaded(MESSAGE)
    expect(order.add(event(1), 1)).toBe('start')
  })

  test('is remembered until it is written; of those written, the oldest of 50,001 is forgotten', () => {
    const requeued = Array.from({ length: 50_001 }, (_, number) => order.takeOut(`message-${number}`))
    expect(order.add(event(1, 'message-0'), 1)).toBe('refuse')
    for (const one of requeued) order.written(one, 1)
    expect(order.add(event(1, 'message-0'), 2)).toBe('start')
    expect(order.add(event(1, 'message-1'), 2)).toBe('refuse')
  })
})

test('an unknown message has nothing to advance or drop', () => {
  expect(order.advance(MESSAGE)).toBeNull()
  expect(order.drop(MESSAGE)).toEqual([])
  expect(room.taken).toBe(0)
})
