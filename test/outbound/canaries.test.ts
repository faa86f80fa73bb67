import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { withoutMapping } from '../../src/domain/ip-addresses.ts'
import {
  CALLBACK_CASES,
  type CallbackCase,
  policyOf,
  recordsOf,
  sentenceOf,
} from '../support/callback-cases.ts'
import { STRICT_CALLBACK_POLICY } from '../support/callback-policy.ts'
import type { TcpCounts } from '../support/canaries.ts'
import { createServerCertificate, createTestAuthority } from '../support/certificates.ts'
import type { DnsRecords } from '../support/dns-server.ts'
import { findNamespace, type NetworkNamespace } from '../support/network-namespace.ts'
import { scratchFolder } from '../support/process.ts'
import type { Bed, BedReport, Observation, Trial } from './canary-bed.ts'

/**
 * The guard where nothing is out of reach: in a network namespace every address is this machine and a canary sits on
 * each, so a connection that should not have been made is seen wherever it went.
 */

const BED = fileURLToPath(new URL('./canary-bed.ts', import.meta.url))
const PUBLIC = '93.184.216.34'
const ELSEWHERE = '93.184.216.35'
const PROXY = '10.9.8.7:3128'
/** What an environment could say to lead a client astray; the whole bed runs under it. */
const ENVIRONMENT = {
  NODE_TLS_REJECT_UNAUTHORIZED: '0',
  NODE_USE_ENV_PROXY: '1',
  // No public authorities.
  NODE_OPTIONS: '--use-openssl-ca',
  SSL_CERT_FILE: '/dev/null',
  SSL_CERT_DIR: '/dev/null',
  NO_PROXY: '',
  ...Object.fromEntries(
    ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [
      [name, `http://${PROXY}`],
      [name.toLowerCase(), `http://${PROXY}`],
    ]),
  ),
}
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

function redirect(status: number, location: string): string {
  return `HTTP/1.1 ${status} Elsewhere\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`
}

function trial(id: string, url: unknown, more: Partial<Trial> = {}): Trial {
  return {
    id,
    url,
    client: 'engine',
    policy: STRICT_CALLBACK_POLICY,
    records: { A: [PUBLIC] },
    posts: 1,
    meets: 'trusted',
    answer: OK,
    ...more,
  }
}

/** The cases that acceptance cannot judge: what their receiver does, and what becomes of the webhooks. */
const AT_DIAL: Record<string, Partial<Trial> & { outcomes: string[]; connections: number }> = {
  S296: { outcomes: ['FORBIDDEN_ADDRESS'], connections: 0 },
  S301: {
    posts: 2,
    records: { sequence: [{ A: [PUBLIC] }, { A: [PUBLIC] }, { A: ['127.0.0.1'] }], ttl: 0 },
    outcomes: ['delivered', 'FORBIDDEN_ADDRESS'],
    connections: 1,
  },
  S303: { answer: redirect(307, 'http://169.254.169.254/'), outcomes: ['REDIRECT'], connections: 1 },
  S304: { answer: redirect(308, 'http://redirector.example.com/'), outcomes: ['REDIRECT'], connections: 1 },
  S306: { answer: redirect(303, 'file:///etc/passwd'), outcomes: ['REDIRECT'], connections: 1 },
  S309: {
    answer: 'HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n',
    outcomes: ['PROTOCOL_ERROR'],
    connections: 1,
  },
  S310: {
    answer: 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000),
    outcomes: ['PROTOCOL_ERROR'],
    connections: 1,
  },
  S311: {
    answer: `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 10737418240\r\n\r\n${'\x1f'.repeat(65_536)}`,
    outcomes: ['delivered'],
    connections: 1,
  },
  S314: { meets: 'silence', outcomes: ['CONNECT_TIMEOUT'], connections: 1 },
  S315: {
    answer: `HTTP/1.1 200 OK\r\nx-huge: ${'a'.repeat(1 << 20)}\r\n\r\n`,
    outcomes: ['RESPONSE_TOO_LARGE'],
    connections: 1,
  },
  S323: {
    answer: 'HTTP/1.1 429 Too Many Requests\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n',
    outcomes: ['HTTP_STATUS'],
    connections: 1,
  },
  S324: {
    answer: `${OK}HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n`,
    posts: 2,
    outcomes: ['delivered', 'delivered'],
    connections: 2,
  },
}

/** Accepted, but not to be reached: their DNS does not answer; the kernel connects to no broadcast address. */
const UNREACHED: Record<string, string> = {
  S295: 'DNS_TIMEOUT',
  C610: 'DNS_FAILURE',
  C611: 'DNS_FAILURE',
  C640: 'CONNECT_UNREACHABLE',
}

/** Names that are public when the URL is accepted, and what DNS says of them at the dial. */
const REBINDINGS: Record<string, DnsRecords> = {
  'to a private address': { A: ['10.0.0.1'] },
  'to loopback': { A: ['127.0.0.1'] },
  'to this network': { A: ['0.0.0.0'] },
  'to a metadata service': { A: ['169.254.169.254'] },
  'to an alias of one': { CNAME: 'metadata.example.net', A: ['169.254.169.254'] },
  'to a unique local address': { AAAA: ['fd00::1'] },
  'to loopback by IPv6': { AAAA: ['::1'] },
  'to NAT64 of a private address': { AAAA: ['64:ff9b::a00:1'] },
  'to 6to4 of a private address': { AAAA: ['2002:a00:1::'] },
  'to a private address beside the public one': { A: [PUBLIC, '10.0.0.1'] },
  'to a private address of the other family': { A: [PUBLIC], AAAA: ['fd00::1'] },
}

/** Answers that ask a client to go elsewhere. */
const INVITATIONS: Record<string, string> = {
  ...Object.fromEntries(
    [300, 301, 302, 303, 305, 307, 308].map((status) => [
      `${status}`,
      redirect(status, 'https://169.254.169.254/'),
    ]),
  ),
  'a host without scheme': redirect(302, '//10.0.0.1/'),
  'a port of the same host': redirect(307, 'https://invitation.example.com:8443/'),
  'loopback by IPv6': redirect(308, 'https://[::1]/'),
  'a proxy to use': redirect(305, `http://${PROXY}/`),
  'an alternative service': `HTTP/1.1 503 Busy\r\nalt-svc: h2="10.0.0.1:443"; persist=1\r\ncontent-length: 0\r\n\r\n`,
  'a refresh': 'HTTP/1.1 503 Busy\r\nrefresh: 0; url=https://10.0.0.1/\r\ncontent-length: 0\r\n\r\n',
  'a link in early hints': `HTTP/1.1 103 Early Hints\r\nlink: <https://10.0.0.1/>; rel=preconnect\r\n\r\n${redirect(302, '/')}`,
  'proxy credentials': `HTTP/1.1 407 Proxy\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n`,
}

/** Where the canaries must be seen to sit. */
const FORBIDDEN = [
  '0.0.0.1',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '127.8.8.8',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '192.168.0.1',
  '[::1]',
  '[64:ff9b::a00:1]',
  '[2002:a00:1::]',
  '[fd00::1]',
  '[fd00:ec2::254]',
]

const TRIALS: Trial[] = [
  ...CALLBACK_CASES.map((each) => {
    const { outcomes, connections, ...more } = AT_DIAL[each.id] ?? { outcomes: [], connections: 0 }
    return trial(each.id, each.url, { policy: policyOf(each), records: recordsOf(each), ...more })
  }),
  ...FORBIDDEN.map((address) => trial(`canary ${address}`, `https://${address}/`, { client: 'tcp' })),
  ...[0, 300].flatMap((ttl) =>
    Object.entries(REBINDINGS).map(([name, later], index) =>
      trial(`${name}, TTL ${ttl}`, `https://rebinding-${index}-${ttl}.example.com/`, {
        records: { sequence: [{ A: [PUBLIC] }, later], ttl },
      }),
    ),
  ),
  ...Object.entries(INVITATIONS).map(([name, answer]) =>
    trial(`invitation: ${name}`, 'https://invitation.example.com/', { answer }),
  ),
  trial('removal', 'https://moving.example.com/', {
    posts: 3,
    records: { sequence: [PUBLIC, PUBLIC, ELSEWHERE, PUBLIC].map((address) => ({ A: [address] })), ttl: 0 },
  }),
  trial('own proxy', 'https://proxied.example.com/'),
  trial('proxy of fetch', `https://${PUBLIC}/`, { client: 'fetch' }),
  trial('stranger', 'https://stranger.example.com/', { meets: 'stranger' }),
  trial('stranger by IP', `https://${PUBLIC}/`, { meets: 'stranger' }),
  trial('stranger to Node', `https://${PUBLIC}/`, { client: 'tls', meets: 'stranger' }),
  trial('TLS 1.1', 'https://old.example.com/', { meets: 'tls-1.1' }),
  trial('TLS 1.1 to Node', `https://${PUBLIC}/`, { client: 'tls', meets: 'tls-1.1' }),
]

function hostOf(url: unknown): string | undefined {
  return typeof url === 'string' ? URL.parse(url)?.hostname.replace(/^\[|\]$|\.$/g, '') : undefined
}

/** Every port that is written or meant anywhere, so that nothing listens nowhere. */
function portsOf(trials: readonly Trial[]): number[] {
  const written = trials.flatMap(({ url }) => [...JSON.stringify(url).matchAll(/:0*(\d{1,5})(?!\d)/g)])
  const ports = new Set([80, 443, 3128, ...written.map(([, port]) => Number(port))])
  return [...ports].filter((port) => port > 0 && port < 65_536)
}

async function bedOf(trials: Trial[]): Promise<Bed> {
  const authority = await createTestAuthority()
  const accepted = CALLBACK_CASES.filter(({ expect: expected }) => expected !== 'reject-400')
  const hosts = [...accepted.map(({ url }) => hostOf(url)), PUBLIC, '*.example.com']
  const names = [...new Set(hosts.filter((host) => host !== undefined))]
  return {
    trials,
    ports: portsOf(trials),
    authorityPem: authority.certPem,
    trusted: await createServerCertificate(authority, names),
    stranger: await createServerCertificate(await createTestAuthority('Stranger'), names),
  }
}

async function runBed(namespace: NetworkNamespace): Promise<BedReport> {
  using folder = scratchFolder()
  const file = join(folder.path, 'bed.json')
  writeFileSync(file, JSON.stringify(await bedOf(TRIALS)))
  await using running = namespace.start(process.execPath, [BED, file], ENVIRONMENT)
  const { code, stdout, stderr } = await running.exited
  if (code !== 0) throw new Error(`the bed ended with ${code}\n${stderr}`)
  return JSON.parse(stdout)
}

/** Where an accepted case may go: to what its URL or its DNS says, on its port. */
function endpointsOf(each: CallbackCase): string[] {
  const { hostname, port } = new URL(String(each.url))
  const { A = [], AAAA = [] } = recordsOf(each)
  const literal = withoutMapping(hostname.replace(/^\[|\]$/g, ''))
  const isLiteral = /^[\d.]+$|:/.test(literal)
  const addresses = isLiteral
    ? [literal.includes(':') ? `[${literal}]` : literal]
    : [...A, ...AAAA.map((address) => `[${address}]`)]
  return addresses.map((address) => `${address}:${port || 443}`)
}

const namespace = await findNamespace()
if ('reason' in namespace) {
  console.warn(`test/outbound/canaries.test.ts is skipped: no network namespace here (${namespace.reason})`)
}

describe.skipIf('reason' in namespace)('in a network where every address is a canary', () => {
  let observations: Map<string, Observation>
  let counts: TcpCounts

  beforeAll(async () => {
    if ('reason' in namespace) return
    const report = await runBed(namespace)
    observations = new Map(report.observations.map((each) => [each.id, each]))
    counts = report.counts
  })

  function seen(id: string): Observation {
    const observation = observations.get(id)
    if (observation === undefined) throw new Error(`no trial ${id}`)
    return observation
  }

  test.each(FORBIDDEN)('the canary at %s sings', (address) => {
    expect(seen(`canary ${address}`).connections).toEqual([`${address}:443`])
  })

  test('none was dialled where no canary sits', () => {
    expect(counts).toEqual({ begun: counts.taken, taken: expect.any(Number), failed: 0 })
  })

  describe('every case of the vectors', () => {
    const casesThat = (fits: (each: CallbackCase) => boolean) => CALLBACK_CASES.filter(fits)

    for (const each of casesThat((one) => one.expect === 'reject-400'))
      test(`${sentenceOf(each)}: at the dial too, and nothing connected`, () => {
        const { verdict, outcomes, connections } = seen(each.id)
        expect(verdict).toMatchObject({ ok: false })
        expect(outcomes).toEqual([expect.stringMatching(/^(FORBIDDEN_URL|FORBIDDEN_ADDRESS|DNS_NOT_FOUND)$/)])
        expect(connections).toEqual([])
      })

    const isReached = ({ id, expect: expected }: CallbackCase) =>
      expected === 'accept' && UNREACHED[id] === undefined

    for (const each of casesThat(isReached))
      test(`${sentenceOf(each)}: delivered where it says`, () => {
        const { verdict, outcomes, connections, requests } = seen(each.id)
        expect(verdict).toEqual({ ok: true })
        expect(outcomes).toEqual(['delivered'])
        expect(endpointsOf(each)).toContain(connections[0])
        expect(connections.length).toBe(1)
        expect(requests.length).toBe(1)
        expect(requests[0]).not.toMatch(/^x-injected/im)
      })

    test.each(Object.entries(UNREACHED))('%s: accepted; %s at the dial', (id, error) => {
      expect(seen(id)).toMatchObject({ verdict: { ok: true }, outcomes: [error], connections: [] })
    })

    for (const each of casesThat((one) => one.expect === 'reject-at-dial'))
      test(sentenceOf(each), () => {
        const expected = AT_DIAL[each.id]
        if (expected === undefined) throw new Error(`no scenario for ${each.id}`)
        const { verdict, outcomes, connections } = seen(each.id)
        expect(verdict).toEqual({ ok: true })
        expect(outcomes).toEqual(expected.outcomes)
        expect(connections).toEqual(Array.from({ length: expected.connections }, () => `${PUBLIC}:443`))
      })
  })

  test.each([0, 300].flatMap((ttl) => Object.keys(REBINDINGS).map((name) => `${name}, TTL ${ttl}`)))(
    'a name that moves %s: no connection',
    (id) => {
      expect(seen(id)).toMatchObject({
        verdict: { ok: true },
        outcomes: ['FORBIDDEN_ADDRESS'],
        connections: [],
      })
    },
  )

  test('a name that moves to another public address: no socket of the one carries what is for the other', () => {
    const { outcomes, connections } = seen('removal')
    expect(outcomes).toEqual(['delivered', 'delivered', 'delivered'])
    expect(connections).toEqual([`${PUBLIC}:443`, `${ELSEWHERE}:443`])
  })

  test.each(Object.keys(INVITATIONS))('an answer that points elsewhere, %s: not followed', (name) => {
    const { outcomes, connections } = seen(`invitation: ${name}`)
    expect(outcomes).toEqual([expect.stringMatching(/^(REDIRECT|HTTP_STATUS)$/)])
    expect(connections).toEqual([`${PUBLIC}:443`])
  })

  test('the proxies of the environment, which lead others to a canary, lead no webhook', () => {
    expect(seen('proxy of fetch').connections).toEqual([PROXY])
    expect(seen('own proxy')).toMatchObject({ outcomes: ['delivered'], connections: [`${PUBLIC}:443`] })
  })

  test('a certificate of nobody, which the environment lets others take, takes no webhook', () => {
    expect(seen('stranger to Node').outcomes).toEqual(['TLSv1.3'])
    for (const id of ['stranger', 'stranger by IP']) {
      expect(seen(id)).toMatchObject({ outcomes: ['TLS_CERTIFICATE_UNTRUSTED'], requests: [] })
      expect(seen(id).connections).toEqual([`${PUBLIC}:443`])
    }
  })

  test('a server of TLS 1.1, which others still speak, gets no webhook', () => {
    expect(seen('TLS 1.1 to Node').outcomes).toEqual(['TLSv1.1'])
    expect(seen('TLS 1.1')).toMatchObject({ outcomes: ['TLS_HANDSHAKE'], requests: [] })
    expect(seen('TLS 1.1').connections).toEqual([`${PUBLIC}:443`])
  })
})
