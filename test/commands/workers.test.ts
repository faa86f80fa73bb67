import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { databaseOfFile, freshDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { KeptClient, KeptSender } from '../support/kept-connections.ts'
import { provision, type Ready, runAldis, SERVE_SECRETS, type Served } from '../support/process.ts'
import { openSocket } from '../support/raw-http.ts'
import { admin, byWorker, portOf, said, startWorkers } from './workers.ts'

const database = await databaseOfFile({ state: 'started' })
const REFUSED = { ...SERVE_SECRETS, LOG_LEVEL: 'warn', HTTP_HOST: '127.0.0.1', HTTP_PORT: '0', WORKERS: '2' }
const CLIENTS = 20
/** The simulator reports DELIVRD, ENROUTE and DELIVRD again. */
const REPORTED_ENROUTE = '+15551231009'
/** Of each client, between an answer and its next message. */
const PAUSE_MS = 100

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

describe('two workers', () => {
  let simulator: Simulator
  let service: Served
  let access: Ready

  beforeAll(async () => {
    simulator = await startSimulator({ port: 0 })
    service = await startWorkers(database.connectionString)
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
      const { items } = (await admin(service, 'GET', '/nodes')) as { items: { worker: unknown }[] }
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
    await admin(service, 'PATCH', '/carriers/carrier', { binds: 2, idRule: 'exact' })
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

  test('hand each other intermediate receipts too: none is lost', async () => {
    const send = async () => {
      const answer = await fetch(`${access.baseUrl}/v1/sendsms`, {
        method: 'POST',
        headers: { authorization: `Bearer ${access.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          servicePlanId: access.servicePlanId,
          channel: 'SMS',
          from: access.sender,
          to: REPORTED_ENROUTE,
          body: 'Hello',
        }),
      })
      return ((await answer.json()) as { msgId: string }).msgId
    }
    const msgIds = await Promise.all(Array.from({ length: 40 }, send))
    await eventually(async () => (await countOf(msgIds, 'DELIVERED')) === msgIds.length, 60_000)
    await eventually(async () => {
      const { rows } = await database.db.query(
        `select distinct msg_id from receipts where msg_id = any ($1::uuid[]) and outcome = 'SENT'`,
        [msgIds],
      )
      return rows.length === msgIds.length
    }, 60_000)
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
