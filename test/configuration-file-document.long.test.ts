import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, startAdminServer } from './support/admin-server.ts'
import { Shell, sectionOf, textsOf } from './support/document-commands.ts'
import { ROOT, scratchFolder } from './support/process.ts'

/** What docs/configuration-as-a-file.md tells to type, typed. The short form of all typed documents is typed-documents.test.ts. */

const DOCUMENT = readFileSync(join(ROOT, 'docs/configuration-as-a-file.md'), 'utf8')
const WALK = sectionOf(DOCUMENT, '## A walk through it')
const [SETTING, ...COMMANDS] = textsOf(WALK, 'sh')

const folder = scratchFolder()
let server: AdminServer
beforeAll(async () => {
  server = await startAdminServer()
  writeFileSync(join(folder.path, 'aldis.yaml'), textsOf(WALK, 'yaml')[0]!)
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

test('the walk gives what is shown', async () => {
  const [diff, apply, same, exported, ...more] = COMMANDS as [string, string, string, string]
  expect(more).toEqual([])
  expect(SETTING).toBe('export ALDIS_URL=http://localhost:8080 ALDIS_OPERATOR_TOKEN=…\n')
  const env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
  await using shell = new Shell({ cwd: folder.path, env })
  expect(await shell.type(diff, 2)).toBe(textsOf(WALK, 'text')[0])
  expect(await shell.type(apply)).toContain('whsec_')
  await shell.type(same)
  await shell.type(exported)
  expect(shell.stderr).toBe('')
})
