import type { Database } from '../../src/store/database.ts'

/**
 * The database, as somebody has it who decides when its statements run, and whether their answers arrive: `around` is
 * given each by its name; a connection for a transaction by the name `connect`.
 */
export function gatedDatabase(
  db: Database,
  around: <T>(name: string | undefined, run: () => Promise<T>) => Promise<T>,
): Database {
  const gated = {
    query: (statement: { readonly name?: string }, ...rest: unknown[]) =>
      around(statement.name, () =>
        (db.query as (...args: unknown[]) => Promise<unknown>)(statement, ...rest),
      ),
    connect: () => around('connect', () => db.connect()),
  }
  return new Proxy(db, {
    get: (target, key) => gated[key as keyof typeof gated] ?? target[key as keyof Database],
  })
}

/** Rejects as a server does whose disk is full: the statement has had no effect. */
export async function refusedByServer(db: Database): Promise<never> {
  await db.query(`do $$ begin raise exception 'the disk is full' using errcode = '53100'; end $$`)
  throw new Error('the server did not refuse')
}

/** What is said of a statement whose answer was lost. */
export function lostAnswer(): Error {
  return new Error('Connection terminated unexpectedly')
}
