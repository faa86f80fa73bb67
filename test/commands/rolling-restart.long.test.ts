import { expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { openDatabase } from '../../src/store/database-pool.ts'
import { databaseOfFile } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { KeptSender } from '../support/kept-connections.ts'
import { freePort, lookUp, provision, type Served, startServe } from '../support/process.ts'

const database = await databaseOfFile({ state: 'started' })
const CLIENTS = 40
const NODES = [0, 1]
const UNKNOWN_MESSAGE = '01900000-0000-7000-8000-000000000000'

/** Two nodes on one database, and a carrier. */
async function twoNodes() {
  const ports = await Promise.all(NODES.map(() => freePort()))
  const start = (node: number): Promise<Served> =>
    startServe({
      DATABASE_URL: database.connectionString,
      HTTP_PORT: String(ports[node]),
      NODE_ID: `node-${node}`,
    })
  const nodes = await Promise.all(NODES.map(start))
  const simulator = await startSimulator({ port: 0 })
  const access = await provision(nodes[0]!, simulator.port, { window: 100 })
  // The second node learns of the token within a second.
  const second = { ...access, baseUrl: nodes[1]!.baseUrl }
  await eventually(async () => (await lookUp(second, UNKNOWN_MESSAGE)).status === 404)
  return { ports, start, nodes, simulator, access }
}

/** How many messages the database has, by status. */
async function stored(status?: string): Promise<number> {
  const db = openDatabase({ connectionString: database.connectionString, poolSize: 1 })
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::integer as count from messages where $1::text is null or status::text = $1',
    [status ?? null],
  )
  await db.end()
  return rows[0]!.count
}

test('two nodes restarted one after the other, and one that stood still for some seconds, answer every request 202', async () => {
  const { ports, start, nodes, simulator, access } = await twoNodes()
  const clients = Array.from({ length: CLIENTS }, (_, index) => new KeptSender(ports, access, index))
  const answered = (least: number) =>
    eventually(() => clients.every(({ statuses }) => statuses.length >= least), 60_000)
  const moreAnswered = () => answered(Math.max(...clients.map(({ statuses }) => statuses.length)) + 5)
  await answered(5)
  for (const node of NODES) {
    nodes[node]!.running.kill('SIGTERM')
    expect(await nodes[node]!.running.exited).toMatchObject({ code: 0, signal: null })
    await moreAnswered()
    nodes[node] = await start(node)
    await moreAnswered()
  }
  // Shorter and longer than what it knows of the configuration holds, and shorter than its lease.
  for (const pauseMs of [1_000, 4_000, 6_000]) {
    nodes[0]!.running.kill('SIGSTOP')
    const endMs = performance.now() + pauseMs
    await eventually(() => performance.now() >= endMs)
    nodes[0]!.running.kill('SIGCONT')
    await moreAnswered()
  }
  await Promise.all(clients.map((client) => client.stop()))
  const statuses = clients.flatMap((client) => client.statuses)
  expect(clients.reduce((sum, { unanswered }) => sum + unanswered, 0)).toBe(0)
  expect(new Set(statuses)).toEqual(new Set([202]))
  // A record is written when its message has come to its end.
  await eventually(async () => (await stored('DELIVERED')) === statuses.length, 60_000)
  expect(await stored()).toBe(statuses.length)
  await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()))
  await simulator.stop()
}, 240_000)
