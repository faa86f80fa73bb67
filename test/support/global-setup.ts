/**
 * One PostgreSQL for the whole run, with migrated databases that each test file copies: as `initdb` makes it, for that is
 * what the service meets. `TEST_POSTGRES` names another installation, by the folder that holds its `bin`; `TEST_POOLER` a
 * PgBouncer to be put before it, in transaction mode; `TEST_CITUS` a number of workers of a Citus cluster. Nodes serve the console as its sources are now.
 */
import { execFileSync } from 'node:child_process'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { ensurePartitions } from '../../src/services/upkeep/day-partitions.ts'
import { openDatabase } from '../../src/store/database-pool.ts'
import { migrate } from '../../src/store/migrate.ts'
import { createCitusDatabase, startCitus } from './citus.ts'
import { startPooler } from './pooler.ts'
import { makeProgram } from './program.ts'
import { startStockPostgres } from './stock-postgres.ts'
import { makeThreeDays } from './three-days.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Connection string of the run's own server, of its maintenance database. */
    serverUrl: string
    /** The way by which the service and the tests of the store reach it: `serverUrl`, or a pooler. */
    serviceUrl: string
    /** Connection strings of all servers that have a database: of a Citus cluster, its workers too. */
    serverUrls: readonly string[]
    /** Names of the databases that `freshDatabase` copies, by their state. */
    templates: typeof TEMPLATES
  }
}

/** Just migrated; with what a node's first start makes, too; with three days of that; and with one partition of each table for any day. */
const TEMPLATES = {
  migrated: 'aldis_migrated',
  started: 'aldis_started',
  threeDays: 'aldis_three_days',
  anyDay: 'aldis_any_day',
} as const
const { migrated, ...COPIES } = TEMPLATES
const ANY_DAY = ['messages', 'inbound_messages', 'events', 'webhook_attempts']

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { TEST_POSTGRES, TEST_POOLER, TEST_CITUS } = process.env
  execFileSync(process.execPath, ['scripts/build-console.ts', '--if-stale'], { stdio: 'inherit' })
  process.env.TEST_PROGRAM = await makeProgram()
  project.onTestsRerun(async () => {
    await makeProgram()
  })
  const { coordinator: server, workers } = TEST_CITUS
    ? await startCitus(TEST_POSTGRES!, Number(TEST_CITUS))
    : { coordinator: await startStockPostgres(TEST_POSTGRES || undefined), workers: [] }
  const servers = [server, ...workers]
  const client = new pg.Client(server.connectionString)
  await client.connect()
  const { rows } = await client.query('select version()')
  const urlOf = (database: string) =>
    Object.assign(new URL(server.connectionString), { pathname: `/${database}` }).href
  if (TEST_CITUS)
    for (const name of Object.values(TEMPLATES))
      await createCitusDatabase({ coordinator: server, workers }, name)
  else await client.query(`create database ${migrated}`)
  await migrate({ connectionString: urlOf(migrated) })
  for (const copy of Object.values(COPIES))
    if (TEST_CITUS) await migrate({ connectionString: urlOf(copy) })
    else await client.query(`create database ${copy} template ${migrated} strategy file_copy`)
  const started = openDatabase({ connectionString: urlOf(COPIES.started), poolSize: 1 })
  await ensurePartitions(started, Date.now())
  await started.end()
  const threeDays = openDatabase({ connectionString: urlOf(COPIES.threeDays), poolSize: 1 })
  await makeThreeDays(threeDays, Date.now())
  await threeDays.end()
  const anyDay = openDatabase({ connectionString: urlOf(COPIES.anyDay), poolSize: 1 })
  for (const table of ANY_DAY)
    await anyDay.query(`create table ${table}_any_day partition of ${table} default`)
  await anyDay.end()
  await client.end()
  // A template that Citus's own process is connected to cannot be copied.
  if (TEST_CITUS) for (const one of servers) await one.restart()
  const pooler = TEST_POOLER ? await startPooler(TEST_POOLER, server) : undefined
  if (TEST_POSTGRES) process.stdout.write(`${rows[0].version}${pooler ? ', behind a pooler' : ''}\n`)
  project.provide('serverUrl', server.connectionString)
  project.provide(
    'serverUrls',
    servers.map(({ connectionString }) => connectionString),
  )
  project.provide('serviceUrl', pooler?.connectionString ?? server.connectionString)
  project.provide('templates', TEMPLATES)
  return async () => {
    await pooler?.stop()
    await Promise.all(servers.map((one) => one.stop()))
  }
}
