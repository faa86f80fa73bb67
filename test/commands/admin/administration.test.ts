import { createServer } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, startAdminServer } from '../../support/admin-server.ts'
import { runAldis } from '../../support/cli.ts'

let server: AdminServer
let env: Record<string, string>
beforeAll(async () => {
  server = await startAdminServer()
  env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
})
afterAll(() => server[Symbol.asyncDispose]())

/** Runs a command that must succeed and gives what it printed as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await runAldis([...args, '--json'], { env })
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
  return stdout === '' ? undefined : JSON.parse(stdout)
}

async function refused(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runAldis(args, { env })
  expect({ code, stdout }, args.join(' ')).toEqual({ code: 1, stdout: '' })
  return stderr
}

test('everything a plan needs can be set up, changed and taken away again', async () => {
  await json(
    'carrier',
    'create',
    'acme',
    '--host',
    'smpp.example.net',
    '--system-id',
    'aldis',
    '--password',
    'hush',
  )
  await json(
    'carrier',
    'create',
    'backup',
    '--host',
    '192.0.2.1',
    '--system-id',
    'aldis',
    '--password',
    'x',
    '--state',
    'stopped',
  )
  const route = await json('route', 'create', 'default', '--carrier', 'acme:0:3', '--carrier', 'backup:1')
  expect(route.carriers).toEqual([
    { carrier: 'acme', priority: 0, weight: 3 },
    { carrier: 'backup', priority: 1, weight: 1 },
  ])
  const { accountId, webhookSecret } = await json(
    'account',
    'create',
    '--name',
    'Example Ltd',
    '--rate',
    '50',
  )
  expect(webhookSecret).toMatch(/^whsec_/)
  const settings = ['--name', 'alerts', '--route', 'default', '--sender-type', 'alphanumeric,e164']
  const { servicePlanId, complete } = await json('plan', 'create', '--account', accountId, ...settings)
  expect(complete).toBe(true)
  const token = await json(
    'token',
    'create',
    '--account',
    accountId,
    '--name',
    'backend',
    '--plan',
    servicePlanId,
  )
  expect(token.servicePlanIds).toEqual([servicePlanId])
  await json('sender', 'create', servicePlanId, 'Example', '--status', 'approved')
  await json('sender', 'create', servicePlanId, '+46701234567', '--status', 'pending')
  const { items } = await json('sender', 'list', servicePlanId)
  expect(items.map((item: { sender: string }) => item.sender).sort()).toEqual(['+46701234567', 'Example'])
  const number = await json('number', 'create', '+46701234567', '--plan', servicePlanId, '--keyword', 'JOIN')
  expect(number.keywords).toEqual(['JOIN'])

  expect(
    await json(
      'plan',
      'update',
      servicePlanId,
      '--smart-encoding',
      '--national-language',
      'turkish, spanish',
    ),
  ).toMatchObject({ smartEncoding: true, nationalLanguages: ['turkish', 'spanish'] })
  expect(
    await json('plan', 'update', servicePlanId, '--no-smart-encoding', '--no-national-language'),
  ).toMatchObject({ smartEncoding: false, nationalLanguages: [], senderTypes: ['alphanumeric', 'e164'] })
  expect(await json('plan', 'update', servicePlanId, '--no-active', '--no-route')).toMatchObject({
    active: false,
    route: null,
    senderTypes: ['alphanumeric', 'e164'],
  })
  expect((await json('number', 'update', '+46701234567', '--no-keyword')).keywords).toEqual([])
  expect(await json('account', 'update', accountId, '--no-rate')).toMatchObject({ rateLimit: null })
  expect(await json('carrier', 'update', 'backup', '--window', '5')).toMatchObject({
    state: 'stopped',
    window: 5,
  })
  expect((await json('carrier', 'start', 'backup')).state).toBe('started')

  await json('number', 'delete', '+46701234567')
  await json('sender', 'delete', servicePlanId, 'Example')
  await json('sender', 'delete', servicePlanId, '+46701234567')
  await json('token', 'delete', String(token.tokenId))
  await json('plan', 'delete', servicePlanId)
  await json('account', 'delete', accountId)
  await json('route', 'delete', 'default')
  await json('carrier', 'delete', 'acme')
  expect(await refused('carrier', 'show', 'acme')).toBe('error: No such carrier\n')
})

test('people get tables and fields', async () => {
  const created = await runAldis(['account', 'create', '--name', 'Tables Ltd', '--rate', '5'], { env })
  expect(created.stdout).toMatch(/^name +Tables Ltd$/m)
  expect(created.stdout).toMatch(/^rateLimit +messagesPerSecond 5 burst 5$/m)
  expect(created.stdout).toMatch(/^webhookSecret +whsec_\S+$/m)
  const { stdout } = await runAldis(['account', 'list'], { env })
  const [heading, ...rows] = stdout.trimEnd().split('\n')
  expect(heading).toMatch(/^ACCOUNT +NAME +DEFAULT DLR URL +RATE$/)
  expect(rows.find((row) => row.includes('Tables Ltd'))).toMatch(/^[0-9a-f]{24} {2}Tables Ltd +- +5$/)
})

test('a list says how to go on', async () => {
  await json('route', 'create', 'list-a', '--no-carrier')
  await json('route', 'create', 'list-b', '--no-carrier')
  const first = await runAldis(['route', 'list', '--limit', '1'], { env })
  expect(first.stderr).toBe("more: --after 'list-a', or --all\n")
  const { items } = await json('route', 'list', '--after', 'list-a')
  expect(items.map((item: { name: string }) => item.name)).toEqual(['list-b'])
  const all = await json('route', 'list', '--limit', '1', '--all')
  expect(all.items.map((item: { name: string }) => item.name)).toEqual(['list-a', 'list-b'])
  expect(all.nextAfter).toBeNull()
})

test('a carrier password comes from the environment or standard input, and is never printed', async () => {
  const args = ['carrier', 'create', 'quiet', '--host', 'smpp.example.net', '--system-id', 'aldis']
  const missing = await runAldis(args, { env })
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('ALDIS_CARRIER_PASSWORD') })
  const created = await runAldis(args, { env: { ...env, ALDIS_CARRIER_PASSWORD: 'from-env' } })
  expect(created.code).toBe(0)
  const password = () =>
    server.directory.current().contents.carriers.find((carrier) => carrier.name === 'quiet')!.password
  expect(password()).toBe('from-env')
  const changed = await runAldis(['carrier', 'update', 'quiet', '--password', '-'], {
    env,
    stdin: 'fromstdi\n',
  })
  expect(changed.code).toBe(0)
  expect(password()).toBe('fromstdi')
  expect(created.stdout + changed.stdout).not.toContain('from')
})

test('webhook headers and credentials come from options, the environment or standard input, and are never printed', async () => {
  const created = await runAldis(
    ['account', 'create', '--name', 'Guarded', '--webhook-header', 'X-Api-Key:  first: one ', '--json'],
    { env: { ...env, ALDIS_WEBHOOK_BASIC: 'aldis:from:env' } },
  )
  expect(created).toMatchObject({ code: 0, stderr: '' })
  const { accountId, ...shown } = JSON.parse(created.stdout)
  expect(shown).toMatchObject({ webhookHeaderNames: ['X-Api-Key'], webhookCredentialsSet: true })
  const sent = () =>
    server.directory.current().contents.accounts.find((each) => each.accountId === accountId)!
  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`
  expect(sent().webhookHeaders).toEqual({ 'X-Api-Key': 'first: one', authorization: basic('aldis:from:env') })

  const update = (args: string[], stdin?: string) =>
    runAldis(['account', 'update', accountId, ...args], {
      env: { ...env, ALDIS_WEBHOOK_BASIC: 'a:b' },
      ...(stdin !== undefined && { stdin }),
    })
  const changed = await update(['--webhook-header', '-', '--webhook-header', 'c: 3'], 'a: first 1\r\n\nb:2\n')
  expect(sent().webhookHeaders).toEqual({
    a: 'first 1',
    b: '2',
    c: '3',
    authorization: basic('aldis:from:env'),
  })
  expect(changed.stdout).toMatch(/^webhookHeaderNames +a, b, c$/m)
  expect(changed.stdout).toMatch(/^webhookCredentialsSet +yes$/m)
  await update(['--webhook-basic', '-'], 'aldis:fromstdin\n')
  expect(sent().webhookHeaders.authorization).toBe(basic('aldis:fromstdin'))
  await update(['--no-webhook-header'])
  expect(sent().webhookHeaders).toEqual({ authorization: basic('aldis:fromstdin') })
  const removed = await update(['--no-webhook-basic'])
  expect(sent().webhookHeaders).toEqual({})
  expect(created.stdout + changed.stdout + removed.stdout).not.toMatch(/first|from/)

  for (const [says, ...args] of [
    ['--webhook-basic password is required', '--webhook-basic', 'hushhush'],
    ['--webhook-header 0 value is required', '--webhook-header', 'hushhush'],
    ['--webhook-header 0 name must not be a header that', '--webhook-header', 'Host: hushhush'],
    ['--webhook-header 0 name must be a header name', '--webhook-header', 'a b: hushhush'],
    ['--webhook-header 0 value must have 1 to 1000', '--webhook-header', 'a: hushhush\u007f'],
    ['--webhook-basic username must have at most', '--webhook-basic', 'hush\u0007:hush'],
    ['only one option can be read', '--webhook-header', '-', '--webhook-basic', '-'],
  ]) {
    const wrong = await update(args)
    expect(wrong).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(says!) })
    expect(wrong.stderr).not.toContain('hush')
  }
})

test('a refusal of the service is one line with every fault', async () => {
  const line = await refused('account', 'create', '--name', ' x ', '--default-dlr-url', 'https://10.0.0.1/')
  expect(line).toMatch(/^error: The request is not valid: --name .*\n$/)
  expect(await refused('account', 'show', 'xyz')).toBe(
    'error: The request is not valid: accountId must be 24 hex digits\n',
  )
  expect(await refused('account', 'update', '0'.repeat(24), '--rate', 'x:5')).toContain(
    '--rate messagesPerSecond must be',
  )
  expect(await refused('route', 'create', 'r', '--carrier', 'a:b')).toContain('--carrier 0 priority must be')
  expect(await refused('account', 'list', '--limit', 'x')).toContain('--limit must be a whole number')
})

test('a missing and an unknown operator token', async () => {
  const without = await runAldis(['account', 'list'], { env: { ALDIS_URL: server.baseUrl } })
  expect(without).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^error: an operator token is needed.*\n$/),
  })
  const wrong = await runAldis(['account', 'list', '--operator-token', 'x'.repeat(40)], { env })
  expect(wrong).toMatchObject({ code: 1, stderr: 'error: the service does not know this operator token\n' })
})

test('a service that is not there', async () => {
  const listener = createServer()
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as { port: number }
  await new Promise((resolve) => listener.close(resolve))
  const url = `http://127.0.0.1:${port}`
  expect(await refused('account', 'list', '--url', url)).toBe(
    `error: cannot reach ${url}: connection refused. Is the service running? Set another address with --url or ALDIS_URL\n`,
  )
  expect(await refused('account', 'list', '--url', 'localhost:8080')).toContain(
    'not the address of a service',
  )
})

/** What a customer could write to an operator's terminal. */
const OBEYED = 'hej\u001b[2J\u009b1m\n\u202e'

test('a message is shown with its timeline, and nothing that a terminal obeys', async () => {
  const { db } = server.database
  await json('account', 'create', '--name', 'Messages Ltd')
  const { items } = await json('account', 'list')
  const accountId = items.find(({ name }: { name: string }) => name === 'Messages Ltd').accountId
  const { servicePlanId } = await json('plan', 'create', '--account', accountId, '--name', 'timeline')
  const msgId = '019b7c5d-0000-7000-8000-000000000007'
  for (const table of ['messages', 'submissions', 'submit_attempts', 'webhook_attempts'])
    await db.query(`create table ${table}_all partition of ${table} default`)
  await db.query(
    `insert into messages (plan_id, msg_id, status, segments, sent_at, updated_at, sender, recipient, body)
     select id, $1, 'SENT', 1, now(), now(), 'Example', '+46701234567', $3 from service_plans where service_plan_id = $2`,
    [msgId, servicePlanId, OBEYED],
  )
  const { code, stdout } = await runAldis(['message', 'show', msgId], { env })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^status +SENT$/m)
  expect(stdout).toMatch(/^body +hej\\u001b\[2J\\u009b1m\\u000a\\u202e$/m)
  expect(stdout).toMatch(/^AT +WHAT +DETAIL$/m)
  expect(stdout).toMatch(/^\S+Z +status +QUEUED$/m)
  expect(stdout).not.toMatch(/^webhookEvents/m)
  expect((await json('message', 'show', msgId)).body).toBe(OBEYED)
  const asJson = await runAldis(['message', 'show', msgId, '--json'], { env })
  expect(asJson.stdout).toContain(String.raw`hej\u001b[2J\u009b1m\n\u202e`)
  expect((await json('message', 'show', msgId)).timeline.map(({ what }: { what: string }) => what)).toEqual([
    'status',
    'attempt',
    'status',
  ])
  expect(await refused('message', 'show', '019b7c5d-0000-7000-8000-000000000008')).toContain(
    'No such message',
  )
})
