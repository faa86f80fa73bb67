import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type AdminServer, startAdminServer } from '../../support/admin-server.ts'
import { createTestAuthority } from '../../support/certificates.ts'
import { runAldis } from '../../support/cli.ts'

let server: AdminServer
let env: Record<string, string>
/** What the link has unanswered: one less each time it is asked. */
let unanswered = 0

function linkSummary() {
  unanswered = Math.max(unanswered - 1, 0)
  const since = '2026-01-01T00:00:00.000Z'
  const link = { number: 0, bind: 'bind_transceiver', state: 'BOUND_TRX', lastClose: 'peer_closed' }
  return {
    state: 'BOUND_TRX',
    since,
    lastError: 'peer_closed',
    unanswered,
    links: [{ ...link, boundSince: since, unanswered }],
  }
}

beforeAll(async () => {
  server = await startAdminServer({ linkSummary, carrierAnomalies: () => ({ overlong_string: 250 }) })
  env = {
    ALDIS_URL: server.baseUrl,
    ALDIS_OPERATOR_TOKEN: server.operatorToken,
    ALDIS_CARRIER_PASSWORD: 'hush',
  }
})
beforeEach(() => {
  unanswered = 0
})
afterAll(() => server[Symbol.asyncDispose]())

const aldis = (...args: string[]) => runAldis(['carrier', ...args], { env })

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await aldis(...args, '--json')
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

const create = (name: string, ...more: string[]) =>
  json('create', name, '--host', 'smpp.example.net', '--system-id', 'aldis', ...more)

test('every setting can be given, changed and taken back', async () => {
  const { certPem } = await createTestAuthority()
  const settings = [
    ...['--host', 'smpp.example.net', '--system-id', 'aldis', '--state', 'stopped'],
    ...['--tls', '--tls-ca', '-', '--tls-server-name', 'smsc.example.net'],
    ...['--bind-mode', 'transmitter+receiver', '--binds', '4', '--window', '20', '--rate', '100'],
    ...['--sender-rate', '2', '--long-messages', 'udh16', '--id-rule', 'auto'],
    ...['--outcome', '0x45=permanent', '--outcome', '1025=throttled'],
  ]
  const ran = await runAldis(['carrier', 'create', 'whole', ...settings, '--json'], { env, stdin: certPem })
  const created = JSON.parse(ran.stdout)
  expect(created).toMatchObject({
    state: 'stopped',
    tls: true,
    tlsCa: certPem.trim(),
    tlsServerName: 'smsc.example.net',
    bindMode: 'transmitter+receiver',
    binds: 4,
    window: 20,
    messagesPerSecond: 100,
    senderMessagesPerSecond: 2,
    longMessages: 'udh16',
    submitOutcomes: { '0x00000045': 'permanent', '0x00000401': 'throttled' },
    idRule: 'auto',
  })
  expect((await json('update', 'whole', '--outcome', '0xff=retry')).submitOutcomes).toEqual({
    '0x000000ff': 'retry',
  })
  const backs = ['tls', 'tls-ca', 'tls-server-name', 'rate', 'sender-rate', 'outcome']
  expect(await json('update', 'whole', ...backs.map((name) => `--no-${name}`))).toMatchObject({
    tls: false,
    tlsCa: null,
    tlsServerName: null,
    messagesPerSecond: null,
    senderMessagesPerSecond: null,
    submitOutcomes: {},
    binds: 4,
  })
})

test('a password of more than 8 characters is taken with a warning; update reads the variable as create does', async () => {
  const stored = async () => {
    await server.directory.refresh()
    return server.directory.current().contents.carriers.find(({ name }) => name === 'long')
  }
  const { code, stderr } = await aldis(
    'create',
    'long',
    '--host',
    'h',
    '--system-id',
    'a',
    '--password',
    'x'.repeat(64),
  )
  expect([code, stderr]).toEqual([
    0,
    'warning: the password has 64 characters and SMPP 3.4 allows 8; it is sent whole\n',
  ])
  expect(await stored()).toMatchObject({ password: 'x'.repeat(64) })
  await json('update', 'long', '--window', '3')
  expect(await stored()).toMatchObject({ window: 3, password: 'x'.repeat(64) })
})

test('people see its settings and each of its links', async () => {
  await create('shown', '--outcome', '0x45=retry')
  await server.database.db.query(`
    with node as (insert into nodes (name, expires_at) values ('node-a', now() + interval '1 min') returning node_id)
    insert into carrier_binds (carrier_id, bind, node_id)
    select c.id, 0, node_id from carriers c, node where c.name = 'shown'`)
  const { stdout } = await aldis('show', 'shown')
  expect(stdout).toMatch(/^anomalies +overlong_string 250$/m)
  expect(stdout).toMatch(/^leases +bind 0 node node-a$/m)
  expect(stdout).toMatch(/^submitOutcomes +0x00000045 retry$/m)
  expect(stdout).toMatch(/^link +BOUND_TRX$/m)
  expect(stdout).toMatch(/^NUMBER +BIND +STATE +BOUND SINCE +UNANSWERED +LAST CLOSE$/m)
  expect(stdout).toMatch(/^0 +bind_transceiver +BOUND_TRX +2026-01-01T00:00:00.000Z +0 +peer_closed$/m)
})

test('started and stopped', async () => {
  await create('states')
  expect((await json('stop', 'states')).state).toBe('stopped')
  expect((await json('start', 'states')).state).toBe('started')
})

test('drained: waits until nothing is unanswered, says nothing in a pipe', async () => {
  await create('draining')
  // One less with each answer: the change of state tells of one, the question after it of none.
  unanswered = 2
  expect(await json('drain', 'draining')).toMatchObject({ state: 'draining', link: { unanswered: 0 } })
})

test('drained without waiting', async () => {
  await create('at-once')
  unanswered = 1_000
  expect(await json('drain', 'at-once', '--no-wait')).toMatchObject({
    state: 'draining',
    link: { unanswered: 999 },
  })
})

test('not drained in time: says what is left, and it stays draining', async () => {
  await create('slow')
  unanswered = 1_000
  const { code, stdout, stderr } = await aldis('drain', 'slow', '--timeout', '0')
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: '',
    stderr: 'error: slow is draining, but has not answered all submits: 999 left\n',
  })
  expect((await json('show', 'slow')).state).toBe('draining')
})

test.each([
  [['--outcome', '0x45'], '--outcome needs a key and a value'],
  [['--outcome', '0x45=never'], '--outcome 0x45 must be one of'],
  [['--tls-ca', 'ca.pem'], '--tls-ca must be'],
  [['--binds', '33'], '--binds must be <= 32'],
])('refused: %j', async (args, message) => {
  await create('refusing').catch(() => undefined)
  const { code, stdout, stderr } = await aldis('update', 'refusing', ...args)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(message)
})
