/**
 * A database of its own for a test file.
 */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, expect, inject } from 'vitest'
import { type Database, sqlState } from '../../src/store/database.ts'
import { openDatabase } from '../../src/store/database-pool.ts'
import {
  type DatabaseServer,
  directServer,
  keepInRole,
  reachServer,
} from '../../src/store/database-server.ts'
import { settingsThatDoNotHold } from '../../src/store/session-check.ts'
import { sessionSettings } from '../../src/store/session-settings.ts'

export interface FreshDatabase {
  readonly connectionString: string
  readonly db: Database
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * A new, migrated, empty database, gone again on disposal: `await using database = await freshDatabase()`, or dispose
 * it in `afterAll`. One that is `started` has the partitions of these days, which the first node makes otherwise; one of
 * `threeDays` those of yesterday, today and tomorrow, for tests without a node; one of `anyDay` takes old messages and events,
 * too; an `empty` one has no tables at all. With `direct` no pooler stands before it.
 */
export async function freshDatabase(
  options: {
    readonly state?: 'empty' | 'migrated' | 'started' | 'threeDays' | 'anyDay'
    readonly poolSize?: number
    readonly direct?: boolean
  } = {},
): Promise<FreshDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const { state = 'migrated' } = options
  const template = state === 'empty' ? 'template1' : inject('templates')[state]
  // The files are copied as they are. Through the WAL, which is the default, making and dropping one takes twice as long.
  await onServers(`create database ${name} template ${template} strategy file_copy`)
  const url = new URL(inject(options.direct ? 'serverUrl' : 'serviceUrl'))
  url.pathname = `/${name}`
  const connectionString = url.href
  servers.set(connectionString, await serverAt(connectionString, POOLED && !options.direct))
  const db = openAgain(connectionString, options.poolSize ?? 4)
  return {
    connectionString,
    db,
    async [Symbol.asyncDispose]() {
      if (!db.ended) await db.end()
      await onServers(`drop database ${name} with (force)`)
    },
  }
}

/** One for all tests of a file, gone again after the last: `const { db } = await databaseOfFile()`, outside of any test. */
export async function databaseOfFile(
  options: Parameters<typeof freshDatabase>[0] = {},
): Promise<FreshDatabase> {
  const database = await freshDatabase(options)
  afterAll(() => database[Symbol.asyncDispose]())
  return database
}

/** A pooler stands between the tests and their server: a session outlives its client. */
const POOLED = inject('serviceUrl') !== inject('serverUrl')

/** The server is a coordinator of Citus. Asked late: files without a database import this module, too. */
const isSharded = () => inject('serverUrls').length > 1

/** What was found of each database that was made, so that nothing leaks to others through a pooler. */
const servers = new Map<string, DatabaseServer>()

/** A further pool on a database made here. */
export function openAgain(connectionString: string, poolSize: number): Database {
  const server = servers.get(connectionString) ?? {
    ...directServer(connectionString, true),
    sharded: isSharded(),
  }
  return openDatabase({ connectionString, server, poolSize })
}

/** As a node finds it at its start, where there is a pooler; without one there is nothing to find. */
async function serverAt(connectionString: string, pooled: boolean): Promise<DatabaseServer> {
  const server = { ...directServer(connectionString, true), sharded: isSharded() }
  if (!pooled) return server
  await reachServer(server)
  const settings = sessionSettings(30_000)
  await keepInRole(server, settings)
  const db = openDatabase({ connectionString, server, poolSize: 4 })
  expect(await settingsThatDoNotHold(server, db, settings)).toEqual([])
  await db.end()
  return server
}

/**
 * One connection to each server for all files of this process: a new session spends as much on reading the catalogue as on
 * the rest. The process may end with them open.
 */
let administrators: readonly pg.Pool[] | undefined

async function onServers(statement: string): Promise<void> {
  administrators ??= inject('serverUrls').map((connectionString) =>
    new pg.Pool({ connectionString, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true }).on(
      'error',
      () => undefined,
    ),
  )
  for (const server of administrators) await run(server, statement)
}

const OBJECT_IN_USE = '55006'
const TRIES = 20

/** Citus has sessions of its own in a database, and may begin another while those are ended. */
async function run(server: pg.Pool, statement: string, tries = TRIES): Promise<void> {
  try {
    await server.query(statement)
  } catch (error) {
    if (!isSharded() || sqlState(error) !== OBJECT_IN_USE || tries === 0) throw error
    await run(server, statement, tries - 1)
  }
}
