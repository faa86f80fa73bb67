import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  aggregate,
  allowedFrom,
  eventOf,
  MESSAGE_EVENTS,
  nextStatus,
  STATUS_OF_EVENT,
  STATUS_RANK,
  STATUSES,
  type Status,
  statusOf,
  TRANSITIONS,
  UNKNOWN_REVERSIBLE_MS,
} from '../../src/domain/message-states.ts'
import type { CarrierState } from '../../src/domain/receipts.ts'

const anyEvent = fc.constantFrom(...MESSAGE_EVENTS)
const anyStatus = fc.constantFrom(...STATUSES)

describe('nextStatus', () => {
  test.each<[Status, (typeof MESSAGE_EVENTS)[number], Status]>([
    ['QUEUED', 'submitted', 'SENT'],
    ['QUEUED', 'delivered', 'DELIVERED'],
    ['QUEUED', 'failed', 'FAILED'],
    ['SENT', 'submitted', 'SENT'],
    ['SENT', 'enroute', 'SENT'],
    ['SENT', 'delivered', 'DELIVERED'],
    ['SENT', 'failed', 'FAILED'],
    ['SENT', 'unknown', 'UNKNOWN'],
    ['SENT', 'overdue', 'UNKNOWN'],
    ['UNKNOWN', 'submitted', 'UNKNOWN'],
    ['UNKNOWN', 'enroute', 'UNKNOWN'],
    ['UNKNOWN', 'delivered', 'DELIVERED'],
    ['UNKNOWN', 'failed', 'FAILED'],
    ['DELIVERED', 'failed', 'DELIVERED'],
    ['FAILED', 'delivered', 'FAILED'],
  ])('%s, %s -> %s', (status, event, next) => {
    expect(nextStatus(status, event)).toBe(next)
  })

  test('UNKNOWN gives way for 72 h, not longer', () => {
    expect(UNKNOWN_REVERSIBLE_MS).toBe(72 * 3_600_000)
    const at = (unknownForMs: number) => nextStatus('UNKNOWN', 'delivered', { unknownForMs })
    expect(at(UNKNOWN_REVERSIBLE_MS - 1)).toBe('DELIVERED')
    expect(at(UNKNOWN_REVERSIBLE_MS)).toBe('UNKNOWN')
  })

  test('the rank grows with every change, and each growth that an event asks for is a change', () => {
    for (const status of STATUSES) {
      for (const event of MESSAGE_EVENTS) {
        const wanted = STATUS_OF_EVENT[event]
        const expected = STATUS_RANK[wanted] > STATUS_RANK[status] ? wanted : status
        expect(TRANSITIONS[status][event], `${status}, ${event}`).toBe(expected)
      }
    }
  })

  test('whatever happens, a final status stays and a repeat changes nothing', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 20 }), (events) => {
        let status: Status = 'QUEUED'
        for (const event of events) {
          const next = nextStatus(status, event)
          if (status === 'DELIVERED' || status === 'FAILED') expect(next).toBe(status)
          expect(nextStatus(next, event)).toBe(next)
          status = next
        }
      }),
    )
  })
})

test('allowedFrom is the table read backwards', () => {
  expect(Object.fromEntries(STATUSES.map((status) => [status, allowedFrom(status)]))).toEqual({
    QUEUED: [],
    SENT: ['QUEUED'],
    DELIVERED: ['QUEUED', 'SENT', 'UNKNOWN'],
    FAILED: ['QUEUED', 'SENT', 'UNKNOWN'],
    UNKNOWN: ['QUEUED', 'SENT'],
  })
})

test.each<[CarrierState, Status]>([
  ['SCHEDULED', 'SENT'],
  ['ENROUTE', 'SENT'],
  ['ACCEPTD', 'SENT'],
  ['DELIVRD', 'DELIVERED'],
  ['EXPIRED', 'FAILED'],
  ['DELETED', 'FAILED'],
  ['UNDELIV', 'FAILED'],
  ['REJECTD', 'FAILED'],
  ['SKIPPED', 'FAILED'],
  ['UNKNOWN', 'UNKNOWN'],
])('a receipt %s asks for %s', (state, status) => {
  expect(statusOf(state)).toBe(status)
  expect(nextStatus('SENT', eventOf(state))).toBe(status)
})

describe('aggregate', () => {
  test.each<[Status[], Status]>([
    [['QUEUED'], 'QUEUED'],
    [['QUEUED', 'QUEUED'], 'QUEUED'],
    [['SENT', 'QUEUED'], 'SENT'],
    [['DELIVERED', 'QUEUED'], 'SENT'],
    [['SENT', 'SENT', 'DELIVERED'], 'SENT'],
    [['DELIVERED', 'DELIVERED'], 'DELIVERED'],
    [['DELIVERED', 'DELIVERED', 'FAILED'], 'FAILED'],
    [['QUEUED', 'FAILED'], 'FAILED'],
    [['UNKNOWN', 'FAILED'], 'FAILED'],
    [['DELIVERED', 'UNKNOWN'], 'UNKNOWN'],
    [['UNKNOWN', 'UNKNOWN'], 'UNKNOWN'],
    [['UNKNOWN', 'SENT'], 'SENT'],
    [['UNKNOWN', 'QUEUED'], 'SENT'],
    [[], 'QUEUED'],
  ])('%j -> %s', (segments, status) => {
    expect(aggregate(segments)).toBe(status)
  })

  test('order does not matter, and one segment is the message', () => {
    fc.assert(
      fc.property(fc.array(anyStatus, { maxLength: 6 }), (segments) => {
        expect(aggregate(segments.toReversed())).toBe(aggregate(segments))
      }),
    )
    for (const status of STATUSES) expect(aggregate([status])).toBe(status)
  })
})

describe('docs/message-states.md', () => {
  const doc = readFileSync(new URL('../../docs/message-states.md', import.meta.url), 'utf8')

  test('its table is the table of the code', () => {
    for (const status of STATUSES) {
      const cells = MESSAGE_EVENTS.map((event) => TRANSITIONS[status][event])
      const row = cells.map((next) => (next === status ? '–' : next)).join(' | ')
      expect(doc).toContain(`| ${status} | ${row} |`)
    }
  })

  test('its diagram has every change', () => {
    for (const status of STATUSES) {
      for (const target of STATUSES) {
        expect(doc.includes(`${status} --> ${target}`)).toBe(allowedFrom(target).includes(status))
      }
    }
  })
})
