import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, vi } from 'vitest'
import { requestAdmin } from '../../src/commands/admin-client.ts'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { createServerCertificate, createTestAuthority } from '../support/certificates.ts'
import { freshDatabase, POOLED } from '../support/database.ts'
import {
  embeddedDatabaseUrl,
  eventually,
  freePort,
  killNow,
  provision,
  type Ready,
  type Running,
  type Served,
  scratchFolder,
  serverProcesses,
  start,
  startServe,
} from '../support/process.ts'
import { FeedReader } from './feed-reader.ts'
import { Load } from './load.ts'
import {
  acceptedEvents,
  changedEvents,
  disorderedEvents,
  type LedgerLine,
  type Repetition,
  readLedger,
  repetitions,
} from './webhook-ledger.ts'

export interface Length {
  readonly kills: number
  /** A kill comes when this many events are in flight or pending, and 1 to `maxAccepted` more messages are accepted. */
  readonly waiting: number
  readonly maxAccepted: number
}

const WINDOW = 20
/** Every so many messages have a callbackUrl whose destination is down until the end. */
const TO_DOWN = 2
/** An attempt is over within 15 s. */
const ATTEMPT_MS = 15_000
/** Less often than `eventually`: each time asks much of the database. */
const PATIENCE = { interval: 100, timeout: 60_000 }

interface Receiver {
  readonly running: Running
  readonly live: string
  readonly down: string
  readonly authority: string
  ledger(): LedgerLine[]
}

async function startReceiver(folder: string): Promise<Receiver> {
  const authority = await createTestAuthority()
  const { certPem, keyPem } = await createServerCertificate(authority, ['127.0.0.1'])
  const pathOf = (name: string, text: string) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  const ledger = pathOf('webhooks', '')
  const script = fileURLToPath(import.meta.resolve('./receiver.ts'))
  const running = start(process.execPath, [script, ledger, pathOf('cert', certPem), pathOf('key', keyPem)])
  const ports = await running.until(() => /listening (\d+) (\d+)/.exec(running.stdout) ?? undefined)
  return {
    running,
    live: `https://127.0.0.1:${ports[1]}/webhook`,
    down: `https://127.0.0.1:${ports[2]}/webhook`,
    authority: pathOf('authority', authority.certPem),
    ledger: () => readLedger(ledger),
  }
}

async function environment({ authority }: Receiver): Promise<NodeJS.ProcessEnv> {
  return {
    HTTP_PORT: String(await freePort()),
    NODE_ID: 'node-1',
    AMBIGUITY_WAIT_MS: '500',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32',
    WEBHOOK_EXTRA_CA: authority,
  }
}

interface Stage {
  readonly access: Ready
  readonly load: Load
  readonly feed: FeedReader
}

async function stage(service: Served, simulator: Simulator, receiver: Receiver): Promise<Stage> {
  const access = await provision(service, simulator.port, { window: WINDOW })
  const connection = { url: service.baseUrl, operatorToken: service.operatorToken }
  await requestAdmin(connection, 'PATCH', `/accounts/${access.accountId}`, { defaultDlrUrl: receiver.live })
  const load = new Load(access, (n) => (n % TO_DOWN === 0 ? { callbackUrl: receiver.down } : {}))
  return { access, load, feed: new FeedReader(access) }
}

function carrier(): Promise<Simulator> {
  return startSimulator({ port: 0, receiptDelayMs: [0, 100] })
}

function someTime(load: Load, { maxAccepted }: Length): Promise<void> {
  return load.accepted(1 + Math.floor(Math.random() * maxAccepted))
}

/** Everything is healthy again, and waits no longer: once nothing is left to do, gives every event there is. */
async function settledEvents(db: Database, receiver: Receiver): Promise<string[]> {
  receiver.running.kill('SIGUSR2')
  await vi.waitUntil(async () => {
    await db.query(`update webhook_destinations set probe_at = now() where state = 'open'`)
    await db.query(
      `update event_deliveries set due_at = now() where holder is null and state = 'waiting' and due_at > now()`,
    )
    const { rows } = await db.query<{ open: number }>(`
      select (select count(*) from dispatches)::integer + (select count(*) from event_deliveries)::integer
           + (select count(*) from messages where status in ('QUEUED', 'SENT'))::integer as open`)
    return rows[0]!.open === 0
  }, PATIENCE)
  const { rows } = await db.query<{ event: string }>(`
    select msg_id || '-' || seq as event from events e where delivered_at is not null
    union all
    select 'undelivered ' || msg_id || '-' || seq from events e where delivered_at is null
    union all
    select 'not told ' || msg_id from messages m
    where (select count(*) from events e where e.plan_id = m.plan_id and e.msg_id = m.msg_id) <> m.event_seq`)
  return rows.map(({ event }) => event)
}

/** What holds whichever was killed. Gives the repetitions. */
async function judge(db: Database, receiver: Receiver, { load, feed }: Stage) {
  const events = await settledEvents(db, receiver)
  await feed.stop()
  const ledger = receiver.ledger()
  const accepted = acceptedEvents(ledger)
  const known = new Set(events)
  const messages = new Set(events.map((event) => event.slice(0, event.lastIndexOf('-'))))
  const sent = load.entries.filter(({ status }) => status === 202)
  expect(sent.filter(({ msgId }) => !messages.has(msgId!))).toEqual([])
  expect(events.filter((event) => !accepted.has(event))).toEqual([])
  expect([...accepted].filter((event) => !known.has(event))).toEqual([])
  expect(changedEvents(ledger)).toEqual([])
  expect(disorderedEvents(ledger)).toEqual([])
  expect(feed.items.map(({ eventId }) => eventId).sort()).toEqual(events.toSorted())
  const bodies = new Map(ledger.flatMap((line) => (line.kind === 'began' ? [[line.event, line.body]] : [])))
  expect(feed.items.filter(({ eventId, data }) => JSON.stringify(data) !== bodies.get(eventId))).toEqual([])
  return { repeated: repetitions(ledger), events }
}

/** kill -9 of the service while it delivers: no event is lost, only what was in flight comes twice. */
export async function killService(length: Length): Promise<void> {
  await using database = await freshDatabase({ state: 'started' })
  const { connectionString } = database
  const db = openDatabase({ connectionString, applicationName: 'observer', poolSize: 2 })
  using folder = scratchFolder()
  const receiver = await startReceiver(folder.path)
  const simulator = await carrier()
  const env = { ...(await environment(receiver)), DATABASE_URL: connectionString }
  let service: Served = await startServe(env)
  const staged = await stage(service, simulator, receiver)
  const kills: { atMs: number; held: Set<string> }[] = []
  const least = {
    held: Number.POSITIVE_INFINITY,
    parked: Number.POSITIVE_INFINITY,
    retried: Number.POSITIVE_INFINITY,
  }
  for (let kill = 0; kill < length.kills; kill += 1) {
    await vi.waitUntil(async () => {
      const waiting = await counts()
      return waiting.all >= length.waiting && waiting.held > 0 && waiting.parked > 0 && waiting.retried > 0
    }, PATIENCE)
    await someTime(staged.load, length)
    const atMs = Date.now()
    service.running.killGroup()
    await service.running.exited
    await eventually(async () => (await backends(POOLED)) === 0)
    const { held, parked, retried } = await counts()
    least.held = Math.min(least.held, held)
    least.parked = Math.min(least.parked, parked)
    least.retried = Math.min(least.retried, retried)
    const { rows } = await db.query<{ event: string }>(
      `select msg_id || '-' || seq as event from event_deliveries where holder is not null`,
    )
    kills.push({ atMs, held: new Set(rows.map(({ event }) => event)) })
    service = await startServe(env)
  }
  await someTime(staged.load, length)
  await staged.load.stop()
  const { repeated, events } = await judge(db, receiver, staged)
  // Each was held by the killed node, and answered so late that this was not written down, or nobody heard it.
  const causeOf = ({ event, acceptedMs, againMs }: Repetition) =>
    kills.find(
      ({ atMs, held }) => held.has(event) && Math.abs(acceptedMs - atMs) < ATTEMPT_MS && atMs < againMs,
    )
  expect(repeated.filter((one) => causeOf(one) === undefined)).toEqual([])
  const answered = repeated.filter((one) => one.acceptedMs <= causeOf(one)!.atMs)
  console.info(
    `${length.kills} kills with at least ${least.held} held, ${least.parked} parked, ${least.retried} in retry: ${events.length} events, ${repeated.length} came twice, of which ${answered.length} were answered before the kill`,
  )
  await db.end()
  await service[Symbol.asyncDispose]()
  await receiver.running[Symbol.asyncDispose]()
  await simulator.stop()

  async function counts() {
    const { rows } = await db.query<{ all: number; held: number; parked: number; retried: number }>(`
      select count(*)::integer as all, count(holder)::integer as held,
             count(*) filter (where state = 'parked')::integer as parked,
             count(*) filter (where state = 'waiting' and attempt > 0 and holder is null)::integer as retried
      from event_deliveries`)
    return rows[0]!
  }

  /** A pooler keeps its connections when a client dies: behind one those that are busy count. */
  async function backends(busy = false): Promise<number> {
    const { rows } = await db.query<{ count: number }>(`
      select count(*)::integer as count from pg_stat_activity
      where datname = current_database() and application_name like 'aldis%'
        and (state <> 'idle' or not ${busy})`)
    return rows[0]!.count
  }
}

/** kill -9 of the service, its PostgreSQL, or both: no event is lost, what comes twice was in flight at a kill. */
export async function killServiceOrDatabase(length: Length): Promise<void> {
  using folder = scratchFolder()
  const receiver = await startReceiver(folder.path)
  const simulator = await carrier()
  const env = { ...(await environment(receiver)), DATABASE_URL: 'embedded', DATA_DIR: folder.path }
  let service: Served = await startServe(env)
  const staged = await stage(service, simulator, receiver)
  const kills: number[] = []
  await staged.load.accepted(length.maxAccepted)
  // The service is killed with the last one: what an answer of the database was lost for is found in a minute otherwise.
  for (let kill = 0; kill < length.kills; kill += 1) {
    await someTime(staged.load, length)
    const killsService = kill % 2 === 0
    if (killsService) {
      kills.push(Date.now())
      service.running.killGroup()
    }
    if (kill % 3 !== 0) for (const pid of serverProcesses(folder.path)) killNow(pid)
    if (!killsService) continue
    await service.running.exited
    service = await startServe(env)
  }
  await someTime(staged.load, length)
  await staged.load.stop()
  const db = openDatabase({ connectionString: embeddedDatabaseUrl(folder.path), poolSize: 2 })
  const { repeated, events } = await judge(db, receiver, staged)
  const unexplained = repeated.filter(
    ({ acceptedMs, againMs }) =>
      !kills.some((atMs) => Math.abs(acceptedMs - atMs) < ATTEMPT_MS && atMs < againMs),
  )
  expect(unexplained).toEqual([])
  console.info(`${length.kills} kills: ${events.length} events, ${repeated.length} came twice`)
  await db.end()
  await service[Symbol.asyncDispose]()
  await receiver.running[Symbol.asyncDispose]()
  await simulator.stop()
}
