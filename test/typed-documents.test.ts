import { globSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blocksOf, follow, Shell, untagged } from './support/document-commands.ts'
import { freePort, NODE_COMPILE_CACHE, ROOT, scratchFolder, startDev } from './support/process.ts'

/** What these pages tell to type, typed, on the service that `aldis dev` starts. */
const PAGES = ['docs/sending.md', ...globSync('docs/guides/*.md', { cwd: ROOT })]

const blocks = (page: string) => blocksOf(readFileSync(join(ROOT, page), 'utf8'))

const folder = scratchFolder()
let env: NodeJS.ProcessEnv
let dev: Awaited<ReturnType<typeof startDev>>
beforeAll(async () => {
  const listenPort = String(await freePort())
  dev = await startDev(folder.path, ['--listen-port', listenPort])
  env = { ALDIS_DATA_DIR: dev.dataDir, ALDIS_LISTEN_PORT: listenPort, NODE_COMPILE_CACHE }
})
afterAll(async () => {
  await dev?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

test.each(PAGES)('%s: every block says what it is', (page) => {
  expect(untagged(blocks(page))).toEqual([])
})

test.each(PAGES)('%s: its commands print what it shows', async (page) => {
  const cwd = join(folder.path, page.replaceAll('/', '-'))
  mkdirSync(cwd)
  await using shell = new Shell({ cwd, env })
  await shell.type('eval "$(aldis dev env)"')
  await follow(blocks(page), shell, cwd)
})
