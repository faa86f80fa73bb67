import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, CARRIER, createPlan, startAdminServer } from '../../support/admin-server.ts'
import { runAldis } from '../../support/cli.ts'
import { newId } from '../../support/installation.ts'

const AT = Date.parse('2026-01-02T03:04:05.678Z')
const ids = [0, 1, 2].map((n) => newId(AT + n, 0))

let server: AdminServer
let env: Record<string, string>
let servicePlanId: string
beforeAll(async () => {
  server = await startAdminServer()
  env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
  await server.request('POST', '/carriers', CARRIER)
  servicePlanId = (await createPlan(server)).servicePlanId
  const { db } = server.database
  await db.query('create table inbound_messages_all partition of inbound_messages default')
  await db.query(
    `insert into inbound_messages (plan_id, msg_id, carrier_id, sender, recipient, keyword, body)
     select id, unnest($1::uuid[]), 1, unnest(array['+46701234567', 'Åland']), '71234', unnest(array['JOIN', null]),
            unnest(array['join', E'clear \\u001b[2J'])
     from service_plans`,
    [ids.slice(0, 2)],
  )
  await db.query(
    `insert into unowned_inbound_messages (msg_id, carrier_id, sender, recipient, body)
     values ($1, 1, '+46701234567', '99999', 'hello?')`,
    [ids[2]],
  )
})
afterAll(() => server[Symbol.asyncDispose]())

async function printed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runAldis(['inbound', ...args], { env })
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
  return stdout
}

/** Columns of what was printed: they are two spaces apart. */
function cells(text: string): string[][] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/))
}

test('a list of a plan, newest first, with nothing in it that a terminal obeys', async () => {
  expect(cells(await printed('list', '--plan', servicePlanId))).toEqual([
    ['RECEIVED AT', 'MSG ID', 'FROM', 'TO', 'KEYWORD', 'BODY'],
    ['2026-01-02T03:04:05.679Z', ids[1], 'Åland', '71234', '-', 'clear \\u001b[2J'],
    ['2026-01-02T03:04:05.678Z', ids[0], '+46701234567', '71234', 'JOIN', 'join'],
  ])
})

test('filtered, as JSON, and page by page', async () => {
  const list = ['list', '--plan', servicePlanId, '--json']
  for (const filter of [
    ['--from', '+46701234567'],
    ['--keyword', 'join'],
    ['--after', ids[1]!],
  ]) {
    const { items } = JSON.parse(await printed(...list, ...filter))
    expect(items, filter.join(' ')).toMatchObject([{ msgId: ids[0], servicePlanId, carrier: 'acme' }])
  }
  expect(JSON.parse(await printed(...list, '--to', '71235')).items).toEqual([])
  const { stderr } = await runAldis(['inbound', 'list', '--plan', servicePlanId, '--limit', '1'], { env })
  expect(stderr).toBe(`more: --after '${ids[1]}', or --all\n`)
})

test('one of them', async () => {
  expect(await printed('show', ids[0]!)).toMatch(/^from +\+46701234567$/m)
  expect(JSON.parse(await printed('show', ids[1]!, '--json'))).toMatchObject({ from: 'Åland', keyword: null })
  const missing = await runAldis(['inbound', 'show', ids[2]!], { env })
  expect(missing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^error: .+\n$/) })
})

test('those that nobody owns', async () => {
  const { stdout } = await runAldis(['unowned-inbound', 'list'], { env })
  expect(cells(stdout)).toEqual([
    ['RECEIVED AT', 'MSG ID', 'FROM', 'TO', 'CARRIER', 'BODY'],
    ['2026-01-02T03:04:05.680Z', ids[2], '+46701234567', '99999', 'acme', 'hello?'],
  ])
})

test('a list needs a plan', async () => {
  const { code, stderr } = await runAldis(['inbound', 'list'], { env })
  expect([code, stderr]).toEqual([1, "error: required option '--plan <id>' not specified\n"])
})
