/**
 * One connection of a pool. It goes to the primary, drops statement names that a pooler cannot carry, and notices what
 * the server says about both.
 */
import pg from 'pg'
import { connectionOf, type DatabaseHost } from './database-hosts.ts'
import type { DatabaseServer } from './database-server.ts'

type Report = (message: string, error: Error) => void
type Connected = (error: Error | null) => void

/** read_only_sql_transaction */
const READ_ONLY = '25006'
/** invalid_sql_statement_name, duplicate_prepared_statement */
const NAMES_MIXED_UP = new Set(['26000', '42P05'])

/** The function of the server that says it; the text is in the server's language. */
const GAVE_UP_WAITING = 'SyncRepWaitForLSN'
/** statement_completion_unknown */
const COMPLETION_UNKNOWN = '40003'

/** internal_error */
const NO_STATE = 'XX000'
/** io_error */
const NO_ANSWER = '58030'
/** unique_violation, check_violation (also of a row without a partition), not_null_violation, program_limit_exceeded */
const WORKERS_STATES = [
  [/^duplicate key value violates unique constraint /, '23505'],
  [/ violates check constraint |^no partition of relation /, '23514'],
  [/ violates not-null constraint$/, '23502'],
  [/^index row (size|requires) /, '54000'],
] as const
const CONNECTION_FAILURE = '08006'

/** Citus passes on what a worker says of a COPY, but without the SQLSTATE that callers decide by. */
function restoreState(error: pg.DatabaseError): void {
  if (error.code === NO_ANSWER) error.code = CONNECTION_FAILURE
  if (error.code !== NO_STATE) return
  error.code = WORKERS_STATES.find(([message]) => message.test(error.message))?.[1] ?? NO_STATE
}

/**
 * A COMMIT whose wait for the synchronous standby is cancelled, as by `pg_cancel_backend`, succeeds with a warning: it is on the primary
 * alone. Here it fails, as one whose answer was lost.
 */
function failUnconfirmed(connection: pg.Connection): void {
  connection.on('notice', ({ routine, message, length }: pg.DatabaseError) => {
    if (routine !== GAVE_UP_WAITING) return
    const error = new pg.DatabaseError(message, length, 'error')
    error.code = COMPLETION_UNKNOWN
    connection.emit('errorMessage', error)
  })
}

// biome-ignore lint/suspicious/noExplicitAny: any form of a statement that `pg` takes
function bounded(statement: any, answerMs: number): any {
  if (typeof statement === 'string') return { text: statement, query_timeout: answerMs }
  statement.query_timeout ??= answerMs
  return statement
}

/** The class of a pool's connections. */
export function clientOf(server: DatabaseServer, report: Report): new () => pg.Client {
  return class extends pg.Client {
    /** See `Transaction`. */
    answerMs: number | undefined

    get sharded(): boolean {
      return server.sharded
    }

    get awayPlans(): ReadonlySet<number> {
      return server.awayPlans
    }

    // biome-ignore lint/suspicious/noExplicitAny: both overloads of the parent
    override connect(callback?: any): any {
      if (callback === undefined) {
        return new Promise((resolve, reject) =>
          this.#connect((error) => (error ? reject(error) : resolve(this))),
        )
      }
      this.#connect(callback)
    }

    #connect(callback: Connected): void {
      server.hosts.find().then(
        (host) => {
          Object.assign(this, { host: host.host, port: host.port })
          super.connect((error: Error | null) => {
            if (error) server.hosts.doubt(host)
            callback(error)
          })
          this.#watch(host)
        },
        (error) => callback(error),
      )
    }

    #watch(host: DatabaseHost): void {
      server.hosts.connected(this, host)
      this.on('error', () => server.hosts.doubt(host))
      failUnconfirmed(connectionOf(this))
      connectionOf(this).on('errorMessage', (error: pg.DatabaseError) => {
        if (server.sharded) restoreState(error)
        if (error.code === READ_ONLY) server.hosts.demoted(host)
        if (!NAMES_MIXED_UP.has(error.code ?? '') || !server.prepared) return
        server.prepared = false
        report('a pooler mixes up prepared statements: from now on none are prepared', error)
      })
    }

    // biome-ignore lint/suspicious/noExplicitAny: the eight overloads of the parent, all passed on unchanged
    override query(statement: any, ...rest: any[]): any {
      const named = typeof statement === 'object' && statement !== null && 'name' in statement
      const plain = named && !server.prepared ? { ...statement, name: undefined } : statement
      return super.query(this.answerMs === undefined ? plain : bounded(plain, this.answerMs), ...rest)
    }
  } as unknown as new () => pg.Client
}
