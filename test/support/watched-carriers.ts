import type { QualityFloor } from '../../src/domain/configuration/configuration.ts'
import { databaseOfFile, type FreshDatabase } from './database.ts'

export const FLOOR: QualityFloor = { minDelivered: 80, windowMinutes: 60, minMessages: 10, pauseMinutes: 15 }

interface WatchedCarriers extends FreshDatabase {
  /** acme and backup. */
  readonly carriers: readonly [number, number]
  /** `watched` by FLOOR, and `free`; both carriers are in each. */
  readonly routes: readonly [number, number]
}

/** A database for all tests of a file, with carriers whose quality is watched. */
export async function watchedCarriers(): Promise<WatchedCarriers> {
  const database = await databaseOfFile()
  const { rows: carriers } = await database.db.query(
    `insert into carriers (name, host, port, system_id, password)
     select name, 'smsc', 2775, 'aldis', '' from unnest('{acme,backup}'::text[]) as name returning id`,
  )
  const { rows: routes } = await database.db.query(
    `insert into routes (name, quality_floor) values ('watched', $1), ('free', null) returning id`,
    [FLOOR],
  )
  await database.db.query(
    'insert into route_carriers (route_id, carrier_id) select r.id, c.id from routes r, carriers c',
  )
  return {
    ...database,
    carriers: [carriers[0].id, carriers[1].id],
    routes: [routes[0].id, routes[1].id],
  }
}
