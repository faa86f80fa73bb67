import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requestAdmin } from '../../src/commands/admin/client.ts'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { databaseOfFile, freshDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { KeptClient, KeptSender } from '../support/kept-connections.ts'
import {
  lookUp,
  provision,
  type Ready,
  runAldis,
  SERVE_SECRETS,
  type Served,
  startServe,
} from '../support/process.ts'
import { exchange, openSocket, requestBytes } from '../support/raw-http.ts'

const database = await databaseOfFile({ state: 'started' })
const REFUSED = { ...SERVE_SECRETS, LOG_LEVEL: 'warn', HTTP_HOST: '127.0.0.1', HTTP_PORT: '0', WORKERS: '2' }
const CLIENTS = 40
/** Of each client, between an answer and its next message. */
const PAUSE_MS = 100

interface Line {
  readonly msg: string
  readonly worker?: number
  readonly pid: number
}

/** What was logged with this text, by anyone. */
function said({ running }: Served, msg: string): Line[] {
  const lines = running.stderr.split('\n').slice(0, -1)
  return lines.map((line): Line => JSON.parse(line)).filter((line) => line.msg === msg)
}

function portOf({ baseUrl }: { baseUrl: string }): number {
  return Number(new URL(baseUrl).port)
}

/** The values of a metric, by worker. Over a connection of its own: the system chooses the worker. */
async function byWorker(service: Served, metric: string): Promise<Record<string, number>> {
  const answer = await exchange(portOf(service), requestBytes({ method: 'GET', path: '/metrics' }))
  expect(answer?.status).toBe(200)
  const found = answer!.text.matchAll(new RegExp(`^${metric}\\{[^}]*worker="(\\d+)"\\} (\\S+)$`, 'gm'))
  return Object.fromEntries([...found].map(([, worker, value]) => [worker, Number(value)]))
}

function senders(access: Ready): KeptSender[] {
  const ports = [portOf(access)]
  return Array.from({ length: CLIENTS }, (_, index) => new KeptSender(ports, access, index, PAUSE_MS))
}

/** How many of these messages have the status. */
async function countOf(msgIds: readonly string[], status: string): Promise<number> {
  const { rows } = await database.db.query<{ count: number }>(
    'select count(*)::integer as count from messages where msg_id = any ($1::uuid[]) and status::text = $2',
    [msgIds, status],
  )
  return rows[0]!.count
}

/** How many have been parked so far. */
async function receiptsParked(): Promise<number> {
  const { rows } = await database.db.query<{ count: number }>(
    `select coalesce(pg_sequence_last_value(pg_get_serial_sequence('parked_receipts', 'id')::regclass), 0)::integer as count`,
  )
  return rows[0]!.count
}

interface CarrierNodes {
  readonly nodes: readonly { readonly condition: string }[]
}

/** Its receipt comes half a minute after the submit. */
const LATE = '+15551231010'

function admin({ baseUrl, operatorToken }: Served, method: string, path: string, body?: object) {
  return requestAdmin({ url: baseUrl, operatorToken }, method, path, body)
}

/** Access to a sandbox plan of the same account. */
async function sandboxPlan(service: Served, access: Ready): Promise<Ready> {
  const fields = { accountId: access.accountId, name: 'Tests', sandbox: true }
  const { servicePlanId } = (await admin(service, 'POST', '/service-plans', fields)) as Ready
  await admin(service, 'PUT', `/service-plans/${servicePlanId}/senders/${access.sender}`, {
    status: 'approved',
  })
  return { ...access, servicePlanId }
}

/** Sends a message over a connection of its own: the system chooses the worker. Returns its id. */
async function sentAlone(service: Served, { servicePlanId, sender, token }: Ready, to: string) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ servicePlanId, channel: 'SMS', from: sender, to, body: 'Hello' })
  const request = requestBytes({ method: 'POST', path: '/v1/sendsms', headers, body })
  const answer = await exchange(portOf(service), request)
  expect([answer?.status, answer?.text]).toEqual([202, expect.anything()])
  return JSON.parse(answer!.text).msgId as string
}

async function statusesOf(access: Ready, msgIds: readonly string[]): Promise<string[]> {
  return await Promise.all(msgIds.map(async (msgId) => (await lookUp(access, msgId)).json.status))
}

describe('two workers', () => {
  let simulator: Simulator
  let service: Served
  let access: Ready

  beforeAll(async () => {
    simulator = await startSimulator({ port: 0 })
    service = await startServe(
      {
        DATABASE_URL: database.connectionString,
        NODE_ID: 'both',
        LOG_LEVEL: 'info',
        AMBIGUITY_WAIT_MS: '1000',
      },
      ['--workers', '2'],
    )
    access = await provision(service, simulator.port, { binds: 1, window: 100 })
  })
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]()
    await simulator?.stop()
  })

  test('are two nodes, each named in its lines, and one line says that they are ready', async () => {
    const { rows } = await database.db.query<{ name: string }>('select name from nodes order by name')
    expect(rows.map(({ name }) => name)).toEqual(['both/1', 'both/2'])
    const nodes = await eventually(async () => {
      const connection = { url: service.baseUrl, operatorToken: service.operatorToken }
      const { items } = (await requestAdmin(connection, 'GET', '/nodes')) as { items: { worker: unknown }[] }
      return items.every(({ worker }) => worker !== null) && items
    })
    expect(nodes).toMatchObject([1, 2].map((worker) => ({ name: `both/${worker}`, worker, workers: 2 })))
    expect(said(service, 'aldis is ready')).toHaveLength(1)
    const ready = said(service, 'worker is ready').map(({ worker }) => worker)
    expect(ready.toSorted()).toEqual([1, 2])
  })

  test('warn of a carrier with fewer binds, until it has as many', async () => {
    const warning = 'a carrier has fewer binds than workers'
    await eventually(() => said(service, warning).length > 0)
    expect(said(service, warning)).toEqual([
      expect.objectContaining({ worker: 1, carrier: 'carrier', binds: 1, workers: 2 }),
    ])
    const connection = { url: service.baseUrl, operatorToken: service.operatorToken }
    await requestAdmin(connection, 'PATCH', '/carriers/carrier', { binds: 2, idRule: 'exact' })
    await eventually(async () =>
      isDeepStrictEqual(await byWorker(service, 'aldis_carrier_bound'), { 1: 1, 2: 1 }),
    )
    expect(said(service, warning)).toHaveLength(1)
  })

  test('hand each other the receipts that come over the other bind: none is parked', async () => {
    // A worker that has only just got its bind has still messages of the tables, whose receipts may be parked.
    await eventually(async () => {
      const before = await receiptsParked()
      const clients = senders(access)
      await eventually(() => clients.every(({ msgIds }) => msgIds.length >= 3))
      await Promise.all(clients.map((client) => client.stop()))
      const msgIds = clients.flatMap((client) => client.msgIds)
      await eventually(async () => (await countOf(msgIds, 'DELIVERED')) === msgIds.length, 60_000)
      return (await receiptsParked()) === before
    })
  })

  test('answer at one port, and either has the figures of both; one killed is started again and nothing is lost', async () => {
    const clients = senders(access)
    const answered = (least: number) =>
      eventually(() => clients.every(({ msgIds }) => msgIds.length >= least))
    await answered(5)
    const accepted = await byWorker(service, 'aldis_messages_accepted_total')
    expect(accepted).toEqual({ 1: expect.any(Number), 2: expect.any(Number) })
    expect(Math.min(...Object.values(accepted))).toBeGreaterThan(0)

    process.kill(said(service, 'worker is ready')[0]!.pid, 'SIGKILL')
    await service.running.until(() => said(service, 'worker is ready').length === 3)
    await answered(Math.max(...clients.map(({ msgIds }) => msgIds.length)) + 5)
    await Promise.all(clients.map((client) => client.stop()))
    expect(new Set(clients.flatMap(({ statuses }) => statuses))).toEqual(new Set([202]))
    const msgIds = clients.flatMap((client) => client.msgIds)
    await eventually(async () => (await countOf(msgIds, 'DELIVERED')) === msgIds.length, 60_000)
  })

  test('share sandbox plans; one killed loses the receipts of its own simulator, and nothing is sent twice', async () => {
    const plan = await sandboxPlan(service, access)
    await eventually(async () => {
      const { nodes } = (await admin(service, 'GET', '/carriers/sandbox/binds')) as CarrierNodes
      return nodes.filter(({ condition }) => condition === 'usable').length === 2
    })
    const before = await byWorker(service, 'aldis_messages_accepted_total')
    const late: string[] = []
    // Until both workers have taken some: the system chooses the worker of each connection.
    await eventually(async () => {
      late.push(...(await Promise.all(Array.from({ length: 4 }, () => sentAlone(service, plan, LATE)))))
      const now = await byWorker(service, 'aldis_messages_accepted_total')
      return [1, 2].every((worker) => now[worker]! > before[worker]!)
    })
    await eventually(async () => (await statusesOf(plan, late)).every((status) => status === 'SENT'))

    const ready = said(service, 'worker is ready').length
    process.kill(said(service, 'worker is ready').at(-1)!.pid, 'SIGKILL')
    await service.running.until(() => said(service, 'worker is ready').length > ready)
    const prompt = await Promise.all(
      Array.from({ length: 8 }, () => sentAlone(service, plan, '+15551230000')),
    )
    await eventually(async () => (await statusesOf(plan, prompt)).every((status) => status === 'DELIVERED'))
    for (const msgId of late) {
      const { submissions } = (await admin(service, 'GET', `/messages/${msgId}`)) as { submissions: object[] }
      expect(submissions).toHaveLength(1)
    }
    const statuses = await statusesOf(plan, late)
    expect(statuses.filter((status) => status !== 'SENT' && status !== 'DELIVERED')).toEqual([])
    expect(statuses).toContain('SENT')
  })

  test('SIGTERM under load: every request is answered, every message recorded, exit code 0', async () => {
    const sending = senders(access)
    const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => openSocket(portOf(service))))
    const clients = sockets.map((socket) => new KeptClient(socket))
    await service.running.until(
      () => clients.every(({ answered }) => answered > 1) && sending.every(({ msgIds }) => msgIds.length > 1),
    )
    service.running.kill('SIGTERM')
    const ends = await Promise.all(clients.map(({ ended }) => ended))
    expect(ends.filter((end) => end !== 'after its last answer')).toEqual([])
    const exit = await service.running.exited
    expect(exit).toMatchObject({ code: 0, signal: null })
    await Promise.all(sending.map((client) => client.stop()))
    const msgIds = sending.flatMap((client) => client.msgIds)
    const { rows } = await database.db.query('select from messages where msg_id = any ($1::uuid[])', [msgIds])
    expect(rows).toHaveLength(msgIds.length)
  })
})

describe('workers that cannot start', () => {
  const refused = (env: NodeJS.ProcessEnv) =>
    runAldis(['serve'], { env: { ...REFUSED, DATABASE_URL: database.connectionString, ...env } })

  test('a port in use: one line', async () => {
    await using taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const exit = await refused({ HTTP_PORT: String(port) })
    expect(exit).toMatchObject({ code: 1, stdout: '' })
    expect(exit.stderr).toBe(`error: port ${port} is in use; choose another with HTTP_PORT\n`)
  })

  test('a database that is refused: one line', async () => {
    await using unsafe = await freshDatabase({ state: 'started' })
    const name = new URL(unsafe.connectionString).pathname.slice(1)
    await unsafe.db.query(`alter database ${name} set synchronous_commit = off`)
    const exit = await refused({ DATABASE_URL: unsafe.connectionString })
    expect(exit).toMatchObject({ code: 1, stdout: '' })
    expect(exit.stderr).toMatch(/^error: the database can lose accepted messages \(.*synchronous_commit.*\n$/)
  })
})

describe('workers whose name is taken by others', () => {
  const env = {
    DATABASE_URL: database.connectionString,
    NODE_ID: 'taken',
    WORKERS: '2',
    DATABASE_POOL_SIZE: '200',
  }
  let first: Served
  let second: Served

  beforeAll(async () => {
    first = await startServe(env)
    second = await startServe(env)
  })
  afterAll(async () => {
    await first?.[Symbol.asyncDispose]()
    await second?.[Symbol.asyncDispose]()
  })

  test('stop, with exit code 1', async () => {
    expect(await first.running.exited).toMatchObject({ code: 1 })
    expect(first.running.stderr).toContain('another node has the same NODE_ID')
    expect((await fetch(`${second.baseUrl}/readyz`)).status).toBe(200)
  })

  test('of more connections than the database allows, one line warns', async () => {
    const { rows } = await database.db.query<{ most: number }>(
      `select current_setting('max_connections')::integer as most`,
    )
    expect(rows[0]!.most).toBeLessThan(400)
    const warning = 'the database allows fewer connections than this may open'
    expect(second.running.stderr.split(warning)).toHaveLength(2)
  })

  test('killed with -9, their parent leaves no worker behind', async () => {
    second.running.kill('SIGKILL')
    // Its output is at its end when no worker has it any more.
    expect(await second.running.exited).toMatchObject({ signal: 'SIGKILL' })
    await expect(fetch(second.baseUrl)).rejects.toThrow()
  })
})
