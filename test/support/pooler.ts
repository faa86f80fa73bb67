/**
 * PgBouncer in transaction mode before a test's server, with its own defaults otherwise.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './eventually.ts'
import { freePort } from './process.ts'
import type { StockPostgres } from './stock-postgres.ts'

export interface Pooler {
  /** Of the maintenance database; any other of the server is reached by its name. */
  readonly connectionString: string
  stop(): Promise<void>
}

/**
 * Starts the program `command`, for example /usr/sbin/pgbouncer.
 * @param settings further lines of its configuration
 */
export async function startPooler(
  command: string,
  server: Pick<StockPostgres, 'port' | 'cluster'>,
  settings: readonly string[] = [],
): Promise<Pooler> {
  const folder = mkdtempSync(join(tmpdir(), 'aldis-pooler-'))
  chmodSync(folder, 0o755)
  const port = await freePort()
  writeFileSync(join(folder, 'users.txt'), '"aldis" ""\n"hostile" ""\n')
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    [
      '[databases]',
      `* = host=127.0.0.1 port=${server.port}`,
      '[pgbouncer]',
      ...['listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir ='],
      ...['auth_type = trust', `auth_file = ${join(folder, 'users.txt')}`, 'pool_mode = transaction'],
      ...settings,
    ].join('\n'),
  )
  const { uid, gid } = server.cluster.account
  // It refuses to run as root, too.
  const identity = process.getuid?.() === 0 ? { uid: uid || 65_534, gid: gid || 65_534 } : {}
  const child = spawn(command, [join(folder, 'pgbouncer.ini')], { ...identity, cwd: '/', stdio: 'ignore' })
  const ended = once(child, 'exit')
  await eventually(() => accepts(port))
  return {
    connectionString: `postgresql://aldis@127.0.0.1:${port}/postgres`,
    async stop() {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
