import { ensurePartitions } from '../services/day-partitions.ts'
import {
  checkDurability,
  type Database,
  MINIMUM_SERVER_VERSION,
  openDatabase,
  serverVersion,
} from '../store/database.ts'
import { alignFeed } from '../store/events.ts'
import { migrate } from '../store/migrate.ts'
import type { AppOptions } from './options.ts'

/** A node that cannot run on this database; the message is for the operator. */
class StartError extends Error {
  override readonly name = 'StartError'
}

/** Makes sure that this node can work on the database: reachable, new enough, durable, with the newest schema and today's partitions. */
export async function prepareDatabase(db: Database, options: AppOptions): Promise<void> {
  const { connectionString, log } = options
  const version = await serverVersion(db)
  if (version < MINIMUM_SERVER_VERSION)
    throw new StartError(`PostgreSQL ${version} is too old: ${MINIMUM_SERVER_VERSION} or newer is needed`)
  const { faults } = await checkDurability(db)
  if (faults.length > 0 && !options.allowUnsafeDurability)
    throw new StartError(
      `the database can lose accepted messages (${faults.join(', ')}); ALLOW_UNSAFE_DURABILITY=on runs all the same`,
    )
  for (const name of await migrate({ connectionString, log: (line) => log.debug(line) }))
    log.info({ migration: name }, 'schema brought up to date')
  await ensurePartitions(db, Date.now())
  await alignFeed(db)
}

export function openPool(
  options: AppOptions,
  bounds: { poolSize: number; statementTimeoutMs: number },
): Database {
  const db: Database = openDatabase({
    connectionString: options.connectionString,
    prepared: options.databasePrepared,
    ...bounds,
    log: (message, error) => {
      if (!db.ending) options.log.warn({ err: error }, message)
    },
  })
  return db
}
