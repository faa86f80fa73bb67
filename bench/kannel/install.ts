import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/**
 * Kannel from Debian's packages: the installed one, else the package and the libraries it lacks, unpacked into a cache
 * folder. Nothing is installed, so it needs no root and changes nothing else on the machine.
 */

export interface KannelPrograms {
  readonly bearerbox: string
  readonly smsbox: string
  /** Folders of the unpacked libraries. */
  readonly libraries: readonly string[]
  /** Debian's version of the package. */
  readonly version: string
}

const INSTALLED = '/usr/sbin'
const PACKAGE = 'kannel'
/** Without a network, a package manager may retry for minutes. */
const TIMEOUT_MS = 120_000
const APT_OPTIONS = ['-qq', '-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=15']

/** @throws (rejects) Error in one line: why it is not available here. */
export async function findKannel(): Promise<KannelPrograms> {
  if (existsSync(join(INSTALLED, 'bearerbox'))) return programsIn('/', await installedVersion())
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'aldis-bench', PACKAGE)
  const known = unpackedIn(cache)
  if (known !== null) return known
  try {
    await unpackInto(cache)
  } catch (error) {
    throw new Error(`Kannel cannot be had from Debian's packages here: ${firstLine(error)}`)
  }
  return unpackedIn(cache)!
}

/** The folder's name is the version. If the folder exists, it is complete. */
function unpackedIn(cache: string): KannelPrograms | null {
  const version = existsSync(cache) ? readdirSync(cache).find((name) => !name.startsWith('.')) : undefined
  return version === undefined ? null : programsIn(join(cache, version), version)
}

async function unpackInto(cache: string): Promise<void> {
  const work = join(cache, '.work')
  const root = join(work, 'root')
  rmSync(work, { recursive: true, force: true })
  for (const folder of [root, join(work, 'lists', 'partial'), join(work, 'archives', 'partial')])
    mkdirSync(folder, { recursive: true })
  // Uses lists and archives of its own: this needs no root, and the machine's own lists may be missing.
  const own = [
    ...['-o', `Dir::State::Lists=${join(work, 'lists')}`],
    ...['-o', `Dir::Cache=${work}`],
    ...['-o', `Dir::Cache::Archives=${join(work, 'archives')}`],
    ...['-o', 'Debug::NoLocking=1'],
    ...['-o', 'APT::Sandbox::User='],
  ]
  const apt = (...args: string[]) => run('apt-get', [...APT_OPTIONS, ...own, ...args], work)
  await apt('update')
  const simulated = await apt('install', '--simulate', '--no-install-recommends', PACKAGE)
  const packages = [...simulated.matchAll(/^Inst (\S+) \((\S+)/gm)].map(([, name, version]) => ({
    name,
    version,
  }))
  const version = packages.find(({ name }) => name === PACKAGE)?.version
  if (version === undefined) throw new Error('there is no such package')
  await apt('download', ...packages.map((entry) => `${entry.name}=${entry.version}`))
  for (const archive of readdirSync(work).filter((name) => name.endsWith('.deb')))
    await run('dpkg-deb', ['--extract', archive, root], work)
  renameSync(root, join(cache, version))
  rmSync(work, { recursive: true, force: true })
}

function programsIn(root: string, version: string): KannelPrograms {
  const isSystem = root === '/'
  const libraries = isSystem ? [] : ['usr/lib', 'lib'].flatMap((folder) => librariesIn(join(root, folder)))
  return {
    bearerbox: join(root, 'usr/sbin/bearerbox'),
    smsbox: join(root, 'usr/sbin/smsbox'),
    libraries,
    version,
  }
}

/** Debian keeps libraries in a folder for each architecture, such as x86_64-linux-gnu. */
function librariesIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.includes('-linux-'))
    .map((name) => join(folder, name))
}

async function installedVersion(): Promise<string> {
  return (await run('dpkg-query', ['--show', PACKAGE], '/')).trim().split('\t')[1] ?? 'unknown'
}

async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const options = { cwd, timeout: TIMEOUT_MS, env: { ...process.env, LC_ALL: 'C' } }
  const { stdout } = await promisify(execFile)(command, args, options)
  return stdout
}

function firstLine(error: unknown): string {
  const { stderr, code, message } = error as Error & { stderr?: string; code?: unknown }
  if (code === 'ENOENT') return 'there is no apt'
  return (stderr?.trim() || message).split('\n')[0]!
}
