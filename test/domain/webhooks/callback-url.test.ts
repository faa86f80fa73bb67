import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type CallbackPolicy,
  type CallbackTarget,
  judgeCallbackUrl,
  maskedUrl,
  openCallbackUrl,
  sealCallbackUrl,
  withoutCredentials,
} from '../../../src/domain/webhooks/callback-url.ts'
import { anyText } from '../../support/any-text.ts'
import { CALLBACK_CASES, policyOf, sentenceOf } from '../../support/callback-cases.ts'
import { STRICT_CALLBACK_POLICY } from '../../support/callback-policy.ts'

const DEV: CallbackPolicy = { ...STRICT_CALLBACK_POLICY, allowLoopback: true, allowUnresolvable: true }

function accepted(raw: string, policy = STRICT_CALLBACK_POLICY): CallbackTarget {
  const judgement = judgeCallbackUrl(raw, policy)
  if (!judgement.ok) throw new Error(`${raw}: ${judgement.code}`)
  return judgement.url
}

function codeOf(raw: unknown, policy = STRICT_CALLBACK_POLICY): string {
  const judgement = judgeCallbackUrl(raw, policy)
  return judgement.ok ? 'ok' : judgement.code
}

describe('every case of the vectors, judged by its text', () => {
  // Cases of DNS and of receivers have an acceptable text: callback-guard.test.ts and canaries.test.ts go on.
  for (const each of CALLBACK_CASES)
    test(sentenceOf(each), () => {
      const judgement = judgeCallbackUrl(each.url, policyOf(each))
      const byText = each.expect !== 'reject-400' || (each.class === 'dns' && each.dns !== undefined)
      expect(judgement.ok).toBe(byText)
    })

  test('each has an id of its own', () => {
    expect(new Set(CALLBACK_CASES.map(({ id }) => id)).size).toBe(CALLBACK_CASES.length)
    expect(CALLBACK_CASES.length).toBeGreaterThanOrEqual(841)
  })
})

describe('what is stored and dialled', () => {
  test('host in lower-case A-labels, path and query as given', () => {
    expect(accepted('HTTPS://MÜNCHEN.Example.COM/Hook?token=abc%20d&x=1#part')).toEqual({
      href: 'https://xn--mnchen-3ya.example.com/Hook?token=abc%20d&x=1',
      origin: 'https://xn--mnchen-3ya.example.com',
      protocol: 'https:',
      hostname: 'xn--mnchen-3ya.example.com',
      port: 443,
      path: '/Hook?token=abc%20d&x=1',
      authorization: null,
      address: null,
    })
  })

  test('a port other than the default stays', () => {
    expect(accepted('https://example.com:8443')).toMatchObject({
      origin: 'https://example.com:8443',
      port: 8443,
      path: '/',
    })
    expect(accepted('https://example.com:443/').origin).toBe('https://example.com')
  })

  test('the root dot is left out of Host and SNI', () => {
    expect(accepted('https://example.com./x')).toMatchObject({
      origin: 'https://example.com',
      hostname: 'example.com',
    })
  })

  test('an IPv4 address that is mapped into IPv6 is dialled as IPv4', () => {
    expect(accepted('https://[::ffff:8.8.8.8]/')).toMatchObject({
      origin: 'https://8.8.8.8',
      hostname: '8.8.8.8',
      address: '8.8.8.8',
    })
  })

  test('an IPv6 literal loses its brackets as an address', () => {
    expect(accepted('https://[2001:4860:4860::8888]:8443/')).toMatchObject({
      origin: 'https://[2001:4860:4860::8888]:8443',
      address: '2001:4860:4860::8888',
    })
  })

  test.each([
    ['https://user:pass@example.com/', 'user:pass'],
    ['https://user@example.com/', 'user:'],
    ['https://:pass@example.com/', ':pass'],
    ['https://us%40er:p%3Ass%C3%A9@example.com/', 'us@er:p:ssé'],
    ['https://127.0.0.1@example.com/', '127.0.0.1:'],
  ])('%s has Basic credentials', (raw, pair) => {
    const target = accepted(raw)
    expect(target.authorization).toBe(`Basic ${Buffer.from(pair).toString('base64')}`)
    expect(target.origin + target.path).toBe('https://example.com/')
  })
})

describe('refused', () => {
  test.each([
    [undefined, 'INVALID_TYPE'],
    [['https://example.com/'], 'INVALID_TYPE'],
    [`https://example.com/${'a'.repeat(2_029)}`, 'TOO_LONG'],
    [`https://example.com/${'é'.repeat(2_000)}`, 'TOO_LONG'],
    ['', 'INVALID_SCHEME'],
    ['https:\\\\example.com/', 'INVALID_SYNTAX'],
    ['https://example.com/a\u00a0b', 'INVALID_SYNTAX'],
    ['https://example.com/\u0000', 'INVALID_SYNTAX'],
    ['https://example.com/\ud800', 'INVALID_SYNTAX'],
    ['https://a@b@example.com/', 'INVALID_CREDENTIALS'],
    ['https://@example.com/', 'INVALID_CREDENTIALS'],
    ['https://:@example.com/', 'INVALID_CREDENTIALS'],
    ['https://a%3Ab:c@example.com/', 'INVALID_CREDENTIALS'],
    ['https://user:pass@/', 'INVALID_HOST'],
    ['https://ex%61mple.com/', 'INVALID_HOST'],
    ['https://exam\u200bple.com/', 'INVALID_SYNTAX'],
    ['https://134744072/', 'INVALID_HOST'],
    ['https://010.8.8.8/', 'INVALID_HOST'],
    ['https://8.8.2056/', 'INVALID_HOST'],
    ['https://8.8.8.8./', 'INVALID_HOST'],
    ['https://user@0x08.8.8.8/', 'INVALID_HOST'],
    ['https://xn--0.example.com/', 'INVALID_HOST'],
    [`https://${'a'.repeat(64)}.example.com/`, 'INVALID_HOST'],
    [`https://${'a.'.repeat(124)}example.com/`, 'INVALID_HOST'],
    ['https://example.com../', 'INVALID_HOST'],
    ['https://foo-.example.com/', 'INVALID_HOST'],
    ['https://intranet/', 'FORBIDDEN_HOST'],
    ['https://localhost./', 'FORBIDDEN_HOST'],
    ['https://sub.localhost/', 'FORBIDDEN_HOST'],
    ['https://ｌｏｃａｌｈｏｓｔ/', 'FORBIDDEN_HOST'],
    ['https://nas.HOME.arpa/', 'FORBIDDEN_HOST'],
    ['https://example.com:0/', 'FORBIDDEN_PORT'],
    ['https://example.com:25/', 'FORBIDDEN_PORT'],
    ['https://[2002:808:808::1]/', 'FORBIDDEN_ADDRESS'],
  ])('%j: %s', (raw, code) => {
    expect(codeOf(raw)).toBe(code)
  })
})

describe('policy', () => {
  test('own origins, whatever the path, credentials or root dot', () => {
    const policy = { ...STRICT_CALLBACK_POLICY, ownOrigins: ['https://sms.example.com/base', 'nonsense'] }
    expect(codeOf('https://sms.example.com/hook', policy)).toBe('OWN_ADDRESS')
    expect(codeOf('https://user@SMS.example.com.:443/hook', policy)).toBe('OWN_ADDRESS')
    expect(codeOf('https://sms.example.com:8443/hook', policy)).toBe('ok')
    expect(codeOf('https://hooks.example.com/', policy)).toBe('ok')
  })

  test('allowed hosts may be internal names, https only', () => {
    const policy = { ...STRICT_CALLBACK_POLICY, allowHosts: ['receiver', 'Hooks.Internal', 'my_host.corp'] }
    expect(codeOf('https://receiver/', policy)).toBe('ok')
    expect(codeOf('https://hooks.internal:8443/', policy)).toBe('ok')
    expect(codeOf('https://my_host.corp/', policy)).toBe('ok')
    expect(codeOf('https://a.hooks.internal/', policy)).toBe('FORBIDDEN_HOST')
    expect(codeOf('http://receiver/', policy)).toBe('INVALID_SCHEME')
  })

  test('allowed networks open addresses, not names or other encodings', () => {
    const policy = { ...STRICT_CALLBACK_POLICY, allowCidrs: ['127.0.0.0/8', 'fd00::/8'] }
    expect(codeOf('https://127.9.9.9/', policy)).toBe('ok')
    expect(codeOf('https://[fd00::1]/', policy)).toBe('ok')
    expect(codeOf('https://[::ffff:127.0.0.1]/', policy)).toBe('ok')
    expect(codeOf('https://[::ffff:10.0.0.1]/', policy)).toBe('FORBIDDEN_ADDRESS')
    expect(codeOf('https://2130706433/', policy)).toBe('INVALID_HOST')
    expect(codeOf('https://localhost/', policy)).toBe('FORBIDDEN_HOST')
    expect(codeOf('http://127.0.0.1/', policy)).toBe('INVALID_SCHEME')
  })

  test.each([
    ['http://localhost:3000/hook', 'ok'],
    ['http://app.localhost:3000/hook', 'ok'],
    ['http://127.0.0.1:3000/hook', 'ok'],
    ['http://[::1]:3000/hook', 'ok'],
    ['https://localhost/', 'ok'],
    ['https://hooks.example.com/', 'ok'],
    ['http://hooks.example.com/', 'INVALID_SCHEME'],
    ['http://8.8.8.8/', 'INVALID_SCHEME'],
    ['http://127.1/', 'INVALID_HOST'],
    ['http://10.0.0.1/', 'INVALID_SCHEME'],
    ['https://10.0.0.1/', 'FORBIDDEN_ADDRESS'],
    ['http://localhost:22/', 'FORBIDDEN_PORT'],
    ['http://local_host.localhost/', 'INVALID_HOST'],
  ])('dev: %s is %s', (raw, code) => {
    expect(codeOf(raw, DEV)).toBe(code)
  })

  test('localhost needs no DNS, other names do', () => {
    expect(judgeCallbackUrl('http://localhost:3000/', DEV)).toMatchObject({ ok: true, needsDns: false })
    expect(judgeCallbackUrl('https://127.0.0.1/', DEV)).toMatchObject({ ok: true, needsDns: false })
    expect(judgeCallbackUrl('https://example.com/', DEV)).toMatchObject({ ok: true, needsDns: true })
  })
})

describe('any input', () => {
  const urlish = fc.string({ unit: fc.constantFrom(...'https:/@.%[]0123456789abxX-_?#\\ \t。１ａ\u00ad') })

  // Without fc.webUrl, which takes 1.6 s of CPU to make in each process.
  const escaped = anyText({ maxLength: 20 }).map(encodeURIComponent)
  const webUrl = fc
    .tuple(fc.constantFrom('https', 'http'), fc.domain(), escaped, escaped, escaped)
    .map(([scheme, host, path, query, fragment]) => `${scheme}://${host}/${path}?${query}#${fragment}`)

  test('nothing throws, and a refusal has a message', () => {
    const anything = fc.oneof(
      fc.anything(),
      anyText(),
      webUrl,
      urlish.map((rest) => `https://${rest}`),
    )
    fc.assert(
      fc.property(anything, (raw) => {
        const judgement = judgeCallbackUrl(raw, STRICT_CALLBACK_POLICY)
        expect(judgement.ok || judgement.message.length > 0).toBe(true)
      }),
      { numRuns: 2_000 },
    )
  })

  test('what is accepted is accepted again as stored, and means the same', () => {
    fc.assert(
      fc.property(urlish, fc.constantFrom('', '.com', '.com:8443', '@example.com'), (rest, end) => {
        const judgement = judgeCallbackUrl(`https://${rest}${end}`, STRICT_CALLBACK_POLICY)
        if (judgement.ok) expect(accepted(judgement.url.href)).toEqual(judgement.url)
      }),
      { numRuns: 2_000 },
    )
  })
})

const key = randomBytes(32)
const iv = () => randomBytes(12)

test('stores a URL without credentials as it is', () => {
  const url = 'https://hooks.example.com/in?x=1'
  expect(sealCallbackUrl(key, url, iv)).toBe(url)
  expect(openCallbackUrl(key, url)).toBe(url)
})

test.each(['https://user:pass@hooks.example.com/in', 'https://user@hooks.example.com/'])(
  'seals %s',
  (url) => {
    const stored = sealCallbackUrl(key, url, iv)
    expect(stored).not.toContain('user')
    expect(stored).not.toContain('hooks')
    expect(openCallbackUrl(key, stored)).toBe(url)
    expect(() => openCallbackUrl(randomBytes(32), stored)).toThrow('another SECRET_KEY')
  },
)

test.each([
  ['https://user:pass@hooks.example.com/in?x=a@b', 'https://hooks.example.com/in?x=a@b'],
  ['HTTPS://us@er:pass@hooks.example.com', 'HTTPS://hooks.example.com'],
  ['https://hooks.example.com/@me', 'https://hooks.example.com/@me'],
  ['https://hooks.example.com?a@b', 'https://hooks.example.com?a@b'],
])('%s is shown without credentials', (url, shown) => {
  expect(withoutCredentials(url)).toBe(shown)
})

test.each([
  ['https://hooks.example.com', 'https://hooks.example.com'],
  ['https://hooks.example.com/aldis/dlr', 'https://hooks.example.com/aldis/dlr'],
  ['https://me:pass@hooks.example.com:8443/dlr?key=1&b=2', 'https://hooks.example.com:8443/dlr?***'],
  ['https://hooks.example.com?key=1', 'https://hooks.example.com?***'],
  [
    'https://hooks.example.com/services/T0/xoxb56789012345678901234',
    'https://hooks.example.com/services/T0/***',
  ],
  ['https://hooks.example.com/0f8fad5b-d9cb-469f-a165-70867728950e/in', 'https://hooks.example.com/***/in'],
])('%s is recorded as %s', (url, recorded) => {
  expect(maskedUrl(url)).toBe(recorded)
})
