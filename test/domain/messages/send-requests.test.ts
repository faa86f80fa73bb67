import { describe, expect, it, test } from 'vitest'
import { senderKey } from '../../../src/domain/configuration/directory.ts'
import {
  fieldFaults,
  idempotencyKeyHash,
  isIdempotencyKey,
  judgeSender,
  recordBytes,
  requestHash,
} from '../../../src/domain/messages/send-requests.ts'
import { aDirectory, aPlan } from '../../support/directory.ts'

function faultsOf(request: Parameters<typeof fieldFaults>[0]): string[] {
  return fieldFaults(request).map(({ field, code }) => `${field} ${code}`)
}

it('finds what a schema cannot tell', () => {
  expect(faultsOf({ from: '12345', to: '+15551230001', body: 'hi' })).toEqual([])
  expect(faultsOf({ from: '12', to: '15551230001', body: 'a\u0000b' })).toEqual([
    'from INVALID_FORMAT',
    'to INVALID_FORMAT',
    'body INVALID_TEXT',
  ])
  expect(faultsOf({ body: 'x\udc00y' })).toEqual(['body INVALID_TEXT'])
  expect(faultsOf({ body: '\ud800\u0000' })).toEqual(['body INVALID_TEXT', 'body INVALID_TEXT'])
  expect(faultsOf({ body: '😀\ufeff\u202e' })).toEqual([])
})

it('leaves types to the schema', () => {
  expect(faultsOf({ from: ['12345'], to: 15551230001, body: null })).toEqual([])
})

it('measures a record in bytes of UTF-8', () => {
  const request = { servicePlanId: '', channel: 'SMS' as const, from: 'Aldis', to: '+15551230001', body: 'é' }
  expect(recordBytes(request)).toBe(5 + 12 + 2)
  expect(recordBytes({ ...request, callbackUrl: 'https://é' })).toBe(19 + 10)
})

describe('judgeSender', () => {
  const plan = aPlan({ id: 7, senderTypes: new Set(['alphanumeric', 'short-code']) })
  const senders = new Map([
    [senderKey(7, 'Example'), 'approved'],
    [senderKey(7, '12345'), 'approved'],
    [senderKey(7, '+15550001000'), 'approved'],
    [senderKey(7, 'Waiting'), 'pending'],
    [senderKey(7, 'Refused'), 'denied'],
    [senderKey(7, 'Archived'), 'archived'],
    [senderKey(8, 'Other'), 'approved'],
  ])
  const rule = (
    planId: number | null,
    country: string,
    ...senderTypes: ('alphanumeric' | 'short-code')[]
  ) => ({
    planId,
    country,
    senderTypes: new Set(senderTypes),
  })
  const senderRules = [
    rule(null, 'US', 'short-code'),
    rule(null, 'SE'),
    rule(7, 'SE', 'alphanumeric'),
    rule(8, 'CA'),
  ]
  const US = '+15551230000'
  const CA = '+14165550123'
  const SE = '+46701234567'

  test.each([
    ['Example', 'approved', null],
    ['12345', 'approved', null],
    ['Waiting', 'pending', 'SENDER_PENDING_APPROVAL'],
    ['Refused', 'denied', 'SENDER_NOT_AUTHORIZED'],
    ['Archived', 'of a status nobody knows', 'SENDER_STATUS_UNKNOWN'],
    ['Other', "another plan's", 'SENDER_NOT_AUTHORIZED'],
    ['+15550001000', 'of a kind the plan does not allow', 'SENDER_NOT_AUTHORIZED'],
    ['toString', 'nobody asked for', 'SENDER_NOT_AUTHORIZED'],
  ])('%s, %s: %s', (from, _what, code) => {
    expect(judgeSender(aDirectory({ senders }), plan, { from, to: US })?.code ?? null).toBe(code)
  })

  test.each([
    ['12345', US, true, 'the rule for all plans allows it'],
    ['Example', US, false, 'the rule for all plans does not'],
    ['Example', SE, true, "the plan's own rule comes first"],
    ['12345', SE, false, "the plan's own rule comes first"],
    ['Example', CA, true, 'no rule of this plan: CA is not US'],
    ['Example', '+8835100000000', true, 'no country, no rule'],
  ])('%s to %s: %s, %s', (from, to, allowed) => {
    const refusal = judgeSender(aDirectory({ senders, senderRules }), plan, { from, to })
    if (allowed) expect(refusal).toBeNull()
    else {
      expect(refusal?.code).toBe('SENDER_NOT_AUTHORIZED')
      expect(refusal?.message).toMatch(/\((alphanumeric|short-code)\).* (US|SE)$/)
    }
  })

  it('a rule allows nothing that the plan does not', () => {
    const directory = aDirectory({
      senders,
      senderRules: [{ ...rule(7, 'US'), senderTypes: new Set(['e164']) }],
    })
    expect(judgeSender(directory, plan, { from: '+15550001000', to: US })).toEqual({
      code: 'SENDER_NOT_AUTHORIZED',
    })
  })
})

describe('idempotency keys', () => {
  it('takes 1 to 255 visible ASCII characters as a key', () => {
    for (const key of ['a', '~', '!', '"8e03978e-40d5"', 'x'.repeat(255)])
      expect(isIdempotencyKey(key)).toBe(true)
    for (const key of ['', ' ', 'a b', 'x'.repeat(256), 'é', 'a\n', '\u007f', 'a, b']) {
      expect(isIdempotencyKey(key)).toBe(false)
    }
  })

  it('hashes keys with SHA-256', () => {
    expect(idempotencyKeyHash('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
  })

  it('tells requests apart by every field that has an effect, and by nothing else', () => {
    const request = { servicePlanId: 'AB', from: '12345', to: '+15551230001', body: 'hi', callbackUrl: null }
    const same = { ...request, servicePlanId: 'ab', unknown: 1 }
    expect(requestHash(same)).toEqual(requestHash(request))
    const others = [
      { ...request, servicePlanId: 'ac' },
      { ...request, from: '1234' },
      { ...request, to: '+15551230002' },
      { ...request, body: 'hi ' },
      { ...request, callbackUrl: 'https://example.com' },
      { ...request, from: '12345+1', to: '5551230001' },
    ]
    const hashes = [request, ...others].map((one) => requestHash(one).toString('hex'))
    expect(new Set(hashes).size).toBe(hashes.length)
  })
})
