import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { EventPayload } from '../../../src/domain/events.ts'
import { sealCallbackUrl } from '../../../src/domain/webhooks/callback-url.ts'
import { isDestination, webhookTarget } from '../../../src/domain/webhooks/targets.ts'
import { aPlan } from '../../support/directory.ts'

const KEY = randomBytes(32)

describe('where an event goes', () => {
  const account = { ...aPlan().account, defaultDlrUrl: 'https://example.com/dlr' }
  const plan = aPlan({ account, inboundUrl: 'https://example.com:8443/mo' })
  const receipt = (callbackUrl: string | null) =>
    ({ direction: 'MT', message: { callbackUrl } }) as unknown as EventPayload
  const inbound = { direction: 'MO' } as unknown as EventPayload

  test('a receipt to the URL of its message, or else of the account', () => {
    const own = webhookTarget(receipt('https://me:hush@own.example.com/x'), plan, KEY)
    expect(own).toEqual({
      url: 'https://me:hush@own.example.com/x',
      destination: 'https://own.example.com',
      own: true,
      isDlrUrl: false,
    })
    const otherwise = webhookTarget(receipt(null), plan, KEY)
    expect(otherwise).toEqual({
      url: 'https://example.com/dlr',
      destination: 'https://example.com',
      own: false,
      isDlrUrl: false,
    })
    expect(webhookTarget(receipt(null), aPlan(), KEY)).toBeNull()
  })

  test('an inbound message to the URL of its plan', () => {
    const destination = 'https://example.com:8443'
    expect(webhookTarget(inbound, plan, KEY)).toMatchObject({
      url: `${destination}/mo`,
      destination,
      own: false,
    })
    expect(webhookTarget(inbound, aPlan({ account }), KEY)).toBeNull()
  })

  test('a sealed one is opened', () => {
    const sealed = sealCallbackUrl(KEY, 'https://me:hush@own.example.com/x', () => randomBytes(12))
    expect(sealed).not.toContain('hush')
    expect(webhookTarget(receipt(sealed), plan, KEY)).toMatchObject({
      destination: 'https://own.example.com',
    })
    expect(() => webhookTarget(receipt(sealed), plan, randomBytes(32))).toThrow()
  })
})

test.each([
  ['https://example.com', true],
  ['https://example.com:8443', true],
  ['http://127.0.0.1:3000', true],
  ['https://[2001:db8::1]:8443', true],
  ['https://xn--bcher-kva.example', true],
  ['https://bücher.example', false],
  ['https://example.com:443', false],
  ['https://example.com/', false],
  ['https://example.com?x', false],
  ['https://EXAMPLE.com', false],
  ['https://me@example.com', false],
  ['https://example.com.', false],
  ['ftp://example.com', false],
  ['javascript:alert(1)', false],
  ['example.com', false],
  ['https://', false],
  ['', false],
  [`https://${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}:65535`, true],
  [`https://${'a.'.repeat(200)}example`, false],
])('%s is a destination: %s', (text, expected) => {
  expect(isDestination(text)).toBe(expected)
})
