import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEFAULT_OPT_OUT } from '../../../src/domain/opt-outs.ts'
import { type AdminServer, createPlan, startAdminServer } from '../../support/admin-server.ts'
import { runAldis } from '../../support/cli.ts'

const PERSON = '+15551230000'

let server: AdminServer
let env: Record<string, string>
let servicePlanId: string
let folder: string
beforeAll(async () => {
  server = await startAdminServer()
  env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
  servicePlanId = (await createPlan(server)).servicePlanId
  folder = mkdtempSync(join(tmpdir(), 'opt-outs-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await server[Symbol.asyncDispose]()
})

/** Runs a command that must succeed and gives what it printed as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
async function json(...args: string[]): Promise<any> {
  const { code, stdout, stderr } = await runAldis([...args, '--json'], { env })
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
  return stdout === '' ? undefined : JSON.parse(stdout)
}

test('added, listed, removed', async () => {
  const key = ['--plan', servicePlanId, '--from', 'Aldis', '--to', PERSON]
  expect(await json('opt-out', 'create', ...key)).toMatchObject({ servicePlanId, from: 'Aldis', to: PERSON })
  const { stdout } = await runAldis(['opt-out', 'list', '--plan', servicePlanId], { env })
  expect(stdout).toMatch(/^FROM +TO +CREATED AT\nAldis +\+15551230000 +\d{4}-\d\d-\d\dT\S+Z\n$/)
  expect((await json('opt-out', 'list', ...key.slice(0, 2), '--from', 'Other')).items).toEqual([])
  await json('opt-out', 'delete', ...key)
  expect(await runAldis(['opt-out', 'delete', ...key], { env })).toMatchObject({
    code: 1,
    stderr: 'error: No such opt-out\n',
  })
  expect(await runAldis(['opt-out', 'list'], { env })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--plan'),
  })
})

test('imported from a file, and the line at fault is named', async () => {
  const file = join(folder, 'people.csv')
  const lines = Array.from({ length: 1_500 }, (_, n) => `${servicePlanId},71234,+1555124${1_000 + n}`)
  writeFileSync(file, ['servicePlanId,from,to', ...lines].join('\n'))
  const { code, stdout } = await runAldis(['opt-out', 'import', file], { env })
  expect({ code, stdout }).toEqual({ code: 0, stdout: '1500 imported\n' })
  const one = ['--plan', servicePlanId, '--to', '+15551242499']
  expect((await json('opt-out', 'list', ...one)).items).toMatchObject([{ from: '71234' }])
  writeFileSync(file, ['to,from,servicePlanId', `${PERSON},Aldis,${servicePlanId}`, '123,Aldis,x'].join('\n'))
  const refused = await runAldis(['opt-out', 'import', file], { env })
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('line 3: ') })
  expect((await json('opt-out', 'list', '--plan', servicePlanId, '--from', 'Aldis')).items).toEqual([])
})

test('settings of a plan', async () => {
  const update = async (...options: string[]) =>
    (await json('plan', 'update', servicePlanId, ...options)).optOut
  expect(await update('--opt-out')).toEqual(DEFAULT_OPT_OUT)
  expect(await update('--stop-word', 'STOP, opt out', '--stop-reply', 'Bye')).toEqual({
    ...DEFAULT_OPT_OUT,
    stopWords: ['STOP', 'opt out'],
    stopReply: 'Bye',
  })
  expect(await update('--no-stop-reply', '--help-word', 'HELP', '--help-reply', 'Write')).toMatchObject({
    stopWords: ['STOP', 'opt out'],
    stopReply: null,
    helpWords: ['HELP'],
    helpReply: 'Write',
  })
  expect(await update('--name', 'still')).toMatchObject({ helpReply: 'Write' })
  expect(await update('--no-opt-out')).toBeNull()
  expect(await update('--start-word', 'JOIN')).toEqual({ ...DEFAULT_OPT_OUT, startWords: ['JOIN'] })
})
