/**
 * One aldis per data directory, held by the kernel: the lock goes with the process, however it ends, and it also holds
 * between containers that share the directory, where process ids mean nothing. Node has no flock; SQLite's exclusive
 * transaction on an empty file is the same `fcntl` lock.
 */
import { DatabaseSync } from 'node:sqlite'
import { EmbeddedPostgresError } from './failure.ts'

export interface DirectoryLock {
  release(): void
}

const SQLITE_BUSY = 5

/**
 * Takes the lock kept at `path` or fails at once.
 * @throws EmbeddedPostgresError DATA_DIR_IN_USE
 */
export function lockDirectory(path: string, dataDir: string): DirectoryLock {
  const file = new DatabaseSync(path, { timeout: 0 })
  try {
    file.exec('begin exclusive')
  } catch (error) {
    file.close()
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error
    throw new EmbeddedPostgresError(
      'DATA_DIR_IN_USE',
      `the data directory ${dataDir} is in use by another aldis process`,
    )
  }
  return { release: () => file.close() }
}
