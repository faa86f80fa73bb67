import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CallbackPolicy, judgeCallbackUrl } from '../../src/domain/webhooks/callback-url.ts'
import { CallbackGuard } from '../../src/outbound/callback-guard.ts'
import { NameResolver } from '../../src/outbound/resolver.ts'
import { CALLBACK_CASES, DNS_CASES, policyOf, recordsOf, sentenceOf } from '../support/callback-cases.ts'
import { STRICT_CALLBACK_POLICY } from '../support/callback-policy.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'

const DEV: CallbackPolicy = { ...STRICT_CALLBACK_POLICY, allowLoopback: true, allowUnresolvable: true }
/** Asked for a name, it fails the test. */
const UNASKED = {
  resolveForAccept: () => expect.unreachable('no name is to be looked up'),
  resolveForDial: () => expect.unreachable('no name is to be looked up'),
} as unknown as NameResolver

let dns: DnsServer

beforeAll(async () => {
  dns = await startDnsServer()
})
afterAll(() => dns.close())

function guard(policy: CallbackPolicy = STRICT_CALLBACK_POLICY): CallbackGuard {
  return new CallbackGuard(policy, new NameResolver({ servers: [dns.address] }))
}

describe('a URL whose name must be looked up, when it is accepted', () => {
  for (const each of DNS_CASES)
    test(sentenceOf(each), async () => {
      const url = typeof each.url === 'string' ? URL.parse(each.url) : null
      if (url !== null) dns.set(url.hostname, recordsOf(each))
      const verdict = await guard(policyOf(each)).check(each.url)
      // What is refused at the dial is accepted here. So is a time-out of DNS, which the case lets us answer 503.
      expect(verdict.ok).toBe(each.expect !== 'reject-400')
    })
})

describe('what the text of a URL decides, for every case and whatever the policy', () => {
  const policies = [
    DEV,
    ...new Map(CALLBACK_CASES.map((each) => [JSON.stringify(policyOf(each)), policyOf(each)])).values(),
  ]
  const judged = policies.flatMap((policy) =>
    CALLBACK_CASES.map(({ url }) => ({ url, policy, judgement: judgeCallbackUrl(url, policy) })),
  )
  const refused = judged.filter(({ judgement }) => !judgement.ok)

  test('is the verdict of the guard as it stands, and no name is looked up', async () => {
    expect(refused.length).toBeGreaterThan(policies.length * 500)
    const guards = new Map(policies.map((policy) => [policy, new CallbackGuard(policy, UNASKED)]))
    for (const { url, policy, judgement } of refused)
      expect(await guards.get(policy)!.check(url)).toEqual(judgement)
    const literal = judged.filter(({ judgement }) => judgement.ok && !judgement.needsDns)
    expect(literal.length).toBeGreaterThan(50)
    for (const { url, policy } of literal) expect(await guards.get(policy)!.check(url)).toEqual({ ok: true })
  })

  test('is refused at the dial too, which tells a forbidden address from a forbidden URL', () => {
    const dials = new Map(policies.map((policy) => [policy, new CallbackGuard(policy, UNASKED)]))
    for (const { url, policy, judgement } of refused) {
      const isAddress = !judgement.ok && judgement.code === 'FORBIDDEN_ADDRESS'
      const error = isAddress ? 'FORBIDDEN_ADDRESS' : 'FORBIDDEN_URL'
      expect(dials.get(policy)!.judgeForDial(url as string)).toEqual({ ok: false, error })
    }
  })
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

describe('a URL that was judged before', () => {
  test('is asked of DNS again at the dial', async () => {
    const rebinding = guard()
    dns.set('moves.example.com', { A: ['93.184.216.34'] })
    expect(await rebinding.check('https://moves.example.com/a')).toEqual({ ok: true })
    dns.set('moves.example.com', { A: ['10.1.2.3'] })
    await expect
      .poll(() => rebinding.judgeForDial('https://moves.example.com/a'))
      .toEqual({
        ok: false,
        error: 'FORBIDDEN_ADDRESS',
      })
  })

  test('is told from another path, and from the same text under another policy', async () => {
    const [strict, dev] = [guard(), guard(DEV)]
    expect(await dev.check('http://127.0.0.1/a')).toEqual({ ok: true })
    expect(await strict.check('http://127.0.0.1/a')).toMatchObject({ ok: false })
    const paths = ['http://127.0.0.1/a', 'http://127.0.0.1/b', 'http://127.0.0.1/a'].map((url) => {
      const verdict = dev.judgeForDial(url)
      return !(verdict instanceof Promise) && verdict.ok ? verdict.target.path : null
    })
    expect(paths).toEqual(['/a', '/b', '/a'])
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
