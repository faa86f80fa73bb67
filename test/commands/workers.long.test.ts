/** Workers on a sandbox plan, without their parent, and under a name that is taken. The short form is workers.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSimulator } from '../../src/simulator/simulator.ts'
import { databaseOfFile } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { lookUp, provision, type Ready, type Served, startServe } from '../support/process.ts'
import { exchange, requestBytes } from '../support/raw-http.ts'
import { admin, byWorker, portOf, said, startWorkers } from './workers.ts'

const database = await databaseOfFile({ state: 'started' })

interface CarrierNodes {
  readonly nodes: readonly { readonly condition: string }[]
}

/** Its receipt comes half a minute after the submit. */
const LATE = '+15551231010'

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

test('workers share sandbox plans; one killed loses the receipts of its own simulator, and nothing is sent twice', async () => {
  await using cleanup = new AsyncDisposableStack()
  const simulator = await startSimulator({ port: 0 })
  cleanup.defer(() => simulator.stop())
  const service = cleanup.use(await startWorkers(database.connectionString))
  const access = await provision(service, simulator.port, { binds: 2 })
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
  const prompt = await Promise.all(Array.from({ length: 8 }, () => sentAlone(service, plan, '+15551230000')))
  await eventually(async () => (await statusesOf(plan, prompt)).every((status) => status === 'DELIVERED'))
  for (const msgId of late) {
    const { submissions } = (await admin(service, 'GET', `/messages/${msgId}`)) as { submissions: object[] }
    expect(submissions).toHaveLength(1)
  }
  const statuses = await statusesOf(plan, late)
  expect(statuses.filter((status) => status !== 'SENT' && status !== 'DELIVERED')).toEqual([])
  expect(statuses).toContain('SENT')
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
