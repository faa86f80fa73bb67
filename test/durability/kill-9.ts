import { expect } from 'vitest'
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts'
import { openDatabase } from '../../src/store/database.ts'
import { freshDatabase, POOLED } from '../support/database.ts'
import {
  embeddedDatabaseUrl,
  eventually,
  freePort,
  killNow,
  provision,
  SERVE_SECRETS,
  type Served,
  scratchFolder,
  serverProcesses,
  startAldis,
  startServe,
} from '../support/process.ts'
import { compare, settledMessages, submitsBySegment } from './ledgers.ts'
import { Load } from './load.ts'

export interface Length {
  readonly kills: number
  /** A kill comes after 1 to this many messages have been accepted in a life of the service. */
  readonly maxAccepted: number
}

const WINDOW = 20

async function environment(): Promise<NodeJS.ProcessEnv> {
  return {
    HTTP_PORT: String(await freePort()),
    NODE_ID: 'node-1',
    AMBIGUITY_WAIT_MS: '500',
  }
}

function carrier(): Promise<Simulator> {
  return startSimulator({ port: 0, recordSubmissions: true, receiptDelayMs: [0, 100] })
}

function someTime(load: Load, { maxAccepted }: Length): Promise<void> {
  return load.accepted(1 + Math.floor(Math.random() * maxAccepted))
}

const NOTHING_WRONG = { lost: [], wrong: [], unsent: [], sentThough500: [], unknown: [] }

/** kill -9 of the service under load: nothing accepted is lost, only what was in flight is sent twice. */
export async function killService(length: Length): Promise<void> {
  await using database = await freshDatabase({ state: 'started' })
  const { connectionString } = database
  const db = openDatabase({ connectionString, applicationName: 'observer', poolSize: 1 })
  const simulator = await carrier()
  const env = { ...(await environment()), DATABASE_URL: connectionString }
  let service: Served = await startServe(env)
  const access = await provision(service, simulator.port, { window: WINDOW })
  const load = new Load(access)
  let starts = 1
  /** Message ids that had no recorded outcome at some kill. */
  const underWay = new Set<string>()
  for (let kill = 0; kill < length.kills; kill += 1) {
    await someTime(load, length)
    service.running.killGroup()
    await service.running.exited
    await noteUnderWay()
    if (kill % 2 === 1) {
      await killedWhileItStarts()
      // It may have come as far as to submit.
      await noteUnderWay()
    }
    service = await startServe(env)
  }
  await someTime(load, length)
  await load.stop()
  const stored = await settledMessages(db)
  const { repeated, ...found } = compare(load.entries, stored, simulator.submissions)
  expect(found).toEqual(NOTHING_WRONG)

  const idOf = new Map(stored.map(({ n, msgId }) => [n, msgId]))
  const unexplained = repeated.filter((key) => !underWay.has(idOf.get(Number(key.split('/')[0]))!))
  expect(unexplained).toEqual([])
  const submits = submitsBySegment(simulator.submissions)
  expect(repeated.filter((key) => submits.get(key)!.length > 1 + starts)).toEqual([])
  report(length, load, repeated.length, `${underWay.size} without a recorded outcome at a kill`)
  await db.end()
  await service[Symbol.asyncDispose]()
  await simulator.stop()

  /** Once the backends of the killed process have ended: until then a COMMIT may still come. */
  async function noteUnderWay(): Promise<void> {
    starts += 1
    await eventually(async () => (await backends(POOLED)) === 0)
    const { rows } = await db.query<{ msg_id: string }>('select msg_id from dispatches')
    for (const { msg_id } of rows) underWay.add(msg_id)
  }

  async function killedWhileItStarts(): Promise<void> {
    const starting = startAldis(['serve'], { env: { ...env, ...SERVE_SECRETS, HTTP_HOST: '127.0.0.1' } })
    await starting.until(async () => (await backends()) > 0)
    starting.killGroup()
    await starting.exited
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

/** kill -9 of the service, its PostgreSQL, or both: nothing accepted is lost, nothing answered 500 is sent. */
export async function killServiceOrDatabase(length: Length): Promise<void> {
  using folder = scratchFolder()
  const simulator = await carrier()
  const env = { ...(await environment()), DATABASE_URL: 'embedded', DATA_DIR: folder.path }
  let service: Served = await startServe(env)
  const access = await provision(service, simulator.port, { window: WINDOW })
  const load = new Load(access)
  const kills: Date[] = []
  for (let kill = 0; kill < length.kills; kill += 1) {
    await someTime(load, length)
    const killsService = kill % 3 !== 1
    const killsDatabase = kill % 3 !== 0
    if (killsService) service.running.killGroup()
    if (killsDatabase) for (const pid of serverProcesses(folder.path)) killNow(pid)
    kills.push(new Date())
    if (!killsService) continue
    await service.running.exited
    // The carrier may read what it had written only now: its life ends with its session.
    await eventually(() => simulator.binds.length === 0)
    kills.push(new Date())
    service = await startServe(env)
  }
  await someTime(load, length)
  await load.stop()
  const db = openDatabase({ connectionString: embeddedDatabaseUrl(folder.path), poolSize: 2 })
  const { repeated, ...found } = compare(load.entries, await settledMessages(db), simulator.submissions)
  expect(found).toEqual(NOTHING_WRONG)
  // Two submits of one segment are always of two lives: a kill lies between them.
  const submits = submitsBySegment(simulator.submissions)
  const sameLife = repeated.filter((key) => {
    const list = submits.get(key)!.map(({ receivedAt }) => receivedAt)
    return list.some(
      (at, index) => index > 0 && !kills.some((kill) => list[index - 1]! <= kill && kill <= at),
    )
  })
  expect(sameLife).toEqual([])
  report(
    length,
    load,
    repeated.length,
    `${load.entries.filter(({ status }) => status === 500).length} answered 500`,
  )
  await db.end()
  await service[Symbol.asyncDispose]()
  await simulator.stop()
}

function report(length: Length, load: Load, repeated: number, more: string): void {
  const answered = (status: number | null) => load.entries.filter((entry) => entry.status === status).length
  console.info(
    `${length.kills} kills: ${answered(202)} accepted, ${answered(null)} without an answer, ${repeated} segments sent twice, ${more}`,
  )
}
