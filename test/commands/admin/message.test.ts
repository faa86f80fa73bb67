import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { messageId } from '../../../src/domain/identifiers.ts'
import { ensurePartitions } from '../../../src/services/upkeep/day-partitions.ts'
import { adminServerOfFile, createPlan } from '../../support/admin-server.ts'
import { runAldis } from '../../support/cli.ts'

const server = await adminServerOfFile()
const { db } = server.database

async function aldis(...args: string[]) {
  const env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
  const { code, stdout, stderr } = await runAldis(['message', ...args], { env })
  return { code, stdout, stderr }
}

test('list: messages of all plans as a table, narrowed by every filter, page by page', async () => {
  await ensurePartitions(db, Date.now())
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
