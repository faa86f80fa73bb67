import { describe, expect, test } from 'vitest'
import { type CallbackTarget, judgeCallbackUrl } from '../../src/domain/webhooks/callback-url.ts'
import { requestText } from '../../src/outbound/request-text.ts'
import { STRICT_CALLBACK_POLICY } from '../support/callback-policy.ts'

function targetOf(url: string): CallbackTarget {
  const judgement = judgeCallbackUrl(url, { ...STRICT_CALLBACK_POLICY, allowLoopback: true })
  if (!judgement.ok) throw new Error(judgement.message)
  return judgement.url
}

const TARGET = targetOf('https://receiver.example.com/hook?a=b')

describe('the text of a request', () => {
  test('is its head and its body, whose length counts octets', () => {
    const accountHeaders = { 'X-Key': 'one' }
    const { text } = requestText(TARGET, {
      body: '{"é":"€"}',
      headers: { 'webhook-id': 'm-1' },
      accountHeaders,
    })
    expect(text?.split('\r\n')).toEqual([
      'POST /hook?a=b HTTP/1.1',
      'host: receiver.example.com',
      'connection: keep-alive',
      'user-agent: Aldis',
      'accept-encoding: identity',
      'X-Key: one',
      'webhook-id: m-1',
      'content-length: 12',
      '',
      '{"é":"€"}',
    ])
  })

  test.each([
    ['https://receiver.example.com:8443/', 'receiver.example.com:8443'],
    ['http://127.0.0.1:8080/', '127.0.0.1:8080'],
    ['http://[::1]:8080/', '[::1]:8080'],
  ])('names the host of %s as %s', (url, host) => {
    const { text } = requestText(targetOf(url), { body: '{}', headers: {} })
    expect(text).toContain(`\r\nhost: ${host}\r\n`)
  })

  test('is a GET without a body, also of a target that was sent one', () => {
    const target = targetOf('https://receiver.example.com/dlr?type=1')
    const posted = requestText(target, { body: '{}', headers: {} }).text
    const fetched = requestText(target, { body: '', headers: { 'webhook-id': 'x' } }).text
    expect(posted).toMatch(/^POST \/dlr\?type=1 HTTP\/1\.1\r\n/)
    expect(fetched).toMatch(/^GET \/dlr\?type=1 HTTP\/1\.1\r\n(?:(?!content-length).+\r\n)+\r\n$/)
  })

  test('is that of its account, whoever was before', () => {
    const of = (accountHeaders: Record<string, string>) =>
      requestText(TARGET, { body: '', headers: {}, accountHeaders })
    const one = { 'x-key': 'one' }
    const two = { 'x-key': 'two' }
    for (const accountHeaders of [one, two, one]) {
      expect(of(accountHeaders).text).toContain(`\r\nx-key: ${accountHeaders['x-key']}\r\n`)
      expect(of(accountHeaders).secrets).toEqual(accountHeaders)
    }
  })
})

describe('what would make another request of it is not sent', () => {
  const LINE_ENDS = ['a\r\nx-injected: 1', 'a\nb', 'a\rb', 'a\0b', 'a\x7fb', 'é', '\u010d\u010a']

  test.each(LINE_ENDS)('a value %j', (value) => {
    expect(requestText(TARGET, { body: '', headers: { 'webhook-id': value } }).text).toBeNull()
    const accountHeaders = { 'x-key': value }
    expect(requestText(TARGET, { body: '', headers: {}, accountHeaders }).text).toBeNull()
  })

  test.each([...LINE_ENDS, '', 'a:b', 'a b', 'a: b\r\nc'])('a name %j', (name) => {
    expect(requestText(TARGET, { body: '', headers: { [name]: 'x' } }).text).toBeNull()
    const accountHeaders = { [name]: 'x' }
    expect(requestText(TARGET, { body: '', headers: {}, accountHeaders }).text).toBeNull()
  })

  test.each(['/a\r\nx-injected: 1', '/a b', 'a', '', '/\u010a', 'http://elsewhere.example.com/'])(
    'a path %j',
    (path) => {
      expect(requestText({ ...TARGET, path }, { body: '', headers: {} }).text).toBeNull()
    },
  )
})
