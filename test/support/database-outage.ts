import pg from 'pg'
import { inject } from 'vitest'

/** Ends every connection to the database of the service, from outside it. */
export async function killer({ connectionString }: { connectionString: string }) {
  const client = new pg.Pool({ connectionString: inject('serverUrl'), max: 1 })
  const name = new URL(connectionString).pathname.slice(1)
  return {
    async kill(): Promise<number> {
      const { rowCount } = await client.query(
        'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1',
        [name],
      )
      return rowCount ?? 0
    },
    /** While `work` runs nobody can connect, and whoever was connected is thrown out. */
    async without(work: () => Promise<void>): Promise<void> {
      await client.query(`alter database ${name} with allow_connections false`)
      await this.kill()
      try {
        await work()
      } finally {
        await client.query(`alter database ${name} with allow_connections true`)
      }
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}
