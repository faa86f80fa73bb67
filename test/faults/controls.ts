/**
 * Negative controls: runs in which messages are lost on purpose. A harness that misses these losses proves nothing.
 */
import { join } from 'node:path'
import { SeededRandom } from '../../bench/seeded-random.ts'
import { exercise } from './exercise.ts'
import { judge } from './judge.ts'
import { kindsNamed } from './kinds.ts'
import { type PostgresServer, signalAll } from './postgres-server.ts'
import { scheduleOf } from './schedule.ts'

const SECONDS = 8
const RATE = 100
const DELETED = 10
/** Lost messages never settle, so this limits the wait. */
const SETTLE_MS = 10_000

export interface Control {
  readonly name: string
  readonly lost: number
  readonly isReported: boolean
}

export async function runControls(
  folder: string,
  signal: AbortSignal,
  onProgress: (line: string) => void,
): Promise<Control[]> {
  const common = {
    nodes: 1,
    seconds: SECONDS,
    settleMs: SETTLE_MS,
    rate: RATE,
    hasStandby: false,
    offersPartsAtOnce: false,
    ending: signal,
    signal,
    onProgress,
  }
  const seeded = (seed: number) => ({ random: new SeededRandom(seed) })
  onProgress('control: commits that are not synced, and a killed server')
  const unsynced = await exercise({
    ...common,
    ...seeded(1),
    folder: join(folder, 'control-unsynced'),
    settings: ['wal_buffers = 16MB', 'bgwriter_lru_maxpages = 0'],
    prepare: ({ database }) => leaveUnsynced(database),
    schedule: scheduleOf(1, kindsNamed(['postgres-kill']), 1),
    maxFaults: 1,
  })
  onProgress('control: ten rows deleted')
  const deleted = await exercise({
    ...common,
    ...seeded(2),
    folder: join(folder, 'control-deleted'),
    schedule: [],
    maxFaults: 0,
    tamper: async ({ database }) => {
      await database.run(
        `delete from messages where msg_id in (select msg_id from messages order by msg_id limit ${DELETED})`,
      )
    },
  })
  const lostOf = (run: typeof deleted) => judge(run.ledgers).filter(({ rule }) => rule === 'lost').length
  return [
    { name: 'un-synced commits', lost: lostOf(unsynced), isReported: lostOf(unsynced) > 0 },
    { name: 'ten rows deleted', lost: lostOf(deleted), isReported: lostOf(deleted) === DELETED },
  ]
}

/**
 * From now on a COMMIT is answered before it is written, and the WAL buffers are lost with the server. The setting is changed
 * while the nodes run, because they would not start on such a server. When the server is back, a node records again what it has
 * in memory. So the loss shows only for messages that are done by then but still in the buffers: no node has them any more.
 */
async function leaveUnsynced(database: PostgresServer): Promise<void> {
  const { rows } = await database.run(
    'alter system set synchronous_commit = off',
    'select pg_reload_conf()',
    `select pid from pg_stat_activity where backend_type = 'walwriter'`,
  )
  signalAll(
    rows.map(({ pid }) => pid),
    'SIGSTOP',
  )
}
