import type { CarrierBind } from '../domain/carriers/binds.ts'
import { SANDBOX } from '../domain/sandbox.ts'
import type { Queryable } from './database.ts'

/**
 * Every bind that should be made, and the living nodes that make binds, in one snapshot. Without those of the sandbox, since each node binds to
 * its own simulator.
 */
export async function readBinds(db: Queryable): Promise<{ binds: CarrierBind[]; nodes: number[] }> {
  const { rows } = await db.query<{ binds: CarrierBind[]; nodes: number[] }>(
    `
    select (select coalesce(array_agg(node_id), '{}') from nodes where role in ('all', 'carrier')) as nodes,
      (select coalesce(json_agg(json_build_object('carrierId', c.id, 'bind', n, 'nodeId', b.node_id)), '[]')
       from carriers c cross join generate_series(0, c.binds - 1) n
       left join carrier_binds b on b.carrier_id = c.id and b.bind = n
       where c.state <> 'stopped' and c.name <> $1) as binds`,
    [SANDBOX],
  )
  return rows[0]!
}

/**
 * Takes free binds and returns those taken. Each is taken only from the node it was read with. Node ids are never used
 * again, so a bind of a node that was dead then cannot belong to a living one now. Binds of a carrier that is gone are
 * left out.
 */
export async function takeBinds(
  db: Queryable,
  nodeId: number,
  binds: readonly CarrierBind[],
): Promise<{ carrierId: number; bind: number }[]> {
  const { rows } = await db.query<{ carrierId: number; bind: number }>({
    text: `
      with free as (
        select * from json_to_recordset($2) as f ("carrierId" integer, bind smallint, "nodeId" integer)
      ), inherited as (
        update carrier_binds b set node_id = $1 from free f
        where b.carrier_id = f."carrierId" and b.bind = f.bind and b.node_id = f."nodeId"
        returning b.carrier_id, b.bind
      ), first as (
        insert into carrier_binds (carrier_id, bind, node_id)
        select c.id, f.bind, $1 from free f join carriers c on c.id = f."carrierId" where f."nodeId" is null
        on conflict do nothing returning carrier_id, bind
      )
      select carrier_id as "carrierId", bind from inherited
      union all select carrier_id, bind from first`,
    values: [nodeId, JSON.stringify(binds)],
  })
  return rows
}

/** Gives a bind up, so that another node may take it. Its sessions must have ended. */
export async function releaseBind(
  db: Queryable,
  nodeId: number,
  { carrierId, bind }: { carrierId: number; bind: number },
): Promise<void> {
  await db.query({
    text: 'delete from carrier_binds where node_id = $1 and carrier_id = $2 and bind = $3',
    values: [nodeId, carrierId, bind],
  })
}
