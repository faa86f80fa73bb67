import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApiDocument } from '../../../scripts/openapi-document.ts'
import {
  FORBIDDEN_PLANS,
  type HttpService,
  PLAN,
  startHttpService,
  TOKEN_OTHER,
} from '../../support/http-service.ts'
import { operationsOf } from '../../support/openapi.ts'

const UNKNOWN = '00000000-0000-4000-8000-000000000000'
/** Lists that need a filter. */
const FILTERS: Readonly<Record<string, string>> = {
  '/v1/messages/sms': '&status=QUEUED',
  '/v1/messages/sms/counts': '&status=QUEUED',
  '/v1/inbound/sms': '&to=71234',
}

/** Every read of the customers' API. */
const PATHS = operationsOf(await openApiDocument('/openapi.json'))
  .filter(({ method, path }) => method === 'get' && path.startsWith('/v1/'))
  .map(({ path }) => path)

const withoutQuery = (path: string) => path.replace('{msgId}', UNKNOWN).replace('{eventId}', `${UNKNOWN}-1`)
const target = (path: string, plan = PLAN) =>
  `${withoutQuery(path)}?servicePlanId=${plan}${FILTERS[path] ?? ''}`

let service: HttpService
beforeAll(async () => {
  service = await startHttpService()
})
afterAll(() => service[Symbol.asyncDispose]())

describe.each(PATHS)('GET %s', (path) => {
  it('401 without a valid token', async () => {
    for (const authorization of ['', 'Bearer x', 'Bearer nobody', 'Token x']) {
      const { status, json } = await service.get(target(path), { authorization })
      expect([status, json.errorCode]).toEqual([401, 'UNAUTHENTICATED'])
    }
  })

  it('403 for a plan that is not the token’s, alike whether it exists', async () => {
    const texts = new Set<string>()
    for (const [plan, headers] of FORBIDDEN_PLANS) {
      const { status, json, text } = await service.get(target(path, plan), headers)
      expect([status, json.errorCode]).toEqual([403, 'FORBIDDEN'])
      texts.add(text.replace(json.requestId, ''))
    }
    expect(texts.size).toBe(1)
  })

  it('405 to anything but reading', async () => {
    for (const method of ['POST', 'DELETE']) {
      const answer = await service.request({ method, path: withoutQuery(path) })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    }
  })
})

it('429 over the rate of reads, which all reads of an account share', async () => {
  const limits = { reads: { perSecond: 0.001, burst: PATHS.length } }
  await using slow = await startHttpService({ database: service.database, limits })
  for (const path of PATHS) expect([200, 404]).toContain((await slow.get(target(path))).status)
  for (const path of PATHS) {
    const refused = await slow.get(target(path))
    expect([refused.status, refused.json.errorCode]).toEqual([429, 'RATE_LIMITED'])
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
    expect(refused.headers.get('ratelimit')).toMatch(/^"reads";r=0;t=\d+$/)
  }
  for (const verb of ['pause', 'resume']) {
    const changed = await slow.request({ method: 'POST', path: `/v1/webhooks/destinations/${verb}` })
    expect([changed.status, changed.json.errorCode]).toEqual([429, 'RATE_LIMITED'])
  }
  expect((await slow.send()).status).toBe(202)
  const others = { authorization: `Bearer ${TOKEN_OTHER}` }
  expect((await slow.get(`/v1/messages/${UNKNOWN}`, others)).status).toBe(404)
})
