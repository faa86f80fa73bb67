import { beforeEach, describe, expect, test } from 'vitest'
import type { App } from '../../src/app/start.ts'
import type { SimulatorOptions } from '../../src/simulator/options.ts'
import { otherNodes } from '../support/other-nodes.ts'
import { eventually, type Service } from '../support/service.ts'
import { startSmsc } from '../support/smsc.ts'
import { call } from '../support/tenant.ts'
import { serviceOfFile } from '../support/tenant-per-test.ts'

const CREDENTIALS: SimulatorOptions['credentials'] = [{ systemId: 'aldis', password: 'secret' }]

const { tenant } = serviceOfFile({ heartbeatMs: 250 })
let service: Service
let other: App

const others = otherNodes(() => service)

/** A path of the admin API as either node answers it. */
async function ask(node: App, path: string) {
  const { status, body } = await call(`${node.url}/admin/v1${path}`, service.operatorToken)
  expect(status, path).toBe(200)
  return body
}
const both = () => [service.app, other]
const bindsSeen = async (node: App, carrier: string) => (await ask(node, `/carriers/${carrier}/binds`)).binds
const namesSeen = async (node: App) =>
  (await ask(node, '/nodes')).items.map(({ name }: { name: string }) => name)

/** Waits until each of these nodes sees this of the carrier's binds: node and state of each. */
async function untilSeen(carrier: string, wanted: string[], nodes = both()): Promise<void> {
  for (const node of nodes)
    await eventually(async () => {
      const binds = await bindsSeen(node, carrier)
      const seen = binds.map((bind: { node: string; state: string }) => `${bind.node} ${bind.state}`)
      return seen.toSorted().join() === wanted.join()
    })
}

beforeEach(async () => {
  service = await tenant({ simulator: { credentials: CREDENTIALS }, carrier: { binds: 2 } })
  other = await others.start()
  return () => service[Symbol.asyncDispose]()
})

describe('either of two nodes shows', () => {
  test('binds that are up, on the node that has them, and how busy they are', async () => {
    await untilSeen(service.carrier, ['node-a bound', 'node-b bound'])
    const [bind] = await bindsSeen(other, service.carrier)
    expect(bind).toMatchObject({ number: 0, type: 'transceiver', window: 10, unanswered: 0, errors: [] })
    const { nodes, ...carrier } = await ask(other, `/carriers/${service.carrier}/binds`)
    expect(nodes).toMatchObject(['node-a', 'node-b'].map((node) => ({ node, condition: 'usable' })))
    expect(carrier).toMatchObject({ systemId: 'aldis', state: 'started', idRule: 'auto' })
    expect(JSON.stringify(carrier)).not.toContain('secret')
  })

  test('a bind that backs off: until when, and why', async () => {
    const { port } = service.simulator
    const carrier = await service.anotherCarrier(port, { binds: 2, password: 'wrong' }, false)
    for (const node of both()) {
      const binds = await eventually(async () => {
        const seen = await bindsSeen(node, carrier)
        return seen.every(({ state }: { state: string }) => state === 'backing-off') && seen
      })
      const refused = { error: 'bind_rejected', status: 'ESME_RINVPASWD', detail: null }
      const row = { retryAt: expect.any(String), errors: [{ ...refused, at: expect.any(String) }] }
      expect(binds).toMatchObject([row, row])
    }
  })

  test('a carrier that the operator stops', async () => {
    await untilSeen(service.carrier, ['node-a bound', 'node-b bound'])
    await service.admin('PATCH', `/carriers/${service.carrier}`, { state: 'stopped' })
    await untilSeen(service.carrier, ['null stopped', 'null stopped'])
  })

  test('both nodes; one that has died only until its lease is over', async () => {
    for (const node of both()) {
      await eventually(async () => {
        const { items } = await ask(node, '/nodes')
        return items.length === 2 && items.every(({ host }: { host: string | null }) => host !== null)
      })
    }
    const { items } = await ask(other, '/nodes')
    const node = { version: expect.any(String), pid: process.pid, draining: false, worker: null }
    expect(items).toMatchObject([
      { name: 'node-a', ...node },
      { name: 'node-b', ...node },
    ])
    await others.silence('node-b')
    expect(await namesSeen(service.app)).toEqual(['node-a'])
  })
})

test('a node that drains says so until it is gone', async () => {
  await using smsc = await startSmsc()
  const answers: (() => void)[] = []
  smsc.answerSubmits((pdu, link) => answers.push(() => link.respond(pdu, 0, { message_id: 'm-1' })))
  await using slow = await service.tenant({ smscPort: smsc.port, carrier: { binds: 3 }, bound: false })
  const leaving = await others.start({ nodeName: 'node-c', drainTimeoutMs: 120_000 })
  // The node that drains submits the message, and waits for the answer. With nothing in flight it would be gone at once.
  await untilSeen(slow.carrier, ['node-a bound', 'node-b bound', 'node-c bound'], [leaving])
  const { status } = await call(`${leaving.url}/v1/sendsms`, slow.token, 'POST', {
    servicePlanId: slow.servicePlanId,
    channel: 'SMS',
    from: 'Aldis',
    to: '+15551230000',
    body: 'hello',
  })
  expect(status).toBe(202)
  await eventually(() => answers.length === 1)
  const stopped = leaving.stop()
  const seen = await eventually(async () => {
    const { items } = await ask(service.app, '/nodes')
    return items.find(
      ({ name, draining }: { name: string; draining: boolean }) => name === 'node-c' && draining,
    )
  })
  expect(seen).toMatchObject({ draining: true })
  for (const answer of answers) answer()
  await stopped
  await eventually(async () => (await namesSeen(service.app)).join() === 'node-a,node-b')
})
