import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openReplica } from '../../src/app/database.ts'
import { type FallbackReason, ReadReplica } from '../../src/services/node/read-replica.ts'
import { openDatabase } from '../../src/store/database-pool.ts'
import { blocksOf, follow, Shell, untagged } from '../support/document-commands.ts'
import { gatedDatabase } from '../support/gated-database.ts'
import { quietLog } from '../support/log.ts'
import { NODE_COMPILE_CACHE, ROOT, scratchFolder } from '../support/process.ts'
import { eventually, RECIPIENT, type Service, startService } from '../support/service.ts'
import {
  ask,
  conninfoOf,
  type Replicated,
  type StockPostgres,
  startReplicated,
} from '../support/stock-postgres.ts'

let servers: Replicated
/** Of `primary`. The second is promoted in the last test. */
let primary: StockPostgres
let standby: StockPostgres
let second: StockPostgres

beforeAll(async () => {
  servers = await startReplicated(2)
  primary = servers.primary
  ;[standby, second] = servers.standbys as [StockPostgres, StockPostgres]
  await ask(primary, 'create table seen (n integer primary key)')
  await ask(primary, 'create database other')
})

afterAll(() => servers?.[Symbol.asyncDispose]())

const LOG = pino({ level: 'silent' })

/** Reads of `seen` and other statements, and who answered them since they were last asked for. */
async function replicaOf(
  from: StockPostgres,
  { connectionString }: Pick<StockPostgres, 'connectionString'>,
  maxLagMs: number,
) {
  // One connection, so that what is changed for new ones does not change the primary.
  const db = openDatabase({ connectionString: from.connectionString, poolSize: 1 })
  const { replica, looks, cut } = openReplica({ databasePrepared: true, log: LOG }, connectionString)
  let answers: (FallbackReason | 'replica')[] = []
  const count = (reason: FallbackReason | null) => void answers.push(reason ?? 'replica')
  /** Of statements that a read or a look has sent, by name. */
  const sent = new Map<string, number>()
  const counted = (database: typeof db) =>
    gatedDatabase(
      database,
      (name = '', run) => {
        sent.set(name, (sent.get(name) ?? 0) + 1)
        return run()
      },
      { inTransactions: true },
    )
  const reads = new ReadReplica({
    primary: counted(db),
    replica: counted(replica),
    looks,
    cut,
    maxLagMs,
    count,
    log: quietLog,
    lookMs: 50,
  })
  reads.start()
  return {
    reads,
    isUsed: () => eventually(() => reads.isUsed),
    isNotUsed: () => eventually(() => !reads.isUsed),
    /** How often the statement was sent: the end of the log of the primary, or the place of the standby for reads. */
    sent: (name: 'primary_place' | 'replayed_place') => sent.get(name) ?? 0,
    async sees(n: number): Promise<boolean> {
      const { rowCount } = await reads.query('select from seen where n = $1', [n])
      return rowCount === 1
    },
    answers() {
      const since = answers
      answers = []
      return since
    },
    async [Symbol.asyncDispose]() {
      await reads.stop()
      await Promise.all([replica.end(), looks.end(), db.end()])
    },
  }
}

let last = 0

async function add(): Promise<number> {
  last += 1
  await ask(primary, `insert into seen values (${last})`)
  return last
}

const PATIENT_MS = 30_000

test('a row that the primary has committed is seen, whenever the standby replays it', async () => {
  await using replica = await replicaOf(primary, standby, PATIENT_MS)
  await replica.isUsed()
  for (let round = 0; round < 20; round += 1) expect(await replica.sees(await add())).toBe(true)
  expect(new Set(replica.answers())).toEqual(new Set(['replica']))

  await ask(standby, 'select pg_wal_replay_pause()')
  await eventually(async () => {
    const [row] = await ask<{ state: string }>(standby, 'select pg_get_wal_replay_pause_state() as state')
    return row!.state === 'paused'
  })
  const n = await add()
  const seeing = replica.sees(n)
  // It waits in the pool's first connection; nothing of it has been answered yet.
  expect(await ask(standby, `select from seen where n = ${n}`)).toEqual([])
  await ask(standby, 'select pg_wal_replay_resume()')
  expect(await seeing).toBe(true)
  expect(replica.answers()).toEqual(['replica'])
})

test('a standby that does not catch up in time is not used until it has', async () => {
  await using replica = await replicaOf(primary, standby, 200)
  await replica.isUsed()
  await ask(standby, 'select pg_wal_replay_pause()')
  const n = await add()
  expect(await replica.sees(n)).toBe(true)
  expect(replica.reads.isUsed).toBe(false)
  expect(await replica.sees(n)).toBe(true)
  expect(replica.answers()).toEqual(['behind', 'behind'])
  expect(replica.reads.lagMs).toBeGreaterThan(0)
  await ask(standby, 'select pg_wal_replay_resume()')
  await replica.isUsed()
  expect(await replica.sees(n)).toBe(true)
  expect(replica.answers()).toEqual(['replica'])
})

test('a standby that comes and goes is used after more and more looks', async () => {
  await using replica = await replicaOf(primary, standby, 200)
  await replica.isUsed()
  for (const looks of [2, 4, 8]) {
    await ask(standby, 'select pg_wal_replay_pause()')
    expect(await replica.sees(await add())).toBe(true)
    expect(replica.answers()).toEqual(['behind'])
    await ask(standby, 'select pg_wal_replay_resume()')
    const before = replica.sent('primary_place')
    await replica.isUsed()
    expect(replica.sent('primary_place') - before).toBeGreaterThanOrEqual(looks - 1)
  }
})

test('reads that wait for a connection do not wait for a standby that others have found behind', async () => {
  await using replica = await replicaOf(primary, standby, 200)
  await replica.isUsed()
  await ask(standby, 'select pg_wal_replay_pause()')
  try {
    const n = await add()
    const readings = Array.from({ length: 200 }, () => replica.sees(n))
    await replica.isNotUsed()
    const before = replica.sent('replayed_place')
    expect(new Set(await Promise.all(readings))).toEqual(new Set([true]))
    expect(replica.answers()).toEqual(readings.map(() => 'behind'))
    // Those that had a connection may have asked some more times.
    expect(replica.sent('replayed_place') - before).toBeLessThan(readings.length / 2)
  } finally {
    await ask(standby, 'select pg_wal_replay_resume()')
  }
})

test('the database is checked on the connection of each read', async () => {
  await ask(primary, 'create schema elsewhere create table seen (n integer)')
  const n = await add()
  await using replica = await replicaOf(primary, standby, PATIENT_MS)
  await replica.isUsed()
  // New connections have another schema, as if the address led to another server. The first read makes one.
  await ask(primary, 'alter role aldis set search_path = elsewhere')
  try {
    await eventually(
      async () =>
        (await ask<{ search_path: string }>(standby, 'show search_path'))[0]!.search_path === 'elsewhere',
    )
    expect(await replica.sees(n)).toBe(true)
    expect(replica.answers()).toEqual(['foreign'])
  } finally {
    await ask(primary, 'alter role aldis reset search_path')
    await ask(primary, 'drop schema elsewhere cascade')
  }
})

/** Waits on the standby alone, where `holder` has the lock. */
const WAITING = 'select count(*)::integer as count, pg_advisory_xact_lock_shared(1) from seen'

/** Runs `work` while a statement of the replica waits on the standby. */
async function whileReading(
  replica: Awaited<ReturnType<typeof replicaOf>>,
  work: (pids: readonly number[]) => Promise<unknown>,
): Promise<number> {
  const holder = new pg.Client(standby.connectionString)
  await holder.connect()
  try {
    await holder.query('select pg_advisory_lock(1)')
    const reading = replica.reads.query<{ count: number }>(WAITING)
    // It may be over before `work` is.
    reading.catch(() => undefined)
    await eventually(
      async () =>
        (await holder.query('select from pg_locks where locktype = $1 and not granted', ['advisory']))
          .rowCount,
    )
    const { rows } = await holder.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'aldis'`,
    )
    await work(rows.map(({ pid }) => pid))
    return (await reading).rows[0]!.count
  } finally {
    await holder.end()
  }
}

/**
 * Makes the standby cancel at once whatever is in the way of its replay. For one test only: it would also cancel statements of
 * the tests themselves, such as the one that resumes the replay.
 */
async function replayFirst(): Promise<AsyncDisposable> {
  const change = async (setting: string) => {
    await ask(standby, `alter system ${setting}`)
    await ask(standby, 'select pg_reload_conf()')
  }
  const delay = async () =>
    (await ask<{ max_standby_streaming_delay: string }>(standby, 'show max_standby_streaming_delay'))[0]!
      .max_standby_streaming_delay
  const usual = await delay()
  await change('set max_standby_streaming_delay = 0')
  await eventually(async () => (await delay()) === '0')
  return {
    async [Symbol.asyncDispose]() {
      await change('reset max_standby_streaming_delay')
      await eventually(async () => (await delay()) === usual)
    },
  }
}

test('a statement that recovery cancels is run on the primary, and the standby stays in use', async () => {
  await using _ = await replayFirst()
  await using replica = await replicaOf(primary, standby, PATIENT_MS)
  await replica.isUsed()
  await add()
  const before = await ask(primary, 'select from seen')
  // Its snapshot needs the rows that this removes.
  const count = await whileReading(replica, async () => {
    await ask(primary, 'delete from seen where n <= 5')
    await ask(primary, 'vacuum seen')
  })
  expect(count).toBe(before.length - 5)
  expect(replica.answers()).toEqual(['cancelled'])
  expect(await replica.sees(await add())).toBe(true)
  expect(replica.answers()).toEqual(['replica'])
})

test('a standby that stands still in the middle of a statement holds nobody up', async () => {
  await using replica = await replicaOf(primary, standby, PATIENT_MS)
  await replica.isUsed()
  const n = await add()
  let stopped: readonly number[] = []
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of stopped) process.kill(pid, name)
  }
  try {
    await whileReading(replica, async (pids) => {
      const [postmaster] = readFileSync(join(standby.cluster.path, 'postmaster.pid'), 'utf8').split('\n')
      stopped = [Number(postmaster), ...pids]
      signal('SIGSTOP')
      await replica.isNotUsed()
    })
    expect(await replica.sees(n)).toBe(true)
    expect(replica.answers()).toEqual(['unreachable', 'unreachable'])
  } finally {
    signal('SIGCONT')
  }
  await replica.isUsed()
  expect(await replica.sees(n)).toBe(true)
  expect(replica.answers()).toEqual(['replica'])
})

test('a standby that ends its sessions is used again by itself', async () => {
  await using replica = await replicaOf(primary, standby, PATIENT_MS)
  await replica.isUsed()
  const count = await whileReading(replica, async () => {
    await ask(
      standby,
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'aldis'`,
    )
  })
  expect(count).toBeGreaterThan(0)
  expect(replica.answers()).toEqual(['unreachable'])
  await replica.isUsed()
})

test('a fault of the statement is not the standby’s', async () => {
  await using replica = await replicaOf(primary, standby, PATIENT_MS)
  await replica.isUsed()
  await expect(replica.reads.query('select 1 / 0')).rejects.toThrow('division by zero')
  expect(replica.reads.isUsed).toBe(true)
})

test('a statement that is cancelled as too slow is not run again on the primary', async () => {
  await using replica = await replicaOf(primary, standby, PATIENT_MS)
  await replica.isUsed()
  const reading = whileReading(replica, () =>
    // What the server does at its statement_timeout.
    ask(standby, `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'advisory'`),
  )
  await expect(reading).rejects.toThrow('canceling statement')
  expect(replica.answers()).toEqual([])
  expect(replica.reads.isUsed).toBe(true)
})

describe('never used, while the primary answers', () => {
  test.each([
    ['the primary itself', 'foreign', () => primary],
    [
      'another database of the standby',
      'foreign',
      () => ({ connectionString: standby.connectionString.replace('/postgres', '/other') }),
    ],
    ['nothing', 'unreachable', () => ({ connectionString: 'postgresql://aldis@127.0.0.1:1/postgres' })],
  ] as const)('%s', async (_, reason, address) => {
    await using replica = await replicaOf(primary, address(), PATIENT_MS)
    const n = await add()
    await eventually(async () => (await replica.sees(n)) && replica.answers().includes(reason))
    expect(replica.reads.isUsed).toBe(false)
  })
})

describe('a node', () => {
  let service: Service
  beforeAll(async () => {
    service = await startService({
      app: {
        connectionString: primary.connectionString,
        databaseReplicaUrl: standby.connectionString,
        databaseReplicaMaxLagMs: 1_000,
      },
    })
  })
  afterAll(() => service?.[Symbol.asyncDispose]())

  async function metric(name: string): Promise<number> {
    const found = (await service.app.metrics()).find((each) => each.name === name)
    return found!.values.reduce((sum, { value }) => sum + Number(value), 0)
  }

  const isUsed = () => eventually(async () => (await metric('aldis_replica_used')) === 1)

  /** Every message of a list of small pages. */
  async function walk(): Promise<string[]> {
    const ids: string[] = []
    for (let query: Record<string, string> | null = { to: RECIPIENT }; query !== null; ) {
      const { status, body } = await service.list({ limit: '3', ...query })
      expect(status).toBe(200)
      ids.push(...body.items.map(({ msgId }: { msgId: string }) => msgId))
      const { nextCursor } = body.pagination
      query = nextCursor === null ? null : { cursor: nextCursor }
    }
    return ids
  }

  test('finds and lists every message, in progress and at rest, while the standby replays and while it does not', async () => {
    const sent: string[] = []
    for (const does of ['resume', 'pause', 'resume']) {
      await ask(standby, `select pg_wal_replay_${does}()`)
      // On a busy machine it may not be used for a while even if it replays.
      if (does === 'resume') await isUsed()
      for (let each = 0; each < 2; each += 1) {
        sent.unshift(await service.sent())
        expect(await walk()).toEqual(sent)
        await service.until(sent[0]!, 'DELIVERED')
        // Out of memory: from now on only its record tells of it.
        await service.recorded(sent[0]!)
        expect(await walk()).toEqual(sent)
        for (const msgId of sent)
          expect((await service.get(msgId)).body).toMatchObject({ status: 'DELIVERED' })
      }
    }
    expect(await metric('aldis_replica_fallbacks_total')).toBeGreaterThan(0)
    await eventually(async () => {
      expect(await walk()).toEqual(sent)
      return (await metric('aldis_replica_reads_total')) > 0
    })
  })

  test('docs/read-replica.md: its commands print what it shows', async () => {
    await isUsed()
    const blocks = blocksOf(readFileSync(join(ROOT, 'docs/read-replica.md'), 'utf8'))
    expect(untagged(blocks)).toEqual([])
    using folder = scratchFolder()
    const env = {
      NODE_COMPILE_CACHE,
      ALDIS_URL: service.app.url,
      DATABASE_URL: primary.connectionString,
      DATABASE_REPLICA_URL: standby.connectionString,
      DATABASE_REPLICA_MAX_LAG_MS: '10000',
      SECRET_KEY: '00'.repeat(32),
      OPERATOR_TOKEN: service.operatorToken,
    }
    await using shell = new Shell({ cwd: folder.path, env })
    await follow(blocks, shell, folder.path)
  })
})

test('after a failover a standby is used again once it follows the new primary', async () => {
  // A standby that has more of the log than the one that is promoted can never follow it.
  await ask(standby, `alter system set primary_conninfo = ''`)
  await ask(standby, 'select pg_reload_conf()')
  await eventually(async () => (await ask(standby, 'select from pg_stat_wal_receiver')).length === 0)
  const [standing] = await ask<{ place: string }>(standby, 'select pg_last_wal_replay_lsn() as place')
  await eventually(async () => {
    const behind = `select where pg_last_wal_replay_lsn() < '${standing!.place}'`
    return (await ask(second, behind)).length === 0
  })
  await ask(second, 'select pg_promote()')
  await using old = await replicaOf(primary, second, PATIENT_MS)
  await using replica = await replicaOf(second, standby, PATIENT_MS)
  for (const { sees, answers } of [old, replica])
    await eventually(async () => (await sees(last)) && answers().includes('foreign'))
  await ask(standby, `alter system set primary_conninfo = '${conninfoOf(second)}'`)
  await ask(standby, 'select pg_reload_conf()')
  await ask(second, 'checkpoint')
  // What a standby does by itself every checkpoint_timeout.
  const used = eventually(async () => {
    await ask(standby, 'checkpoint')
    return replica.reads.isUsed
  })
  await used
  expect(await replica.sees(last)).toBe(true)
  expect(replica.answers()).toContain('replica')
})
