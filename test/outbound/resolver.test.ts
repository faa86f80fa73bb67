import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IN_FLIGHT_LIMITS } from '../../src/domain/webhooks/delivery-scheduler.ts'
import { NameResolver } from '../../src/outbound/resolver.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { eventually } from '../support/eventually.ts'

let dns: DnsServer

beforeAll(async () => {
  dns = await startDnsServer()
})
afterAll(() => dns.close())

function resolver(options: { deadlineMs?: number; maxLookups?: number } = {}): NameResolver {
  return new NameResolver({ servers: [dns.address], ...options })
}

describe('a resolution', () => {
  test('holds A and AAAA answers and the shorter TTL', async () => {
    dns.set('both.example.com', { A: ['192.0.2.1', '192.0.2.2'], AAAA: ['2001:db8::1'], ttl: 60 })
    expect(await resolver().resolveForDial('both.example.com')).toEqual({
      kind: 'addresses',
      addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'],
      ttlMs: 60_000,
    })
  })

  test('follows a CNAME', async () => {
    dns.set('alias.example.com', { CNAME: 'target.example.com', A: ['192.0.2.3'] })
    expect(await resolver().resolveForDial('alias.example.com')).toMatchObject({ addresses: ['192.0.2.3'] })
  })

  test('is not-found for NXDOMAIN and for no addresses', async () => {
    dns.set('empty.example.com', { A: [], AAAA: [] })
    expect(await resolver().resolveForDial('absent.example.com')).toEqual({ kind: 'not-found' })
    expect(await resolver().resolveForDial('empty.example.com')).toEqual({ kind: 'not-found' })
  })

  test('is a failure for SERVFAIL and for a server that is not there', async () => {
    dns.set('broken.example.com', { rcode: 'SERVFAIL' })
    expect(await resolver().resolveForDial('broken.example.com')).toEqual({ kind: 'failure' })
    const stopped = await startDnsServer()
    await stopped.close()
    const orphan = new NameResolver({ servers: [stopped.address] })
    expect(await orphan.resolveForDial('any.example.com')).toEqual({ kind: 'failure' })
  })

  test('is a timeout when nobody answers', async () => {
    dns.set('silent.example.com', { silent: true })
    const silent = resolver({ deadlineMs: 100 })
    expect(await silent.resolveForAccept('silent.example.com')).toEqual({ kind: 'timeout' })
  })

  test('of localhost asks nobody', async () => {
    const loopback = { kind: 'addresses', addresses: ['127.0.0.1', '::1'] }
    expect(await resolver().resolveForDial('localhost')).toMatchObject(loopback)
    expect(await resolver().resolveForDial('app.localhost')).toMatchObject(loopback)
    expect(dns.count('localhost', 'A')).toBe(0)
  })

  test('of thousands of records holds at most 1,024 of a family', async () => {
    const many = Array.from({ length: 2_000 }, (_, index) => `93.184.${index >> 8}.${index & 255}`)
    dns.set('many.example.com', { A: many })
    const resolution = await resolver().resolveForDial('many.example.com')
    expect(resolution.kind === 'addresses' && resolution.addresses.length).toBe(1_024)
  })

  test('is a failure when the resolver is closed meanwhile', async () => {
    dns.set('pending.example.com', { silent: true })
    const closing = resolver()
    const pending = closing.resolveForDial('pending.example.com')
    closing.close()
    expect(await pending).toEqual({ kind: 'failure' })
  })

  test('waits for no other: as many names as a node has webhooks in flight may be silent', async () => {
    dns.set('prompt.example.com', { A: ['192.0.2.4'] })
    const crowded = resolver()
    const names = Array.from({ length: IN_FLIGHT_LIMITS.perNode }, (_, n) => `silent-${n}.example.com`)
    for (const name of names) dns.set(name, { silent: true })
    const silent = []
    for (const name of names) {
      silent.push(crowded.resolveForDial(name))
      // The server's socket holds some hundred datagrams.
      if (silent.length % 32 === 0) await eventually(() => dns.count(name, 'AAAA') > 0)
    }
    expect(await crowded.resolveForDial('prompt.example.com')).toMatchObject({ addresses: ['192.0.2.4'] })
    crowded.close()
    await Promise.all(silent)
  })

  test('beyond the lookups allowed at once is a timeout at once', async () => {
    dns.set('slow.example.com', { silent: true })
    dns.set('quick.example.com', { A: ['192.0.2.4'] })
    const narrow = resolver({ deadlineMs: 200, maxLookups: 1 })
    const slow = narrow.resolveForAccept('slow.example.com')
    expect(await narrow.resolveForAccept('quick.example.com')).toEqual({ kind: 'timeout' })
    expect(await slow).toEqual({ kind: 'timeout' })
  })
})

describe('answers are shared', () => {
  test('by concurrent callers: one query', async () => {
    dns.set('shared.example.com', { A: ['192.0.2.5'], ttl: 0 })
    const shared = resolver()
    const asked = Array.from({ length: 50 }, () => shared.resolveForDial('shared.example.com'))
    expect(new Set(await Promise.all(asked)).size).toBe(1)
    expect(dns.count('shared.example.com', 'A')).toBe(1)
  })

  test('at accept, for their TTL', async () => {
    dns.set('kept.example.com', { A: ['192.0.2.6'] })
    const keeping = resolver()
    await keeping.resolveForAccept('kept.example.com')
    await keeping.resolveForAccept('kept.example.com')
    expect(dns.count('kept.example.com', 'A')).toBe(1)
  })

  test('never between accept and dial', async () => {
    dns.set('apart.example.com', { sequence: [{ A: ['192.0.2.7'] }, { A: ['127.0.0.1'] }] })
    const apart = resolver()
    expect(await apart.resolveForAccept('apart.example.com')).toMatchObject({ addresses: ['192.0.2.7'] })
    expect(await apart.resolveForDial('apart.example.com')).toMatchObject({ addresses: ['127.0.0.1'] })
  })

  test('between dials not at all with TTL 0', async () => {
    dns.set('fresh.example.com', { sequence: [{ A: ['192.0.2.8'] }, { A: ['192.0.2.9'] }], ttl: 0 })
    const fresh = resolver()
    expect(await fresh.resolveForDial('fresh.example.com')).toMatchObject({ addresses: ['192.0.2.8'] })
    expect(await fresh.resolveForDial('fresh.example.com')).toMatchObject({ addresses: ['192.0.2.9'] })
  })

  test('between dials for a moment, however long the TTL', async () => {
    dns.set('moved.example.com', { sequence: [{ A: ['192.0.2.10'] }, { A: ['192.0.2.11'] }], ttl: 86_400 })
    const moved = resolver()
    expect(await moved.resolveForDial('moved.example.com')).toMatchObject({ addresses: ['192.0.2.10'] })
    await expect
      .poll(() => moved.resolveForDial('moved.example.com'))
      .toMatchObject({ addresses: ['192.0.2.11'] })
  })

  test('a failure is asked again by the next dial', async () => {
    dns.set('recovering.example.com', { sequence: [{ rcode: 'NXDOMAIN' }, { A: ['192.0.2.12'] }] })
    const recovering = resolver()
    expect(await recovering.resolveForDial('recovering.example.com')).toEqual({ kind: 'not-found' })
    expect(await recovering.resolveForDial('recovering.example.com')).toMatchObject({ kind: 'addresses' })
  })
})
