import type { CarrierBind } from '../domain/carriers/binds.ts'
import type { IdRule } from '../domain/carriers/message-ids.ts'
import type { ErrorOutcome } from '../domain/carriers/statuses.ts'
import type { Carrier } from '../domain/configuration/configuration.ts'
import { SANDBOX } from '../domain/sandbox.ts'
import { ConfigurationTable } from './configuration-table.ts'
import type { Queryable } from './database.ts'

/** Settings that an operator may change; the password is passed separately. */
export interface CarrierSettings
  extends Omit<Carrier, 'id' | 'password' | 'submitOutcomes' | 'learnedIdRule'> {
  /** By command_status in decimal. */
  readonly submitOutcomes: Readonly<Record<string, ErrorOutcome>>
}

/** Settings that every carrier must have; the columns of the others have defaults. */
export type NewCarrier = Pick<CarrierSettings, 'name' | 'host' | 'systemId'> & Partial<CarrierSettings>

export interface CarrierRecord extends CarrierSettings {
  readonly carrierId: number
  readonly learnedIdRule: IdRule | null
  /** Which living node has which bind. */
  readonly leases: readonly { bind: number; node: string }[]
  readonly createdAt: Date
}

/** `password` is sealed. A key is a name, or a number in decimal: names begin with a letter. */
export const carriers = new ConfigurationTable<
  CarrierRecord,
  NewCarrier & { carrierId: number; password: string; learnedIdRule?: IdRule | null }
>({
  noun: 'carrier',
  table: 'carriers',
  reads: {
    leases: `coalesce((
      select json_agg(json_build_object('bind', b.bind, 'node', n.name) order by b.bind)
      from carrier_binds b join nodes n on n.node_id = b.node_id
      where b.carrier_id = t.id and b.bind < t.binds and t.state <> 'stopped'), '[]')`,
  },
  key: 'name',
  named: '(t.name = $1 or t.id::text = $1)',
  columns: {
    carrierId: 'id',
    name: 'name',
    state: 'state',
    host: 'host',
    port: 'port',
    tls: 'tls',
    tlsCa: 'tls_ca',
    tlsServerName: 'tls_server_name',
    bindMode: 'bind_mode',
    binds: 'binds',
    systemId: 'system_id',
    systemType: 'system_type',
    window: 'send_window',
    messagesPerSecond: 'messages_per_second',
    senderMessagesPerSecond: 'sender_messages_per_second',
    longMessages: 'long_messages',
    submitOutcomes: 'submit_outcomes',
    idRule: 'id_rule',
    learnedIdRule: 'learned_id_rule',
    validitySeconds: 'validity_seconds',
    validityFormat: 'validity_format',
    password: 'password',
  },
  hidden: ['password'],
})

/** Reserves the numbers of new carriers: a password is sealed for the number before the row is written. */
export async function reserveCarrierIds(db: Queryable, count: number): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `select nextval(pg_get_serial_sequence('carriers', 'id'))::integer as id from generate_series(1, $1)`,
    [count],
  )
  return rows.map(({ id }) => id)
}

/** Sealed passwords by the name of their carrier. */
export async function findCarrierPasswords(db: Queryable): Promise<Map<string, string>> {
  const { rows } = await db.query<{ name: string; password: string }>('select name, password from carriers')
  return new Map(rows.map(({ name, password }) => [name, password]))
}

/** Stops every carrier, and returns the names of those that were not stopped. */
export async function stopCarriers(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `update carriers set state = 'stopped' where state <> 'stopped' returning name`,
  )
  return rows.map(({ name }) => name).sort()
}

/** Stores the rule that id rule `auto` has learned. False when there is one already, or the operator has set another. */
export async function learnIdRule(db: Queryable, carrierId: number, rule: IdRule): Promise<boolean> {
  const { rowCount } = await db.query(
    `update carriers set learned_id_rule = $2 where id = $1 and id_rule = 'auto' and learned_id_rule is null`,
    [carrierId, rule],
  )
  return rowCount === 1
}

/**
 * Every bind that should be made, and the living nodes that make binds, in one snapshot. Without those of the sandbox, since each node binds to
 * its own simulator.
 */
export async function readBinds(db: Queryable): Promise<{ binds: CarrierBind[]; nodes: number[] }> {
  const { rows } = await db.query<{ binds: CarrierBind[]; nodes: number[] }>({
    name: 'read_binds',
    text: `
    select (select coalesce(array_agg(node_id), '{}') from nodes where role in ('all', 'carrier')) as nodes,
      (select coalesce(json_agg(json_build_object('carrierId', c.id, 'bind', n, 'nodeId', b.node_id)), '[]')
       from carriers c cross join generate_series(0, c.binds - 1) n
       left join carrier_binds b on b.carrier_id = c.id and b.bind = n
       where c.state <> 'stopped' and c.name <> $1) as binds`,
    values: [SANDBOX],
  })
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
