import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from './support/eventually.ts'
import { lookUp, type Ready, ROOT, scratchFolder, send, start } from './support/process.ts'

/** The program as npm packs it. The short form is commands/dev.test.ts: the same command, from the sources. */

const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string
  dependencies: Record<string, string>
}
const folder = scratchFolder()
const modules = join(folder.path, 'app', 'node_modules')
const installed = join(modules, 'aldis')
const program = join(installed, 'dist', 'main.js')

async function run(command: string, args: readonly string[], cwd = ROOT): Promise<string> {
  await using running = start(command, args, { cwd })
  const { code, stdout, stderr } = await running.exited
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${code}\n${stdout}\n${stderr}`)
  return stdout
}

/** As npm would install it, without asking a registry: what it depends on is linked from this checkout, nothing else. */
beforeAll(async () => {
  await run('npm', ['pack', '--pack-destination', folder.path])
  mkdirSync(installed, { recursive: true })
  const tarball = join(folder.path, `aldis-${MANIFEST.version}.tgz`)
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
  for (const name of Object.keys(MANIFEST.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
})
afterAll(() => folder[Symbol.dispose]())

test('the package has program, documents and licence, and neither sources nor tests', () => {
  for (const name of [
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'LICENSE',
    'docs/configuration.md',
    'dist/store/migrations',
    'dist/console/index.html',
    'dist/docs/assets',
  ])
    expect([name, existsSync(join(installed, name))]).toEqual([name, true])
  for (const name of ['src', 'test', 'bench', 'scripts', 'console', 'tsconfig.json'])
    expect([name, existsSync(join(installed, name))]).toEqual([name, false])
})

test('aldis --version', async () => {
  // The program itself: it is executable and names its interpreter.
  expect(await run(program, ['--version'])).toBe(`${MANIFEST.version}\n`)
})

/** Versions of Node.js on this machine that cannot run Aldis. */
const olderNodes = ['/usr/bin/node', '/usr/local/bin/node'].filter((path) => {
  if (!existsSync(path)) return false
  return Number(/^v(\d+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8' }))?.[1]) < 24
})

for (const node of olderNodes) {
  test.each([['--version'], ['dev'], ['account', 'list']])(
    `${node} says in one line what it needs: %s`,
    async (...args) => {
      await using running = start(node, [program, ...args])
      const { code, stdout, stderr } = await running.exited
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^error: Aldis needs Node\.js 24 or newer; this is \d+\.\d+\.\d+ \(.+\)\n$/)
    },
  )
}

test('aldis dev starts, delivers a message and ends', async () => {
  const data = join(folder.path, 'data')
  const readyFile = join(folder.path, 'ready.json')
  const args = ['dev', '--port', '0', '--data-dir', data, '--ready-file', readyFile]
  await using running = start(program, args, { cwd: join(folder.path, 'app') })
  await running.until(() => running.stdout.includes('Aldis is ready.'))
  const ready = JSON.parse(readFileSync(readyFile, 'utf8')) as Ready
  for (const path of ['/console/', '/docs', '/docs/admin']) {
    const page = await fetch(ready.baseUrl + path)
    expect([path, page.status, page.headers.get('content-type')]).toEqual([
      path,
      200,
      'text/html; charset=utf-8',
    ])
  }
  const { json } = await send(ready)
  await eventually(async () => (await lookUp(ready, json.msgId)).json.status === 'DELIVERED')
  running.kill('SIGTERM')
  expect(await running.exited).toMatchObject({ code: 0, signal: null, stderr: '' })
})
