/** Makes `client/dist/`, what the package aldis-client holds: JavaScript and types, for runtimes that run no TypeScript. */
import { spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'client', 'dist')

rmSync(target, { recursive: true, force: true })
const compiler = join(root, 'node_modules', '.bin', 'tsc')
const compiled = spawnSync(compiler, ['--project', join(root, 'client')], { stdio: 'inherit' })
if (compiled.error) throw compiled.error
if (compiled.status === 0) cpSync(join(root, 'LICENSE'), join(target, 'LICENSE'))
process.exitCode = compiled.status ?? 1
