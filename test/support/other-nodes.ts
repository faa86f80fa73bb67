import { afterEach } from 'vitest'
import type { AppOptions } from '../../src/app/options.ts'
import type { App } from '../../src/app/start.ts'
import { withTransaction } from '../../src/store/database.ts'
import { eventually, type Service } from './service.ts'

const FIRST = 'node-a'
const SECOND = 'node-b'
const BUCKETS = 256
const LEASE_ENDED = 'the lease of this node has ended'

export interface OtherNodes {
  /** Starts a node beside the first: `node-b` unless its options say otherwise. */
  start(options?: Partial<AppOptions>): Promise<App>
  /** Starts `node-b`. Resolves once it owns half of the buckets. */
  join(): Promise<App>
  /** Number of buckets by node name. */
  shares(): Promise<Record<string, number>>
  /** Ends the node's lease as if its machine had gone: its heartbeats are refused until `speak`. */
  silence(name: string): Promise<void>
  speak(): Promise<void>
}

/** Ends the other nodes after each test, and waits until the first has every bucket again, whatever became of it. */
export function otherNodes(service: () => Service): OtherNodes {
  const started: App[] = []
  const query = (sql: string, values: unknown[] = []) => service().db.query(sql, values)
  const shares: OtherNodes['shares'] = async () => {
    const { rows } = await query(
      'select n.name, count(*)::integer as count from buckets b join nodes n using (node_id) group by n.name',
    )
    return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
  }
  const speak = async () => void (await query('alter table nodes drop constraint if exists silence'))
  afterEach(async () => {
    await speak()
    await Promise.all(started.splice(0).map((node) => node.stop()))
    await eventually(async () => (await shares())[FIRST] === BUCKETS)
  })
  const start: OtherNodes['start'] = async (options) => {
    const node = await service().startNode({ nodeName: SECOND, ...options })
    started.push(node)
    return node
  }
  return {
    start,
    async join() {
      const node = await start()
      await eventually(async () => (await shares())[SECOND] === BUCKETS / 2)
      return node
    },
    shares,
    async silence(name) {
      await query(`alter table nodes add constraint silence check (name <> '${name}') not valid`)
      const from = service().logs.length
      await withTransaction(service().db, async (transaction) => {
        // Its buckets are nobody else's before it knows: what is gone takes nothing up any more.
        const own =
          'select from buckets where node_id = (select node_id from nodes where name = $1) for update'
        await transaction.query(own, [name])
        await query('delete from nodes where name = $1', [name])
        await eventually(() =>
          service()
            .logs.slice(from)
            .some((line) => line.includes(LEASE_ENDED)),
        )
      })
    },
    speak,
  }
}
