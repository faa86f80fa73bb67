import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { BEHIND_END_MS, GRACE_MS, NodeLease } from '../../../src/services/node/node-lease.ts'
import { withTransaction } from '../../../src/store/database.ts'
import { openDatabase } from '../../../src/store/database-pool.ts'
import { LEASE_MS } from '../../../src/store/nodes.ts'
import { databaseOfFile } from '../../support/database.ts'
import { gatedDatabase } from '../../support/gated-database.ts'
import { otherPool } from '../../support/installation.ts'
import { KeptLog, strictLog } from '../../support/log.ts'
import { eventually } from '../../support/service.ts'

/** Heartbeats come from the tests alone, and only a lease that is to run out does. */
const NEVER_MS = 3_600_000
/** Outlasts a test, and less than NEVER_MS. */
const MINUTES_MS = 300_000

interface Watched {
  readonly lease: NodeLease
  readonly taken: number[][]
  readonly registered: number[]
  expired: number
  replaced: number
  /** Why it must stop, unless it is replaced. */
  fault: string | null
}

const { db, connectionString } = await databaseOfFile()
let leases: Watched[]

beforeEach(async () => {
  leases = []
  await db.query('delete from nodes')
})

afterEach(async () => {
  vi.restoreAllMocks()
  for (const { lease } of leases) await lease.stop()
})

/** From now on time goes by only when the returned function is called: as long as a node removes nobody. */
function stopTime(): () => void {
  let nowMs = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  return () => {
    nowMs += GRACE_MS
  }
}

/** As if those that have started had run for as long as they remove nobody. */
function passGrace(): void {
  const clock = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => clock() + GRACE_MS)
}

async function started(name: string, leaseMs = NEVER_MS, own = db): Promise<Watched> {
  const watched: Watched = {
    taken: [],
    registered: [],
    expired: 0,
    replaced: 0,
    fault: null,
    lease: new NodeLease({
      db: own,
      name,
      onBarred: (why) => {
        if (why === null) watched.replaced += 1
        else watched.fault = why.message
      },
      log: strictLog,
      heartbeatMs: NEVER_MS,
      leaseMs,
    }),
  }
  watched.lease.onBeat((nodeId) => watched.registered.push(nodeId))
  watched.lease.onTaken((buckets) => watched.taken.push([...buckets]))
  watched.lease.onExpired(() => {
    watched.expired += 1
  })
  leases.push(watched)
  await watched.lease.start()
  return watched
}

const over = ({ lease }: Watched) =>
  db.query(`update nodes set expires_at = now() - interval '1 s' where node_id = $1`, [lease.nodeId])

describe('one node', () => {
  test('owns every bucket, and ids come from each in turn', async () => {
    const { lease, taken } = await started('one')
    expect(lease.buckets).toHaveLength(256)
    expect(taken.map((buckets) => buckets.length)).toEqual([256])
    const ids = Array.from({ length: 512 }, () => lease.nextBucket())
    expect(new Set(ids).size).toBe(256)
    expect(new Set(ids.slice(0, 256)).size).toBe(256)
  })

  test('a heartbeat changes nothing, and says that it is this node still', async () => {
    const { lease, taken, registered } = await started('one')
    const { nodeId } = lease
    await lease.runOnce()
    expect([lease.nodeId, lease.buckets.length, taken.length]).toEqual([nodeId, 256, 1])
    expect(registered).toEqual([nodeId, nodeId])
  })

  test('asks for its buckets again behind a heartbeat that failed: a promoted standby may not have them', async () => {
    const { lease, taken } = await started('one')
    await lease.runOnce()
    await db.query('alter table nodes rename to gone')
    await expect(lease.runOnce()).rejects.toThrow('nodes')
    await db.query('alter table gone rename to nodes')
    await db.query('update buckets set node_id = null where bucket < 100')
    await lease.runOnce()
    expect(taken.map((buckets) => buckets.length)).toEqual([256, 100])
    const { rows } = await db.query('select from buckets where node_id = $1', [lease.nodeId])
    expect(rows).toHaveLength(256)
  })

  test('that stops owns nothing, and leaves no trace', async () => {
    const { lease } = await started('one')
    await lease.stop()
    expect(lease.buckets).toEqual([])
    const { rows } = await db.query(
      'select 1 from nodes union all select 1 from buckets where node_id is not null',
    )
    expect(rows).toEqual([])
  })

  test('an id has a bucket also while none is owned', async () => {
    const { lease } = await started('one')
    await lease.stop()
    const bucket = lease.nextBucket()
    expect(bucket >= 0 && bucket < 256).toBe(true)
  })
})

describe('several nodes', () => {
  test('are told of when they come and go, and share the buckets only then', async () => {
    const [one, statements] = [await started('one'), vi.spyOn(db, 'query')]
    const taking = () =>
      statements.mock.calls.filter(
        ([statement]) => (statement as unknown as { name?: string }).name === 'take_buckets',
      ).length
    let told = 0
    one.lease.onNodes(() => {
      told += 1
    })
    await one.lease.runOnce()
    expect([told, taking()]).toEqual([0, 0])
    const two = await started('two')
    statements.mockClear()
    await one.lease.runOnce()
    await one.lease.runOnce()
    expect([told, taking(), one.lease.buckets.length]).toEqual([1, 1, 128])
    await two.lease.stop()
    await one.lease.runOnce()
    expect([told, taking(), one.lease.buckets.length]).toEqual([2, 2, 256])
  })

  test('even out: each has its share, every bucket has one owner', async () => {
    const nodes = [await started('one'), await started('two'), await started('three')]
    for (let round = 0; round < 2; round += 1) for (const { lease } of nodes) await lease.runOnce()
    const owned = nodes.map(({ lease }) => lease.buckets)
    expect(owned.map((buckets) => buckets.length).toSorted()).toEqual([84, 86, 86])
    expect(new Set(owned.flat()).size).toBe(256)
  })

  test('one whose lease is over: its buckets go to the others, and what it held anywhere is released', async () => {
    const [one, two] = [await started('one'), await started('two')]
    passGrace()
    await one.lease.runOnce()
    await two.lease.runOnce()
    expect(two.taken.map((buckets) => buckets.length)).toEqual([128])
    await over(one)
    await two.lease.runOnce()
    expect(two.lease.buckets).toHaveLength(256)
    expect(two.taken.at(-1)).toHaveLength(256)
  })

  test('the next heartbeat comes when the lease of another ends, and not before the usual time where none does', async () => {
    const [one, two] = [await started('one', MINUTES_MS), await started('two')]
    passGrace()
    expect(await two.lease.runOnce()).toBeLessThan(MINUTES_MS + 1_000)
    await over(one)
    await two.lease.runOnce()
    expect([two.lease.buckets.length, await two.lease.runOnce()]).toEqual([256, NEVER_MS])
  })

  test('after a gap of its own a node removes nobody at first: the others get time for a heartbeat', async () => {
    const [one, two] = [await started('one'), await started('two')]
    const pass = stopTime()
    await db.query('delete from nodes where node_id = $1', [two.lease.nodeId])
    // Begun anew: as little is known of the others as after an outage.
    expect(await two.lease.runOnce()).toBeCloseTo(GRACE_MS + BEHIND_END_MS)
    await over(one)
    expect(await two.lease.runOnce()).toBeCloseTo(GRACE_MS + BEHIND_END_MS)
    expect(two.lease.isAlone).toBe(false)
    await one.lease.runOnce()
    expect(one.expired).toBe(0)
    await over(one)
    pass()
    await two.lease.runOnce()
    expect(two.lease.buckets).toHaveLength(256)
  })

  test('a lease begins when its renewal is asked for, not when the server gets to it', async () => {
    const pass = stopTime()
    let isSlow = false
    const { lease } = await started(
      'one',
      MINUTES_MS,
      gatedDatabase(db, async (name, run) => {
        const answer = await run()
        // By the node's clock this took a minute, so it does not wonder how much the server's has gone on meanwhile.
        if (isSlow && name === 'heartbeat') for (let passed = 0; passed < 60_000; passed += GRACE_MS) pass()
        return answer
      }),
    )
    isSlow = true
    // By the node's clock no time goes by until the next renewal is asked for.
    const { rows } = await db.query('select clock_timestamp()::text as now')
    await lease.runOnce()
    const ends = await db.query(
      `select expires_at <= $1::timestamptz + $2 * interval '1 ms' as early from nodes`,
      [rows[0].now, MINUTES_MS],
    )
    expect(ends.rows).toEqual([{ early: true }])
  })

  test('a lease begins now where the clocks differ: a machine was paused, or the clock of the database set', async () => {
    await db.query('create schema clock')
    const setAhead = (interval: string) =>
      db.query(`
        create or replace function clock.now() returns timestamptz stable language sql
          as $$ select pg_catalog.now() + interval '${interval}' $$;
        create or replace function clock.clock_timestamp() returns timestamptz volatile language sql
          as $$ select pg_catalog.clock_timestamp() + interval '${interval}' $$`)
    await setAhead('0 s')
    const url = new URL(connectionString)
    url.searchParams.set('options', '-c search_path=clock,public,pg_catalog')
    await using clocked = otherPool(url.href)
    const { lease } = await started('one', MINUTES_MS, clocked.db)
    leases = []
    await setAhead('1 hour')
    await lease.runOnce()
    const { rows } = await clocked.db.query('select expires_at > now() as "isHeld" from nodes')
    expect([rows, lease.alive]).toEqual([[{ isHeld: true }], true])
    await lease.stop()
  })

  test('it finds out, and begins anew as another node with what is left', async () => {
    const [one, two] = [await started('one'), await started('two')]
    passGrace()
    const { nodeId } = one.lease
    await over(one)
    await two.lease.runOnce()
    await one.lease.runOnce()
    expect([one.expired, one.replaced]).toEqual([1, 0])
    expect(one.lease.nodeId).not.toBe(nodeId)
    await two.lease.runOnce()
    await one.lease.runOnce()
    expect(one.lease.buckets).toHaveLength(128)
  })

  test('one of the same name takes all at once; the first is told, owns nothing and does not come back', async () => {
    const first = await started('same')
    const second = await started('same')
    expect(second.lease.buckets).toHaveLength(256)
    expect(second.taken.at(-1)).toHaveLength(256)
    await first.lease.runOnce()
    expect([first.expired, first.replaced]).toEqual([0, 1])
    expect(first.lease.buckets).toEqual([])
    expect(first.lease.alive).toBe(false)
    await first.lease.stop()
    await second.lease.runOnce()
    expect(second.lease.buckets).toHaveLength(256)
  })
})

test('a node that lost its lease does not begin another on a schema that it does not know', async () => {
  const one = await started('one')
  await db.query('delete from nodes')
  await db.query(`select require_migration('9999_next')`)
  onTestFinished(
    async () => void (await db.query(`update schema_requirement set must_know = '0001_initial'`)),
  )
  await one.lease.runOnce()
  expect([one.fault, one.replaced, one.expired]).toEqual([expect.stringContaining('9999_next'), 0, 1])
  expect([one.lease.alive, one.lease.buckets]).toEqual([false, []])
  expect((await db.query('select from nodes')).rowCount).toBe(0)
})

test('a node that starts waits for a migration that changes what it must know, however long a statement may take', async () => {
  const brief = openDatabase({ connectionString, poolSize: 1, statementTimeoutMs: 50 })
  onTestFinished(() => brief.end())
  const log = new KeptLog()
  const migration = await db.connect()
  await migration.query('begin')
  await migration.query(`select require_migration('9999_next')`)
  onTestFinished(
    async () => void (await db.query(`update schema_requirement set must_know = '0001_initial'`)),
  )
  const lease = new NodeLease({ db: brief, name: 'new', onBarred: () => undefined, log })
  const starting = lease.start()
  starting.catch(() => undefined)
  await eventually(() => log.lines.length > 1)
  await migration.query('commit')
  migration.release()
  await expect(starting).rejects.toThrow('9999_next')
})

describe('whoever depends on the lease is told', () => {
  test('when it is renewed, and when it was lost, before it is begun anew', async () => {
    const { lease } = await started('one')
    const seen: boolean[] = []
    const stop = lease.onChange(() => seen.push(lease.alive))
    await lease.runOnce()
    expect(seen).toEqual([true])
    await db.query('delete from nodes')
    await lease.runOnce()
    expect(seen).toEqual([true, false, true])
    stop()
    await lease.runOnce()
    expect(seen).toHaveLength(3)
  })

  test('when it is over by the clock of the node', async () => {
    const { lease } = await started('one', LEASE_MS)
    const over = new Promise<void>((resolve) => {
      lease.onChange(() => {
        if (!lease.alive) resolve()
      })
    })
    await over
    expect(lease.buckets).toEqual([])
  })
})

test('a heartbeat that hangs is given up while another can still keep the lease', async () => {
  // Time goes by only while it is advanced, however slow the machine is.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { lease } = await started('hanging', LEASE_MS)
  const windowMs = lease.leftMs
  await withTransaction(db, async (transaction) => {
    await transaction.query('lock table nodes')
    const beat = expect(lease.runOnce()).rejects.toThrow('Query read timeout')
    const waits = `select from pg_locks where relation = 'nodes'::regclass and not granted`
    while ((await transaction.query(waits)).rowCount === 0);
    await vi.advanceTimersByTimeAsync(windowMs / 2)
    await beat
  })
  expect(lease.leftMs).toBe(windowMs / 2)
  await lease.runOnce()
  expect(lease.leftMs).toBe(windowMs)
})

test('a heartbeat that fails is tried again soon, and told once', async () => {
  const log = new KeptLog()
  const lease = new NodeLease({
    db,
    name: 'failing',
    onBarred: () => undefined,
    log,
    heartbeatMs: 20,
  })
  await lease.start()
  let renewals = 0
  lease.onChange(() => {
    renewals += 1
  })
  await db.query('alter table nodes rename to gone')
  await eventually(() => log.errors.length === 1)
  await db.query('alter table gone rename to nodes')
  const before = renewals
  await eventually(() => renewals > before + 2)
  expect(log.errors).toEqual(['heartbeat failed'])
  await lease.stop()
})
