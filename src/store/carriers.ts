import type { IdRule } from '../domain/carrier-message-ids.ts'
import type { Carrier } from '../domain/configuration.ts'
import type { RefusedOutcome } from '../domain/settings.ts'
import type { Queryable } from './database.ts'

/** What an operator may set; the password goes beside it. */
export interface CarrierSettings
  extends Omit<Carrier, 'id' | 'password' | 'submitOutcomes' | 'learnedIdRule'> {
  /** By command_status in decimal. */
  readonly submitOutcomes: Readonly<Record<string, RefusedOutcome>>
}

export interface CarrierRecord extends CarrierSettings {
  readonly carrierId: number
  readonly learnedIdRule: IdRule | null
  /** Which living node has which bind. */
  readonly leases: readonly { bind: number; node: string }[]
  readonly createdAt: Date
}

const COLUMNS = `id as "carrierId", name, state, host, port, tls, tls_ca as "tlsCa",
  tls_server_name as "tlsServerName", bind_mode as "bindMode", binds, system_id as "systemId",
  system_type as "systemType", send_window as "window", messages_per_second as "messagesPerSecond",
  sender_messages_per_second as "senderMessagesPerSecond", long_messages as "longMessages",
  submit_outcomes as "submitOutcomes", id_rule as "idRule", learned_id_rule as "learnedIdRule",
  validity_seconds as "validitySeconds", validity_format as "validityFormat", created_at as "createdAt", coalesce((
    select json_agg(json_build_object('bind', b.bind, 'node', n.name) order by b.bind)
    from carrier_binds b join nodes n on n.node_id = b.node_id
    where b.carrier_id = carriers.id and b.bind < carriers.binds and carriers.state <> 'stopped'), '[]') as leases`

/** A number for a carrier to come: its password is sealed for that number before the row is written. */
export async function reserveCarrierId(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `select nextval(pg_get_serial_sequence('carriers', 'id'))::integer as id`,
  )
  return rows[0]!.id
}

/** `password` sealed. A taken name is a unique violation. */
export async function insertCarrier(
  db: Queryable,
  carrierId: number,
  carrier: CarrierSettings,
  password: string,
): Promise<CarrierRecord> {
  const { rows } = await db.query<CarrierRecord>(
    `insert into carriers (id, name, state, host, port, tls, tls_ca, tls_server_name, bind_mode, binds, system_id,
       system_type, send_window, messages_per_second, sender_messages_per_second, long_messages, submit_outcomes,
       id_rule, validity_seconds, validity_format, password)
     overriding system value
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
     returning ${COLUMNS}`,
    [carrierId, ...values(carrier), password],
  )
  return rows[0]!
}

/**
 * By name, or by number in decimal: a name begins with a letter. `lock`: holds the row against other writers until the
 * transaction ends.
 */
export async function findCarrier(
  db: Queryable,
  nameOrId: string,
  lock: '' | 'for update' = '',
): Promise<CarrierRecord | undefined> {
  const { rows } = await db.query<CarrierRecord>(
    `select ${COLUMNS} from carriers where name = $1 or id::text = $1 ${lock}`,
    [nameOrId],
  )
  return rows[0]
}

/** By name, from the one behind `after`. */
export async function listCarriers(
  db: Queryable,
  page: { after: string; limit: number },
): Promise<CarrierRecord[]> {
  const { rows } = await db.query<CarrierRecord>(
    `select ${COLUMNS} from carriers where name > $1 order by name limit $2`,
    [page.after, page.limit],
  )
  return rows
}

/** `password` sealed; null keeps the one there is. */
export async function updateCarrier(
  db: Queryable,
  carrierId: number,
  carrier: CarrierSettings,
  password: string | null,
  learnedIdRule: IdRule | null,
): Promise<CarrierRecord> {
  const { rows } = await db.query<CarrierRecord>(
    `update carriers set name = $2, state = $3, host = $4, port = $5, tls = $6, tls_ca = $7, tls_server_name = $8,
       bind_mode = $9, binds = $10, system_id = $11, system_type = $12, send_window = $13, messages_per_second = $14,
       sender_messages_per_second = $15, long_messages = $16, submit_outcomes = $17, id_rule = $18,
       validity_seconds = $19, validity_format = $20, password = coalesce($21, password), learned_id_rule = $22
     where id = $1 returning ${COLUMNS}`,
    [carrierId, ...values(carrier), password, learnedIdRule],
  )
  return rows[0]!
}

/** Stops every carrier, and returns the names of those that were not stopped. */
export async function stopCarriers(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `update carriers set state = 'stopped' where state <> 'stopped' returning name`,
  )
  return rows.map(({ name }) => name).sort()
}

/** False when there is none; a route that uses it is a foreign-key violation. */
export async function deleteCarrier(db: Queryable, nameOrId: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from carriers where name = $1 or id::text = $1', [nameOrId])
  return rowCount === 1
}

function values(carrier: CarrierSettings): unknown[] {
  return [
    carrier.name,
    carrier.state,
    carrier.host,
    carrier.port,
    carrier.tls,
    carrier.tlsCa,
    carrier.tlsServerName,
    carrier.bindMode,
    carrier.binds,
    carrier.systemId,
    carrier.systemType,
    carrier.window,
    carrier.messagesPerSecond,
    carrier.senderMessagesPerSecond,
    carrier.longMessages,
    JSON.stringify(carrier.submitOutcomes),
    carrier.idRule,
    carrier.validitySeconds,
    carrier.validityFormat,
  ]
}

/** Stores the rule that id rule `auto` has learned. False when one is there already, or the operator has set another. */
export async function learnIdRule(db: Queryable, carrierId: number, rule: IdRule): Promise<boolean> {
  const { rowCount } = await db.query(
    `update carriers set learned_id_rule = $2 where id = $1 and id_rule = 'auto' and learned_id_rule is null`,
    [carrierId, rule],
  )
  return rowCount === 1
}
