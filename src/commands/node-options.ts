import { InvalidArgumentError } from 'commander'
import type { AppOptions, TracesSettings } from '../app/options.ts'
import type { Config } from '../config.ts'
import type { Listening } from './running.ts'

/** A node as the configuration describes it. */
export function nodeOptions(
  config: Config,
  given: Pick<AppOptions, 'nodeName' | 'log' | 'onBarred'> & { databaseUrl: string },
): AppOptions {
  const { databaseUrl, ...rest } = given
  return {
    ...config,
    connectionString: databaseUrl,
    baseUrl: config.baseUrl ?? null,
    traces: tracesOf(config),
    callbackPolicy: callbackPolicyOf(config),
    ...rest,
  }
}

function tracesOf(config: Config): TracesSettings | undefined {
  const { otlpEndpoint, otlpTracesEndpoint, otlpHeaders, otelServiceName: serviceName, tracedShare } = config
  const url = otlpTracesEndpoint ?? (otlpEndpoint && tracesUrl(otlpEndpoint))
  if (url === undefined) return undefined
  return { url, headers: Object.fromEntries(otlpHeaders), serviceName, share: tracedShare }
}

/** Option parser: the address of a collector. OTLP over HTTP has traces at a path below it. */
export function tracesUrl(endpoint: string): string {
  if (!/^https?:/.test(endpoint) || !URL.canParse(endpoint))
    throw new InvalidArgumentError('expected an address that begins with https:// or http://')
  return `${endpoint.replace(/\/+$/, '')}/v1/traces`
}

/** Where webhooks may go. */
export function callbackPolicyOf(config: Config): AppOptions['callbackPolicy'] {
  return {
    allowCidrs: config.webhookAllowCidrs,
    allowHosts: config.webhookAllowHosts,
    allowLoopback: false,
    allowUnresolvable: false,
    allowHttp: config.cgiSendsms,
    ownOrigins: config.baseUrl === undefined ? [] : [new URL(config.baseUrl).origin],
  }
}

type Listens = Pick<Config, 'httpHost' | 'httpPort' | 'operatorHost' | 'operatorPort'>

export function listenersOf(config: Listens): Listening[] {
  const http = listeningOf(config, 'http')
  return config.operatorPort === undefined ? [http] : [http, listeningOf(config, 'operators')]
}

export function listeningOf(config: Listens, listener: 'http' | 'operators'): Listening {
  const { httpHost, httpPort, operatorHost, operatorPort } = config
  const http = { host: httpHost, port: httpPort, portSetting: 'HTTP_PORT', hostSetting: 'HTTP_HOST' }
  if (listener === 'http') return http
  const port = { port: operatorPort!, portSetting: 'OPERATOR_PORT' }
  const host = operatorHost === undefined ? {} : { host: operatorHost, hostSetting: 'OPERATOR_HOST' }
  return { ...http, ...port, ...host }
}
