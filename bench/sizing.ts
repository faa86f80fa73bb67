import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type pg from 'pg'
import { openDatabase as openPool } from '../src/store/database-pool.ts'
import { readDirectory } from '../src/store/directory.ts'
import { type Aldis, startAldis } from './aldis/aldis.ts'
import { walBytes } from './aldis/database.ts'
import { treePids } from './cpu-times.ts'
import { cpuTimes, drained, latenciesOf, type Parts, perMessage } from './end-to-end.ts'
import { startParts } from './message-run.ts'
import { readOptions } from './options.ts'
import { Rig } from './rig.ts'
import { nowUs } from './tools/ledgers.ts'

/** `npm run sizing`: what docs/sizing.md needs of each message: bytes at rest, of the network and of the log, CPU, memory. */

type SizedParts = Parts & { readonly subject: Aldis }

const HELP = `Measures what a machine for Aldis is chosen by.

Usage: npm run sizing -- [options]

  --rates N[,N]    messages a second, one after the other, paced (2000,50,500,2000); the first warms up
  --seconds N      measured time of each (20)
  --queued N       messages that wait at the end while the carrier is down (20000)
  --receipt-delay A-B
                   milliseconds from submit to receipt; above 10000 the record is written before (0)
  --help
`
const WARM_UP_MS = 3_000
/** Longer than a message stays in the journal before its record is written. */
const AT_REST_MS = 14_000
/** Connections end; what they carried since the last look is missed. */
const TRAFFIC_MS = 250
const KIB = 1_024

const { values } = parseArgs({
  options: {
    rates: { type: 'string', default: '2000,50,500,2000' },
    seconds: { type: 'string', default: '20' },
    queued: { type: 'string', default: '20000' },
    'receipt-delay': { type: 'string', default: '0' },
    help: { type: 'boolean', default: false },
  },
})
async function measure(): Promise<void> {
  const rig = new Rig(null)
  try {
    await Promise.race([measureWith(rig), rig.fault])
  } catch (error) {
    process.stderr.write(`The service complained:\n${rig.complaints()}\n`)
    throw error
  } finally {
    await rig.close()
  }
}

async function measureWith(rig: Rig): Promise<void> {
  const tools = await rig.tools()
  const options = readOptions(['--receipt-delay', values['receipt-delay']])!
  const parts: SizedParts = await startParts(rig, tools, options, null, (carrier, receiver) =>
    startAldis(rig, {
      logLevel: 'info',
      caPem: null,
      explain: false,
      carrierPort: carrier.port,
      window: options.window,
      callbackUrl: `${receiver.origin}/receipts`,
    }),
  )
  const { db } = parts.subject
  tell('idle', { ...memoryOf(parts.subject), connections: await connections(db) })
  for (const rate of values.rates.split(',').map(Number)) await atRate(parts, rate)
  await drained(parts)
  await rig.pause(AT_REST_MS)
  tell('bytes a message at rest', await bytesAtRest(db))
  await queuedUp(parts, Number(values.queued))
  tell('kB of heap', await heapOfObjects(parts.subject.ready.databaseUrl))
}

function tell(what: string, figures: object): void {
  process.stdout.write(`${what}: ${JSON.stringify(figures)}\n`)
}

async function atRate(parts: SizedParts, rate: number): Promise<void> {
  const { rig, load, receiver, subject } = parts
  await load.pace(rate)
  await rig.pause(WARM_UP_MS)
  const traffic = new Traffic(parts)
  const completed = async () => (await receiver.report()).completed
  const [cpu, wal, octets, done] = [cpuTimes(parts), await walOf(subject), traffic.read(), await completed()]
  const fromUs = nowUs()
  await rig.pause(Number(values.seconds) * 1_000)
  const toUs = nowUs()
  const messages = (await completed()) - done
  const each = (after: number, before: number) => Math.round((after - before) / messages)
  const ended = Object.entries(traffic.read())
  traffic.stop()
  const { accept } = latenciesOf({ load: await load.ledger(), receiver: [], carrier: [] }, { fromUs, toUs })
  tell(`${rate}/s`, {
    messages,
    acceptMs: { p50: accept.p50.toFixed(1), p99: accept.p99.toFixed(1) },
    cpuMs: perMessage(cpu, cpuTimes(parts), messages).subject,
    walBytes: each(await walOf(subject), wal),
    sentAndReceived: Object.fromEntries(
      ended.map(([name, [sent, received]]) => [
        name,
        [each(sent, octets[name]![0]), each(received, octets[name]![1])],
      ]),
    ),
    ...memoryOf(subject),
    connections: await connections(subject.db),
  })
}

const walOf = async (subject: Aldis): Promise<number> => await walBytes(subject.db)

/** Accepts messages while the carrier is down; they wait in the tables. */
async function queuedUp({ rig, load, carrier, subject }: SizedParts, messages: number): Promise<void> {
  const { db } = subject
  const before = await sizes(db)
  await carrier.down()
  const accepted = async () => (await load.report()).accepted
  const from = await accepted()
  await load.start()
  while ((await accepted()) - from < messages) await rig.pause(100)
  await Promise.race([load.stopSending(), rig.fault])
  await rig.pause(AT_REST_MS)
  const waiting = (await db.query('select count(*)::integer as n from dispatches')).rows[0].n as number
  const after = await sizes(db)
  tell('bytes a message that waits', {
    waiting,
    ...Object.fromEntries(
      [...after]
        .map(
          ([table, size]) => [table, Math.round((bytes(size) - bytes(before.get(table))) / waiting)] as const,
        )
        .filter(([, each]) => each > 0),
    ),
    ...memoryOf(subject),
  })
}

const bytes = (size: Size | undefined) => (size === undefined ? 0 : size.heap + size.indexes)

interface Size {
  readonly heap: number
  readonly indexes: number
}

/** By table, partitions added up, without those that have less than a page for each. */
async function sizes(db: pg.Client): Promise<Map<string, Size>> {
  await db.query('vacuum')
  const { rows } = await db.query<{ name: string } & Size>(`
    select coalesce(p.relname, c.relname) as name, sum(pg_table_size(c.oid))::float8 as heap,
           sum(pg_indexes_size(c.oid))::float8 as indexes
    from pg_class c left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace group by 1`)
  return new Map(rows.map(({ name, heap, indexes }) => [name, { heap, indexes }]))
}

async function bytesAtRest(db: pg.Client): Promise<object> {
  const count = (await db.query('select count(*)::integer as n from messages')).rows[0].n as number
  const tables = [...(await sizes(db))].map(
    ([name, { heap, indexes }]) => [name, Math.round(heap / count), Math.round(indexes / count)] as const,
  )
  const kept = tables.filter(([, heap, indexes]) => heap + indexes >= 5)
  return {
    count,
    ...Object.fromEntries(kept.map(([name, heap, indexes]) => [name, { heap, indexes }])),
    all: kept.reduce((sum, [, heap, indexes]) => sum + heap + indexes, 0),
  }
}

async function connections(db: pg.Client): Promise<number> {
  const { rows } = await db.query<{ n: number }>(`
    select count(*)::integer as n from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()`)
  return rows[0]!.n
}

/** Resident memory in MiB: of PostgreSQL's processes, shared pages divided among them. */
function memoryOf({ child, ready: { postgresPid } }: Aldis): object {
  const sum = (pids: number[], file: string, name: string) =>
    Math.round(pids.reduce((total, pid) => total + kibOf(pid, file, name), 0) / KIB)
  return {
    nodeMib: sum(treePids(child.pid, postgresPid), 'status', 'VmRSS'),
    postgresMib: sum(treePids(postgresPid), 'smaps_rollup', 'Pss'),
  }
}

function kibOf(pid: number, file: string, name: string): number {
  const text = readFileSync(`/proc/${pid}/${file}`, 'latin1')
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0)
}

/** Payload of the service's TCP connections, without the headers of packets, as seen from it. The database has a socket. */
class Traffic {
  readonly #filters: Readonly<Record<string, string>>
  /** Octets by name and connection, also of those that have ended. */
  readonly #seen = new Map<string, Map<string, readonly [sent: number, received: number]>>()
  readonly #timer: NodeJS.Timeout

  constructor({ subject: { ready }, carrier, receiver }: SizedParts) {
    this.#filters = {
      clients: `sport = :${ready.port}`,
      carrier: `dport = :${carrier.port}`,
      webhooks: `dport = :${new URL(receiver.origin).port}`,
    }
    this.read()
    this.#timer = setInterval(() => this.read(), TRAFFIC_MS)
  }

  read(): Readonly<Record<string, readonly [sent: number, received: number]>> {
    const totals = Object.entries(this.#filters).map(([name, filter]) => {
      const text = execFileSync('ss', ['-tniHO', 'state', 'established', filter], { encoding: 'latin1' })
      const own = this.#seen.get(name) ?? new Map()
      this.#seen.set(name, own)
      for (const line of text.split('\n')) {
        const [connection] = /\S+:\d+\s+\S+:\d+/.exec(line) ?? []
        const octets = (of: string) => Number(new RegExp(`${of}:(\\d+)`).exec(line)?.[1] ?? 0)
        if (connection !== undefined) own.set(connection, [octets('bytes_sent'), octets('bytes_received')])
      }
      const sum = (index: number) => [...own.values()].reduce((total, pair) => total + pair[index], 0)
      return [name, [sum(0), sum(1)]] as const
    })
    return Object.fromEntries(totals)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

const OBJECTS = 20_000
/** Objects of the configuration that every node has in memory, each made by a statement. */
const KINDS = {
  'an account with a plan, a token and a sender': `
    with a as (insert into accounts (account_id, name, webhook_secret)
      select substr(md5(n::text), 1, 24), 'Account ' || n, 'secret' from generate_series(1, ${OBJECTS}) n returning id),
    p as (insert into service_plans (service_plan_id, account_id, name, route_id)
      select substr(md5('p' || a.id), 1, 24), a.id, 'Plan ' || a.id, (select min(id) from routes) from a returning id),
    t as (insert into tokens (account_id, name, hint, hash)
      select id, 'token', 'hint', sha256(id::text::bytea) from a)
    insert into sender_subscriptions (plan_id, sender, status) select id, 'Sender' || id % 100, 'approved' from p`,
  'a routing rule': `
    insert into routing_rules (plan_id, country, route_id)
    select id, 'DE', (select min(id) from routes) from service_plans`,
  'a rate': `
    insert into rates (prefix, price, currency) select '+4915' || n, 0.05, 'EUR' from generate_series(1, ${OBJECTS}) n`,
  'a number range': `
    insert into number_ranges (prefix, mccmnc) select '+4915' || n, '26201' from generate_series(1, ${OBJECTS}) n`,
} as const

/** Kilobytes of each in the heap of a process that has read it. */
async function heapOfObjects(connectionString: string): Promise<object> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const pool = openPool({ connectionString, poolSize: 1 })
  const heap = async () => {
    const directory = await readDirectory(pool, (sealed) => sealed)
    collect()
    // Used behind the measurement, so that it is not collected.
    return [process.memoryUsage().heapUsed, directory] as const
  }
  const figures: Record<string, string> = {}
  let [before] = await heap()
  for (const [kind, statement] of Object.entries(KINDS)) {
    await pool.query(statement)
    const [after] = await heap()
    figures[kind] = ((after - before) / OBJECTS / KIB).toFixed(2)
    before = after
  }
  await pool.end()
  return figures
}

if (values.help) process.stdout.write(HELP)
else await measure()
