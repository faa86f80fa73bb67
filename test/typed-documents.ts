import { globSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { type Block, blocksOf, follow, Shell } from './support/document-commands.ts'
import { freePort, NODE_COMPILE_CACHE, ROOT, scratchFolder, startDev } from './support/process.ts'

/** What these pages tell to type is typed, on the service that `aldis dev` starts. */
export const PAGES = ['docs/sending.md', ...globSync('docs/guides/*.md', { cwd: ROOT })]

export const blocksOfPage = (page: string): Block[] => blocksOf(readFileSync(join(ROOT, page), 'utf8'))

/** A test of each page, on one service. */
export function typePages(pages: readonly string[]): void {
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

  test.each(pages)('%s: its commands print what it shows', async (page) => {
    const cwd = join(folder.path, page.replaceAll('/', '-'))
    mkdirSync(cwd)
    await using shell = new Shell({ cwd, env })
    await shell.type('eval "$(aldis dev env)"')
    await follow(blocksOfPage(page), shell, cwd)
  })
}
