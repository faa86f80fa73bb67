import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { messageId } from '../../../src/domain/identifiers.ts'
import { adminServerOfFile, createPlan } from '../../support/admin-server.ts'
import { runAldis } from '../../support/cli.ts'
import { startAldis } from '../../support/process.ts'

const server = await adminServerOfFile({ state: 'started' })
const { db } = server.database

async function aldis(...args: string[]) {
  const env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
  const { code, stdout, stderr } = await runAldis(['message', ...args], { env })
  return { code, stdout, stderr }
}

test('list: messages of all plans as a table, narrowed by every filter, page by page', async () => {
  const { servicePlanId } = await createPlan(server)
  const planId = server.directory.current().planByPublicId(servicePlanId)!.id
  const nowMs = Date.now()
  const ids = [0, 1].map((n) => messageId(nowMs - n, randomBytes(9), 0))
  for (const msgId of ids)
    await db.query(
      `insert into messages (plan_id, msg_id, status, segments, updated_at, sender, recipient, body, country, error_code)
       values ($1, $2, 'FAILED', 1, now(), 'Example', '+46701111111', 'hej', 'SE', '303')`,
      [planId, msgId],
    )
  const filters = ['--plan', servicePlanId, '--from', 'Example', '--to', '+46701111111', '--status', 'FAILED']
  const window = [
    '--from-date',
    new Date(Date.now() - 60_000).toISOString(),
    '--to-date',
    new Date().toISOString(),
  ]
  const { stdout, stderr } = await aldis(
    'list',
    ...filters,
    ...window,
    '--error-code',
    '303',
    '--country',
    'se',
    '--limit',
    '1',
  )
  const lines = stdout.trimEnd().split('\n')
  const [headings, cells, ...more] = lines.map((line) => line.split(/ {2,}/))
  expect(headings).toEqual(['CREATED AT', 'MSG ID', 'PLAN', 'FROM', 'TO', 'STATUS', 'ERROR CODE', 'CARRIER'])
  expect(cells?.slice(1)).toEqual([ids[0], servicePlanId, 'Example', '+46701111111', 'FAILED', '303', '-'])
  expect(more).toEqual([])
  expect(stderr).toBe(`more: --after '${ids[0]}', or --all\n`)
  const rest = JSON.parse((await aldis('list', '--after', ids[0]!, '--json')).stdout)
  expect(rest.items.map(({ msgId }: { msgId: string }) => msgId)).toEqual([ids[1]])
  expect((await aldis('list', '--carrier-message-id', '1f4')).stdout.split('\n')).toHaveLength(2)
  expect(await aldis('list', '--carrier', 'nobody')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('carrier must be an existing carrier'),
  })
})

test('list --follow: the newest, then new messages and changes of status that match', async () => {
  const { servicePlanId } = await createPlan(server)
  const planId = server.directory.current().planByPublicId(servicePlanId)!.id
  const store = async (status: string, agoMs = 0) => {
    const msgId = messageId(Date.now() - agoMs, randomBytes(9), 0)
    await db.query(
      `insert into messages (plan_id, msg_id, status, segments, updated_at, sender, recipient, body)
       values ($1, $2, $3, 1, now(), 'Example', '+46701111111', 'hej')`,
      [planId, msgId, status],
    )
    return msgId
  }
  const change = (msgId: string, status: string) =>
    db.query('update messages set status = $3 where plan_id = $1 and msg_id = $2', [planId, msgId, status])
  const env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
  const follow = (...args: string[]) =>
    startAldis(['message', 'list', '--plan', servicePlanId, '--follow', ...args], { env })

  const ids = [await store('DELIVERED', 90_000), await store('SENT', 80_000), await store('DELIVERED', 1_000)]
  await using all = follow('--limit', '2')
  await using failed = follow('--status', 'failed', '--json')
  const shown = () => all.stdout.split('\n').map((line) => line.split(/ {2,}/))
  const rows = () =>
    shown()
      .slice(1, -1)
      .map((cells) => [cells[1], cells[5]])
  const before = [
    [ids[1], 'SENT'],
    [ids[2], 'DELIVERED'],
  ]
  await all.until(() => rows().length === 2)
  expect(shown()[0]).toEqual([
    'UPDATED AT',
    'MSG ID',
    'PLAN',
    'FROM',
    'TO',
    'STATUS',
    'ERROR CODE',
    'CARRIER',
  ])
  expect(rows()).toEqual(before)
  const newest = await store('QUEUED')
  await all.until(() => rows().length === 3)
  await change(ids[1]!, 'FAILED')
  await all.until(() => rows().length === 4)
  await change(newest, 'FAILED')
  await failed.until(() => failed.stdout.split('\n').length === 3)
  await all.until(() => rows().length === 5)
  expect(rows()).toEqual([...before, [newest, 'QUEUED'], [ids[1], 'FAILED'], [newest, 'FAILED']])
  const lines = failed.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ msgId, status }) => [msgId, status])).toEqual([
    [ids[1], 'FAILED'],
    [newest, 'FAILED'],
  ])
})
