/**
 * A database of its own for a test file.
 */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, inject } from 'vitest'
import { type Database, openDatabase } from '../../src/store/database.ts'

export interface FreshDatabase {
  readonly connectionString: string
  readonly db: Database
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * A new, migrated, empty database, gone again on disposal: `await using database = await freshDatabase()`, or dispose
 * it in `afterAll`. With `migrated: false` it has no tables at all.
 */
export async function freshDatabase(
  options: { readonly migrated?: boolean; readonly poolSize?: number } = {},
): Promise<FreshDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  const template = options.migrated === false ? 'template1' : inject('templateDatabase')
  await onServer(`create database ${name} template ${template}`)
  const url = new URL(inject('serverUrl'))
  url.pathname = `/${name}`
  const connectionString = url.href
  const db = openDatabase({ connectionString, poolSize: options.poolSize ?? 4 })
  return {
    connectionString,
    db,
    async [Symbol.asyncDispose]() {
      if (!db.ended) await db.end()
      await onServer(`drop database ${name} with (force)`)
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

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client(inject('serverUrl'))
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
