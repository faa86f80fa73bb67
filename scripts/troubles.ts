/** What goes wrong while the dashboard is tried, so that every query of it has something to show. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { type Simulator, startSimulator } from '../src/simulator/simulator.ts'
import { freePort, type Ready, until } from './trial.ts'

/** Each has a bind of every carrier. */
const PROCESSES = 3
/** Segments per second that the slow carrier takes. */
const SLOW = 2
/** The node holds inbound messages back once an entry of its journal has waited a few seconds. */
const LOCK_MS = 12_000
const BIND_TRANSCEIVER_RESP = 0x80000009
const ENQUIRE_LINK_RESP = 0x80000015

export interface Carriers {
  readonly good: Simulator
  readonly slow: Simulator
  readonly rude: Server
}

export type Plan = 'good' | 'slow' | 'poor' | 'away'

export async function startCarriers(): Promise<Carriers> {
  return {
    good: await startSimulator({ port: 0 }),
    slow: await startSimulator({ port: 0, throughput: SLOW }),
    rude: await startRude(),
  }
}

export async function stopCarriers({ good, slow, rude }: Carriers): Promise<void> {
  rude.close()
  await Promise.all([good.stop(), slow.stop()])
}

/** A carrier that answers each bind twice: the second answer is to nothing. */
async function startRude(): Promise<Server> {
  const answer = (command: number, sequence: number, body = '') => {
    const header = Buffer.alloc(16)
    header.writeUInt32BE(header.length + body.length)
    header.writeUInt32BE(command, 4)
    header.writeUInt32BE(sequence, 12)
    return Buffer.concat([header, Buffer.from(body)])
  }
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (bind: Buffer) => {
      const sequence = bind.readUInt32BE(12)
      socket.write(answer(BIND_TRANSCEIVER_RESP, sequence, 'rude\0'))
      socket.write(answer(ENQUIRE_LINK_RESP, sequence + 1_000))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

export async function call<Answer>(
  url: string,
  token: string,
  method = 'GET',
  body?: object,
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as Answer
}

/**
 * A plan for each trouble, with carriers of its own: the quality of the sandbox is not counted. `poor` and `fair` are the same
 * carrier twice, because the only usable carrier of a route stays in use below its floor.
 */
export async function setUp(
  { baseUrl, accountId, operatorToken }: Ready,
  { good, slow, rude }: Carriers,
): Promise<Record<Plan, string>> {
  const admin = <Answer>(method: string, path: string, body?: object) =>
    call<Answer>(`${baseUrl}/admin/v1${path}`, operatorToken, method, body)
  const ports = {
    good: good.port,
    fair: good.port,
    poor: good.port,
    slow: slow.port,
    away: await freePort(),
    rude: (rude.address() as AddressInfo).port,
  }
  for (const [name, port] of Object.entries(ports))
    await admin('POST', '/carriers', {
      ...{ name, host: '127.0.0.1', port, systemId: name, password: 'x' },
      ...{ binds: PROCESSES, window: 10 },
    })
  const plans: Partial<Record<Plan, string>> = {}
  for (const name of ['good', 'slow', 'poor', 'away'] as const) {
    const carriers = name === 'poor' ? [{ carrier: name }, { carrier: 'fair' }] : [{ carrier: name }]
    const qualityFloor = name === 'poor' ? { minDelivered: 80, windowMinutes: 5, minMessages: 10 } : null
    await admin('POST', '/routes', { name, carriers, qualityFloor })
    const plan = { accountId, name, route: name }
    plans[name] = (await admin<{ servicePlanId: string }>('POST', '/service-plans', plan)).servicePlanId
    await admin('PUT', `/service-plans/${plans[name]}/senders/Aldis`, { status: 'approved' })
  }
  const isBound = async (name: string) => {
    const { binds } = await admin<{ binds: { state: string }[] }>('GET', `/carriers/${name}/binds`)
    return binds.every(({ state }) => state === 'bound')
  }
  for (const name of Object.keys(ports))
    if (name !== 'away') await until(`the binds of ${name}`, async () => (await isBound(name)) || null)
  return plans as Record<Plan, string>
}

/** An inbound message for nobody. */
export async function sendUnowned({ good }: Carriers): Promise<void> {
  await good.sendInbound({ from: '+15551230002', to: '+15557654321', body: 'Hello?', systemId: 'good' })
}

/** Inbound messages while the database takes nothing. The carrier offers them again until they are taken. */
export async function stallDatabase(databaseUrl: string, { good }: Carriers): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('begin; lock table journal, inbound_messages in exclusive mode')
    const sent: Promise<void>[] = []
    for (const endMs = Date.now() + LOCK_MS; Date.now() < endMs; await wait(500))
      sent.push(
        good.sendInbound({ from: '+15551230003', to: '+15557654321', body: 'Later', systemId: 'good' }),
      )
    await client.query('rollback')
    await Promise.all(sent)
  } finally {
    await client.end()
  }
}

/** Kills one worker, and waits until its parent has started it again. */
export async function killWorker({ baseUrl, operatorToken }: Ready): Promise<void> {
  const pidOf = async () => {
    const { items } = await call<{ items: { name: string; pid: number | null }[] }>(
      `${baseUrl}/admin/v1/nodes`,
      operatorToken,
    )
    return items.find(({ name }) => name === 'two/1')?.pid ?? null
  }
  const pid = await until('the worker', pidOf)
  process.kill(pid, 'SIGKILL')
  await until('its successor', async () => {
    const successor = await pidOf()
    return successor === null || successor === pid ? null : successor
  })
}
