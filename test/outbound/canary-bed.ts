/**
 * Runs in a network namespace where every address is this machine: takes trials from a file, brings each through
 * acceptance and delivery, and prints what happened. No test by itself; see canaries.test.ts.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls, createSecureContext } from 'node:tls'
import type { CallbackPolicy, CallbackVerdict } from '../../src/domain/webhooks/callback-url.ts'
import { CallbackGuard } from '../../src/outbound/callback-guard.ts'
import { NameResolver } from '../../src/outbound/resolver.ts'
import { postWebhook } from '../../src/outbound/webhook-post.ts'
import { WebhookSockets } from '../../src/outbound/webhook-sockets.ts'
import { startCanaries, type TcpCounts, tcpCounts } from '../support/canaries.ts'
import type { ServerCertificate } from '../support/certificates.ts'
import { type DnsRecords, startDnsServer } from '../support/dns-server.ts'

/** One URL, and who meets it. */
export interface Trial {
  id: string
  url: unknown
  /** The webhook engine; or, to show that the bed would tell, a client that asks no guard. */
  client: 'engine' | 'tcp' | 'tls' | 'fetch'
  policy: CallbackPolicy
  /** What DNS says of the URL's host. */
  records: DnsRecords
  /** Webhooks sent, one after the other, whatever acceptance said. */
  posts: number
  meets: 'trusted' | 'stranger' | 'tls-1.1' | 'silence'
  /** Raw answer of the receiver. */
  answer: string
}

export interface Bed {
  trials: Trial[]
  ports: number[]
  authorityPem: string
  /** Of the authority above, for every host of the trials. */
  trusted: ServerCertificate
  /** Of an authority nobody knows. */
  stranger: ServerCertificate
}

export interface Observation {
  id: string
  /** At acceptance; null for a client without guard. */
  verdict: CallbackVerdict | null
  /** Of each webhook: its error, or `delivered`. */
  outcomes: string[]
  connections: string[]
  requests: string[]
}

export interface BedReport {
  observations: Observation[]
  counts: TcpCounts
}

const SILENCE_MS = 300

const bed: Bed = JSON.parse(readFileSync(process.argv[2]!, 'utf8'))
const canaries = await startCanaries(bed.ports)
const dns = await startDnsServer()
const certificateOf = ({ certPem, keyPem }: ServerCertificate) => ({ cert: certPem, key: keyPem })
const contexts = {
  trusted: createSecureContext(certificateOf(bed.trusted)),
  stranger: createSecureContext(certificateOf(bed.stranger)),
  'tls-1.1': createSecureContext({
    ...certificateOf(bed.trusted),
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  }),
  silence: null,
}

async function observe(trial: Trial): Promise<Observation> {
  const url = typeof trial.url === 'string' ? trial.url : ''
  const hostname = URL.parse(url)?.hostname.replace(/\.$/, '')
  if (hostname !== undefined) dns.set(hostname, trial.records)
  canaries.meetWith({ secureContext: contexts[trial.meets], answer: trial.answer })
  const { verdict, outcomes } =
    trial.client === 'engine'
      ? await throughEngine(trial)
      : { verdict: null, outcomes: [await UNGUARDED[trial.client](url)] }
  return {
    id: trial.id,
    verdict,
    outcomes,
    connections: await canaries.takeConnections(),
    requests: canaries.takeRequests(),
  }
}

/** Acceptance and delivery share one guard, as in the service; nothing is left of it for the next trial. */
async function throughEngine(trial: Trial): Promise<Pick<Observation, 'verdict' | 'outcomes'>> {
  const resolver = new NameResolver({ servers: [dns.address] })
  const guard = new CallbackGuard(trial.policy, resolver)
  const sockets = new WebhookSockets(guard, {
    caPem: bed.authorityPem,
    ...(trial.meets === 'silence' ? { connectTimeoutMs: SILENCE_MS } : {}),
  })
  const verdict = await guard.check(trial.url)
  const outcomes: string[] = []
  for (let post = 0; post < trial.posts; post += 1) {
    const request = { url: trial.url as string, body: '{}', headers: {}, lease: { untilMs: Infinity } }
    const outcome = await postWebhook(sockets, request)
    outcomes.push(outcome.error ?? 'delivered')
  }
  await sockets.destroy()
  resolver.close()
  return { verdict, outcomes }
}

const UNGUARDED = {
  tcp: async (url: string) => {
    const socket = connectTcp(endpointOf(url))
    await once(socket, 'connect')
    socket.destroy()
    return 'connected'
  },
  /** With Node's own defaults for everything but the version. */
  tls: async (url: string) => {
    const socket = connectTls({
      ...endpointOf(url),
      minVersion: 'TLSv1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    await once(socket, 'secureConnect')
    const version = socket.getProtocol()
    socket.destroy()
    return String(version)
  },
  fetch: async (url: string) =>
    await fetch(url).then(
      ({ status }) => `status ${status}`,
      () => 'failed',
    ),
}

function endpointOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) }
}

const observations: Observation[] = []
for (const trial of bed.trials) observations.push(await observe(trial))
await Promise.all([canaries.close(), dns.close()])
process.stdout.write(JSON.stringify({ observations, counts: tcpCounts() } satisfies BedReport))
