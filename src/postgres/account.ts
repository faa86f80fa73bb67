/**
 * PostgreSQL refuses to run as root. This file finds how it can run all the same, in this order: as the owner of an
 * existing cluster; in a user namespace, where root's own files stay reachable under another number, so that nothing
 * is copied and any directory will do; as an unprivileged account, with copies of the files that it cannot reach.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { EmbeddedPostgresError } from './failure.ts'

/** How to start a server program. */
export interface Account {
  /** `direct`: as this process. `namespace`: through unshare(1). `drop`: with another uid and gid. */
  readonly kind: 'direct' | 'namespace' | 'drop'
  readonly uid: number
  readonly gid: number
}

export interface Invocation {
  readonly command: string
  readonly args: readonly string[]
  readonly identity: { readonly uid?: number; readonly gid?: number }
}

/** The command line, and the identity for `spawn`, that run `program` under `account`. */
export function invocation(account: Account, program: string, args: readonly string[]): Invocation {
  if (account.kind === 'direct') return { command: program, args, identity: {} }
  const { uid, gid } = account
  if (account.kind === 'drop') return { command: program, args, identity: { uid, gid } }
  const map = ['--user', `--map-user=${uid}`, `--map-group=${gid}`, '--', program]
  return { command: 'unshare', args: [...map, ...args], identity: {} }
}

/** Whether `account` can enter `directory`, and run `program` there when one is named; tried for real. */
export function canReach(account: Account, directory: string, program?: string): boolean {
  const script = program === undefined ? 'cd "$1"' : 'cd "$1" && exec "$2" --version'
  const { command, args, identity } = invocation(account, '/bin/sh', [
    '-c',
    script,
    'sh',
    directory,
    program ?? '',
  ])
  return spawnSync(command, args, { ...identity, cwd: '/', stdio: 'ignore', timeout: 10_000 }).status === 0
}

/**
 * Chooses the account for a cluster owned by uid `owner` (undefined when there is none yet) in `directory`.
 * @throws EmbeddedPostgresError NO_UNPRIVILEGED_ACCOUNT
 */
export function chooseAccount(postgres: string, directory: string, owner: Owner | undefined): Account {
  const own = { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 }
  if (own.uid !== 0 && hasName()) return { kind: 'direct', ...own }
  if (own.uid === 0 && owner !== undefined && owner.uid !== 0) return { kind: 'drop', ...owner }
  const named = unprivilegedAccount()
  if (named !== undefined) {
    const namespace: Account = { kind: 'namespace', ...named }
    if (canReach(namespace, directory, postgres)) return namespace
    if (own.uid === 0) return { kind: 'drop', ...named }
  }
  throw new EmbeddedPostgresError(
    'NO_UNPRIVILEGED_ACCOUNT',
    'PostgreSQL does not run as this user, and neither a user namespace nor another account can be had: ' +
      'start aldis as an ordinary user, or set DATABASE_URL',
  )
}

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** initdb looks up the name of its user and fails without one, as under the random uids some containers give. */
function hasName(): boolean {
  try {
    userInfo()
    return true
  } catch {
    return false
  }
}

/** `nobody`, else any account but root's: initdb insists on a uid that has a name. */
function unprivilegedAccount(): Owner | undefined {
  let passwd: string
  try {
    passwd = readFileSync('/etc/passwd', 'utf8')
  } catch {
    return undefined
  }
  const accounts = passwd
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name, , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => uid > 0 && gid > 0)
  const { uid, gid } = accounts.find(({ name }) => name === 'nobody') ?? accounts[0] ?? {}
  return uid === undefined || gid === undefined ? undefined : { uid, gid }
}
