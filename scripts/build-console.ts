/**
 * Makes `dist/console/`: the console as the service sends it, each file also compressed. With `--if-stale` only when its
 * sources have changed since, and not where Vite is missing, as in an installation without development dependencies.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'dist', 'console')
/** The hash of the sources that it was made of. */
const stamp = join(target, 'sources.sha256')

const SOURCES = ['console/**/*', 'client/src/*', 'package-lock.json', 'scripts/build-console.ts']

function hashOfSources(): string {
  const hash = createHash('sha256')
  const files = globSync(SOURCES, { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const path of files.map((entry) => join(entry.parentPath, entry.name)).sort())
    hash.update(`${path.slice(root.length)}\0`).update(readFileSync(path))
  return hash.digest('hex')
}

/** Brotli at its best takes seconds for all files together, and is done once for many downloads. */
function compress(path: string): void {
  const bytes = readFileSync(path)
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
}

async function build(): Promise<void> {
  // Under a test runner it would be React's development build.
  process.env.NODE_ENV = 'production'
  const { build } = await import('vite')
  await build({ configFile: join(root, 'console', 'vite.config.ts'), logLevel: 'warn' })
  for (const name of globSync('assets/*.{js,css,svg}', { cwd: target })) compress(join(target, name))
  writeFileSync(stamp, hashOfSources())
}

function isFresh(): boolean {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hashOfSources()
}

export async function buildIfStale(): Promise<void> {
  const canBuild = existsSync(join(root, 'node_modules', 'vite'))
  if (canBuild && !isFresh()) await build()
}

if (import.meta.main) await (process.argv.includes('--if-stale') ? buildIfStale() : build())
