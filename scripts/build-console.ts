/**
 * Makes `dist/console/`: the console as the service sends it, each file also compressed. With `--if-stale` only when its
 * sources have changed since, and not where Vite is missing, as in an installation without development dependencies.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'dist', 'console')
/** The hash of the sources that `dist/console` was made of. */
const stamp = join(root, 'dist', 'console.sha256')

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
  const { build } = await import('vite')
  await build({ configFile: join(root, 'console', 'vite.config.ts'), logLevel: 'warn' })
  for (const name of globSync('assets/*.{js,css,svg}', { cwd: target })) compress(join(target, name))
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, hashOfSources())
}

function isFresh(): boolean {
  const built = existsSync(join(target, 'index.html')) && existsSync(stamp)
  return built && readFileSync(stamp, 'utf8') === hashOfSources()
}

const ifStale = process.argv.includes('--if-stale')
const canBuild = existsSync(join(root, 'node_modules', 'vite'))
if (!ifStale || (canBuild && !isFresh())) await build()
