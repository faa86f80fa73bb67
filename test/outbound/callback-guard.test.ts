import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CallbackPolicy, STRICT_CALLBACK_POLICY } from '../../src/domain/callback-url.ts'
import { CallbackGuard } from '../../src/outbound/callback-guard.ts'
import { NameResolver } from '../../src/outbound/resolver.ts'
import { CALLBACK_CASES, policyOf, recordsOf } from '../support/callback-cases.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'

let dns: DnsServer

beforeAll(async () => {
  dns = await startDnsServer()
})
afterAll(() => dns.close())

function guard(policy: CallbackPolicy = STRICT_CALLBACK_POLICY): CallbackGuard {
  return new CallbackGuard(policy, new NameResolver({ servers: [dns.address] }))
}

describe('vectors/callback-url*.json at accept, with DNS', () => {
  test.each(CALLBACK_CASES.map((each) => [each.id, each.class, each] as const))(
    '%s %s',
    async (id, _kind, each) => {
      const url = typeof each.url === 'string' ? URL.parse(each.url) : null
      if (url !== null) dns.set(url.hostname, recordsOf(each))
      const verdict = await guard(policyOf(each)).check(each.url)
      // What is refused at dial is accepted here; so is a time-out of DNS (the case allows 503, design §4 says accept).
      expect(verdict.ok, id).toBe(each.expect !== 'reject-400')
    },
  )
})

describe('check', () => {
  test('messages name no address', async () => {
    dns.set('inner.example.com', { A: ['10.1.2.3'] })
    expect(await guard().check('https://inner.example.com/')).toEqual({
      ok: false,
      code: 'FORBIDDEN_ADDRESS',
      message: 'must not point at an internal or reserved address',
    })
  })

  test('a name without an address', async () => {
    expect(await guard().check('https://absent.example.com/')).toMatchObject({ code: 'HOST_NOT_FOUND' })
    const dev = { ...STRICT_CALLBACK_POLICY, allowUnresolvable: true }
    expect(await guard(dev).check('https://absent.example.com/')).toEqual({ ok: true })
  })

  test('SERVFAIL is accepted: the dial fails closed', async () => {
    dns.set('broken.example.com', { rcode: 'SERVFAIL' })
    expect(await guard().check('https://broken.example.com/')).toEqual({ ok: true })
    expect(await guard().judgeForDial('https://broken.example.com/')).toEqual({
      ok: false,
      error: 'DNS_FAILURE',
    })
  })

  test('allowed hosts and networks hold for what DNS says', async () => {
    dns.set('hooks.internal', { A: ['10.0.0.7'] })
    dns.set('lan.example.com', { A: ['10.0.0.8'] })
    const open = guard({
      ...STRICT_CALLBACK_POLICY,
      allowHosts: ['hooks.internal'],
      allowCidrs: ['10.0.0.8/32'],
    })
    expect(await open.check('https://hooks.internal/')).toEqual({ ok: true })
    expect(await open.judgeForDial('https://hooks.internal/')).toMatchObject({
      ok: true,
      addresses: ['10.0.0.7'],
    })
    expect(await open.check('https://lan.example.com/')).toEqual({ ok: true })
    expect(await open.judgeForDial('https://lan.example.com/')).toMatchObject({
      ok: true,
      addresses: ['10.0.0.8'],
    })
  })

  test('the dev policy opens loopback, by name and by address', async () => {
    const dev = guard({ ...STRICT_CALLBACK_POLICY, allowLoopback: true })
    expect(await dev.check('http://localhost:3000/')).toEqual({ ok: true })
    expect(await dev.judgeForDial('http://localhost:3000/')).toMatchObject({
      addresses: ['127.0.0.1', '::1'],
    })
    dns.set('inner.example.com', { A: ['10.1.2.3'] })
    expect(await dev.check('https://inner.example.com/')).toMatchObject({ ok: false })
  })
})

describe('judgeForDial', () => {
  test.each([
    ['http://example.com/', 'FORBIDDEN_URL'],
    ['https://10.0.0.1/', 'FORBIDDEN_ADDRESS'],
    ['https://mixed.example.com/', 'FORBIDDEN_ADDRESS'],
    ['https://absent.example.com/', 'DNS_NOT_FOUND'],
    ['https://silent.example.com/', 'DNS_TIMEOUT'],
  ])('%s: %s', async (url, error) => {
    dns.set('mixed.example.com', { A: ['93.184.216.34'], AAAA: ['::1'] })
    dns.set('silent.example.com', { silent: true })
    const resolver = new NameResolver({ servers: [dns.address], deadlineMs: 1_000 })
    expect(await new CallbackGuard(STRICT_CALLBACK_POLICY, resolver).judgeForDial(url)).toEqual({
      ok: false,
      error,
    })
  })

  test('an unresolvable name is refused also when it was accepted', async () => {
    const dev = guard({ ...STRICT_CALLBACK_POLICY, allowUnresolvable: true })
    expect(await dev.judgeForDial('https://absent.example.com/')).toEqual({
      ok: false,
      error: 'DNS_NOT_FOUND',
    })
  })

  test('a literal is judged without DNS', () => {
    expect(guard().judgeForDial('https://8.8.8.8/')).toMatchObject({ ok: true, addresses: ['8.8.8.8'] })
  })

  test('offers at most eight addresses', async () => {
    dns.set('many.example.com', { A: Array.from({ length: 20 }, (_, index) => `93.184.216.${index}`) })
    const verdict = await guard().judgeForDial('https://many.example.com/')
    expect(verdict.ok && verdict.addresses.length).toBe(8)
  })
})
