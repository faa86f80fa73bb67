import type pg from 'pg'
import type { Database } from '../../src/store/database.ts'

export type Around = <T>(name: string | undefined, run: () => Promise<T>) => Promise<T>

/**
 * The database, as somebody has it who decides when its statements run, and whether their answers arrive: `around` is
 * given each by its name, and `connect` for a transaction; where `inTransactions` is set, also the named statements in it,
 * and `commit`.
 */
export function gatedDatabase(
  db: Database,
  around: Around,
  { inTransactions = false }: { readonly inTransactions?: boolean } = {},
): Database {
  const connect = async () => {
    const client = await around('connect', () => db.connect())
    return inTransactions ? gatedClient(client, around) : client
  }
  return withOwn(db, { query: gatedQuery(db, around), connect })
}

function gatedClient(client: pg.PoolClient, around: Around): pg.PoolClient {
  const named = gatedQuery(client, around)
  const plain = client.query.bind(client) as typeof named
  const query = (statement: Statement, ...rest: unknown[]) =>
    statement === 'commit' || (typeof statement === 'object' && statement.name !== undefined)
      ? named(statement, ...rest)
      : plain(statement, ...rest)
  return withOwn(client, { query })
}

type Statement = string | { readonly name?: string }

function gatedQuery(target: Pick<Database | pg.PoolClient, 'query'>, around: Around) {
  const query = target.query.bind(target) as (...args: unknown[]) => Promise<unknown>
  return (statement: Statement, ...rest: unknown[]) =>
    around(typeof statement === 'string' ? statement : statement.name, () => query(statement, ...rest))
}

function withOwn<T extends object>(target: T, own: Partial<Record<keyof T, unknown>>): T {
  return new Proxy(target, {
    get: (_, key) => own[key as keyof T] ?? target[key as keyof T],
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

/** `answer lost`: it has its effect all the same. */
export type Become = 'done' | 'refused' | 'answer lost' | 'never sent'

/** Lets a statement have this outcome. */
export async function become<T>(db: Database, outcome: Become, run: () => Promise<T>): Promise<T> {
  if (outcome === 'refused') return await refusedByServer(db)
  if (outcome === 'never sent') throw lostAnswer()
  const answer = await run()
  if (outcome === 'answer lost') throw lostAnswer()
  return answer
}
