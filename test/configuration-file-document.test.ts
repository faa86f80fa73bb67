import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, startAdminServer } from './support/admin-server.ts'
import { MAIN, ROOT, scratchFolder, start } from './support/process.ts'

/** What docs/configuration-as-a-file.md tells to type, typed. */

const DOCUMENT = readFileSync(join(ROOT, 'docs/configuration-as-a-file.md'), 'utf8')
const WALK = DOCUMENT.split('## A walk through it\n')[1]!.split('\n## ')[0]!
const blocks = (language: string) =>
  [...WALK.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, found, block]) =>
    found === language ? [block!] : [],
  )
const [SETTING, ...COMMANDS] = blocks('sh')

const folder = scratchFolder()
let server: AdminServer
beforeAll(async () => {
  server = await startAdminServer()
  writeFileSync(join(folder.path, 'aldis.yaml'), blocks('yaml')[0]!)
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

/** The exit code and standard output of a block; `aldis` is this checkout's. */
async function type(block: string): Promise<{ code: number | null; stdout: string }> {
  const [url, token] = [...SETTING!.matchAll(/(ALDIS_\w+)=/g)].map(([, name]) => name!) as [string, string]
  const env = { [url]: server.baseUrl, [token]: server.operatorToken, ACME_PASSWORD: 'secret08' }
  const aldis = `aldis() { '${process.execPath}' '${MAIN}' "$@"; }`
  await using running = start('/bin/sh', ['-ec', `${aldis}\n${block}`], { cwd: folder.path, env })
  const { code, stdout, stderr } = await running.exited
  expect(stderr).toBe('')
  return { code, stdout }
}

test('the walk gives what is shown', async () => {
  const [diff, apply, same, exported, ...more] = COMMANDS as [string, string, string, string]
  expect(more).toEqual([])
  expect(await type(diff)).toEqual({ code: 2, stdout: blocks('text')[0] })
  expect(await type(apply)).toMatchObject({ code: 0, stdout: expect.stringContaining('whsec_') })
  expect((await type(same)).code).toBe(0)
  expect((await type(exported)).code).toBe(0)
})
