import { expect, it, test } from 'vitest'
import type { Queue } from '../../../../client/src/admin-api.ts'
import { concernsOf } from '../../../../console/src/pages/overview/concerns.ts'

const NOW_MS = Date.parse('2026-11-23T12:00:00Z')
const QUEUE: Queue = {
  countedAt: '2026-11-23T12:00:00Z',
  messages: [],
  webhooks: [],
  destinations: [],
  truncated: { messages: false, webhooks: false },
}

/** What is said of messages that have waited for ten minutes. */
function told(cause: string, count = 2) {
  const waiting = {
    place: 'database',
    route: 'main',
    carrier: null,
    cause,
    count,
    oldestAt: '2026-11-23T11:50:00Z',
  }
  const queue = { ...QUEUE, messages: [waiting] }
  return concernsOf({ carriers: [], queue, nodes: [], alarms: [] }, NOW_MS).map(
    ({ tone, title }) => `${tone}: ${title}`,
  )
}

it('says why messages wait, one or many', () => {
  expect(told('carrier-unbound')).toEqual([
    'bad: 2 messages of route main waiting for a carrier that is not bound',
  ])
  expect(told('carrier-unbound', 1)).toEqual([
    'bad: 1 message of route main waiting for a carrier that is not bound',
  ])
})

it('does not take draining for a fault', () => {
  expect(told('carrier-draining')).toEqual([
    'warning: 2 messages of route main waiting for a carrier that is draining',
  ])
})

it('leaves alone what ends by itself', () => {
  expect(told('retry')).toEqual([])
})

test('a destination and what waits for it', () => {
  const destination = {
    servicePlanId: '65f0c0ffee65f0c0ffee65f0',
    destination: 'https://hooks.example.com',
    state: 'paused',
    since: '2026-11-23T11:50:00Z',
    error: null,
    count: 1,
    oldestAt: null,
  }
  const queue = { ...QUEUE, destinations: [destination] }
  const concerns = concernsOf({ carriers: [], queue, nodes: [], alarms: [] }, NOW_MS)
  expect(concerns).toMatchObject([
    { title: 'https://hooks.example.com is paused', detail: '1 webhook event waiting' },
  ])
})

test('alarms about which the lists say nothing, and where to look', () => {
  const alarm = { object: 'acme', value: 1, since: QUEUE.countedAt, raisedAt: null, whatToDo: '' } as const
  const alarms = [
    { ...alarm, name: 'carrier-unbound', summary: 'Carrier acme is not bound' },
    { ...alarm, name: 'receipts-missing', summary: '9 receipts are missing' },
  ] as const
  expect(concernsOf({ carriers: [], queue: QUEUE, nodes: [], alarms }, NOW_MS)).toEqual([
    { tone: 'warning', title: '9 receipts are missing', detail: null, to: '/admin/quality' },
  ])
})
