import { expect, test } from 'vitest'
import type { Backlog } from '../../../src/domain/backlog.ts'
import { adminServerOfFile, createPlan } from '../../support/admin-server.ts'
import { runAldis } from '../../support/cli.ts'

const AT = Date.UTC(2026, 0, 2, 3, 4, 5)
const EMPTY: Backlog = {
  held: [],
  waiting: [],
  webhooks: [],
  destinations: [],
  more: { messages: false, webhooks: false },
  countedAtMs: AT,
}
let backlog = EMPTY
const server = await adminServerOfFile({ backlog: { read: async () => backlog } })

async function aldis(...args: string[]) {
  const env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
  const { code, stdout, stderr } = await runAldis(['queue', ...args], { env })
  expect(code).toBe(0)
  return { stdout, stderr }
}

test('nothing waits', async () => {
  expect(await aldis()).toEqual({ stdout: 'waiting  nothing\n', stderr: '' })
})

test('what waits, where, why and how long', async () => {
  const { servicePlanId } = await createPlan(server)
  const planId = server.directory.current().planByPublicId(servicePlanId)!.id
  const before = (seconds: number) => AT - 1_000 * seconds
  backlog = {
    ...EMPTY,
    held: [{ route: 'default', carrier: 'acme', cause: 'in-flight', count: 3, oldestMs: before(5) }],
    waiting: [
      { route: 'default', carrier: null, cause: 'carrier-stopped', count: 20_000, oldestMs: before(7_300) },
    ],
    webhooks: [{ cause: 'breaker-open', count: 7, oldestMs: before(600) }],
    destinations: [
      {
        planId,
        destination: 'https://hooks.example.com',
        state: 'open',
        since: new Date(before(700)),
        error: 'TIMEOUT',
        count: 7,
        oldestMs: before(600),
      },
    ],
    more: { messages: true, webhooks: false },
  }
  const { stdout, stderr } = await aldis()
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['incomplete', 'messages'],
    [''],
    ['COUNT', 'PLACE', 'ROUTE', 'CARRIER', 'CAUSE', 'AGE'],
    ['3', 'memory', 'default', 'acme', 'in-flight', '5 s'],
    ['20000', 'database', 'default', '-', 'carrier-stopped', '2 h'],
    [''],
    ['COUNT', 'CAUSE', 'AGE'],
    ['7', 'breaker-open', '10 min'],
    [''],
    ['COUNT', 'STATE', 'PLAN', 'DESTINATION', 'SINCE', 'ERROR', 'AGE'],
    [
      '7',
      'open',
      servicePlanId,
      'https://hooks.example.com',
      '2026-01-02T02:52:25.000Z',
      'TIMEOUT',
      '10 min',
    ],
    [''],
  ])
  expect(stderr).toBe('')
  expect(JSON.parse((await aldis('--json')).stdout)).toMatchObject({
    countedAt: '2026-01-02T03:04:05.000Z',
    messages: [{ place: 'memory' }, { place: 'database', oldestAt: '2026-01-02T01:02:25.000Z' }],
    truncated: { messages: true },
  })
})
