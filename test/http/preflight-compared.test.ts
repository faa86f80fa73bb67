import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { anyText } from '../support/any-text.ts'
import { BAD_INPUTS, type BadInput, bodyOf, FIXED_VALUES, fill, sentenceOf } from '../support/bad-inputs.ts'
import {
  type HttpService,
  PLAN,
  PLAN_INACTIVE,
  PLAN_INCOMPLETE,
  PLAN_OTHER,
  SENDER,
  startHttpService,
} from '../support/http-service.ts'
import { exchange, type HttpAnswer, requestBytes } from '../support/raw-http.ts'
import { CALLBACK_VERDICTS, compareCallbackUrls, expectAgreement, UNBOUNDED } from './preflight-compared.ts'

/** A preflight tells what the send of the same request is answered, with the same codes and words. */

const SEND = /^\/v1\/sendsms(?=[?#]|$)/
const SENDS = BAD_INPUTS.filter(({ request }) => SEND.test(request.path) && request.method === 'POST')

let service: HttpService
beforeAll(async () => {
  service = await startHttpService({
    plan: { allowedCountries: new Set(['US']) },
    limits: UNBOUNDED,
  })
})
afterAll(() => service[Symbol.asyncDispose]())

async function answerTo({ request }: BadInput, path: string): Promise<HttpAnswer> {
  const headers = Object.entries(request.headers ?? {}).map(([name, value]) => [
    name,
    fill(value, FIXED_VALUES),
  ])
  const bytes = requestBytes({
    method: 'POST',
    path,
    headers: Object.fromEntries(headers),
    body: bodyOf(request, FIXED_VALUES),
  })
  const answer = await exchange(service.port, bytes)
  if (answer === null) throw new Error('closed without an answer')
  return answer
}

describe('what a client sends wrongly', () => {
  /** As of the last send. */
  let stored: number
  beforeAll(async () => {
    stored = await service.storedMessages()
  })

  for (const badInput of SENDS)
    it(sentenceOf(badInput), async () => {
      const path = badInput.request.path
      const preflight = await answerTo(badInput, path.replace(SEND, '/v1/sendsms/preflight'))
      const before = stored
      stored = await service.storedMessages()
      expect(stored).toBe(before)
      const send = await answerTo(badInput, path)
      if (send.status === 202 && !send.headers.has('idempotent-replayed')) stored += 1
      expectAgreement(preflight, send)
      // Only what is no send at all is refused.
      const isRefused =
        [401, 413, 415].includes(preflight.status) || preflight.json.errors?.[0].field === 'request'
      expect(preflight.status === 200).toBe(!isRefused)
    })

  it('there are cases of each kind', () => expect(SENDS.length).toBeGreaterThan(100))
})

describe('a callbackUrl, three of each kind; all in preflight-compared.long.test.ts', () => {
  test.each([...CALLBACK_VERDICTS])('%s', (_kind, cases) => compareCallbackUrls(service, cases.slice(0, 3)))
})

test('any fields at all', async () => {
  const text = anyText({ maxLength: 20 })
  const value = (...some: unknown[]) =>
    fc.oneof(fc.constantFrom(...some), text, fc.jsonValue({ maxDepth: 2 }))
  const fields = fc.record(
    {
      servicePlanId: value(PLAN, PLAN, PLAN_OTHER, PLAN_INACTIVE, PLAN_INCOMPLETE),
      channel: value('SMS', 'SMS', 'SMS', 'MMS'),
      from: value(SENDER, SENDER, 'Aldis', 'Pending', 'Archived', 'Denied'),
      to: value('+15551230001', '+447400123456', '15551230001'),
      body: value('hello', '“quoted” 😀', 'ж'.repeat(200), 'x'.repeat(1_601)),
      callbackUrl: value('https://hooks.example.com/', 'http://hooks.example.com/', 'https://10.0.0.1/'),
      callbackURL: text,
    },
    { requiredKeys: ['servicePlanId', 'channel', 'to'] },
  )
  const keys = fc.constantFrom<Record<string, string>>({}, {}, { 'idempotency-key': 'a b' })
  await fc.assert(
    fc.asyncProperty(fields, keys, async (some, headers) => {
      const preflight = await service.preflight(some, headers)
      expect(preflight.status).toBe(200)
      expectAgreement(preflight, await service.send(some, headers))
    }),
    { numRuns: 200 },
  )
})
