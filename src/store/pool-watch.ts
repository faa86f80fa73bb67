import type pg from 'pg'
import type { Database } from './database.ts'

export interface PoolWatch {
  /**
   * A statement was answered or failed. `name`: its name as a prepared statement, a constant of the code; null: it has
   * none.
   */
  statement(name: string | null, seconds: number): void
  /** The wait for a connection is over, with or without one. */
  waited(seconds: number): void
}

type Callback = (...results: unknown[]) => void
type AnyFunction = (...args: unknown[]) => unknown

/** Reports how long statements and waits for connections take, in transactions too. Call before the pool is used. */
export function watchPool(db: Database, watch: PoolWatch): void {
  const connect = db.connect.bind(db) as AnyFunction
  db.connect = timed(connect, watch.waited) as typeof db.connect
  db.on('connect', (client: pg.PoolClient) => {
    const query = client.query.bind(client) as AnyFunction
    const timedQuery = (...args: unknown[]) => {
      const { name } = (args[0] ?? {}) as { name?: string }
      return timed(query, (seconds) => watch.statement(name ?? null, seconds))(...args)
    }
    client.query = timedQuery as typeof client.query
  })
}

/** Wraps the function to report how long it takes until its callback is called or its promise is settled. */
function timed(call: AnyFunction, tell: (seconds: number) => void): AnyFunction {
  return (...args) => {
    const startedAtMs = performance.now()
    const end = () => tell((performance.now() - startedAtMs) / 1_000)
    const last = args.findLastIndex((arg) => typeof arg === 'function')
    if (last >= 0) {
      const callback = args[last] as Callback
      args[last] = (...results: unknown[]) => {
        end()
        callback(...results)
      }
      return call(...args)
    }
    const result = call(...args)
    if (result instanceof Promise) result.then(end, end)
    return result
  }
}
