import { expect, test } from 'vitest'
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

test('alarms, the worst first, and where to look', () => {
  const alarm = { value: 1, since: '2026-11-23T11:50:00Z', raisedAt: null, whatToDo: '' } as const
  const plan = '65f0c0ffee65f0c0ffee65f0'
  const alarms = [
    { ...alarm, name: 'cap-reached', object: `${plan} messages day`, summary: 'The cap is used' },
    { ...alarm, name: 'receipts-missing', object: 'acme', summary: '9 receipts are missing' },
    { ...alarm, name: 'unowned-inbound', object: '', summary: '2 inbound messages' },
    { ...alarm, name: 'breaker-open', object: `${plan} https://hooks.example.com`, summary: 'It fails' },
  ] as const
  const concerns = concernsOf({ carriers: [], queue: QUEUE, nodes: [], alarms }, NOW_MS)
  expect(concerns.map(({ tone, title, to, search }) => [tone, title, to, search])).toEqual([
    ['bad', 'It fails', '/admin/webhooks', { servicePlanId: plan, destination: 'https://hooks.example.com' }],
    ['warning', 'The cap is used', '/admin/plans', { open: plan }],
    ['warning', '9 receipts are missing', '/admin/carriers/acme', undefined],
    ['warning', '2 inbound messages', '/admin/inbound/unowned', undefined],
  ])
  expect(concerns[0]!.detail).toBe('for 10 min')
})
