import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../../src/app/start.ts'
import { hashToken } from '../../src/domain/credentials.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { bindsOf, eventually, type Service, startService } from '../support/service.ts'
import { accept, type Smsc, startSmsc } from '../support/smsc.ts'
import { CARRIER, call, RECIPIENT, ROUTE } from '../support/tenant.ts'

/** Two nodes and two carriers with one bind each: each node has the bind of one of them. */

const OPERATOR_TOKEN = 'operator-of-the-second-node'

let service: Service
let smscs: Smsc[]
/** The other carrier; the tenant's own is CARRIER. */
let other: string
/** The one with the bind of CARRIER, and the one with the bind of the other. */
let nodes: App[]

interface Explained {
  readonly carrier: string
  readonly condition: string
  readonly share: number
}

async function explain(node: App): Promise<string> {
  const query = new URLSearchParams({ servicePlanId: service.servicePlanId, from: 'Aldis', to: RECIPIENT })
  const path = `/route-explanation?${query}`
  const body =
    node === service.app
      ? await service.admin('GET', path)
      : (await call(`${node.url}/admin/v1${path}`, OPERATOR_TOKEN)).body
  return body.carriers
    .map(({ carrier, condition, share }: Explained) => `${carrier} ${condition} ${share}`)
    .join(', ')
}

/** Waits until every node says the same: each carrier with its condition and its share. */
const explained = (text: string) =>
  eventually(async () => (await Promise.all(nodes.map(explain))).every((said) => said === text))

/** The route's carriers, each with its priority and weight. */
async function route(first: readonly [number, number], second: readonly [number, number]): Promise<void> {
  const carriers = [
    { carrier: CARRIER, priority: first[0], weight: first[1] },
    { carrier: other, priority: second[0], weight: second[1] },
  ]
  await service.admin('PATCH', `/routes/${ROUTE}`, { carriers })
}

async function accepted(node: App): Promise<string> {
  const { servicePlanId, token } = service
  const message = { servicePlanId, channel: 'SMS', from: 'Aldis', to: RECIPIENT, body: 'hello' }
  const { status, body } = await call(`${node.url}/v1/sendsms`, token, 'POST', message)
  expect(status).toBe(202)
  return body.msgId
}

/** Sends so many messages at each of these nodes, and waits for all of them. Returns how many each carrier got. */
async function sent(count: number, at: readonly App[] = nodes): Promise<number[]> {
  const before = smscs.map(({ submits }) => submits.length)
  const ids = await Promise.all(at.flatMap((node) => Array.from({ length: count }, () => accepted(node))))
  await eventually(async () => {
    const { rows } = await service.db.query(
      `select count(*)::integer as count from messages where msg_id = any ($1) and status = 'SENT'`,
      [ids],
    )
    return rows[0].count === ids.length
  })
  const got = smscs.map(({ submits }, index) => submits.length - before[index]!)
  expect(got[0]! + got[1]!).toBe(ids.length)
  return got
}

beforeAll(async () => {
  smscs = [await startSmsc(), await startSmsc()]
  service = await startService({
    smscPort: smscs[0]!.port,
    webhooks: false,
    app: { heartbeatMs: 250, qualityMs: 250 },
  })
  other = await service.anotherCarrier(smscs[1]!.port)
  await route([0, 1], [1, 1])
  const operatorTokenHashes = [hashToken(OPERATOR_TOKEN)]
  const second = await service.startNode({ nodeName: 'node-b', operatorTokenHashes })
  nodes = [service.app, second]
  await eventually(async () => new Set(Object.values(await bindsOf(service))).size === 2)
  const binds = await bindsOf(service)
  if (binds[`${CARRIER}/0`] === 'node-b') nodes.reverse()
  await explained(`${CARRIER} usable 100, ${other} usable 0`)
})

afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  for (const smsc of smscs) await smsc[Symbol.asyncDispose]()
})

test('the first by priority gets all, wherever it was accepted', async () => {
  expect(await sent(20)).toEqual([40, 0])
  await route([1, 1], [0, 1])
  await explained(`${other} usable 100, ${CARRIER} usable 0`)
  expect(await sent(20)).toEqual([0, 40])
})

test('weights hold over both nodes', async () => {
  await route([0, 3], [0, 1])
  await explained(`${CARRIER} usable 75, ${other} usable 25`)
  const [first] = await sent(100)
  // Five standard deviations of 200 draws: one run in a million is beyond.
  expect(Math.abs(first! - 150)).toBeLessThan(5 * Math.sqrt(200 * 0.75 * 0.25))
})

test('what is handed over is in progress with the node that sends it', async () => {
  await route([0, 1], [1, 1])
  await explained(`${CARRIER} usable 100, ${other} usable 0`)
  const answers: (() => void)[] = []
  smscs[0]!.answerSubmits((pdu, link, index) => answers.push(() => accept(pdu, link, `held-${index}`)))
  const all = sent(5, [nodes[1]!])
  await eventually(() => answers.length === 5)
  const { rows } = await service.db.query(
    `select count(*)::integer as messages, bool_and(n.carriers ? c.id::text) as bound
     from messages m join lanes l using (lane) join nodes n using (node_id) join carriers c on c.name = $1`,
    [CARRIER],
  )
  expect(rows).toEqual([{ messages: 5, bound: true }])
  for (const answer of answers) answer()
  smscs[0]!.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
  expect(await all).toEqual([5, 0])
})

test('a message that is requeued comes back to the node that has its carrier', async () => {
  const { ESME_RMSGQFUL } = STATUSES
  smscs[0]!.answerSubmits((pdu, link) => link.respond(pdu, ESME_RMSGQFUL))
  const before = smscs.map(({ submits }) => submits.length)
  const msgId = await accepted(nodes[1]!)
  await eventually(async () => {
    const { rows } = await service.db.query(
      `select 1 from dispatches d join carriers c on c.id = d.chosen_carrier_id
       where d.failed_attempts = 1 and c.name = $1`,
      [CARRIER],
    )
    return rows.length === 1
  })
  smscs[0]!.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
  await service.makeDue()
  await service.until(msgId, 'SENT')
  expect(smscs.map(({ submits }, index) => submits.length - before[index]!)).toEqual([2, 0])
})

test('a message that is requeued goes over another node when its carrier has left the route', async () => {
  const { ESME_RMSGQFUL } = STATUSES
  smscs[0]!.answerSubmits((pdu, link) => link.respond(pdu, ESME_RMSGQFUL))
  const before = smscs.map(({ submits }) => submits.length)
  const msgId = await accepted(nodes[0]!)
  await eventually(async () => {
    const { rows } = await service.db.query('select 1 from dispatches where failed_attempts = 1')
    return rows.length === 1
  })
  smscs[0]!.answerSubmits((pdu, link, index) => accept(pdu, link, `m-${index}`))
  await service.admin('PATCH', `/routes/${ROUTE}`, {
    carriers: [{ carrier: other, priority: 0, weight: 1 }],
  })
  await explained(`${other} usable 100`)
  await service.makeDue()
  await service.until(msgId, 'SENT')
  expect(smscs.map(({ submits }, index) => submits.length - before[index]!)).toEqual([1, 1])
})

test('a carrier below its floor gets nothing from the node that has it alone', async () => {
  await route([0, 1], [1, 1])
  const qualityFloor = { minDelivered: 50, windowMinutes: 60, minMessages: 1_000, pauseMinutes: 60 }
  await service.admin('PATCH', `/routes/${ROUTE}`, { qualityFloor })
  await service.db.query(
    `insert into carrier_pauses (route_id, carrier_id, since, until, reason)
     select r.id, c.id, now(), now() + interval '1 h', 'test' from routes r, carriers c where r.name = $1 and c.name = $2`,
    [ROUTE, CARRIER],
  )
  await explained(`${CARRIER} out-of-use 0, ${other} usable 100`)
  expect(await sent(20)).toEqual([0, 40])
  await service.db.query('delete from carrier_pauses')
  await explained(`${CARRIER} usable 100, ${other} usable 0`)
  expect(await sent(20)).toEqual([40, 0])
})

test('a carrier that is drained or unbound is passed over by both nodes', async () => {
  await route([0, 1], [1, 1])
  await service.admin('PATCH', `/carriers/${CARRIER}`, { state: 'draining' })
  await explained(`${CARRIER} draining 0, ${other} usable 100`)
  expect(await sent(20)).toEqual([0, 40])
  await service.admin('PATCH', `/carriers/${CARRIER}`, { state: 'started' })
  await explained(`${CARRIER} usable 100, ${other} usable 0`)
  expect(await sent(20)).toEqual([40, 0])
})

test('when the node with the first carrier dies, its messages go over the other, then over the first again', async () => {
  await route([0, 1], [1, 1])
  const name = (await bindsOf(service))[`${CARRIER}/0`]!
  // Since the carrier was stopped and started either node may have its bind.
  if ((name === 'node-b') !== (nodes[0] !== service.app)) nodes.reverse()
  const [dead, alive] = nodes as [App, App]
  await service.db.query(`alter table nodes add constraint silence check (name <> '${name}') not valid`)
  await service.db.query('delete from nodes where name = $1', [name])
  const [first, second] = await sent(20, [alive])
  expect(first! + second!).toBe(20)
  nodes = [alive]
  // Until it notices, the living node explains what held before.
  await eventually(async () => ![name, undefined].includes((await bindsOf(service))[`${CARRIER}/0`]))
  await explained(`${CARRIER} usable 100, ${other} usable 0`)
  expect(await sent(20)).toEqual([20, 0])
  await service.db.query('alter table nodes drop constraint silence')
  nodes = [dead, alive]
  await explained(`${CARRIER} usable 100, ${other} usable 0`)
  expect(await sent(20)).toEqual([40, 0])
})
