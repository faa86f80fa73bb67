import { expect, test } from 'vitest'
import { messageId } from '../../src/domain/identifiers.ts'
import { toInboundWebhook } from '../../src/domain/inbound-webhooks.ts'
import { aPlan } from '../support/directory.ts'

const plan = aPlan({ inboundUrl: 'https://example.com/mo' })

const inbound = {
  msgId: messageId(Date.UTC(2026, 2, 10, 12, 0, 0, 7), new Uint8Array(9), 5),
  sender: '+491701234567',
  recipient: '12345',
  body: 'Stop it',
  keyword: 'STOP',
}

const whole = {
  accountId: 'aaaaaaaaaaaaaaaaaaaaaaaa',
  servicePlanId: '111111111111111111111111',
  msgId: inbound.msgId,
  channel: 'SMS',
  direction: 'MO',
  from: '+491701234567',
  to: '12345',
  keyword: 'STOP',
  body: 'Stop it',
  receivedAt: '2026-03-10T12:00:00.007Z',
}

test('has every field that docs/webhooks.md lists', () => {
  expect(toInboundWebhook(inbound, plan)).toEqual(whole)
})

test('has no keyword when none matched', () => {
  const { keyword: _, ...rest } = whole
  const body = toInboundWebhook({ ...inbound, keyword: null }, plan)
  expect(body).toEqual(rest)
  expect('keyword' in body).toBe(false)
})
