/** A worker of Citus that dies, hangs or is replaced, with the records of some plans, and shards that are moved. For a coordinator: see database-kinds.ts. */
import type { SeededRandom } from '../../bench/seeded-random.ts'
import type { Bed } from './bed.ts'
import { holdsWithin, nowMs } from './clock.ts'
import type { Kind } from './kind.ts'
import { type PostgresServer, signalAll } from './postgres-server.ts'

const LOST_ANSWERS = { repeats: true } as const
const AWAY_MS = [6_000, 12_000] as const
const FOLLOWS_MS = 30_000
const SHORT_MS = [1_000, 4_000] as const
const ENDED = { end: async () => undefined }
const missing = () => (process.env.TEST_CITUS ? null : 'TEST_CITUS names no number of workers')

export const CITUS_KINDS: readonly Kind[] = [
  {
    name: 'worker-kill',
    summary: 'SIGKILL to every process of a worker',
    excuses: LOST_ANSWERS,
    missing,
    holdMs: AWAY_MS,
    async begin({ bed, random }) {
      const worker = bed.workers[random.below(bed.workers.length)]!
      await worker.kill()
      return { end: () => worker.start() }
    },
  },
  {
    name: 'worker-hang',
    summary: 'every process of a worker stands still',
    excuses: LOST_ANSWERS,
    missing,
    holdMs: AWAY_MS,
    async begin({ bed, random }) {
      const { pids } = bed.workers[random.below(bed.workers.length)]!
      signalAll(pids, 'SIGSTOP')
      return { end: async () => signalAll(pids, 'SIGCONT') }
    },
  },
  {
    name: 'all-workers-kill',
    summary: 'SIGKILL to every process of every worker',
    excuses: LOST_ANSWERS,
    missing,
    holdMs: AWAY_MS,
    async begin({ bed }) {
      await Promise.all(bed.workers.map((worker) => worker.kill()))
      return { end: () => Promise.all(bed.workers.map((worker) => worker.start())) }
    },
  },
  {
    name: 'worker-failover',
    summary: 'a worker dies, and its synchronous standby takes its place in the cluster',
    excuses: LOST_ANSWERS,
    missing,
    holdMs: SHORT_MS,
    async begin({ bed, random }) {
      const worker = bed.workers[random.below(bed.workers.length)]!
      const standby = await followedBy(worker)
      const startMs = nowMs()
      await worker.kill()
      return { startMs, end: () => replace(bed, worker, standby) }
    },
  },
  {
    name: 'shard-move',
    summary:
      'the records of a plan are moved to another worker, while they are written or with its writes blocked',
    excuses: LOST_ANSWERS,
    missing,
    holdMs: SHORT_MS,
    async begin({ bed, random }) {
      await moveShard(bed, random)
      return ENDED
    },
  },
  {
    name: 'plan-isolated',
    summary: 'a plan gets a shard of its own, if it has none, with its writes blocked',
    excuses: LOST_ANSWERS,
    missing,
    holdMs: SHORT_MS,
    async begin({ bed: { database }, random }) {
      const { rows } = await database.run(SHARED_PLANS)
      const { id } = rows[random.below(rows.length)] ?? {}
      if (id !== undefined)
        await database.run(
          'set statement_timeout = 0',
          `select isolate_tenant_to_new_shard('messages', ${id}, 'CASCADE', 'block_writes')`,
        )
      return ENDED
    },
  },
  {
    name: 'shards-rebalanced',
    summary: 'every worker gets as many shards',
    excuses: LOST_ANSWERS,
    missing,
    holdMs: SHORT_MS,
    async begin({ bed: { database }, random }) {
      await database.run(
        `select citus_rebalance_start('by_shard_count', shard_transfer_mode => '${modeOf(random)}')`,
        'select citus_rebalance_wait()',
      )
      return ENDED
    },
  },
]

const SHARED_PLANS = `
  select p.id from service_plans p
  join pg_dist_shard s on s.shardid = get_shard_id_for_distribution_column('messages', p.id)
  where s.shardminvalue <> s.shardmaxvalue order by p.id`

/** While the records are written, or with their writes blocked. */
function modeOf(random: SeededRandom): string {
  return ['force_logical', 'block_writes'][random.below(2)]!
}

/** A standby that every COMMIT of the worker waits for. */
async function followedBy(worker: PostgresServer): Promise<PostgresServer> {
  const standby = await worker.standby()
  await worker.run(`alter system set synchronous_standby_names = '*'`, 'select pg_reload_conf()')
  const follows = await holdsWithin(FOLLOWS_MS, async () => {
    const { rowCount } = await worker.run(`select from pg_stat_replication where sync_state = 'sync'`)
    return rowCount === 1
  })
  if (!follows) throw new Error(`the standby of a worker did not follow within ${FOLLOWS_MS} ms`)
  return standby
}

/** As docs/many-nodes.md says it. */
async function replace(bed: Bed, worker: PostgresServer, standby: PostgresServer): Promise<void> {
  await standby.run('select pg_promote(true, 30)')
  await bed.database.run(`
    select citus_update_node(nodeid, '127.0.0.1', ${standby.port}, force => true, lock_cooldown => 1000)
    from pg_dist_node where nodeport = ${worker.port}`)
  bed.workers[bed.workers.indexOf(worker)] = standby
  bed.owns(standby)
}

async function moveShard({ database, workers }: Bed, random: SeededRandom): Promise<void> {
  const { rows } = await database.run(`
    select min(shardid) as shard, nodeport as port from citus_shards
    where table_name = 'messages'::regclass group by shardid, nodeport order by shardid`)
  const { shard, port } = rows[random.below(rows.length)]!
  const target = workers.find((worker) => worker.port !== port)!
  await database.run(`
    select citus_move_shard_placement(${shard}, '127.0.0.1', ${port}, '127.0.0.1', ${target.port},
      '${modeOf(random)}')`)
}
