import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, test } from 'vitest'
import { openSecret, SecretError } from '../../../src/domain/secrets.ts'
import {
  BASIC_PASSWORD,
  BASIC_USERNAME,
  changedWebhookHeaders,
  formatWebhookSecret,
  judgeWebhookHeaders,
  maskEchoes,
  NO_WEBHOOK_HEADERS,
  openWebhookHeaders,
  parseWebhookSecret,
  sealWebhookHeaders,
  sentWebhookHeaders,
  signWebhook,
  WEBHOOK_HEADER_NAME,
  WEBHOOK_HEADER_VALUE,
  type WebhookHeaderChange,
  type WebhookHeaderSettings,
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

describe('headers of an account', () => {
  const KEY = Buffer.alloc(32, 1)
  const IV = Buffer.alloc(12, 2)
  const ACCOUNT = 'aaaaaaaaaaaaaaaaaaaaaaaa'
  const CREDENTIALS = { username: 'aldis', password: 'pa:ss' }

  function headersOf(...names: string[]): WebhookHeaderSettings['headers'] {
    return names.map((name) => ({ name, value: 'value' }))
  }

  /** Fields and codes of the faults of a change of `present`. */
  function faultsOf(change: WebhookHeaderChange, present = NO_WEBHOOK_HEADERS): string[] {
    const faults = judgeWebhookHeaders(changedWebhookHeaders(present, change), change)
    return faults.map(({ field, code }) => `${field} ${code}`)
  }

  describe('the form', () => {
    test.each(['X-Api-Key', 'cookie', "!#$%&'*+-.^_`|~09Az", '__proto__', 'a', 'n'.repeat(100)])(
      'of a name: %s',
      (name) => {
        expect(name).toMatch(WEBHOOK_HEADER_NAME)
      },
    )

    test.each(['', 'a b', 'a:', 'a\n', 'é', 'a(b', 'n'.repeat(101), '"a"'])('not of a name: %j', (name) => {
      expect(name).not.toMatch(WEBHOOK_HEADER_NAME)
    })

    test.each(['x', 'a b\tc', '!~', 'v'.repeat(1_000)])('of a value: %j', (value) => {
      expect(value).toMatch(WEBHOOK_HEADER_VALUE)
    })

    test.each(['', ' a', 'a ', '\ta', 'a\t', 'a\r\nb: c', 'a\n', 'é', '\x7f', 'v'.repeat(1_001)])(
      'not of a value: %j',
      (value) => {
        expect(value).not.toMatch(WEBHOOK_HEADER_VALUE)
      },
    )

    test('of credentials', () => {
      expect('').toMatch(BASIC_USERNAME)
      expect('Jörg').toMatch(BASIC_USERNAME)
      expect('a:b').not.toMatch(BASIC_USERNAME)
      expect('a:b ü').toMatch(BASIC_PASSWORD)
      for (const text of ['a\nb', '\x7f', '\ud800', 'x'.repeat(256)]) {
        expect(text).not.toMatch(BASIC_USERNAME)
        expect(text).not.toMatch(BASIC_PASSWORD)
      }
    })
  })

  describe('what is refused', () => {
    test.each([
      'Host',
      'CONTENT-TYPE',
      'content-length',
      'Content-Anything',
      'transfer-encoding',
      'connection',
      'Keep-Alive',
      'TE',
      'trailer',
      'upgrade',
      'expect',
      'User-Agent',
      'accept-encoding',
      'proxy-authorization',
      'webhook-signature',
      'Webhook-Anything',
      'aldis-attempt',
    ])('%s', (name) => {
      expect(faultsOf({ webhookHeaders: headersOf('X-Api-Key', name) })).toEqual([
        'webhookHeaders.1.name NOT_ALLOWED',
      ])
      expect(sentWebhookHeaders({ headers: headersOf(name), credentials: null })).toEqual({})
    })

    test('a name twice, whatever its case', () => {
      expect(faultsOf({ webhookHeaders: headersOf('X-Key', 'x-other', 'x-key') })).toEqual([
        'webhookHeaders.2.name REPEATED',
      ])
    })

    test('two sources of Authorization, in one change or after another', () => {
      const headers = headersOf('AUTHORIZATION')
      expect(faultsOf({ webhookHeaders: headers, webhookCredentials: CREDENTIALS })).toEqual([
        'webhookCredentials NOT_ALLOWED',
      ])
      expect(faultsOf({ webhookCredentials: CREDENTIALS }, { headers, credentials: null })).toEqual([
        'webhookCredentials NOT_ALLOWED',
      ])
      expect(faultsOf({ webhookHeaders: headers }, { headers: [], credentials: CREDENTIALS })).toEqual([
        'webhookHeaders.0.name NOT_ALLOWED',
      ])
      expect(
        faultsOf(
          { webhookHeaders: headers, webhookCredentials: null },
          { headers: [], credentials: CREDENTIALS },
        ),
      ).toEqual([])
    })

    test('more than 4 KiB in all', () => {
      const value = 'v'.repeat(1_000)
      const full = ['a', 'b', 'c', 'd'].map((name) => ({ name, value }))
      const last = (length: number) => [...full, { name: 'e', value: 'v'.repeat(length) }]
      expect(faultsOf({ webhookHeaders: last(91) })).toEqual([])
      expect(faultsOf({ webhookHeaders: last(92) })).toEqual(['webhookHeaders TOO_LONG'])
      expect(faultsOf({ webhookCredentials: CREDENTIALS }, { headers: last(91), credentials: null })).toEqual(
        ['webhookCredentials TOO_LONG'],
      )
    })
  })

  test('what a change does not name stays, null and an empty list remove', () => {
    const headers = headersOf('X-Key')
    const present = { headers, credentials: CREDENTIALS }
    expect(changedWebhookHeaders(present, {})).toEqual(present)
    expect(changedWebhookHeaders(present, { webhookHeaders: [] })).toEqual({ ...present, headers: [] })
    expect(changedWebhookHeaders(present, { webhookHeaders: null })).toEqual({ ...present, headers: [] })
    expect(changedWebhookHeaders(present, { webhookCredentials: null })).toEqual({
      headers,
      credentials: null,
    })
  })

  describe('what is sent', () => {
    it('has names as given, but for Authorization', () => {
      const headers = headersOf('X-API-Key', '__proto__', 'AUTHORIZATION')
      expect(Object.entries(sentWebhookHeaders({ headers, credentials: null }))).toEqual([
        ['X-API-Key', 'value'],
        ['__proto__', 'value'],
        ['authorization', 'value'],
      ])
    })

    it('has credentials in UTF-8', () => {
      const credentials = { username: 'Aladdin', password: 'open sésame' }
      expect(sentWebhookHeaders({ headers: [], credentials })).toEqual({
        authorization: `Basic ${Buffer.from('Aladdin:open sésame', 'utf8').toString('base64')}`,
      })
    })
  })

  describe('at rest', () => {
    const open = (sealed: string, context: string) => openSecret(KEY, sealed, context)

    it('is nothing where there is nothing', () => {
      expect(sealWebhookHeaders(KEY, NO_WEBHOOK_HEADERS, IV, ACCOUNT)).toBeNull()
      expect(openWebhookHeaders(open, null, ACCOUNT)).toEqual(NO_WEBHOOK_HEADERS)
    })

    it('is sealed for one account, and for nothing else of it', () => {
      const sealed = sealWebhookHeaders(KEY, { headers: [], credentials: CREDENTIALS }, IV, ACCOUNT)!
      expect(Buffer.from(sealed, 'base64url').toString('latin1') + sealed).not.toContain('pa:ss')
      expect(() => openWebhookHeaders(open, sealed, 'bbbbbbbbbbbbbbbbbbbbbbbb')).toThrow(SecretError)
      expect(() => open(sealed, `account ${ACCOUNT}`)).toThrow(SecretError)
    })

    it('opens to what was sealed', () => {
      const header = fc.record({
        name: fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/),
        value: fc.stringMatching(/^[\x21-\x7e]{1,50}$/),
      })
      const credentials = fc.record({ username: fc.string(), password: fc.string({ unit: 'grapheme' }) })
      fc.assert(
        fc.property(fc.array(header, { minLength: 1 }), fc.option(credentials), (headers, optional) => {
          const settings = { headers, credentials: optional }
          const sealed = sealWebhookHeaders(KEY, settings, IV, ACCOUNT)
          expect(openWebhookHeaders(open, sealed, ACCOUNT)).toEqual(settings)
        }),
      )
    })
  })

  const BASIC = `Basic ${Buffer.from('aldis:open sésame').toString('base64')}`

  test('an answer without secrets stays as it is', () => {
    expect(maskEchoes('', { 'X-Key': 'abcdef' })).toBe('')
    expect(maskEchoes('{"ok":true}', { 'X-Key': 'abcdef' })).toBe('{"ok":true}')
    expect(maskEchoes('{"ok":true}', {})).toBe('{"ok":true}')
  })

  test('a value is masked wherever it stands, the longest first', () => {
    const headers = { 'X-Key': 'abcdef', 'X-Longer': 'abcdefgh' }
    expect(maskEchoes('1 abcdef 2 abcdefgh 3 abcdef', headers)).toBe('1 *** 2 *** 3 ***')
  })

  test('of Authorization, what follows the scheme too, and Basic credentials decoded', () => {
    expect(maskEchoes('token s3cr3t', { authorization: 'Bearer s3cr3t' })).toBe('token ***')
    expect(maskEchoes(`got ${BASIC}`, { authorization: BASIC })).toBe('got ***')
    expect(maskEchoes('user aldis, password open sésame', { authorization: BASIC })).toBe(
      'user aldis, password ***',
    )
    expect(maskEchoes('aldis:open sésame', { authorization: BASIC })).toBe('***')
  })

  test('as JSON writes it', () => {
    const value = 'a"b\\c d'
    expect(maskEchoes(JSON.stringify({ key: value }), { 'X-Key': value })).toBe('{"key":"***"}')
  })

  test('what is too short to be a secret is not looked for', () => {
    expect(maskEchoes('error 500 of eu', { 'X-Version': '500', 'X-Region': 'eu' })).toBe('error 500 of eu')
  })

  test('the beginning of a value at the end of a text', () => {
    expect(maskEchoes('key: abcde', { 'X-Key': 'abcdefgh' })).toBe('key: ***')
    expect(maskEchoes('key: abc', { 'X-Key': 'abcdefgh' })).toBe('key: abc')
  })

  test('wherever the text is cut, no more than three characters of a value are left', () => {
    const value = fc.stringMatching(/^[a-z0-9]{8,40}$/)
    fc.assert(
      fc.property(fc.string(), value, fc.nat(60), (before, secret, length) => {
        const whole = `${before}${secret} tail`
        const cut = whole.slice(0, before.length + length)
        const masked = maskEchoes(cut, { 'X-Key': secret })
        fc.pre(!before.includes(secret.slice(0, 4)))
        expect(masked).not.toContain(secret.slice(0, 4))
      }),
    )
  })
})
