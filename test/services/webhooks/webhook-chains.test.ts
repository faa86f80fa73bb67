import { beforeEach, describe, expect, test } from 'vitest'
import { WebhookChains } from '../../../src/services/webhooks/webhook-chains.ts'
import type { WebhookEvent } from '../../../src/store/event-deliveries.ts'

const MESSAGE = '0198c000-0000-7000-8000-000000000001'
const OTHER = '0198c000-0000-7000-8000-000000000002'

function event(seq: number, msgId = MESSAGE): WebhookEvent {
  const inbound = { planId: 1, msgId, sender: '', recipient: '', body: '', keyword: null }
  const held = { holder: 1, attempt: 0, earlierAttempts: 0, beganAtMs: 0, waited: false }
  return { planId: 1, msgId, seq, ...held, told: { direction: 'MO', inbound } }
}

let chains: WebhookChains

beforeEach(() => {
  chains = new WebhookChains()
})

describe('the events of one message', () => {
  test('follow one after the other', () => {
    expect([1, 2, 3].map((seq) => chains.add(event(seq), 0))).toEqual(['start', 'wait', 'wait'])
    expect(chains.size).toBe(1)
    expect(chains.advance(MESSAGE)).toMatchObject({ seq: 2 })
    expect(chains.advance(MESSAGE)).toMatchObject({ seq: 3 })
    expect(chains.advance(MESSAGE)).toBeNull()
    expect([chains.size, [1, 2, 3].some((seq) => chains.hasEvent(MESSAGE, seq))]).toEqual([0, false])
    expect(chains.add(event(4), 0)).toBe('start')
  })

  test('do not wait for those of another', () => {
    chains.add(event(1), 0)
    expect(chains.add(event(1, OTHER), 0)).toBe('start')
    expect(chains.hasEvent(OTHER, 1)).toBe(true)
  })
})

describe('a message whose event was postponed', () => {
  test('gives all of its events, and refuses later ones for a while', () => {
    for (const seq of [1, 2]) chains.add(event(seq), 0)
    expect(chains.postpone(MESSAGE, 1_000).map(({ seq }) => seq)).toEqual([1, 2])
    expect(chains.size).toBe(0)
    expect(chains.add(event(3), 1_001)).toBe('refuse')
    expect(chains.add(event(1, OTHER), 1_001)).toBe('start')
    expect(chains.size).toBe(1)
    expect(chains.add(event(3), 1_000 + 60_001)).toBe('start')
  })

  test('takes events again once the database has given one', () => {
    chains.add(event(1), 0)
    chains.postpone(MESSAGE, 0)
    chains.forget(MESSAGE)
    expect(chains.add(event(1), 1)).toBe('start')
  })

  test('50,000 of them are remembered, the oldest is forgotten', () => {
    for (let number = 0; number <= 50_000; number += 1) chains.postpone(`message-${number}`, 0)
    expect(chains.add(event(1, 'message-0'), 1)).toBe('start')
    expect(chains.add(event(1, 'message-1'), 1)).toBe('refuse')
  })
})

test('an unknown message has nothing to advance or take', () => {
  expect(chains.advance(MESSAGE)).toBeNull()
  expect(chains.take(MESSAGE)).toEqual([])
  expect(chains.size).toBe(0)
})
