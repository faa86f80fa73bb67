import { expect } from 'vitest'
import { CALLBACK_CASES, type CallbackCase, policyOf, recordsOf } from '../support/callback-cases.ts'
import { STRICT_CALLBACK_POLICY } from '../support/callback-policy.ts'
import type { HttpService } from '../support/http-service.ts'
import type { HttpAnswer } from '../support/raw-http.ts'

/** A preflight against the send of the same request. */

export const UNBOUNDED = { preflights: { perSecond: 100_000, burst: 100_000 } }

/** A failure, but for the id that every request has of its own. */
function failureOf({ status, json: { requestId: _, ...body } }: HttpAnswer) {
  return { status, ...body }
}

export function expectAgreement(preflight: HttpAnswer, send: HttpAnswer, ofWhat?: string): void {
  const told = preflight.status === 200 ? preflight.json.refusal : failureOf(preflight)
  expect(told, ofWhat).toEqual(send.status === 202 ? null : failureOf(send))
}

/** Callback URLs that the policy of every plan judges, by their kind and what it says of them. */
export const CALLBACK_VERDICTS = Map.groupBy(
  CALLBACK_CASES.filter((each) => policyOf(each) === STRICT_CALLBACK_POLICY),
  ({ class: kind, expect: verdict }) => `${kind}: ${verdict}`,
)

export async function compareCallbackUrls(
  service: HttpService,
  cases: readonly CallbackCase[],
): Promise<void> {
  for (const each of cases) {
    const url = typeof each.url === 'string' ? URL.parse(each.url) : null
    if (url !== null) service.dns.set(url.hostname, recordsOf(each))
    const preflight = await service.preflight({ callbackUrl: each.url })
    const send = await service.send({ callbackUrl: each.url })
    expectAgreement(preflight, send, each.id)
    const { callbackUrl } = preflight.json
    expect(callbackUrl?.allowed ?? true, each.id).toBe(send.status === 202)
  }
}
