import { afterAll, beforeAll, expect, test } from 'vitest'
import { CALLBACK_CASES, type CallbackCase, policyOf, recordsOf } from '../support/callback-cases.ts'
import { type HttpService, startHttpService } from '../support/http-service.ts'

/** One server per policy. */
const services = new Map<string, HttpService>()

const keyOf = (each: CallbackCase) => JSON.stringify(policyOf(each))

beforeAll(async () => {
  for (const each of CALLBACK_CASES) {
    const key = keyOf(each)
    if (!services.has(key)) services.set(key, await startHttpService({ policy: policyOf(each) }))
  }
})
afterAll(async () => {
  for (const service of services.values()) await service[Symbol.asyncDispose]()
})

test.each(CALLBACK_CASES.map((each) => [each.id, each.class, each] as const))(
  'vectors/callback-url*.json: %s %s',
  async (_id, _kind, each) => {
    const service = services.get(keyOf(each))!
    const url = typeof each.url === 'string' ? URL.parse(each.url) : null
    if (url !== null) service.dns.set(url.hostname, recordsOf(each))
    const { status, json } = await service.send({ callbackUrl: each.url })
    if (each.expect !== 'reject-400') {
      expect(status).toBe(202)
      return
    }
    expect({ status, ...json }).toMatchObject({
      status: 400,
      errorCode: 'VALIDATION_ERROR',
      errors: [{ field: 'callbackUrl' }],
    })
  },
)
