import { parseArgs } from 'node:util'
import { assignBinds } from '../src/domain/carriers/binds.ts'
import { bestConditions } from '../src/domain/routing/routing.ts'
import { createLog } from '../src/log.ts'
import { LaneFollower } from '../src/services/journal/lane-follower.ts'
import { readBinds, takeBinds } from '../src/store/carriers.ts'
import type { Database } from '../src/store/database.ts'
import { openDatabase } from '../src/store/database-pool.ts'
import { readDirectory } from '../src/store/directory.ts'
import { readLanes } from '../src/store/followed-lanes.ts'
import { appendEntry, openLane } from '../src/store/journal.ts'
import { migrate } from '../src/store/migrate.ts'
import { heartbeat, publishConditions, readOtherNodes, registerNode } from '../src/store/nodes.ts'
import { findNewParkedReceipts } from '../src/store/parked-receipts.ts'
import { startEmbedded } from './aldis/run-database.ts'
import { processCpuMs } from './cpu-times.ts'
import { entryOf } from './lane-facts.ts'
import { Rig } from './rig.ts'

/**
 * `npm run node-polls`: the CPU of what every node asks the database all the time, with many nodes and carriers. The nodes are
 * rows only. bench/simulate-scale.ts takes these figures.
 */

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '3,30,100' },
    carriers: { type: 'string', default: '1000' },
    binds: { type: 'string', default: '2' },
  },
})
const CALLS = 150
/** Service plans of the installation, each with an account. */
const PLANS = 10_000
const LEASE_MS = 3_600_000
const PARKED = 1_000
/** A lane that is read from its beginning, as at the full rate. */
const ENTRIES = 50
const MESSAGES_OF_ENTRY = 36
const log = createLog('warn')
const BOUNDS = { entries: 256, octets: 65_536 }

const rig = new Rig(null)
try {
  const database = await startEmbedded({ dataDir: rig.folder, explain: false, log: () => undefined })
  rig.resources.defer(() => database.stop())
  await migrate({ connectionString: database.url })
  const db = openDatabase({ connectionString: database.url, poolSize: 1 })
  rig.resources.defer(() => db.end())
  await measure(db)
} finally {
  await rig.close()
}

async function measure(db: Database): Promise<void> {
  const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid')
  const backend = rows[0]!.pid
  await db.query(
    `insert into carriers (name, host, system_id, password, binds)
     select 'carrier ' || n, 'localhost', 'aldis', 'x', $2 from generate_series(1, $1::integer) n`,
    [values.carriers, values.binds],
  )
  await db.query(
    `with a as (
       insert into accounts (account_id, name, webhook_secret)
       select lpad(n::text, 24, '0'), 'account', 'x' from generate_series(1, $1::integer) n returning id, account_id
     )
     insert into service_plans (service_plan_id, account_id, name) select account_id, id, 'plan' from a`,
    [PLANS],
  )
  const nodeIds: number[] = []
  for (const count of values.nodes.split(',').map(Number)) {
    while (nodeIds.length < count) nodeIds.push(await addNode(db, nodeIds.length))
    await shareBinds(db, nodeIds)
    await db.query('vacuum analyze')
    process.stdout.write(`${count} nodes, CPU of a call in ms, PostgreSQL + Node:\n`)
    for (const [what, call] of Object.entries(callsOf(db, nodeIds)))
      await time(what, backend, what === 'directory' ? CALLS / 10 : CALLS, call)
  }
  await writeLane(db)
  const follow = () => new LaneFollower({ db, ownLane: () => null, log }).catchUp()
  await time(`a lane with ${ENTRIES * MESSAGES_OF_ENTRY} new messages`, backend, CALLS / 10, follow)
}

async function time(
  what: string,
  backend: number,
  times: number,
  call: () => Promise<unknown>,
): Promise<void> {
  for (let n = 0; n < times / 10; n += 1) await call()
  const [postgres, node] = [processCpuMs(backend), process.cpuUsage()]
  for (let n = 0; n < times; n += 1) await call()
  const { user, system } = process.cpuUsage(node)
  const each = (ms: number) => (ms / times).toFixed(3)
  const text = `${each(processCpuMs(backend) - postgres)} + ${each((user + system) / 1_000)}`
  process.stdout.write(`  ${what}: ${text}\n`)
}

async function writeLane(db: Database): Promise<void> {
  const lane = await openLane(db, 0)
  for (let n = 1; n <= ENTRIES; n += 1) await appendEntry(db, lane, n, entryOf(MESSAGES_OF_ENTRY))
}

async function addNode(db: Database, nth: number): Promise<number> {
  const nodeId = await registerNode(db, `node-${nth}`, { leaseMs: LEASE_MS })
  await db.query('insert into lanes (node_id) values ($1)', [nodeId])
  return nodeId
}

/** Each node takes its binds and says that it can submit to their carriers. */
async function shareBinds(db: Database, nodeIds: readonly number[]): Promise<void> {
  await db.query('truncate carrier_binds')
  const { binds, nodes } = await readBinds(db)
  const shares = assignBinds(binds, nodes)
  for (const nodeId of nodeIds) {
    const own = shares.filter((share) => share.nodeId === nodeId)
    await takeBinds(
      db,
      nodeId,
      own.map(({ carrierId, bind }) => ({ carrierId, bind, nodeId: null })),
    )
    const conditions = Object.fromEntries(own.map(({ carrierId }) => [carrierId, 'usable']))
    await publishConditions(db, nodeId, JSON.stringify(conditions))
  }
}

/** The calls of one node, by name. */
function callsOf(db: Database, nodeIds: readonly number[]): Record<string, () => Promise<unknown>> {
  const nodeId = nodeIds[0]!
  const now = new Date(Date.now() - 1_000).toISOString()
  const lanes = nodeIds.map((_, index) => ({ lane: index + 1, n: 0 }))
  return {
    heartbeat: () => heartbeat(db, { nodeId, name: 'node-0', mayRemove: true, leaseMs: LEASE_MS }),
    binds: async () => {
      const { binds, nodes } = await readBinds(db)
      assignBinds(binds, nodes)
    },
    conditions: async () => {
      const { others } = await readOtherNodes(db, { nodeId, leftMs: 3_000, carriers: [1, 2] })
      bestConditions(others)
    },
    directory: () => readDirectory(db, (sealed) => sealed, null),
    'lanes without news': () => readLanes(db, lanes, 1, BOUNDS),
    'no parked receipt': () =>
      findNewParkedReceipts(db, { parkedAt: new Date().toISOString(), parkedId: 0 }, PARKED),
    [`${PARKED} parked receipts`]: async () => {
      if ((await findNewParkedReceipts(db, { parkedAt: now, parkedId: 0 }, PARKED)).length < PARKED)
        await park(db)
    },
  }
}

async function park(db: Database): Promise<void> {
  await db.query(
    `insert into parked_receipts (carrier_id, carrier_message_id, outcome, error_code, received_at, msg_id, receipt)
     select 1, md5(n::text), 'DELIVERED', '000', now(), gen_random_uuid(), '{"text": "id:1 stat:DELIVRD"}'
     from generate_series(1, $1::integer) n`,
    [PARKED],
  )
}
