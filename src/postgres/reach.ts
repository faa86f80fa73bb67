/**
 * Root without user namespaces: PostgreSQL then runs as an unprivileged account, and what that account cannot reach
 * (below root's home, say) goes to a place of its own. Under any other account everything stays where it is.
 */
import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Account, canReach } from './account.ts'
import { type Binaries, binariesIn } from './binaries.ts'

const SHARED_HOME = '/var/lib/aldis'

/** The folder the cluster is made in: the data directory, or for an account that cannot enter it one that it can. */
export function homeFor(dataDir: string, account: Account): string {
  if (account.kind !== 'drop') return dataDir
  // Passing through is all the account may do here; the other files are root's, mode 0600.
  chmodSync(dataDir, 0o711)
  if (canReach(account, dataDir)) return dataDir
  const home = join(SHARED_HOME, createHash('sha256').update(dataDir).digest('hex').slice(0, 16))
  makeReachable(SHARED_HOME)
  makeReachable(home)
  return home
}

/** The installed programs, or a copy of them where the account can run it (60 MB, made once for each version). */
export function reachableBinaries(installed: Binaries, account: Account): Binaries {
  if (account.kind !== 'drop' || canReach(account, '/', installed.postgres)) return installed
  const { size, mtimeMs } = statSync(installed.postgres)
  const copy = join(SHARED_HOME, `postgres-${size}-${Math.floor(mtimeMs)}`)
  if (!existsSync(copy)) {
    makeReachable(SHARED_HOME)
    const partial = `${copy}.${randomBytes(6).toString('hex')}`
    cpSync(installed.root, partial, { recursive: true, verbatimSymlinks: true })
    chmodSync(partial, 0o755)
    renameOrDrop(partial, copy)
  }
  return binariesIn(copy)
}

/** Two processes may copy at once; whichever comes second throws its copy away. */
function renameOrDrop(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    rmSync(from, { recursive: true, force: true })
    if (!existsSync(to)) throw error
  }
}

function makeReachable(directory: string): void {
  mkdirSync(directory, { recursive: true })
  chmodSync(directory, 0o711)
}

/** A cluster made in a user namespace is root's: an account that runs it without one must be given all of it. */
export function giveTo(account: Account, cluster: string): void {
  if (account.kind !== 'drop' || statSync(cluster).uid === account.uid) return
  for (const file of readdirSync(cluster, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(cluster, file), account.uid, account.gid)
  }
  // The directory last: until then an interrupted hand-over shows by its owner and is done again.
  lchownSync(cluster, account.uid, account.gid)
}
