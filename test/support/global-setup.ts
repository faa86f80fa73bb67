/**
 * One PostgreSQL for the whole run, with migrated databases that each test file copies: as `initdb` makes it, for that is
 * what the service meets. `TEST_POSTGRES` names another installation, by the folder that holds its `bin`; `TEST_POOLER` a
 * PgBouncer to be put before it, in transaction mode. Nodes serve the console as its sources are now.
 */
import { execFileSync } from 'node:child_process'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { ensurePartitions } from '../../src/services/upkeep/day-partitions.ts'
import { openDatabase } from '../../src/store/database-pool.ts'
import { migrate } from '../../src/store/migrate.ts'
import { startPooler } from './pooler.ts'
import { startStockPostgres } from './stock-postgres.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Connection string of the run's own server, of its maintenance database. */
    serverUrl: string
    /** The way by which the service and the tests of the store reach it: `serverUrl`, or a pooler. */
    serviceUrl: string
    /** Names of the databases that `freshDatabase` copies: just migrated, and with what a node's first start makes too. */
    templates: { readonly migrated: string; readonly started: string }
  }
}

const TEMPLATES = { migrated: 'aldis_migrated', started: 'aldis_started' }

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { TEST_POSTGRES, TEST_POOLER } = process.env
  execFileSync(process.execPath, ['scripts/build-console.ts', '--if-stale'], { stdio: 'inherit' })
  const server = await startStockPostgres(TEST_POSTGRES || undefined)
  const client = new pg.Client(server.connectionString)
  await client.connect()
  const { rows } = await client.query('select version()')
  const urlOf = (database: string) =>
    Object.assign(new URL(server.connectionString), { pathname: `/${database}` }).href
  await client.query(`create database ${TEMPLATES.migrated}`)
  await migrate({ connectionString: urlOf(TEMPLATES.migrated) })
  await client.query(`create database ${TEMPLATES.started} template ${TEMPLATES.migrated}`)
  const started = openDatabase({ connectionString: urlOf(TEMPLATES.started), poolSize: 1 })
  await ensurePartitions(started, Date.now())
  await started.end()
  await client.end()
  const pooler = TEST_POOLER ? await startPooler(TEST_POOLER, server) : undefined
  if (TEST_POSTGRES) process.stdout.write(`${rows[0].version}${pooler ? ', behind a pooler' : ''}\n`)
  project.provide('serverUrl', server.connectionString)
  project.provide('serviceUrl', pooler?.connectionString ?? server.connectionString)
  project.provide('templates', TEMPLATES)
  return async () => {
    await pooler?.stop()
    await server.stop()
  }
}
