import type { IdRule } from '../domain/carriers/message-ids.ts'
import type { Carrier, RefusedOutcome } from '../domain/configuration/configuration.ts'
import { ConfigurationTable } from './configuration-table.ts'
import type { Queryable } from './database.ts'

/** Settings that an operator may change; the password is passed separately. */
export interface CarrierSettings
  extends Omit<Carrier, 'id' | 'password' | 'submitOutcomes' | 'learnedIdRule'> {
  /** By command_status in decimal. */
  readonly submitOutcomes: Readonly<Record<string, RefusedOutcome>>
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
  select: `t.id as "carrierId", t.name, t.state, t.host, t.port, t.tls, t.tls_ca as "tlsCa",
    t.tls_server_name as "tlsServerName", t.bind_mode as "bindMode", t.binds, t.system_id as "systemId",
    t.system_type as "systemType", t.send_window as "window", t.messages_per_second as "messagesPerSecond",
    t.sender_messages_per_second as "senderMessagesPerSecond", t.long_messages as "longMessages",
    t.submit_outcomes as "submitOutcomes", t.id_rule as "idRule", t.learned_id_rule as "learnedIdRule",
    t.validity_seconds as "validitySeconds", t.validity_format as "validityFormat", t.created_at as "createdAt",
    coalesce((
      select json_agg(json_build_object('bind', b.bind, 'node', n.name) order by b.bind)
      from carrier_binds b join nodes n on n.node_id = b.node_id
      where b.carrier_id = t.id and b.bind < t.binds and t.state <> 'stopped'), '[]') as leases`,
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
