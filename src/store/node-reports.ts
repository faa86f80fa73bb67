import type { LivingNode } from '../domain/nodes.ts'
import type { Queryable } from './database.ts'
import { LEASE_MS } from './nodes.ts'

/** Replaces the report of a living node, and removes those of dead ones. `report`: JSON, NodeReport. */
export async function publishReport(db: Queryable, nodeId: number, report: string): Promise<void> {
  await db.query({
    name: 'publish_report',
    text: `
      with dead as (
        delete from node_reports where node_id not in (select node_id from nodes)
      )
      insert into node_reports (node_id, reported_at, report)
      select node_id, now(), $2 from nodes where node_id = $1
      on conflict (node_id) do update set reported_at = excluded.reported_at, report = excluded.report`,
    values: [nodeId, report],
  })
}

/** The nodes whose lease is not over, by name. */
export async function listNodes(db: Queryable): Promise<LivingNode[]> {
  const { rows } = await db.query<LivingNode>({
    text: `
      select n.node_id as "nodeId", n.name, n.role, n.started_at as since,
        n.expires_at - $1 * interval '1 ms' as "lastHeartbeatAt", n.expires_at as "leaseEndsAt",
        (select count(*)::integer from buckets b where b.node_id = n.node_id) as buckets,
        (select count(*)::integer from carrier_binds b join carriers c on c.id = b.carrier_id
         where b.node_id = n.node_id and b.bind < c.binds and c.state <> 'stopped') as binds,
        round(extract(epoch from clock_timestamp() - r.reported_at) * 1000)::double precision as "reportAgeMs",
        r.report
      from nodes n left join node_reports r using (node_id)
      where n.expires_at >= now() order by n.name`,
    values: [LEASE_MS],
  })
  return rows
}
