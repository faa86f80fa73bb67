/** What this program and the schema of a database know of each other (docs/adr/0031). */
import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Queryable } from './database.ts'

/** Next to this file, in `src` as in `dist`. */
export const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url))
export const MIGRATIONS_TABLE = 'schema_migrations'

/** This program cannot work with the schema; the message is for the operator. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError'
}

/** The migrations in a folder, in their order. */
export function migrationsIn(directory: string): string[] {
  const files = readdirSync(directory).filter((file) => file.endsWith('.sql'))
  return files.map((file) => basename(file, '.sql')).sort()
}

/** Each node says it in its row of `nodes`. */
export const NEWEST_MIGRATION = migrationsIn(MIGRATIONS).at(-1)!

export interface SchemaComparison {
  /** Migrations that the database has not had. */
  readonly pending: readonly string[]
  /** Migrations that only a newer program knows. */
  readonly newer: readonly string[]
  /** The migration that a program must know to work with this schema. Null: there is no schema yet. */
  readonly mustKnow: string | null
}

export async function compareSchema(db: Queryable, known: readonly string[]): Promise<SchemaComparison> {
  const { rows } = await db.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    MIGRATIONS_TABLE,
  ])
  if (!rows[0]!.exists) return { pending: known, newer: [], mustKnow: null }
  const schema = await db.query<{ names: string[]; mustKnow: string }>(
    `select array(select name from ${MIGRATIONS_TABLE} order by name collate "C") as names,
            (select must_know from schema_requirement) as "mustKnow"`,
  )
  const { names, mustKnow } = schema.rows[0]!
  return {
    pending: known.filter((name) => !names.includes(name)),
    newer: names.filter((name) => !known.includes(name)),
    mustKnow,
  }
}

/** Why a program that knows these migrations cannot work with the schema; null: it can. */
export function schemaFault({ mustKnow }: SchemaComparison, known: readonly string[]): string | null {
  return mustKnow === null || known.includes(mustKnow) ? null : tooNew(mustKnow)
}

/** `mustKnow`: a migration that this program does not know. */
export function tooNew(mustKnow: string): string {
  return `a newer version of Aldis has changed the schema (${mustKnow}), and this version cannot work with it: run that version, or a newer one`
}
