import type { Carrier } from '../domain/configuration/configuration.ts'
import type { DirectoryContents } from '../domain/configuration/directory.ts'
import { defect, type Finding, fine, warning } from '../domain/diagnosis.ts'
import { isSandbox } from '../domain/sandbox.ts'
import type { CallbackTarget } from '../domain/webhooks/callback-url.ts'
import { CallbackGuard } from '../outbound/callback-guard.ts'
import { createConnector, type Dialler } from '../outbound/connector.ts'
import type { DialError } from '../outbound/delivery-errors.ts'
import { NameResolver } from '../outbound/resolver.ts'
import { reachCarrier } from '../services/links/carrier-link.ts'
import type { AppOptions } from './options.ts'

/** Which carriers and receivers can be connected to from this machine. */

const CONNECT_TIMEOUT_MS = 5_000
/** Most receivers to connect to. Each origin counts once. */
const MOST_RECEIVERS = 20

export async function* probeCarriers(carriers: readonly Carrier[]): AsyncGenerator<Finding> {
  for (const carrier of carriers.filter((one) => one.state !== 'stopped' && !isSandbox(one))) {
    const { name, host, port } = carrier
    const check = `reach ${name}`
    const address = `${host}:${port}${carrier.tls ? ' with TLS' : ''}`
    try {
      await reachCarrier(carrier, CONNECT_TIMEOUT_MS)
      yield fine(check, address)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const advice = carrier.tls
        ? 'check host, port, firewall and the certificate (tlsCa, tlsServerName)'
        : 'check host, port and firewall, and whether the carrier knows the address of this machine'
      yield defect(check, `${address}: ${code ?? message}`, advice)
    }
  }
}

export async function* probeReceivers(
  { accounts, plans }: DirectoryContents,
  options: Pick<AppOptions, 'callbackPolicy' | 'dnsServers' | 'webhookCaPem'>,
): AsyncGenerator<Finding> {
  const urls = [
    ...accounts.map(({ defaultDlrUrl }) => defaultDlrUrl),
    ...plans.map(({ inboundUrl }) => inboundUrl),
  ]
  const byOrigin = new Map(urls.flatMap((url) => (url === null ? [] : [[new URL(url).origin, url]])))
  const resolver = new NameResolver({ servers: options.dnsServers })
  const guard = new CallbackGuard(options.callbackPolicy, resolver)
  const dial = createConnector({ caPem: options.webhookCaPem, connectTimeoutMs: CONNECT_TIMEOUT_MS })
  try {
    for (const [origin, url] of [...byOrigin].slice(0, MOST_RECEIVERS)) {
      const error = await reach(guard, dial, url)
      yield error === null
        ? fine(`webhook ${origin}`, 'can be reached')
        : warning(`webhook ${origin}`, error, 'docs/webhooks.md explains the error')
    }
  } finally {
    resolver.close()
  }
}

type Connector = (target: CallbackTarget, address: string) => Dialler

/** Connects and closes the connection. Returns why that failed; null if it did not. */
async function reach(guard: CallbackGuard, dial: Connector, url: string): Promise<string | null> {
  const verdict = await guard.judgeForDial(url)
  if (!verdict.ok) return verdict.error
  const failure = await new Promise<DialError | null>((closed) => {
    const socket = dial(
      verdict.target,
      verdict.addresses[0]!,
    )({
      connected: () => socket.destroy(),
      received: () => undefined,
      closed,
    })
  })
  return failure?.code ?? null
}
