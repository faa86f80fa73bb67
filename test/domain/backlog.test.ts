import { describe, expect, test } from 'vitest'
import {
  shownMessages,
  type WaitingGroup,
  type WaitingMessages,
  waitingCause,
} from '../../src/domain/backlog.ts'
import type { CarrierCondition } from '../../src/domain/routing/routing.ts'
import { aCarrier, aDirectory, aPlan, aRoute } from '../support/directory.ts'

const route = aRoute({ carriers: [1, 2].map((carrierId) => ({ carrierId, priority: 0, weight: 1 })) })
const plan = aPlan({ route })
const directory = aDirectory({ plans: [plan], routes: [route], carriers: [aCarrier(), aCarrier({ id: 2 })] })
const DUE = { due: true }
const LATER = { due: false }

function group(changes: Partial<WaitingGroup>): WaitingGroup {
  return {
    planId: 1,
    routeId: 1,
    carrierId: null,
    ambiguous: false,
    retried: false,
    due: true,
    count: 1,
    oldestMsgId: '',
    ...changes,
  }
}

/** `conditions`: of the route's two carriers. */
function cause(changes: Partial<WaitingGroup>, conditions: readonly [CarrierCondition, CarrierCondition]) {
  return waitingCause(group(changes), directory, (carrierId) => conditions[carrierId - 1]!)
}

describe('why a message waits in the database', () => {
  test.each([
    [DUE, ['usable', 'unbound'], 'no-room'],
    [DUE, ['out-of-use', 'stopped'], 'no-room'],
    [DUE, ['throttled', 'unbound'], 'throttled'],
    [DUE, ['unbound', 'stopped'], 'carrier-unbound'],
    [DUE, ['draining', 'stopped'], 'carrier-draining'],
    [DUE, ['silent', 'draining'], 'carrier-silent'],
    [DUE, ['silent', 'stopped'], 'carrier-silent'],
    [DUE, ['silent', 'unbound'], 'carrier-unbound'],
    [{ ...DUE, ambiguous: true }, ['unbound', 'stopped'], 'carrier-unbound'],
    [{ ...LATER, ambiguous: true, retried: true }, ['unbound', 'stopped'], 'ambiguous'],
    [{ ...LATER, retried: true }, ['usable', 'usable'], 'retry'],
    [LATER, ['unbound', 'unbound'], 'carrier-unbound'],
    [LATER, ['usable', 'usable'], 'recipient-full'],
    [{ ...DUE, routeId: 0 }, ['stopped', 'stopped'], 'carrier-stopped'],
    [{ ...DUE, routeId: 9 }, ['usable', 'usable'], 'no-route'],
    [{ ...DUE, planId: 9 }, ['usable', 'usable'], 'plan-inactive'],
  ] as const)('%j, carriers %j: %s', (changes, conditions, expected) => {
    expect(cause(changes, conditions)).toBe(expected)
  })

  test('the rate of senders, where a carrier of the route has one', () => {
    const carriers = [aCarrier({ senderMessagesPerSecond: 1 }), aCarrier({ id: 2 })]
    const slowed = aDirectory({ plans: [plan], routes: [route], carriers })
    expect(waitingCause(group(LATER), slowed, () => 'usable')).toBe('sender-rate')
  })

  test('a plan that is inactive, or has no route', () => {
    const usable = () => 'usable' as const
    const inactive = aDirectory({ plans: [aPlan({ route, active: false })], routes: [route] })
    expect(waitingCause(group({}), inactive, usable)).toBe('plan-inactive')
    expect(waitingCause(group({ routeId: 0 }), aDirectory({ plans: [aPlan()] }), usable)).toBe('no-route')
  })
})

test('messages are added up by route, carrier and cause, the largest first, and the small ones beyond a bound together', () => {
  const rows = Array.from({ length: 1_000 }, (_, n): WaitingMessages => {
    return {
      route: `route-${n}`,
      carrier: null,
      cause: n % 2 ? 'retry' : 'no-room',
      count: 1 + n,
      oldestMs: n,
    }
  })
  const shown = shownMessages([...rows, ...rows], 10)
  expect(shown).toHaveLength(12)
  expect(shown[0]).toEqual({ route: 'route-999', carrier: null, cause: 'retry', count: 2_000, oldestMs: 999 })
  expect(shown.slice(10).map(({ route, carrier, oldestMs }) => [route, carrier, oldestMs])).toEqual([
    ['other', 'other', 1],
    ['other', 'other', 0],
  ])
  expect(shown.reduce((sum, { count }) => sum + count, 0)).toBe(1_001_000)
})
