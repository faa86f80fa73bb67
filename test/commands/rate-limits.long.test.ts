import { afterAll, expect, test } from 'vitest'
import { requestAdmin } from '../../src/commands/admin/client.ts'
import { databaseOfFile } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import {
  type ApiAnswer,
  provision,
  type Ready,
  SERVE_SECRETS,
  type Served,
  send,
  startServe,
} from '../support/process.ts'
import { startSmsc } from '../support/smsc.ts'

/** The rate limit of a plan over two nodes, one of them with two workers. The short form is in app/nodes-as-one.test.ts. */

const database = await databaseOfFile({ state: 'started' })
const BURST = 300
const CLIENTS = 20

const smsc = await startSmsc()
const nodes: Served[] = []

afterAll(async () => {
  for (const node of nodes) await node[Symbol.asyncDispose]()
  await smsc[Symbol.asyncDispose]()
})

async function start(name: string, workers: number): Promise<Served> {
  const node = await startServe({
    DATABASE_URL: database.connectionString,
    NODE_ID: name,
    WORKERS: String(workers),
  })
  nodes.push(node)
  return node
}

/** Resolves when each process has seen all others. */
async function acquainted(processes: number): Promise<void> {
  const { rows } = await database.db.query('select max(expires_at) as latest from nodes')
  await eventually(async () => {
    // Two heartbeats later the first one is over.
    const renewed = await database.db.query(
      `select from nodes where expires_at > $1::timestamptz + interval '2 s'`,
      [rows[0].latest],
    )
    return renewed.rowCount === processes
  })
}

async function answersOf(access: Ready, count: number): Promise<ApiAnswer[]> {
  const answers: ApiAnswer[] = []
  const one = async () => {
    while (answers.length < count) answers.push(await send(access))
  }
  await Promise.all(Array.from({ length: CLIENTS }, one))
  return answers
}

test('three processes together let one burst through', async () => {
  const first = await start('first', 2)
  const access = await provision(first, smsc.port)
  await requestAdmin(
    { url: first.baseUrl, operatorToken: SERVE_SECRETS.OPERATOR_TOKEN },
    'PATCH',
    `/service-plans/${access.servicePlanId}`,
    { rateLimit: { messagesPerSecond: 1, burst: BURST } },
  )
  const second = await start('second', 1)
  await acquainted(3)
  const startedAtMs = Date.now()
  const ofBoth = await Promise.all([
    answersOf(access, BURST),
    answersOf({ ...access, baseUrl: second.baseUrl }, BURST),
  ])
  const passed = ofBoth.map((answers) => answers.filter(({ status }) => status === 202).length)
  // Both readings are cut to a millisecond.
  const more = (Date.now() + 1 - startedAtMs) / 1_000
  expect(passed[0]! + passed[1]!).toBeLessThanOrEqual(BURST + more)
  expect(passed[0]! + passed[1]!).toBeGreaterThanOrEqual(BURST * 0.9)
  for (const count of passed) expect(count).toBeGreaterThan(0)
  const refused = ofBoth.flat().find(({ status }) => status !== 202)!
  expect(refused).toMatchObject({ status: 429, json: { errorCode: 'RATE_LIMITED' } })
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.headers.get('ratelimit-policy')).toBe(`"plan";q=${BURST};w=${BURST}`)
})
