import { beforeEach, describe, expect, test } from 'vitest'
import { withTransaction } from '../../src/store/database.ts'
import {
  heartbeat,
  LEASE_MS,
  registerNode,
  registerNodeAgain,
  releaseBuckets,
  removeNode,
  takeBuckets,
} from '../../src/store/nodes.ts'
import { databaseOfFile } from '../support/database.ts'
import { otherPool } from '../support/installation.ts'
import { eventually } from '../support/service.ts'

const { db, connectionString } = await databaseOfFile()

beforeEach(async () => {
  await db.query('delete from nodes')
  await db.query('update buckets set node_id = null')
})

/** The living nodes by their ids. */
const beat = async (nodeId: number, name: string, mayRemove = true) => {
  const { nodes, ...told } = await heartbeat(db, { nodeId, name, mayRemove })
  return { ...told, nodes: nodes.map((node) => node.nodeId) }
}

const over = (nodeId: number) =>
  db.query(`update nodes set expires_at = now() - interval '1 s' where node_id = $1`, [nodeId])

describe('a heartbeat', () => {
  test('renews the lease and tells who is alive', async () => {
    const [one, two] = [await registerNode(db, 'one'), await registerNode(db, 'two')]
    const { state, nodes } = await beat(one, 'one')
    expect(state).toBe('alive')
    expect(nodes.toSorted()).toEqual([one, two])
    const { rows } = await db.query(
      `select expires_at > now() + ($2 - 1000) * interval '1 ms' and expires_at <= now() + $2 * interval '1 ms' as renewed from nodes
       where node_id = $1`,
      [one, LEASE_MS],
    )
    expect(rows).toEqual([{ renewed: true }])
  })

  test('begins the lease when it was asked for, and does not shorten one that was asked for later', async () => {
    const one = await registerNode(db, 'one')
    const ends = async (askedMs: number | null) => {
      await heartbeat(db, { nodeId: one, name: 'one', mayRemove: true, askedMs })
      const { rows } = await db.query<{ ms: number }>(
        'select (extract(epoch from expires_at) * 1000)::double precision as ms from nodes',
      )
      return rows[0]!.ms
    }
    await over(one)
    const askedMs = (await heartbeat(db, { nodeId: one, name: 'one', mayRemove: true })).databaseMs - 5_000
    await over(one)
    expect(await ends(askedMs)).toBeCloseTo(askedMs + LEASE_MS, 1)
    const renewedMs = await ends(null)
    expect(renewedMs).toBeGreaterThan(askedMs + LEASE_MS + 1_000)
    expect(await ends(askedMs)).toBe(renewedMs)
    await db.query(`update nodes set expires_at = now() + interval '1 h'`)
    expect(await ends(askedMs + 3_600_000)).toBeLessThan(askedMs + LEASE_MS + 3_600_000)
  })

  test('removes others whose lease is over; they learn that theirs expired', async () => {
    const [one, two] = [await registerNode(db, 'one'), await registerNode(db, 'two')]
    await over(two)
    expect(await beat(one, 'one')).toMatchObject({ state: 'alive', nodes: [one] })
    expect(await beat(two, 'two')).toMatchObject({ state: 'expired' })
  })

  test('removes nobody unless it may: the database may have been away from all', async () => {
    const [one, two] = [await registerNode(db, 'one'), await registerNode(db, 'two')]
    await over(two)
    const { nodes } = await beat(one, 'one', false)
    expect(nodes.toSorted()).toEqual([one, two])
    expect(await beat(two, 'two')).toMatchObject({ state: 'alive' })
  })

  test('of a node that was late itself removes nobody, for all may have been', async () => {
    const [one, two] = [await registerNode(db, 'one'), await registerNode(db, 'two')]
    await over(one)
    await over(two)
    const { nodes } = await beat(one, 'one')
    expect(nodes.toSorted()).toEqual([one, two])
    expect((await beat(one, 'one')).nodes).toEqual([one])
  })

  test('tells a node whose name another process has taken', async () => {
    const first = await registerNode(db, 'same')
    const second = await registerNode(db, 'same')
    expect(second).not.toBe(first)
    expect(await beat(first, 'same')).toMatchObject({ state: 'replaced' })
    expect(await beat(second, 'same')).toMatchObject({ state: 'alive', nodes: [second] })
  })

  test('tells it so although its name is taken at that very moment', async () => {
    const first = await registerNode(db, 'same')
    const { beating } = await withTransaction(db, async (transaction) => {
      await registerNode(transaction, 'same')
      const beating = beat(first, 'same')
      await eventually(async () => {
        const { rows } = await db.query(
          `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return rows.length === 1
      })
      return { beating }
    })
    expect(await beating).toMatchObject({ state: 'replaced' })
  })

  test('a node whose lease was over begins anew, but not in the place of one that has its name', async () => {
    const first = await registerNodeAgain(db, 'same')
    expect(first).toBeGreaterThan(0)
    expect(await registerNodeAgain(db, 'same')).toBeNull()
    expect(await beat(first!, 'same')).toMatchObject({ state: 'alive' })
  })
})

describe('buckets', () => {
  test('are taken up to the share, and told apart from those owned before', async () => {
    const one = await registerNode(db, 'one')
    const first = await takeBuckets(db, one, 100)
    expect([first.owned.length, first.taken.length]).toEqual([100, 100])
    const more = await takeBuckets(db, one, 256)
    expect([more.owned.length, more.taken.length]).toEqual([256, 156])
    expect(await takeBuckets(db, one, 256)).toMatchObject({ taken: [] })
  })

  test('of a living node are left alone, of one that is gone are free', async () => {
    const [one, two] = [await registerNode(db, 'one'), await registerNode(db, 'two')]
    await takeBuckets(db, one, 256)
    expect((await takeBuckets(db, two, 128)).taken).toEqual([])
    await releaseBuckets(db, one, [1, 2, 3])
    expect((await takeBuckets(db, two, 128)).taken.toSorted()).toEqual([1, 2, 3])
    await removeNode(db, one)
    expect((await takeBuckets(db, two, 256)).owned).toHaveLength(256)
  })

  test('taken by several nodes at once go to one each', async () => {
    await using other = otherPool(connectionString)
    const [one, two] = [await registerNode(db, 'one'), await registerNode(db, 'two')]
    for (let round = 0; round < 10; round += 1) {
      await db.query('update buckets set node_id = null')
      await Promise.all([takeBuckets(db, one, 128), takeBuckets(other.db, two, 128)])
      const shares = await Promise.all([takeBuckets(db, one, 128), takeBuckets(other.db, two, 128)])
      const owned = shares.flatMap(({ owned: buckets }) => buckets)
      expect(new Set(owned).size).toBe(owned.length)
    }
  })
})
