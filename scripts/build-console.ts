/**
 * Makes `dist/console/` and `dist/docs/`: the console and the API reference as the service sends them, each file also
 * compressed. With `--if-stale` only when their sources have changed since, and not where Vite is missing, as in an
 * installation without development dependencies.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'dist', 'console')
const reference = join(root, 'dist', 'docs', 'assets')
/** The hash of the sources that it was made of. */
const stamp = join(target, 'sources.sha256')

const SOURCES = ['console/**/*', 'client/src/**/*', 'package-lock.json', 'scripts/build-console.ts']

function hashOfSources(): string {
  const hash = createHash('sha256')
  const files = globSync(SOURCES, { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const path of files.map((entry) => join(entry.parentPath, entry.name)).sort())
    hash.update(`${path.slice(root.length)}\0`).update(readFileSync(path))
  return hash.digest('hex')
}

/** Brotli at its best takes seconds for all files of the console, and is done once for many downloads. */
function compress(path: string, quality = 11): void {
  const bytes = readFileSync(path)
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality }
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params }))
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }))
}

/** The API reference is one file of a package. Its name changes with its content, as those of the console do. */
function copyReference(): void {
  const bytes = readFileSync(join(root, 'node_modules/@scalar/api-reference/dist/browser/standalone.js'))
  const path = join(reference, `scalar-${createHash('sha256').update(bytes).digest('hex').slice(0, 8)}.js`)
  if (existsSync(`${path}.gz`)) return
  rmSync(reference, { recursive: true, force: true })
  mkdirSync(reference, { recursive: true })
  writeFileSync(path, bytes)
  // 4 MB take 14 s at 11, and less than one at 9, which makes a tenth more of them.
  compress(path, 9)
}

async function build(): Promise<void> {
  // Under a test runner it would be React's development build.
  process.env.NODE_ENV = 'production'
  const { build } = await import('vite')
  await build({ configFile: join(root, 'console', 'vite.config.ts'), logLevel: 'warn' })
  for (const name of globSync('assets/*.{js,css,svg}', { cwd: target })) compress(join(target, name))
  copyReference()
  writeFileSync(stamp, hashOfSources())
}

function isFresh(): boolean {
  return existsSync(reference) && existsSync(stamp) && readFileSync(stamp, 'utf8') === hashOfSources()
}

export async function buildIfStale(): Promise<void> {
  const canBuild = existsSync(join(root, 'node_modules', 'vite'))
  if (canBuild && !isFresh()) await build()
}

if (import.meta.main) await (process.argv.includes('--if-stale') ? buildIfStale() : build())
