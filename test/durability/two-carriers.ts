import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { requestAdmin } from '../../src/commands/admin-client.ts'
import { type Database, openDatabase } from '../../src/store/database.ts'
import { freshDatabase } from '../support/database.ts'
import {
  eventually,
  freePort,
  provision,
  type Running,
  scratchFolder,
  start,
  startServe,
} from '../support/process.ts'
import { submitsBySegment } from './ledgers.ts'
import { Load, numberIn } from './load.ts'

export interface Length {
  readonly kills: number
  /** A kill, and a new start, comes after 1 to this many more messages have been accepted. */
  readonly maxAccepted: number
  /** Accepted before the first kill, for the shares. */
  readonly shared: number
}

const WINDOW = 20

interface Carrier {
  readonly port: number
  readonly ledger: string
  running: Running
}

async function startCarrier(folder: string, name: string): Promise<Carrier> {
  const carrier = { port: await freePort(), ledger: join(folder, name) }
  writeFileSync(carrier.ledger, '')
  return { ...carrier, running: await listening(carrier) }
}

async function listening({ port, ledger }: Pick<Carrier, 'port' | 'ledger'>): Promise<Running> {
  const script = fileURLToPath(import.meta.resolve('./carrier.ts'))
  const running = start(process.execPath, [script, String(port), ledger])
  await running.until(() => running.stdout.includes('listening'))
  return running
}

function submits({ ledger }: Carrier): { payload: Buffer }[] {
  const lines = readFileSync(ledger, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => ({ payload: Buffer.from(line, 'hex') }))
}

interface Stored {
  readonly msgId: string
  readonly n: number
  readonly status: string
  readonly segments: number
}

/** Once nothing waits to be submitted. A carrier that was killed has lost the receipts it still had to send. */
async function submittedMessages(db: Database): Promise<Stored[]> {
  await eventually(async () => {
    const { rows } = await db.query('select from dispatches limit 1')
    return rows.length === 0
  })
  const { rows } = await db.query<Omit<Stored, 'n'> & { body: string }>(
    'select msg_id as "msgId", body, status, segments from messages',
  )
  return rows.map(({ body, ...message }) => ({ ...message, n: numberIn(body) }))
}

/** Two carriers at 3:1, one killed at random instants: nothing is lost, only what is flagged is sent twice. */
export async function killCarrier(length: Length): Promise<void> {
  await using database = await freshDatabase({ state: 'started' })
  const { connectionString } = database
  const db = openDatabase({ connectionString, applicationName: 'observer', poolSize: 1 })
  using folder = scratchFolder()
  const [main, second] = [await startCarrier(folder.path, 'main'), await startCarrier(folder.path, 'second')]
  await using service = await startServe({ DATABASE_URL: connectionString, AMBIGUITY_WAIT_MS: '500' })
  const access = await provision(service, main.port, { window: WINDOW })
  await addSecondCarrier(service, second.port)

  const load = new Load(access)
  await load.accepted(length.shared)
  const share = submits(main).length / (submits(main).length + submits(second).length)
  for (let kill = 0; kill < length.kills; kill += 1) {
    await someTime(load, length)
    // Half the time it dies with answers unsent.
    if (kill % 2 === 0) main.running.kill('SIGUSR2')
    await load.accepted(WINDOW)
    main.running.killGroup()
    await main.running.exited
    await someTime(load, length)
    main.running = await listening(main)
  }
  await someTime(load, length)
  await load.stop()
  const stored = await submittedMessages(db)
  const bySegment = submitsBySegment([...submits(main), ...submits(second)])

  const byNumber = new Map(stored.map((message) => [message.n, message]))
  const accepted = load.entries.filter(({ status }) => status === 202)
  expect(accepted.filter(({ n, msgId }) => byNumber.get(n)?.msgId !== msgId)).toEqual([])
  expect(stored.filter(({ status }) => status !== 'SENT' && status !== 'DELIVERED')).toEqual([])
  const segments = stored.flatMap((message) =>
    Array.from({ length: message.segments }, (_, segment) => `${message.n}/${segment}`),
  )
  expect(segments.filter((key) => !bySegment.has(key))).toEqual([])

  const repeated = [...bySegment].filter(([, list]) => list.length > 1).map(([key]) => key)
  const { rows: flagged } = await db.query<{ msg_id: string }>(
    'select distinct msg_id from submit_attempts where resubmission',
  )
  const flaggedIds = new Set(flagged.map(({ msg_id }) => msg_id))
  expect(repeated.filter((key) => !flaggedIds.has(byNumber.get(Number(key.split('/')[0]))!.msgId))).toEqual(
    [],
  )
  // Messages at 3 to 1: within five standard deviations.
  const tolerance = 5 * Math.sqrt((0.75 * 0.25) / length.shared)
  expect(Math.abs(share - 0.75)).toBeLessThan(tolerance)
  console.info(
    `${length.kills} kills: ${accepted.length} accepted, share ${share.toFixed(3)}, ${repeated.length} segments sent twice, ${flaggedIds.size} messages flagged`,
  )
  await db.end()
  for (const { running } of [main, second]) await running[Symbol.asyncDispose]()
}

async function addSecondCarrier(
  { baseUrl, operatorToken }: { baseUrl: string; operatorToken: string },
  port: number,
): Promise<void> {
  const connection = { url: baseUrl, operatorToken }
  const carrier = { name: 'second', host: '127.0.0.1', port, systemId: 'esme', password: 'secret' }
  await requestAdmin(connection, 'POST', '/carriers', { ...carrier, window: WINDOW })
  const bound = async () => {
    const { link } = (await requestAdmin(connection, 'GET', '/carriers/second')) as {
      link: { state: string } | null
    }
    return link?.state.startsWith('BOUND') === true
  }
  await eventually(bound)
  await requestAdmin(connection, 'PATCH', '/routes/route', {
    carriers: [
      { carrier: 'carrier', weight: 3 },
      { carrier: 'second', weight: 1 },
    ],
  })
}

function someTime(load: Load, { maxAccepted }: Length): Promise<void> {
  return load.accepted(1 + Math.floor(Math.random() * maxAccepted))
}
