import { describe, expect, it } from 'vitest'
import { countHeader, messageFault } from '../../../src/http/wire/message-faults.ts'

function faultOf(changes: { host?: string; coding?: string; httpVersion?: string; url?: string }) {
  const { host = 'localhost', coding, httpVersion = '1.1', url = '/' } = changes
  const headers = { host, ...(coding === undefined ? {} : { 'transfer-encoding': coding }) }
  return messageFault({ headers, rawHeaders: ['Host', host], httpVersion, url })?.field ?? null
}

describe('messageFault', () => {
  it.each(['localhost', 'sms.example.com:8080', '192.0.2.1', '[::1]:80', '', 'under_score', 'xn--p1ai:'])(
    'takes the host %j',
    (host) => expect(faultOf({ host })).toBeNull(),
  )

  it.each(['a b', 'user@host', 'a/b', '[::1', 'a:b', 'a:1:2', 'é'])('refuses the host %j', (host) =>
    expect(faultOf({ host })).toBe('Host'),
  )

  it('wants one host, but of HTTP/1.0', () => {
    const none = { headers: {}, rawHeaders: [], url: '/' }
    expect(messageFault({ ...none, httpVersion: '1.1' })?.field).toBe('Host')
    expect(messageFault({ ...none, httpVersion: '1.0' })).toBeNull()
  })

  it('takes bodies in chunks, in no other coding and not in HTTP/1.0', () => {
    expect(faultOf({ coding: 'Chunked' })).toBeNull()
    for (const coding of ['gzip, chunked', 'gzip', '']) expect(faultOf({ coding })).toBe('Transfer-Encoding')
    expect(faultOf({ coding: 'chunked', httpVersion: '1.0' })).toBe('Transfer-Encoding')
  })

  it('refuses other versions, and fragments', () => {
    for (const httpVersion of ['0.9', '2.0']) expect(faultOf({ httpVersion })).toBe('request')
    expect(faultOf({ url: '/v1/sendsms#x' })).toBe('request')
    expect(faultOf({ url: '/v1/sendsms?x=%23' })).toBeNull()
  })
})

it('counts a name in any case, and never a value', () => {
  const rawHeaders = ['Host', 'a', 'x', 'host', 'HOST', 'b', 'hosts', 'c']
  expect(countHeader(rawHeaders, 'host')).toBe(2)
  expect(countHeader(rawHeaders, 'authorization')).toBe(0)
})
