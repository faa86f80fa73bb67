import type { SendsmsUser } from '../domain/configuration/configuration.ts'
import { ConfigurationTable } from './configuration-table.ts'
import type { Queryable } from './database.ts'

export interface SendsmsUserRecord extends Omit<SendsmsUser, 'plan' | 'passwordHash'> {
  readonly servicePlanId: string
  readonly createdAt: Date
}

interface SendsmsUserColumns extends Omit<SendsmsUserRecord, 'servicePlanId' | 'createdAt'> {
  readonly planId: number
  /** As `hashPassword` writes it. */
  readonly password: string
}

export type NewSendsmsUser = Pick<SendsmsUserColumns, 'username' | 'planId' | 'password'> &
  Partial<SendsmsUserColumns>

/** Rows without the hashes of their passwords. */
export const sendsmsUsers = new ConfigurationTable<SendsmsUserRecord, NewSendsmsUser>({
  noun: 'sendsms user',
  table: 'sendsms_users',
  reads: { servicePlanId: 'p.service_plan_id' },
  joins: 'join service_plans p on p.id = t.plan_id',
  key: 'username',
  columns: {
    username: 'username',
    planId: 'plan_id',
    password: 'password_hash',
    defaultSender: 'default_sender',
    forcedSender: 'forced_sender',
    callingCode: 'calling_code',
    dlrUrl: 'dlr_url',
  },
  hidden: ['planId', 'password'],
  filters: { servicePlanId: 'p.service_plan_id = lower(?)' },
})

/** The stored hashes of passwords, by username. */
export async function findSendsmsPasswords(db: Queryable): Promise<Map<string, string>> {
  const { rows } = await db.query<{ username: string; password: string }>(
    'select username, password_hash as password from sendsms_users',
  )
  return new Map(rows.map(({ username, password }) => [username, password]))
}
