/**
 * One PostgreSQL for the whole run, with a migrated database that each test file copies.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../../src/postgres/embedded-server.ts'
import { migrate } from '../../src/store/migrate.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Connection string of the run's own server, of its maintenance database. */
    serverUrl: string
    /** Name of the migrated database that `freshDatabase` copies. */
    templateDatabase: string
  }
}

const TEMPLATE = 'aldis_template'

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'aldis-test-'))
  const server = await startEmbeddedPostgres({ dataDir })
  const client = new pg.Client(server.localConnectionString)
  await client.connect()
  await client.query(`create database ${TEMPLATE}`)
  await client.end()
  const url = new URL(server.localConnectionString)
  url.pathname = `/${TEMPLATE}`
  await migrate({ connectionString: url.href })
  project.provide('serverUrl', server.localConnectionString)
  project.provide('templateDatabase', TEMPLATE)
  return async () => {
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
