/**
 * One account with two plans and their inbound numbers, and message ids of a chosen time and bucket.
 */
import { randomBytes } from 'node:crypto'
import type { Directory } from '../../src/domain/configuration/directory.ts'
import { messageId } from '../../src/domain/identifiers.ts'
import type { Database } from '../../src/store/database.ts'
import { readDirectory } from '../../src/store/directory.ts'
import { databaseOfFile, type FreshDatabase, openAgain } from './database.ts'
import { makeThreeDays } from './three-days.ts'

export const CARRIER_ID = 1

export interface Installation {
  readonly directory: Directory
  /** Has the inbound URL, the numbers +49301234567, 12345 and 7654321, and the keywords STOP and Hallo. */
  readonly announcedPlan: number
  /** No inbound URL; the number +49307654321. */
  readonly silentPlan: number
}

export async function seedInstallation(db: Database): Promise<Installation> {
  await db.query(`
    insert into accounts (account_id, name, webhook_secret)
    values ('aaaaaaaaaaaaaaaaaaaaaaaa', 'Example', 'secret')`)
  await db.query(`
    insert into service_plans (service_plan_id, account_id, name, inbound_url)
    select plan, id, 'plan', url from accounts, (values
      ('111111111111111111111111', 'https://example.com/mo'),
      ('222222222222222222222222', null)) as v (plan, url)`)
  await db.query(`
    insert into inbound_numbers (number, plan_id, keywords)
    select number, p.id, keywords from service_plans p join (values
      ('111111111111111111111111', '+49301234567', '{STOP,Hallo}'::text[]),
      ('111111111111111111111111', '12345', '{}'),
      ('111111111111111111111111', '7654321', '{}'),
      ('222222222222222222222222', '+49307654321', '{}')) as v (plan, number, keywords)
      on p.service_plan_id = v.plan`)
  const directory = await readDirectory(db, (sealed) => sealed)
  return {
    directory,
    announcedPlan: directory.planByPublicId('111111111111111111111111')!.id,
    silentPlan: directory.planByPublicId('222222222222222222222222')!.id,
  }
}

/**
 * The installation in a database of the test file, with the partitions of the days around a time, by default now, or with those
 * that a node makes: of yesterday to a week from now.
 */
export async function installedDatabase(
  options: { readonly atMs?: number; readonly state?: 'started'; readonly poolSize?: number } = {},
): Promise<FreshDatabase & Installation> {
  const { atMs, ...others } = options
  const state = atMs === undefined ? 'threeDays' : 'migrated'
  const database = await databaseOfFile({ state, ...others })
  if (atMs !== undefined) await makeThreeDays(database.db, atMs)
  return { ...database, ...(await seedInstallation(database.db)) }
}

export function newId(atMs: number, bucket = 7): string {
  return messageId(atMs, randomBytes(9), bucket)
}

/** Another process, as far as the database can tell: a pool of its own. */
export function otherPool(connectionString: string) {
  const db = openAgain(connectionString, 4)
  return { db, [Symbol.asyncDispose]: () => db.end() }
}
