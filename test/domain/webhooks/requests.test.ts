import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import {
  formatWebhookSecret,
  parseWebhookSecret,
  signWebhook,
} from '../../../src/domain/webhooks/requests.ts'

const OLD_SECRET = formatWebhookSecret(new Uint8Array(32).fill(7))
const NEW_SECRET = formatWebhookSecret(new Uint8Array(24).fill(9))

function sign(body: string, secrets: string[]) {
  return { ...signWebhook({ id: 'evt_1', timestampMs: Date.now(), body }, secrets) }
}

describe('signWebhook', () => {
  test('gives the signature of the reference library', () => {
    const timestampMs = Date.UTC(2026, 0, 1) + 999
    const headers = signWebhook({ id: 'evt_1', timestampMs, body: '{"a":"é"}' }, [OLD_SECRET])
    expect(headers).toEqual({
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1767225600',
      'webhook-signature': new Webhook(OLD_SECRET).sign('evt_1', new Date(timestampMs), '{"a":"é"}'),
    })
  })

  test('verifies with either secret while two live', () => {
    const headers = sign('{"ok":true}', [NEW_SECRET, OLD_SECRET])
    expect(headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
    expect(new Webhook(OLD_SECRET).verify('{"ok":true}', headers)).toEqual({ ok: true })
    expect(new Webhook(NEW_SECRET).verify('{"ok":true}', headers)).toEqual({ ok: true })
  })

  test('another body, id or secret does not verify', () => {
    const headers = sign('{}', [OLD_SECRET])
    expect(() => new Webhook(OLD_SECRET).verify('{ }', headers)).toThrow()
    expect(() => new Webhook(OLD_SECRET).verify('{}', { ...headers, 'webhook-id': 'evt_2' })).toThrow()
    expect(() => new Webhook(NEW_SECRET).verify('{}', headers)).toThrow()
  })

  test('any JSON text verifies', () => {
    fc.assert(
      fc.property(fc.json(), (body) => {
        new Webhook(OLD_SECRET).verify(body, sign(body, [OLD_SECRET]))
      }),
    )
  })

  test('a damaged secret is not signed with', () => {
    expect(() => sign('{}', ['whsec_!'])).toThrow(TypeError)
  })
})

describe('secrets', () => {
  test('are read back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 24, maxLength: 64 }), (key) => {
        expect(parseWebhookSecret(formatWebhookSecret(key))).toEqual(Buffer.from(key))
      }),
    )
  })

  test.each([
    '',
    'whsec_',
    'whsec_AAAA',
    `x${OLD_SECRET}`,
    `${OLD_SECRET} `,
    OLD_SECRET.slice(6),
    `${OLD_SECRET}=`,
  ])('refuses %j', (secret) => {
    expect(parseWebhookSecret(secret)).toBeNull()
  })

  test('keys have 24 to 64 bytes', () => {
    expect(() => formatWebhookSecret(new Uint8Array(23))).toThrow(RangeError)
    expect(() => formatWebhookSecret(new Uint8Array(65))).toThrow(RangeError)
  })
})
