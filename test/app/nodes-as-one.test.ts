import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '../../src/app/start.ts'
import { SAME_ORIGIN } from '../support/console.ts'
import { eventually, RECIPIENT, type Service, startService } from '../support/service.ts'
import { call } from '../support/tenant.ts'

/** What a customer has from one node holds on every other (docs/many-nodes.md). */

let service: Service
let second: App

beforeAll(async () => {
  service = await startService({ webhooks: false })
  second = await service.startNode({ nodeName: 'second' })
})
afterAll(() => service?.[Symbol.asyncDispose]())

const both = () => [service.app.url, second.url]

function sendTo(url: string, body: string, headers: Record<string, string> = {}) {
  const { servicePlanId, token } = service
  const message = { servicePlanId, channel: 'SMS', from: 'Aldis', to: RECIPIENT, body }
  return call(`${url}/v1/sendsms`, token, 'POST', message, headers)
}

test('requests with one Idempotency-Key on both nodes at once are one message', async () => {
  const urls = Array.from({ length: 40 }, (_, index) => both()[index % 2]!)
  const sent = urls.map((url) => sendTo(url, 'once', { 'idempotency-key': 'on-both' }))
  const answers = await Promise.all(sent)
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
  expect(new Set(answers.map(({ body }) => body.msgId)).size).toBe(1)
  expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1)
  for (const url of both())
    expect(await sendTo(url, 'other', { 'idempotency-key': 'on-both' })).toMatchObject({ status: 422 })
})

test('a cursor of one node goes on at the other', async () => {
  const ids: string[] = []
  for (let count = 0; count < 4; count += 1) {
    const { status, body } = await sendTo(both()[count % 2]!, `page ${count}`)
    expect(status).toBe(202)
    ids.push(body.msgId)
  }
  const { servicePlanId, token } = service
  const shown: string[] = []
  let query = `to=${encodeURIComponent(RECIPIENT)}&limit=1`
  for (let page = 0; page < ids.length; page += 1) {
    const path = `/v1/messages/sms?servicePlanId=${servicePlanId}&${query}`
    const { status, body } = await call(both()[page % 2]! + path, token)
    expect(status).toBe(200)
    shown.push(body.items[0].msgId)
    query = `cursor=${encodeURIComponent(body.pagination.nextCursor)}`
  }
  // The clocks of nodes agree within some milliseconds, and ids begin with the time.
  expect(shown).toEqual(ids.toSorted().toReversed())
})

test('a session of the console that one node began is valid on the other; a revoked token ends it on both', async () => {
  const { accountId } = service
  const { token, tokenId } = await service.admin('POST', '/tokens', { accountId, name: 'browser' })
  const begun = await eventually(async () => {
    const answer = await fetch(`${second.url}/console/session`, {
      method: 'POST',
      headers: { ...SAME_ORIGIN, 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    return answer.status === 200 && answer
  })
  const cookie = begun.headers.getSetCookie()[0]!.split(';')[0]!
  const signedIn = async (url: string) => {
    const answer = await fetch(`${url}/console/session`, { headers: { ...SAME_ORIGIN, cookie } })
    return ((await answer.json()) as { customer: object | null }).customer !== null
  }
  const read = async (url: string) =>
    (await call(`${url}/v1/messages/sms?servicePlanId=${service.servicePlanId}&status=SENT`, token)).status
  for (const url of both()) expect([await signedIn(url), await read(url)]).toEqual([true, 200])
  await service.admin('DELETE', `/tokens/${tokenId}`)
  for (const url of both()) await eventually(async () => (await read(url)) === 401 && !(await signedIn(url)))
})

test('both together let one burst of a plan through', async () => {
  const burst = 100
  const { servicePlanId } = service
  // The first has noticed the second: it gave buckets to it.
  await eventually(async () => {
    const { rows } = await service.db.query(
      `select from buckets join nodes using (node_id) where name = 'second'`,
    )
    return rows.length > 0
  })
  await service.admin('PATCH', `/service-plans/${servicePlanId}`, {
    rateLimit: { messagesPerSecond: 1, burst },
  })
  await second.refresh()
  const startedAtMs = Date.now()
  const urls = Array.from({ length: 2 * burst }, (_, index) => both()[index % 2]!)
  const answers = await Promise.all(urls.map((url) => sendTo(url, 'one of many')))
  const passed = answers.filter(({ status }) => status === 202).length
  // Both readings are cut to a millisecond.
  expect(passed).toBeLessThanOrEqual(burst + (Date.now() + 1 - startedAtMs) / 1_000)
  expect(passed).toBeGreaterThanOrEqual(0.9 * burst)
})
