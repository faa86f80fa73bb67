import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadConfig, VARIABLES, type Variable } from '../src/config.ts'
import { hashToken } from '../src/domain/credentials.ts'

const SECRET_KEY = 'ab'.repeat(32)
const OPERATOR_TOKEN = 'operator-token-of-more-than-32-characters'
const DATABASE_URL = 'postgresql://u:p@db.example/aldis'
const REQUIRED = { DATABASE_URL, SECRET_KEY, OPERATOR_TOKEN }

function configOf(env: NodeJS.ProcessEnv) {
  const loaded = loadConfig({ ...REQUIRED, ...env })
  if (!loaded.ok) throw new Error(loaded.faults.join('\n'))
  return loaded.config
}

const ALARM_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

function faultsOf(env: NodeJS.ProcessEnv): readonly string[] {
  const loaded = loadConfig({ ...REQUIRED, ...env })
  return loaded.ok ? [] : loaded.faults
}

test('the database and the two secrets are all that must be set', () => {
  expect(configOf({})).toEqual({
    databaseUrl: DATABASE_URL,
    databasePoolSize: 10,
    databasePrepared: true,
    databaseStatementTimeoutMs: 30_000,
    databaseReplicaUrl: undefined,
    databaseReplicaMaxLagMs: 500,
    allowUnsafeDurability: false,
    dataDir: resolve('.aldis'),
    httpHost: '0.0.0.0',
    httpPort: 8080,
    operatorPort: undefined,
    operatorHost: undefined,
    workers: 1,
    carriersStopped: false,
    console: true,
    cgiSendsms: false,
    baseUrl: undefined,
    secretKey: Buffer.from(SECRET_KEY, 'hex'),
    previousSecretKey: undefined,
    operatorTokenHashes: [hashToken(OPERATOR_TOKEN)],
    logLevel: 'info',
    nodeId: undefined,
    nodeRole: 'all',
    retentionDays: 90,
    auditRetentionDays: 400,
    drainTimeoutMs: 30_000,
    ambiguityWaitMs: 120_000,
    webhookAllowCidrs: [],
    webhookAllowHosts: [],
    webhookCaPem: undefined,
    alarmWebhookUrl: undefined,
    alarmWebhookSecret: undefined,
    alarmBacklogSeconds: 300,
    dnsServers: [],
    otlpEndpoint: undefined,
    otlpTracesEndpoint: undefined,
    otlpHeaders: [],
    otelServiceName: 'aldis',
    tracedShare: 0.01,
  })
})

test('the configuration and its lists are frozen', () => {
  const config = configOf({ WEBHOOK_ALLOW_HOSTS: 'hooks.example.com' })
  expect(Object.isFrozen(config)).toBe(true)
  expect(Object.isFrozen(config.webhookAllowHosts)).toBe(true)
  expect(Object.isFrozen(config.operatorTokenHashes)).toBe(true)
})

test('every variable is read', () => {
  const key = randomBytes(32)
  const otherKey = randomBytes(32)
  const config = configOf({
    DATABASE_URL: 'postgresql://u:p@db.example:5432/aldis?sslmode=require',
    DATABASE_POOL_SIZE: '25',
    DATABASE_PREPARED: 'off',
    DATABASE_STATEMENT_TIMEOUT_MS: '0',
    DATABASE_REPLICA_URL: 'postgresql://u:p@standby.example/aldis',
    DATABASE_REPLICA_MAX_LAG_MS: '2000',
    ALLOW_UNSAFE_DURABILITY: 'true',
    DATA_DIR: '/var/data',
    HTTP_HOST: '::1',
    HTTP_PORT: '0',
    OPERATOR_PORT: '9090',
    OPERATOR_HOST: '10.0.0.1',
    CONSOLE: 'off',
    CARRIERS_STOPPED: 'on',
    WORKERS: '4',
    BASE_URL: 'https://sms.example/api/',
    SECRET_KEY: key.toString('base64'),
    SECRET_KEY_PREVIOUS: otherKey.toString('hex'),
    OPERATOR_TOKEN: `${OPERATOR_TOKEN}, ${'n'.repeat(32)}`,
    LOG_LEVEL: 'debug',
    NODE_ID: 'node-1',
    NODE_ROLE: 'carrier',
    RETENTION_DAYS: '30',
    AUDIT_RETENTION_DAYS: '800',
    DRAIN_TIMEOUT_MS: '5000',
    AMBIGUITY_WAIT_MS: '1500',
    WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8, fd00::/8,127.0.0.1',
    WEBHOOK_ALLOW_HOSTS: 'hooks.internal,[::1]',
    ALARM_WEBHOOK_URL: 'https://10.0.0.9/alarms',
    ALARM_WEBHOOK_SECRET: ALARM_SECRET,
    ALARM_BACKLOG_SECONDS: '60',
    DNS_SERVERS: '127.0.0.1:5353,::1,[::1]:53',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector/own/path',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc%3d, x-tenant=a=b',
    OTEL_SERVICE_NAME: 'sms',
    OTEL_TRACES_SAMPLER_ARG: '.5',
  })
  expect(config).toEqual({
    databaseUrl: 'postgresql://u:p@db.example:5432/aldis?sslmode=require',
    databasePoolSize: 25,
    databasePrepared: false,
    databaseStatementTimeoutMs: 0,
    databaseReplicaUrl: 'postgresql://u:p@standby.example/aldis',
    databaseReplicaMaxLagMs: 2_000,
    allowUnsafeDurability: true,
    dataDir: '/var/data',
    httpHost: '::1',
    httpPort: 0,
    operatorPort: 9090,
    operatorHost: '10.0.0.1',
    workers: 4,
    carriersStopped: true,
    console: false,
    cgiSendsms: false,
    baseUrl: 'https://sms.example/api',
    secretKey: key,
    previousSecretKey: otherKey,
    operatorTokenHashes: [hashToken(OPERATOR_TOKEN), hashToken('n'.repeat(32))],
    logLevel: 'debug',
    nodeId: 'node-1',
    nodeRole: 'carrier',
    retentionDays: 30,
    auditRetentionDays: 800,
    drainTimeoutMs: 5000,
    ambiguityWaitMs: 1500,
    webhookAllowCidrs: ['10.0.0.0/8', 'fd00::/8', '127.0.0.1'],
    webhookAllowHosts: ['hooks.internal', '[::1]'],
    webhookCaPem: undefined,
    alarmWebhookUrl: 'https://10.0.0.9/alarms',
    alarmWebhookSecret: ALARM_SECRET,
    alarmBacklogSeconds: 60,
    dnsServers: ['127.0.0.1:5353', '::1', '[::1]:53'],
    otlpEndpoint: 'http://collector:4318',
    otlpTracesEndpoint: 'https://collector/own/path',
    otlpHeaders: [
      ['authorization', 'Bearer abc='],
      ['x-tenant', 'a=b'],
    ],
    otelServiceName: 'sms',
    tracedShare: 0.5,
  })
})

test('an address for alarms needs a secret', () => {
  expect(faultsOf({ ALARM_WEBHOOK_URL: 'http://localhost:9100/' })).toEqual([
    expect.stringMatching(/^ALARM_WEBHOOK_SECRET is required/),
  ])
})

test('an empty variable is an unset one', () => {
  expect(configOf({ HTTP_PORT: '', NODE_ID: '  ' })).toEqual(configOf({}))
})

const WRONG: [name: string, text: string][] = [
  ['DATABASE_URL', 'mysql://u:hunter2hunter2@db/x'],
  ['DATABASE_POOL_SIZE', '1'],
  ['DATABASE_PREPARED', 'perhaps'],
  ['DATABASE_STATEMENT_TIMEOUT_MS', '-1'],
  ['DATABASE_REPLICA_URL', 'postgresql://one:5432,two:5432/aldis'],
  ['DATABASE_REPLICA_MAX_LAG_MS', '-1'],
  ['ALLOW_UNSAFE_DURABILITY', 'maybe'],
  ['HTTP_HOST', 'not a host'],
  ['HTTP_PORT', '65536'],
  ['BASE_URL', 'https://user:hunter2hunter2@sms.example'],
  ['SECRET_KEY', 'hunter2hunter2'],
  ['OPERATOR_TOKEN', 'hunter2hunter2'],
  ['LOG_LEVEL', 'loud'],
  ['NODE_ID', 'a b'],
  ['RETENTION_DAYS', '0'],
  ['AUDIT_RETENTION_DAYS', '0'],
  ['DRAIN_TIMEOUT_MS', '1e3'],
  ['AMBIGUITY_WAIT_MS', '3600001'],
  ['WEBHOOK_ALLOW_CIDRS', '10.0.0.1/8'],
  ['WEBHOOK_ALLOW_HOSTS', 'a b'],
  ['WEBHOOK_EXTRA_CA', '/nowhere/at/all.pem'],
  ['ALARM_WEBHOOK_URL', 'http://10.0.0.9/alarms'],
  ['ALARM_WEBHOOK_SECRET', 'whsec_short'],
  ['ALARM_BACKLOG_SECONDS', '1'],
  ['DNS_SERVERS', '127.0.0.1,dns.example'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'https://user:hunter2hunter2@collector'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'key=hunter2hunter2%0d%0ax: y'],
  ['OTEL_TRACES_SAMPLER_ARG', '1.01'],
]

test('every fault is reported at once, each by the name of its variable', () => {
  const faults = faultsOf(Object.fromEntries(WRONG))
  expect(faults.map((fault) => fault.split(' ')[0])).toEqual(WRONG.map(([name]) => name))
})

test.each(WRONG)('%s alone is refused, and its text is not repeated', (name, text) => {
  const faults = faultsOf({ [name]: text })
  expect(faults).toHaveLength(1)
  expect(faults[0]).toMatch(new RegExp(`^${name} `))
  expect(faults[0]).not.toContain('hunter2')
})

test('what is missing is named: a database is never made because its variable was mistyped', () => {
  const loaded = loadConfig({})
  expect(loaded.ok ? [] : loaded.faults.map((fault) => fault.split(':')[0])).toEqual([
    'DATABASE_URL is required',
    'SECRET_KEY is required',
    'OPERATOR_TOKEN is required',
  ])
})

test.each(['embedded', 'postgresql://u:p@one:5432,two:5433/aldis?target_session_attrs=read-write'])(
  'DATABASE_URL may be %s',
  (databaseUrl) => expect(configOf({ DATABASE_URL: databaseUrl })).toMatchObject({ databaseUrl }),
)

test('no text of a secret variable ever shows in a fault', () => {
  const text = fc.string({ minLength: 6, unit: fc.constantFrom(...'QXZJK#%§~') })
  fc.assert(
    fc.property(text, text, text, (url, key, token) => {
      const loaded = loadConfig({ DATABASE_URL: url, SECRET_KEY: key, OPERATOR_TOKEN: token })
      const said = loaded.ok ? '' : loaded.faults.join('\n')
      return ![url, key, token].some((secret) => said.includes(secret))
    }),
  )
})

test('a secret key of another length is refused', () => {
  expect(faultsOf({ SECRET_KEY: randomBytes(31).toString('base64') })).toHaveLength(1)
  expect(faultsOf({ SECRET_KEY: randomBytes(33).toString('base64') })).toHaveLength(1)
  expect(faultsOf({ SECRET_KEY: randomBytes(31).toString('hex') })).toHaveLength(1)
})

test('WEBHOOK_EXTRA_CA gives the certificates in the file, and a file without one is a fault', () => {
  const directory = mkdtempSync(join(tmpdir(), 'aldis-config-'))
  const good = join(directory, 'ca.pem')
  const bad = join(directory, 'other.pem')
  const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
  writeFileSync(good, pem)
  writeFileSync(bad, 'hello')
  expect(configOf({ WEBHOOK_EXTRA_CA: good }).webhookCaPem).toBe(pem)
  expect(faultsOf({ WEBHOOK_EXTRA_CA: bad })).toEqual([
    'WEBHOOK_EXTRA_CA names a file without a PEM certificate',
  ])
  rmSync(directory, { recursive: true })
})

test('each variable has a name of its own, and what must be set has no default', () => {
  const variables = Object.values<Variable<unknown>>(VARIABLES)
  expect(new Set(variables.map(({ name }) => name)).size).toBe(variables.length)
  expect(variables).toHaveLength(Object.keys(configOf({})).length)
  const required = variables.filter(({ required }) => required)
  expect(required.map(({ name }) => name)).toEqual(['DATABASE_URL', 'SECRET_KEY', 'OPERATOR_TOKEN'])
  expect(required.filter(({ fallback }) => fallback !== undefined)).toEqual([])
})
