/** Faults between the COMMIT of a message's facts and the writing of its record, and while a lane is taken over. */
import type pg from 'pg'
import { holdsWithin, nowMs } from './clock.ts'
import { partFromDatabase } from './database-kinds.ts'
import type { Kind, Ongoing, Stage } from './kind.ts'

const CRASH = { copies: true, repeats: true } as const
/** Messages that had begun on a dead node are in doubt. */
const KNOWN = ['unknown-never-offered'] as const
const SHORT_MS = [100, 3_000] as const
/** Longer than a lease. */
const TAKEN_OVER_MS = [16_000, 20_000] as const
const LOCK_MS = [5_000, 12_000] as const
const WAITER_MS = 5_000

/** Readers go on; writers wait. */
const WRITES = 'share'
const EVERYTHING = 'access exclusive'

export const JOURNAL_KINDS: readonly Kind[] = [
  {
    name: 'kill-at-append',
    summary: 'a node is killed while the database is about to commit its facts, which it does afterwards',
    ...crash(SHORT_MS),
    begin: (stage) => killedAtWrite(stage, 'journal'),
  },
  {
    name: 'kill-at-projection',
    summary: 'a node is killed while its messages are written into the records',
    ...crash(SHORT_MS),
    begin: (stage) => killedAtWrite(stage, 'messages'),
  },
  {
    name: 'takeover-at-append',
    summary: 'as kill-at-append, and the facts of the dead node are committed as its lane is taken over',
    ...crash(TAKEN_OVER_MS),
    barsTakeover: true,
    minNodes: 2,
    begin: (stage) => killedAtWrite(stage, 'journal'),
  },
  {
    name: 'takeover-at-projection',
    summary: 'as kill-at-projection, and the statements of the dead node end as its lane is taken over',
    ...crash(TAKEN_OVER_MS),
    barsTakeover: true,
    minNodes: 2,
    begin: (stage) => killedAtWrite(stage, 'messages'),
  },
  {
    name: 'stop-at-projection',
    summary: 'a node stands still for longer than its lease just before it commits records, and wakes',
    ...crash(TAKEN_OVER_MS),
    minNodes: 2,
    async begin({ bed, node }) {
      const client = await lock(bed.database, 'messages', WRITES)
      await untilWaitedFor(client, 'messages', bed.nodes.length)
      const startMs = nowMs()
      node.signal('SIGSTOP')
      await unlock(client)
      return { startMs, killedNode: node.index, end: async () => node.signal('SIGCONT') }
    },
  },
  {
    name: 'node-cut-off',
    summary: 'one node cannot reach PostgreSQL for longer than its lease, and lives on',
    ...crash(TAKEN_OVER_MS),
    minNodes: 2,
    async begin({ bed, node }) {
      const relay = bed.databaseRelays.ofNodes[node.index]!
      const startMs = nowMs()
      await partFromDatabase(relay)
      return { startMs, killedNode: node.index, end: async () => relay.thaw() }
    },
  },
  {
    name: 'journal-locked',
    summary: 'the journal is locked',
    ...crash(LOCK_MS),
    begin: (stage) => locked(stage, 'journal', EVERYTHING),
  },
  {
    name: 'lanes-locked',
    summary: 'the lanes of the journal are locked',
    ...crash(LOCK_MS),
    begin: (stage) => locked(stage, 'lanes', EVERYTHING),
  },
  {
    name: 'projection-stalled',
    summary: 'no records can be written, while they are read and the journal goes on',
    ...crash(LOCK_MS),
    begin: (stage) => locked(stage, 'messages', WRITES),
  },
]

function crash(holdMs: Kind['holdMs']): Pick<Kind, 'excuses' | 'known' | 'holdMs'> {
  return { excuses: CRASH, known: KNOWN, holdMs }
}

async function locked({ bed }: Stage, table: string, mode: string): Promise<Ongoing> {
  const client = await lock(bed.database, table, mode)
  return { end: () => unlock(client) }
}

/** Every node is about to write into the table when one of them dies; then the statements continue. */
async function killedAtWrite({ bed, node }: Stage, table: string): Promise<Ongoing> {
  const client = await lock(bed.database, table, WRITES)
  await untilWaitedFor(client, table, bed.nodes.length)
  const startMs = nowMs()
  await node.kill()
  return {
    startMs,
    killedNode: node.index,
    async end() {
      await unlock(client)
      await node.start()
    },
  }
}

async function lock(database: Stage['bed']['database'], table: string, mode: string): Promise<pg.Client> {
  const client = await database.connect()
  await client.query('begin')
  await client.query(`lock table ${table} in ${mode} mode`)
  return client
}

async function untilWaitedFor(client: pg.Client, table: string, statements: number): Promise<void> {
  await holdsWithin(WAITER_MS, async () => {
    const { rows } = await client.query<{ count: number }>(
      'select count(*)::integer as count from pg_locks where relation = $1::regclass and not granted',
      [table],
    )
    return rows[0]!.count >= statements
  })
}

async function unlock(client: pg.Client): Promise<void> {
  await client.query('rollback')
  await client.end()
}
