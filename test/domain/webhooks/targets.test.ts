import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FAILURES } from '../../../src/domain/error-codes.ts'
import type { EventPayload } from '../../../src/domain/events.ts'
import type { Message } from '../../../src/domain/messages/messages.ts'
import { sealCallbackUrl } from '../../../src/domain/webhooks/callback-url.ts'
import {
  dlrUrl,
  isDestination,
  isDlrUrl,
  isMasked,
  longestDlrUrl,
  storedDlrUrl,
  webhookTarget,
} from '../../../src/domain/webhooks/targets.ts'
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

describe('the DLR URL of a message', () => {
  const FROM = { to: '0015551230001', from: 'A & B', username: 'a@b' }
  const MSG_ID = '01a20998-6ad3-71d6-bb19-3dbaaabeb21b'

  function messageAt(status: Message['status'], errorCode = '000', wasSent = true): Message {
    const updatedAt = new Date('2026-11-23T17:53:12.700Z')
    return { msgId: MSG_ID, status, errorCode, updatedAt, sentAt: wasSent ? updatedAt : null } as Message
  }

  test.each([
    ['SENT', '000', true, 8, 'ACK/'],
    ['DELIVERED', '000', true, 1, 'stat:DELIVRD err:000 '],
    ['FAILED', '500', true, 2, 'stat:EXPIRED err:500 '],
    ['FAILED', '303', true, 2, 'stat:UNDELIV err:303 '],
    ['UNKNOWN', '601', true, 2, 'stat:UNKNOWN err:601 '],
    ['FAILED', '301', false, 16, 'NACK/301/Invalid recipient number'],
  ] as const)('%s %s (sent: %s) is of type %i', (status, errorCode, wasSent, type, text) => {
    const message = messageAt(status, errorCode, wasSent)
    const change = { status, sentAtMs: wasSent ? 1 : null }
    for (const mask of [1, 2, 8, 16, 31]) {
      const stored = storedDlrUrl('https://x.example/?%d&%A', mask, FROM)
      expect(isMasked(stored, change)).toBe((mask & type) === 0)
      const url = dlrUrl(stored, message)
      expect(url === null).toBe((mask & type) === 0)
      if (url === null) continue
      const [got, report] = url.slice('https://x.example/?'.length).split('&')
      expect([got, decodeURIComponent(report!.replaceAll('+', ' '))]).toEqual([
        String(type),
        expect.stringContaining(text),
      ])
    }
  })

  test('an escape in what the request wrote is none in the URL', () => {
    const stored = storedDlrUrl('https://x.example?%p,%P,%q,%n,%%d,%25', 31, { ...FROM, from: '%d %A' })
    expect(dlrUrl(stored, messageAt('SENT'))).toBe(
      'https://x.example/?0015551230001,%25d+%25A,%2B15551230001,a%40b,%d,%25',
    )
  })

  test('no callback URL is taken for one', () => {
    expect(isDlrUrl('https://x.example/?%20dlr-mask=1')).toBe(false)
    expect(isMasked('https://x.example/', { status: 'SENT', sentAtMs: 1 })).toBe(false)
  })

  test('none is longer than the longest', () => {
    const piece = fc.constantFrom(...[...'dpPqQtTAabkeIFnzCO%'].map((letter) => `%${letter}`), 'x')
    const codes = fc.constantFrom(...Object.keys(FAILURES))
    fc.assert(
      fc.property(fc.array(piece), codes, fc.boolean(), (pieces, code, wasSent) => {
        const stored = storedDlrUrl(`https://x.example/${pieces.join('')}`, 31, FROM)
        const url = dlrUrl(stored, messageAt('FAILED', code, wasSent))!
        expect(url.length).toBeLessThanOrEqual(longestDlrUrl(stored).length)
      }),
    )
  })
})
