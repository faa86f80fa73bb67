/**
 * Configuration: the environment, read once, checked whole, frozen. Every variable is a row of `VARIABLES`; the type
 * `Config` and the documentation are made from the same rows.
 */
import { resolve } from 'node:path'
import {
  alarmUrl,
  baseUrl,
  cidr,
  databaseUrl,
  dnsServer,
  header,
  integer,
  list,
  matching,
  nodeRole,
  oneOf,
  onOff,
  operatorTokens,
  type Parsed,
  pemFile,
  replicaUrl,
  secretKey,
  share,
  webhookSecret,
} from './config-values.ts'
import { EMBEDDED_DATABASE } from './database-url.ts'

export interface Variable<T> {
  readonly name: string
  readonly description: string
  /** Text used when the variable is unset or empty; without one the variable is required or gives undefined. */
  readonly fallback?: string
  readonly required?: true
  readonly parse: (text: string) => Parsed<T>
}

export const VARIABLES = {
  databaseUrl: {
    name: 'DATABASE_URL',
    description:
      'PostgreSQL 15 or newer, postgresql://user:password@host:port/name, with several hosts as host:port,host:port; or embedded, for one in DATA_DIR.',
    required: true,
    parse: databaseUrl,
  },
  databasePoolSize: {
    name: 'DATABASE_POOL_SIZE',
    description:
      'Maximum number of connections for the message path in each process; look-ups, the lease and the journal use up to 11 more. 2 to 200.',
    fallback: '10',
    parse: integer(2, 200),
  },
  databasePrepared: {
    name: 'DATABASE_PREPARED',
    description:
      'Use prepared statements. With a pooler that does not support them (PgBouncer before 1.21) they are turned off automatically.',
    fallback: 'on',
    parse: onOff,
  },
  databaseStatementTimeoutMs: {
    name: 'DATABASE_STATEMENT_TIMEOUT_MS',
    description: "Time limit of one statement, in milliseconds; 0 uses the server's own setting.",
    fallback: '30000',
    parse: integer(0, 600_000),
  },
  databaseReplicaUrl: optional({
    name: 'DATABASE_REPLICA_URL',
    description:
      'A standby of this database that answers lists, look-ups of records and statistics, postgresql://user:password@host:port/name (read-replica.md). Unset: the primary answers them.',
    parse: replicaUrl,
  }),
  databaseReplicaMaxLagMs: {
    name: 'DATABASE_REPLICA_MAX_LAG_MS',
    description:
      'How long a read waits for the standby to catch up before the primary answers it, in milliseconds.',
    fallback: '500',
    parse: integer(0, 10_000),
  },
  allowUnsafeDurability: {
    name: 'ALLOW_UNSAFE_DURABILITY',
    description:
      'Start even if fsync or synchronous_commit of the database is off: accepted messages can be lost.',
    fallback: 'off',
    parse: onOff,
  },
  dataDir: {
    name: 'DATA_DIR',
    description: 'Folder of the embedded database; created if it does not exist.',
    fallback: '.aldis',
    parse: (text) => ({ value: resolve(text) }),
  },
  httpHost: {
    name: 'HTTP_HOST',
    description:
      'Address the HTTP server listens on; of a host name, the first address is used, also of localhost.',
    fallback: '0.0.0.0',
    parse: matching(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be an address or a host name'),
  },
  httpPort: {
    name: 'HTTP_PORT',
    description: 'Port the HTTP server listens on; 0 takes a free one.',
    fallback: '8080',
    parse: integer(0, 65_535),
  },
  operatorPort: optional({
    name: 'OPERATOR_PORT',
    description:
      'Port of a separate listener for /admin/v1 and /metrics, which HTTP_PORT then does not serve; 0 takes a free one.',
    parse: integer(0, 65_535),
  }),
  operatorHost: optional({
    name: 'OPERATOR_HOST',
    description: "Address of the operators' listener. Unset: that of HTTP_HOST.",
    parse: matching(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be an address or a host name'),
  }),
  workers: {
    name: 'WORKERS',
    description:
      'Number of processes that share the ports, 1 to 64, each a node of its own; more than 1 needs Linux or another system with SO_REUSEPORT.',
    fallback: '1',
    parse: integer(1, 64),
  },
  carriersStopped: {
    name: 'CARRIERS_STOPPED',
    description:
      'Stop every carrier at the start, for use after a restore; `aldis carrier start` starts one again.',
    fallback: 'off',
    parse: onOff,
  },
  baseUrl: optional({
    name: 'BASE_URL',
    description: 'Address under which clients reach the service; Location headers begin with it.',
    parse: baseUrl,
  }),
  console: {
    name: 'CONSOLE',
    description: 'Serve the console at /console, where browsers sign in, and the API reference at /docs.',
    fallback: 'on',
    parse: onOff,
  },
  cgiSendsms: {
    name: 'SENDSMS',
    description: 'Serve /cgi-bin/sendsms, the interface of Kannel, for its applications (sendsms.md).',
    fallback: 'off',
    parse: onOff,
  },
  secretKey: {
    name: 'SECRET_KEY',
    description:
      '32 random bytes, as 64 hex digits or base64: encrypts stored secrets, cursors and sessions. Use the same on every node.',
    required: true,
    parse: secretKey,
  },
  previousSecretKey: optional({
    name: 'SECRET_KEY_PREVIOUS',
    description: 'Another key to decrypt with when SECRET_KEY fails, while the key is being changed.',
    parse: secretKey,
  }),
  operatorTokenHashes: {
    name: 'OPERATOR_TOKEN',
    description:
      'Token for /admin/v1, 32 characters or more; several, separated by commas, while one is being replaced.',
    required: true,
    parse: operatorTokens,
  },
  logLevel: {
    name: 'LOG_LEVEL',
    description: 'Lowest level to log: trace, debug, info, warn, error, fatal or silent.',
    fallback: 'info',
    parse: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
  },
  nodeRole: {
    name: 'NODE_ROLE',
    description:
      'What this node does: api serves customers, carrier binds to carriers, webhook delivers webhooks, all does everything (many-nodes.md).',
    fallback: 'all',
    parse: nodeRole,
  },
  nodeId: optional({
    name: 'NODE_ID',
    description:
      'Name of this node in logs and leases: 1 to 63 letters, digits, dots, dashes or underscores. Unset: host name and process id.',
    parse: matching(/^[A-Za-z0-9._-]{1,63}$/, 'must be 1 to 63 letters, digits, dots, dashes or underscores'),
  }),
  retentionDays: {
    name: 'RETENTION_DAYS',
    description:
      'Age at which message records are dropped, in days: 4 to 3,650; a receipt may take 72 hours.',
    fallback: '90',
    parse: integer(4, 3_650),
  },
  auditRetentionDays: {
    name: 'AUDIT_RETENTION_DAYS',
    description: 'Age at which entries of the audit log are deleted, in days: 1 to 36,500.',
    fallback: '400',
    parse: integer(1, 36_500),
  },
  drainTimeoutMs: {
    name: 'DRAIN_TIMEOUT_MS',
    description: 'Time for unfinished work after SIGTERM, in milliseconds.',
    fallback: '30000',
    parse: integer(0, 600_000),
  },
  ambiguityWaitMs: {
    name: 'AMBIGUITY_WAIT_MS',
    description:
      'How long a message that may have reached its carrier waits for an answer before the rule of its plan decides, in milliseconds.',
    fallback: '120000',
    parse: integer(0, 3_600_000),
  },
  webhookAllowCidrs: {
    name: 'WEBHOOK_ALLOW_CIDRS',
    description: 'Non-public address ranges that webhooks may reach, separated by commas.',
    fallback: '',
    parse: list(cidr),
  },
  webhookAllowHosts: {
    name: 'WEBHOOK_ALLOW_HOSTS',
    description:
      'Host names that webhooks may reach even if their addresses are not public, separated by commas.',
    fallback: '',
    parse: list(matching(/^[A-Za-z0-9.:[\]-]{1,253}$/, 'must be a host name')),
  },
  webhookCaPem: optional({
    name: 'WEBHOOK_EXTRA_CA',
    description:
      'File of certificate authorities (PEM) that are trusted for webhooks in addition to the public ones.',
    parse: pemFile,
  }),
  alarmWebhookUrl: optional({
    name: 'ALARM_WEBHOOK_URL',
    description:
      'Address that gets alarms as signed webhooks: https, or http on this machine. Use the same on every node.',
    parse: alarmUrl,
  }),
  alarmWebhookSecret: optional({
    name: 'ALARM_WEBHOOK_SECRET',
    description:
      'Signs these webhooks, and is required with ALARM_WEBHOOK_URL: whsec_ and the base64 of 24 to 64 random bytes. Use the same on every node.',
    parse: webhookSecret,
  }),
  alarmBacklogSeconds: {
    name: 'ALARM_BACKLOG_SECONDS',
    description:
      'Age in seconds at which a waiting message is an alarm, 10 to 86,400. Use the same on every node.',
    fallback: '300',
    parse: integer(10, 86_400),
  },
  dnsServers: {
    name: 'DNS_SERVERS',
    description:
      "Resolvers for webhook hosts, address or address:port, separated by commas. Unset: the system's.",
    fallback: '',
    parse: list(dnsServer),
  },
  otlpEndpoint: optional({
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    description:
      'Address of an OpenTelemetry collector (OTLP over HTTP), to which traces are exported at /v1/traces. Unset: no traces.',
    parse: baseUrl,
  }),
  otlpTracesEndpoint: optional({
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    description: 'The whole address for traces, in place of the one above.',
    parse: baseUrl,
  }),
  otlpHeaders: {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    description: 'Headers of exports, name=value, percent-encoded and separated by commas.',
    fallback: '',
    parse: list(header),
  },
  otelServiceName: {
    name: 'OTEL_SERVICE_NAME',
    description: 'Name of the service in traces.',
    fallback: 'aldis',
    parse: matching(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters'),
  },
  tracedShare: {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    description: 'Share of all messages that are traced, from 0 to 1.',
    fallback: '0.01',
    parse: share,
  },
} satisfies Record<string, Variable<unknown>>

type Variables = typeof VARIABLES
type ValueOf<V> = V extends { parse: (text: string) => Parsed<infer T> } ? T : never
export type Config = { readonly [K in keyof Variables]: ValueOf<Variables[K]> }

export type LoadedConfig =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly string[] }

/** Reads and checks every variable. Faults name the variable and what is wrong, all of them at once, no values. */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): LoadedConfig {
  const faults: string[] = []
  const values: Record<string, unknown> = {}
  for (const [key, variable] of Object.entries<Variable<unknown>>(VARIABLES)) {
    const result = read(variable, env[variable.name])
    if ('fault' in result) faults.push(`${variable.name} ${result.fault}`)
    else values[key] = result.value
  }
  if (values.alarmWebhookUrl !== undefined && values.alarmWebhookSecret === undefined)
    faults.push(
      'ALARM_WEBHOOK_SECRET is required with ALARM_WEBHOOK_URL: whsec_ and 32 random bytes in base64',
    )
  if (faults.length > 0) return { ok: false, faults }
  return { ok: true, config: Object.freeze(values) as unknown as Config }
}

/** A variable that a configuration file names; undefined: it is not set. */
export function environmentVariable(name: string): string | undefined {
  return process.env[name]
}

/** DATABASE_URL alone, for a command that needs nothing else. @throws Error in one line. */
export function databaseUrlOf(env: NodeJS.ProcessEnv = process.env): string {
  const result = read(VARIABLES.databaseUrl, env[VARIABLES.databaseUrl.name])
  if ('fault' in result) throw new Error(`DATABASE_URL ${result.fault}`)
  if (result.value === EMBEDDED_DATABASE)
    throw new Error('aldis serve migrates the embedded database of DATABASE_URL itself')
  return result.value as string
}

function read(variable: Variable<unknown>, text: string | undefined): Parsed<unknown> {
  const given = text?.trim() ?? ''
  if (given !== '') return variable.parse(given)
  if (variable.required) return { fault: `is required: ${variable.description}` }
  return variable.fallback === undefined ? { value: undefined } : variable.parse(variable.fallback)
}

/** Says in the type that the value may be undefined. */
function optional<T>(variable: Variable<T>): Variable<T | undefined> {
  return variable
}
