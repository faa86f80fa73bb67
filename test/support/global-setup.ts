/**
 * One PostgreSQL for the whole run, with a migrated database that each test file copies: as `initdb` makes it, for that is
 * what the service meets. `TEST_POSTGRES` names another installation, by the folder that holds its `bin`; `TEST_POOLER` a
 * PgBouncer to be put before it, in transaction mode.
 */
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../src/store/migrate.ts'
import { startPooler } from './pooler.ts'
import { startStockPostgres } from './stock-postgres.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Connection string of the run's own server, of its maintenance database. */
    serverUrl: string
    /** The way by which the service and the tests of the store reach it: `serverUrl`, or a pooler. */
    serviceUrl: string
    /** Name of the migrated database that `freshDatabase` copies. */
    templateDatabase: string
  }
}

const TEMPLATE = 'aldis_template'

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { TEST_POSTGRES, TEST_POOLER } = process.env
  const server = await startStockPostgres(TEST_POSTGRES || undefined)
  const client = new pg.Client(server.connectionString)
  await client.connect()
  const { rows } = await client.query('select version()')
  await client.query(`create database ${TEMPLATE}`)
  await client.end()
  const url = new URL(server.connectionString)
  url.pathname = `/${TEMPLATE}`
  await migrate({ connectionString: url.href })
  const pooler = TEST_POOLER ? await startPooler(TEST_POOLER, server) : undefined
  if (TEST_POSTGRES) process.stdout.write(`${rows[0].version}${pooler ? ', behind a pooler' : ''}\n`)
  project.provide('serverUrl', server.connectionString)
  project.provide('serviceUrl', pooler?.connectionString ?? server.connectionString)
  project.provide('templateDatabase', TEMPLATE)
  return async () => {
    await pooler?.stop()
    await server.stop()
  }
}
