/**
 * Makes `dist/`, what the npm package holds: `src` as JavaScript, the files beside the code that it reads, the console and
 * the API reference.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildIfStale } from './build-console.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const source = join(root, 'src')
const target = join(root, 'dist')

// What browsers get is built anew only when it is stale: a service may be reading it.
mkdirSync(target, { recursive: true })
for (const name of readdirSync(target))
  if (!['console', 'docs'].includes(name)) rmSync(join(target, name), { recursive: true })

const compiler = join(root, 'node_modules', '.bin', 'tsc')
const compiled = spawnSync(compiler, ['--project', join(root, 'tsconfig.build.json')], { stdio: 'inherit' })
if (compiled.error) throw compiled.error

if (compiled.status === 0) {
  // Migrations and other data: everything that is not compiled keeps its place.
  cpSync(source, target, {
    recursive: true,
    filter: (path) => statSync(path).isDirectory() || extname(path) !== '.ts',
  })
  // The compiler keeps the `#!` line of main.ts and makes a plain file of it.
  const program = join(target, 'main.js')
  if (existsSync(program)) chmodSync(program, 0o755)
  await buildIfStale()
}
process.exitCode = compiled.status ?? 1
