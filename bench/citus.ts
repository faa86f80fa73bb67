import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { messageId } from '../src/domain/identifiers.ts'
import { encodeEntry } from '../src/domain/journal/entries.ts'
import { isFirst } from '../src/domain/journal/message-facts.ts'
import { addFact, enteredBy, type MessageInProgress } from '../src/domain/journal/messages-in-progress.ts'
import { ensurePartitions } from '../src/services/upkeep/day-partitions.ts'
import type { Database } from '../src/store/database.ts'
import { openDatabase } from '../src/store/database-pool.ts'
import { directServer } from '../src/store/database-server.ts'
import { appendEntry, type Lane, openLane } from '../src/store/journal.ts'
import { listMessages } from '../src/store/message-list.ts'
import { findMessage } from '../src/store/messages.ts'
import { migrate } from '../src/store/migrate.ts'
import { projectMessages } from '../src/store/projection.ts'
import { PostgresServer } from '../test/faults/postgres-server.ts'
import { CITUS_SETTINGS, joinCluster } from '../test/support/citus.ts'
import { addPastDays } from './aldis/database.ts'
import { treeCpuMs } from './cpu-times.ts'
import { factsOfMessage } from './lane-facts.ts'
import { makeRecords, VALUES } from './lists/records.ts'
import { percentiles } from './percentiles.ts'
import { randomOctets, SeededRandom } from './seeded-random.ts'

/** Citus beside one PostgreSQL, in turn, on this machine: the rate, batches, lists, and distributing records that are there. */

const HELP = `Measures one PostgreSQL and clusters of Citus in turn. TEST_POSTGRES: where Citus is installed.

Usage: TEST_POSTGRES=/usr/lib/postgresql/15 npm run citus-figures -- [options]

  --workers N[,N]  servers besides the coordinator, for each cluster; 0: one PostgreSQL without Citus (0,1,2)
  --seconds N      measured time of the rate, 0 for none (15)
  --records N      messages in the tables before they are distributed, for lists and batches; 0: none of these (0)
`
const DAYS = 8
const PLAN = 1
const LISTS = 300
const LOOK_UPS = 1_000
const BATCHES = 100
const OF_BATCH = 100

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '0,1,2' },
    seconds: { type: 'string', default: '15' },
    records: { type: 'string', default: '0' },
    help: { type: 'boolean', default: false },
  },
})

interface Layout extends AsyncDisposable {
  readonly url: string
  readonly coordinator: PostgresServer
  readonly workers: readonly PostgresServer[]
  /** Makes one cluster of the servers. */
  join(): Promise<void>
}

/** On a disk, as the other figures are. */
async function layout(workers: number): Promise<Layout> {
  const folder = mkdtempSync(join(tmpdir(), 'aldis-citus-'))
  const servers: PostgresServer[] = []
  for (let n = 0; n <= workers; n += 1)
    servers.push(
      await PostgresServer.create(
        workers === 0 ? [] : CITUS_SETTINGS,
        mkdtempSync(join(folder, `server-${n}-`)),
      ),
    )
  const [coordinator, ...others] = servers as [PostgresServer, ...PostgresServer[]]
  return {
    coordinator,
    workers: others,
    url: `postgresql://aldis@127.0.0.1:${coordinator.port}/postgres`,
    join: () => joinCluster(coordinator, others, (server, ...statements) => server.run(...statements)),
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server.dispose()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function say(name: string, value: unknown): void {
  process.stdout.write(`  ${name.padEnd(34)} ${typeof value === 'number' ? value.toFixed(2) : value}\n`)
}

function sayTimes(name: string, latencies: readonly number[]): void {
  const { p50, p99, max } = percentiles(latencies)
  say(`${name}, ms`, `p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)}, max ${max.toFixed(1)}`)
}

async function timed(latencies: number[], work: () => Promise<unknown>): Promise<void> {
  const startMs = performance.now()
  await work()
  latencies.push(performance.now() - startMs)
}

async function measureRecords(workers: number, { url, coordinator, join: joined }: Layout, records: number) {
  await addPastDays(url, DAYS)
  const first = openDatabase({ connectionString: url, poolSize: 1 })
  await ensurePartitions(first, Date.now())
  await first.end()
  await makeRecords({ databaseUrl: url, planId: PLAN, records, days: DAYS, nowMs: Date.now() })
  if (workers > 0) {
    await joined()
    const startMs = performance.now()
    await migrate({ connectionString: url })
    say(`${records} records distributed, s`, (performance.now() - startMs) / 1_000)
    const { rows } = await coordinator.run(`
      select nodeport, count(*) as shards, pg_size_pretty(sum(shard_size)) as size from citus_shards
      group by nodeport order by nodeport`)
    say('shards by server', JSON.stringify(rows))
    const { rows: counted } = await coordinator.run('select count(*)::integer as n from messages')
    if (counted[0].n !== records) throw new Error(`${counted[0].n} records instead of ${records}`)
  }
  const server = { ...directServer(url, true), sharded: workers > 0 }
  const db = openDatabase({ connectionString: url, server, poolSize: 2 })
  try {
    await measureLists(db)
    await measureBatches(db)
  } finally {
    await db.end()
  }
}

async function measureLists(db: Database): Promise<void> {
  const none = {
    from: null,
    to: null,
    status: null,
    country: null,
    mccmnc: null,
    fromDate: null,
    toDate: null,
  }
  const random = new SeededRandom(7)
  for (const [name, filters] of [
    ['list', none],
    ['list by sender, many', { ...none, from: VALUES.from.many }],
    ['list by recipient, few', { ...none, to: VALUES.to.few }],
    ['list by network, none', { ...none, mccmnc: VALUES.mccmnc.none }],
  ] as const) {
    const latencies: number[] = []
    for (let n = 0; n < LISTS; n += 1) {
      const after =
        n % 2 === 0
          ? null
          : messageId(Date.now() - random.below(DAYS * 86_400_000), randomOctets(random, 9), 7)
      await timed(latencies, () => listMessages(db, { planId: PLAN, filters, after, limit: 20 }))
    }
    sayTimes(name, latencies)
  }
  const { rows } = await db.query<{ id: string }>({
    text: 'select msg_id as id from messages where plan_id = $1 order by msg_id desc limit 5000',
    values: [PLAN],
  })
  const latencies: number[] = []
  for (let n = 0; n < LOOK_UPS; n += 1)
    await timed(latencies, () => findMessage(db, [PLAN], rows[random.below(rows.length)]!.id))
  sayTimes('look-up', latencies)
}

/** Of one plan, and of a hundred, which are on all servers. */
async function measureBatches(db: Database): Promise<void> {
  const lane = await openLane(db, 1)
  let n = 0
  for (const plans of [1, OF_BATCH]) {
    const latencies: number[] = []
    for (let batch = 0; batch < BATCHES; batch += 1) {
      n += 1
      await timed(latencies, () => writeBatch(db, lane, n, plans))
    }
    sayTimes(`${OF_BATCH} messages of ${plans} plans recorded`, latencies)
  }
}

async function writeBatch(db: Database, lane: Lane, n: number, plans: number): Promise<void> {
  await appendEntry(db, lane, n, encodeEntry([]))
  const messages = Array.from({ length: OF_BATCH }, (_, k) => ({
    message: delivered(PLAN + (k % plans)),
    holder: null,
    delivers: true,
  }))
  if ((await projectMessages(db, lane, messages, n)) !== 'written') throw new Error('fenced')
}

function delivered(planId: number): MessageInProgress {
  let message: MessageInProgress | null = null
  for (const { msgId, fact } of factsOfMessage(Date.now(), planId)) {
    if (isFirst(fact)) message = enteredBy(msgId, fact)
    else addFact(message!, fact)
  }
  return message!
}

/** CPU milliseconds of a server so far, with those of its sessions that have ended. */
function cpuMsOf({ cluster }: PostgresServer): number {
  return treeCpuMs(Number.parseInt(readFileSync(join(cluster.path, 'postmaster.pid'), 'latin1'), 10))
}

/**
 * All messages are of one plan, so of one server's. What a worker took of a message is reckoned from what it and the coordinator
 * took from the start to the end.
 */
function measureRate({ url, coordinator, workers }: Layout, seconds: number): void {
  const before = [coordinator, ...workers].map(cpuMsOf)
  const program = ['bench/run.ts', '--json', '--seconds', String(seconds), '--warm-up', '6']
  const others = ['latency-seconds', 'accept-seconds', 'webhook-seconds', 'addition-messages']
  const output = execFileSync(process.execPath, [...program, ...others.map((name) => `--${name}=0`)], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  const { endToEnd } = JSON.parse(output)
  say('rate', JSON.stringify(endToEnd))
  const [ofCoordinator = 0, ...ofWorkers] = [coordinator, ...workers].map(
    (server, index) => cpuMsOf(server) - before[index]!,
  )
  for (const [index, cpuMs] of ofWorkers.entries())
    say(
      `CPU a message of worker ${index + 1}, ms`,
      ((endToEnd.cpu.subject.PostgreSQL * cpuMs) / ofCoordinator).toFixed(4),
    )
}

if (values.help) process.stdout.write(HELP)
else
  for (const workers of values.workers.split(',').map(Number)) {
    process.stdout.write(workers === 0 ? 'one PostgreSQL\n' : `coordinator and ${workers} workers\n`)
    await using on = await layout(workers)
    if (Number(values.records) > 0) await measureRecords(workers, on, Number(values.records))
    else if (workers > 0) await on.join()
    if (Number(values.seconds) > 0) measureRate(on, Number(values.seconds))
  }
