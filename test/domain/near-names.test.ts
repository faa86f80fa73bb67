import { expect, it, test } from 'vitest'
import { nearestName } from '../../src/domain/near-names.ts'

const KNOWN = ['servicePlanId', 'channel', 'from', 'to', 'body', 'callbackUrl']

test.each([
  ['callbackURL', 'callbackUrl'],
  ['callback_url', 'callbackUrl'],
  ['Callback-Url', 'callbackUrl'],
  ['calbackUrl', 'callbackUrl'],
  ['callbackUri', 'callbackUrl'],
  ['service_plan_id', 'servicePlanId'],
  ['planId', null],
  ['chanel', 'channel'],
  ['form', 'from'],
  ['frm', 'from'],
  ['To', 'to'],
  ['too', null],
  ['text', null],
  ['', null],
])('%j may mean %j', (name, meant) => {
  expect(nearestName(name, KNOWN)).toBe(meant)
})

it('the nearest counts, and a long name is not compared', () => {
  expect(nearestName('fromDates', ['fromDay', 'fromDate'])).toBe('fromDate')
  expect(nearestName('x'.repeat(32), ['x'.repeat(31)])).toBe('x'.repeat(31))
  expect(nearestName('x'.repeat(33), ['x'.repeat(33)])).toBeNull()
})
