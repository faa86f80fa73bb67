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
import { dirname, join } from 'node:path'
import { type Account, canReach } from './account.ts'
import { type Binaries, binariesIn } from './binaries.ts'

const SHARED_HOME = '/var/lib/aldis'

/** The folder the cluster is made in: the data directory or, if the account cannot enter it, a folder that it can. */
export function homeFor(dataDir: string, account: Account, sharedHome: string = SHARED_HOME): string {
  if (account.kind !== 'drop') return dataDir
  letThrough(dataDir)
  if (canReach(account, dataDir)) return dataDir
  const home = join(sharedHome, createHash('sha256').update(dataDir).digest('hex').slice(0, 16))
  for (const directory of [sharedHome, home]) {
    mkdirSync(directory, { recursive: true })
    letThrough(directory)
  }
  return home
}

/** The installed programs, or a copy of them where the account can run it (60 MB, made once for each version). */
export function reachableBinaries(
  installed: Binaries,
  account: Account,
  sharedHome: string = SHARED_HOME,
): Binaries {
  if (account.kind !== 'drop' || canReach(account, '/', installed.postgres)) return installed
  const { size, mtimeMs } = statSync(installed.postgres)
  const copy = join(sharedHome, `postgres-${size}-${Math.floor(mtimeMs)}`)
  if (!existsSync(copy)) {
    mkdirSync(sharedHome, { recursive: true })
    letThrough(sharedHome)
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

/** Passing through is all the account may do there; other files in it are root's, mode 0600. */
function letThrough(directory: string): void {
  chmodSync(directory, statSync(directory).mode | 0o011)
}

/**
 * Makes an unprivileged account the owner of a cluster that was made in a user namespace and so belongs to root. If the
 * account cannot reach the cluster, nothing is changed, so that another account can still run it later.
 */
export function giveTo(account: Account, cluster: string): void {
  if (account.kind !== 'drop' || statSync(cluster).uid === account.uid) return
  letThrough(dirname(cluster))
  if (!canReach(account, dirname(cluster))) return
  for (const file of readdirSync(cluster, { recursive: true, encoding: 'utf8' })) {
    lchownSync(join(cluster, file), account.uid, account.gid)
  }
  // The directory last: until then an interrupted hand-over shows by its owner and is done again.
  lchownSync(cluster, account.uid, account.gid)
}
