import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { BacklogWatch } from '../../../src/services/upkeep/backlog-watch.ts'
import { backlogMetrics } from '../../../src/services/upkeep/metrics/backlog.ts'
import type { Database } from '../../../src/store/database.ts'
import { aCarrier, aDirectory, aPlan, aRoute } from '../../support/directory.ts'
import { installedDatabase, newId } from '../../support/installation.ts'

const { db, announcedPlan } = await installedDatabase()
const route = aRoute({ name: 'default' })
const directory = aDirectory({
  plans: [aPlan({ id: announcedPlan, route })],
  routes: [route],
  carriers: [aCarrier({ name: 'acme' })],
})

/** A watch of a database whose statements are counted; each takes `tookMs` by its clock. */
function aWatch() {
  const asked = { statements: 0, nowMs: 0, tookMs: 0, failing: false, hanging: false }
  const query = (statement: { name: string; text: string }) => {
    asked.statements += 1
    asked.nowMs += asked.tookMs
    if (asked.hanging) return new Promise(() => undefined)
    return asked.failing ? Promise.reject(new Error('gone')) : db.query(statement)
  }
  const reads = new Proxy(db, { get: (pool, key) => (key === 'query' ? query : pool[key as keyof Database]) })
  const watch = new BacklogWatch({
    reads,
    directory: () => directory,
    held: () => [{ routeId: 1, carrierId: 1, cause: 'in-flight', count: 2, oldestMsgId: newId(1_000) }],
    conditionOf: () => 'unbound',
    clock: () => asked.nowMs,
  })
  return { watch, asked }
}

test('the database is asked every 10 s at most, however many ask at once; memory each time', async () => {
  const { watch, asked } = aWatch()
  const msgId = newId(5_000)
  await db.query(
    `insert into dispatches (bucket, msg_id, plan_id, route_id, due_at, expires_at)
     values (7, $1, $2, 1, now(), now())`,
    [msgId, announcedPlan],
  )
  const answers = await Promise.all(Array.from({ length: 20 }, () => watch.read()))
  expect(asked.statements).toBe(3)
  expect(answers.at(-1)).toMatchObject({
    held: [{ route: 'default', carrier: 'acme', cause: 'in-flight', count: 2, oldestMs: 1_000 }],
    waiting: [{ route: 'default', carrier: null, cause: 'carrier-unbound', count: 1, oldestMs: 5_000 }],
    webhooks: [],
    destinations: [],
    more: { messages: false, webhooks: false },
  })
  asked.nowMs = 9_999
  await watch.read()
  expect(asked.statements).toBe(3)
  asked.nowMs = 10_000
  await watch.read()
  expect(asked.statements).toBe(6)
})

test('a slow count is shown the longer: counting takes 2 % of the time at most', async () => {
  const { watch, asked } = aWatch()
  asked.tookMs = 1_000
  await watch.read()
  asked.nowMs = 3_000 + 149_999
  await watch.read()
  expect(asked.statements).toBe(3)
  asked.nowMs = 3_000 + 150_000
  await watch.read()
  expect(asked.statements).toBe(6)
})

test('a count that fails is not kept', async () => {
  const { watch, asked } = aWatch()
  asked.failing = true
  await expect(watch.read()).rejects.toThrow('gone')
  asked.failing = false
  expect((await watch.read()).countedAtMs).toBe(0)
})

test('a scrape does not wait for a database that hangs; what is in memory is told', async () => {
  const { watch, asked } = aWatch()
  asked.hanging = true
  const registry = new Registry()
  backlogMetrics(registry, watch)
  const text = await registry.metrics()
  expect(text).toContain('aldis_messages_in_memory{route="default",carrier="acme",cause="in-flight"} 2')
  expect(text).not.toMatch(/^aldis_(messages_waiting|webhooks_waiting|backlog_truncated)\{/m)
})
