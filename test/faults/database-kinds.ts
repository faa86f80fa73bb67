/** A PostgreSQL that dies, hangs, loses its clients, runs out of space, or is replaced by its standby. */
import { rmSync, statfsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type pg from 'pg'
import type { Bed } from './bed.ts'
import { nowMs, pause } from './clock.ts'
import type { Kind, Ongoing, Stage } from './kind.ts'
import { signalAll } from './postgres-server.ts'
import type { Relay } from './relay.ts'

/** Messages that had begun on a dead node are in doubt. */
const KNOWN = ['unknown-never-offered'] as const
const LOST_ANSWERS = { repeats: true } as const
const CRASH = { copies: true, repeats: true } as const
const SHORT_MS = [500, 4_000] as const
/** Longer than a lease. */
const AWAY_MS = [14_000, 20_000] as const
/** From when the database answers again. */
const TAKEN_OVER_MS = 16_000
const HANGING_MS = 1_000
const LOCK_MS = [5_000, 12_000] as const
/** Only this many octets stay free on the disk, too few for a segment of the WAL. */
const ROOM_OCTETS = 2 * 1024 * 1024

export const DATABASE_KINDS: readonly Kind[] = [
  {
    name: 'postgres-kill',
    summary: 'SIGKILL to every process of PostgreSQL',
    excuses: LOST_ANSWERS,
    holdMs: SHORT_MS,
    async begin({ bed }) {
      await bed.database.kill()
      return { end: () => bed.database.start() }
    },
  },
  {
    name: 'postgres-restart',
    summary: 'a fast shutdown and a new start',
    excuses: LOST_ANSWERS,
    holdMs: SHORT_MS,
    async begin({ bed }) {
      await bed.database.stop()
      return { end: () => bed.database.start() }
    },
  },
  {
    name: 'postgres-and-node-kill',
    summary: 'PostgreSQL and a node are killed at once',
    excuses: CRASH,
    known: KNOWN,
    holdMs: SHORT_MS,
    async begin({ bed, node }) {
      const startMs = nowMs()
      await Promise.all([bed.database.kill(), node.kill()])
      const end = async () => {
        await bed.database.start()
        await node.start()
      }
      return { startMs, killedNode: node.index, end }
    },
  },
  {
    name: 'backends-terminated',
    summary: 'every backend of the service is terminated, three times',
    excuses: LOST_ANSWERS,
    holdMs: [0, 500],
    async begin({ bed }) {
      for (let times = 0; times < 3; times += 1) {
        await terminateBackends(bed)
        await pause(300)
      }
      return { end: async () => undefined }
    },
  },
  {
    name: 'database-reset',
    summary: 'connections to PostgreSQL are reset, and new ones refused',
    excuses: LOST_ANSWERS,
    holdMs: SHORT_MS,
    async begin({ bed }) {
      bed.databaseRelays.refuse()
      return { end: async () => bed.databaseRelays.thaw() }
    },
  },
  {
    name: 'database-away',
    summary: 'connections to PostgreSQL are reset, and new ones refused, for longer than a lease',
    excuses: LOST_ANSWERS,
    holdMs: AWAY_MS,
    async begin({ bed }) {
      await partFromDatabase(bed.databaseRelays)
      return { end: async () => bed.databaseRelays.thaw() }
    },
  },
  {
    name: 'crash-while-away',
    summary: 'a node is killed that could not reach PostgreSQL for longer than a lease',
    excuses: CRASH,
    // A message may be answered 500 while the outcome of its COMMIT is unknown, and be forgotten with the node.
    known: [...KNOWN, 'sent-though-refused'],
    barsTakeover: true,
    holdMs: SHORT_MS,
    async begin({ bed, node }) {
      await partFromDatabase(bed.databaseRelays)
      await pause(AWAY_MS[0])
      const startMs = nowMs()
      await node.kill()
      return {
        startMs,
        killedNode: node.index,
        async end() {
          bed.databaseRelays.thaw()
          await node.start()
        },
      }
    },
  },
  {
    name: 'database-black-hole',
    summary: 'nothing comes through to PostgreSQL, and nobody is told; then everything is reset',
    excuses: CRASH,
    known: KNOWN,
    holdMs: [2_000, 14_000],
    async begin({ bed }) {
      bed.databaseRelays.freeze()
      return {
        async end() {
          bed.databaseRelays.reset()
          bed.databaseRelays.thaw()
        },
      }
    },
  },
  {
    name: 'database-stalled',
    summary: 'PostgreSQL stands still (SIGSTOP) for less than a lease',
    excuses: LOST_ANSWERS,
    holdMs: [2_000, 8_000],
    begin: stalled,
  },
  {
    name: 'table-locked',
    summary: 'one of the busiest tables is locked',
    excuses: CRASH,
    known: KNOWN,
    holdMs: LOCK_MS,
    begin: locked,
  },
  {
    name: 'table-locked-long',
    summary: 'one of the busiest tables is locked for a minute',
    excuses: CRASH,
    known: KNOWN,
    holdMs: [60_000, 60_000],
    begin: locked,
  },
  {
    name: 'crash-in-stall',
    summary: 'a node is killed while PostgreSQL stands still',
    excuses: CRASH,
    known: KNOWN,
    barsTakeover: true,
    holdMs: [2_000, 8_000],
    begin: (stage) => crashedInStall(stage, 0),
  },
  {
    name: 'stall-taken-over',
    summary: 'as crash-in-stall, and the node stays down until the others have its work',
    excuses: CRASH,
    known: KNOWN,
    barsTakeover: true,
    holdMs: [2_000, 8_000],
    minNodes: 2,
    begin: (stage) => crashedInStall(stage, TAKEN_OVER_MS),
  },
  {
    name: 'connections-exhausted',
    summary: 'others have every connection that PostgreSQL gives',
    excuses: CRASH,
    known: KNOWN,
    holdMs: [3_000, 8_000],
    async begin({ bed }) {
      const taken: pg.Client[] = []
      // Takes the service's connections as they become free.
      await takeAll(bed, taken)
      await terminateBackends(bed, taken[0]!)
      await takeAll(bed, taken)
      return { end: () => Promise.all(taken.map((client) => client.end())) }
    },
  },
  {
    name: 'disk-full',
    summary: 'the disk of PostgreSQL is full',
    excuses: CRASH,
    known: [...KNOWN, 'slow-to-accept'],
    holdMs: [3_000, 8_000],
    needsSmallDisk: true,
    async begin({ bed }) {
      const ballast = await fillDisk(bed)
      return {
        async end() {
          rmSync(ballast)
          // Without space for the WAL the server may have ended, and so may the standby, which COMMITs wait for.
          for (const server of [bed.database, bed.standby]) {
            await server?.stop()
            await server?.start()
          }
        },
      }
    },
  },
  {
    name: 'standby-promoted',
    summary: 'the primary dies, and its synchronous standby takes its address',
    excuses: CRASH,
    known: KNOWN,
    holdMs: [500, 3_000],
    needsStandby: true,
    async begin({ bed }) {
      await bed.database.kill()
      return { end: () => promoteStandby(bed) }
    },
  },
  {
    name: 'standby-behind',
    summary: 'the primary dies twice, and its standby takes its address before it has followed it again',
    excuses: CRASH,
    known: KNOWN,
    // A standby tries to reach its primary every 5 s.
    holdMs: [500, 3_000],
    needsStandby: true,
    async begin({ bed }) {
      await bed.database.kill()
      await bed.database.start()
      return {
        async end() {
          await bed.database.kill()
          await promoteStandby(bed)
        },
      }
    },
  },
  {
    name: 'standby-stalled',
    summary: 'the standby that every COMMIT waits for stands still',
    excuses: CRASH,
    known: KNOWN,
    holdMs: [3_000, 14_000],
    needsStandby: true,
    async begin({ bed }) {
      const { pids } = bed.standby!
      signalAll(pids, 'SIGSTOP')
      return { end: async () => signalAll(pids, 'SIGCONT') }
    },
  },
]

async function crashedInStall(stage: Stage, downMs: number): Promise<Ongoing> {
  const { end } = await stalled(stage)
  await pause(2_000)
  const startMs = nowMs()
  await stage.node.kill()
  return {
    startMs,
    killedNode: stage.node.index,
    async end() {
      await end()
      await pause(downMs)
      await stage.node.start()
    },
  }
}

/** Promotes the standby in place of the dead primary, and gives it a standby of its own. */
async function promoteStandby(bed: Bed): Promise<void> {
  const old = bed.database
  const standby = bed.standby!
  await standby.run('select pg_promote(true, 30)')
  bed.database = standby
  bed.standby = null
  bed.databaseRelays.leadTo(standby.port)
  bed.databaseRelays.reset()
  await old.dispose()
  await bed.addStandby()
}

/** Statements hang, while carriers go on answering; then every connection is refused. */
export async function partFromDatabase(relay: Pick<Relay, 'freeze' | 'refuse'>): Promise<void> {
  relay.freeze()
  await pause(HANGING_MS)
  relay.refuse()
}

async function stalled({ bed }: Stage): Promise<Ongoing> {
  const { pids } = bed.database
  signalAll(pids, 'SIGSTOP')
  // Includes backends that were starting while the others were stopped.
  return { end: async () => signalAll([...new Set([...pids, ...bed.database.pids])], 'SIGCONT') }
}

/** Locks one of the six tables with the most writes. */
async function locked({ bed, random }: Stage): Promise<Ongoing> {
  const client = await bed.database.connect()
  const { rows } = await client.query<{ name: string }>(`
    select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables
    where n_tup_ins > 0 order by n_tup_ins + n_tup_upd + n_tup_del desc limit 6`)
  const table = random.pick(rows).name
  await client.query('begin')
  await client.query(`lock table ${table} in access exclusive mode`)
  return {
    async end() {
      await client.query('rollback')
      await client.end()
    },
  }
}

async function terminateBackends(bed: Bed, client?: pg.Client): Promise<void> {
  const statement = `
    select pg_terminate_backend(pid) from pg_stat_activity
    where backend_type = 'client backend' and application_name <> 'faults'`
  if (client === undefined) await bed.database.run(statement)
  else await client.query(statement)
}

async function takeAll(bed: Bed, taken: pg.Client[]): Promise<void> {
  for (;;)
    try {
      taken.push(await bed.database.connect())
    } catch {
      return
    }
}

async function fillDisk({ database }: Bed): Promise<string> {
  const path = join(dirname(database.cluster.path), 'ballast')
  const { bavail, bsize } = statfsSync(dirname(path))
  const file = await open(path, 'w')
  const block = Buffer.alloc(1024 * 1024)
  try {
    for (let left = bavail * bsize - ROOM_OCTETS; left > 0; left -= block.length) await file.write(block)
  } catch {
    // There was no space for the last block.
  } finally {
    await file.close()
  }
  return path
}
