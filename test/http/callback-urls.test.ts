import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { CallbackUrlFault, CallbackVerdict } from '../../src/domain/webhooks/callback-url.ts'
import { CALLBACK_CASES, DNS_CASES, policyOf, recordsOf, sentenceOf } from '../support/callback-cases.ts'
import { STRICT_CALLBACK_POLICY } from '../support/callback-policy.ts'
import { type HttpService, startHttpService } from '../support/http-service.ts'

/** Says of every URL what it is told to; without that the real guard does. */
let verdict: CallbackVerdict | null = null
const asked: unknown[] = []
let service: HttpService

beforeAll(async () => {
  service = await startHttpService({
    guard: (real) => ({
      check: async (raw) => {
        asked.push(raw)
        return verdict ?? (await real.check(raw))
      },
    }),
  })
})
afterEach(() => {
  verdict = null
})
afterAll(() => service[Symbol.asyncDispose]())

const FAULTS: Readonly<Record<CallbackUrlFault, true>> = {
  INVALID_TYPE: true,
  TOO_LONG: true,
  INVALID_SYNTAX: true,
  INVALID_SCHEME: true,
  INVALID_HOST: true,
  INVALID_CREDENTIALS: true,
  FORBIDDEN_PORT: true,
  FORBIDDEN_HOST: true,
  FORBIDDEN_ADDRESS: true,
  OWN_ADDRESS: true,
  HOST_NOT_FOUND: true,
}

describe('whatever the guard says of a callbackUrl', () => {
  const urls = fc.oneof(
    fc.constantFrom(...CALLBACK_CASES.flatMap(({ url }) => (typeof url === 'string' ? [url] : []))),
    fc.string(),
  )
  test('a refusal is answered 400 with its code and its message, of the one field, and is asked for once', async () => {
    const refusals = Object.keys(FAULTS).map((code) => ({ code: code as CallbackUrlFault }))
    const messages = fc.string({ minLength: 1 })
    await fc.assert(
      fc.asyncProperty(urls, fc.constantFrom(...refusals), messages, async (url, { code }, message) => {
        verdict = { ok: false, code, message }
        asked.length = 0
        const { status, json } = await service.send({ callbackUrl: url })
        expect(asked).toEqual([url])
        expect([status, json.errorCode]).toEqual([400, 'VALIDATION_ERROR'])
        expect(json.errors).toEqual([{ field: 'callbackUrl', code, message }])
      }),
      { numRuns: 60 },
    )
  })

  test('what it accepts is answered 202', async () => {
    const accepted = CALLBACK_CASES.filter(({ expect }) => expect !== 'reject-400')
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...accepted), async ({ url }) => {
        verdict = { ok: true }
        asked.length = 0
        expect((await service.send({ callbackUrl: url })).status).toBe(202)
        expect(asked).toEqual([url])
      }),
      { numRuns: 20 },
    )
  })
})

describe('a callbackUrl that the schema or DNS decides', () => {
  const isNoText = ({ url }: { url: unknown }) => typeof url !== 'string'
  // Those of a setting are callback-guard.test.ts's.
  const ofDns = DNS_CASES.filter((each) => policyOf(each) === STRICT_CALLBACK_POLICY)
  for (const each of [...CALLBACK_CASES.filter(isNoText), ...ofDns])
    test(sentenceOf(each), async () => {
      const url = typeof each.url === 'string' ? URL.parse(each.url) : null
      if (url !== null) service.dns.set(url.hostname, recordsOf(each))
      const { status, json } = await service.send({ callbackUrl: each.url })
      if (each.expect !== 'reject-400') return expect(status).toBe(202)
      expect({ status, ...json }).toMatchObject({
        status: 400,
        errorCode: 'VALIDATION_ERROR',
        errors: [{ field: 'callbackUrl' }],
      })
    })
})
