import { describe, expect, it } from 'vitest'
import { senderKey } from '../../../src/domain/configuration/directory.ts'
import { preflight } from '../../../src/domain/messages/preflight.ts'
import { fault } from '../../../src/errors.ts'
import { aCarrier, aDirectory, aPlan, aRoute, aRule, type TestContents } from '../../support/directory.ts'

const ROUTE = aRoute({ name: 'default' })
const PLAN = aPlan({ id: 7, route: ROUTE })
const FIELDS = {
  servicePlanId: PLAN.servicePlanId,
  channel: 'SMS',
  from: 'ACME',
  to: '+447400123456',
  body: 'hi',
}
const RATE = {
  id: 1,
  price: '0.0385',
  ptf: '0.001',
  currency: 'EUR',
  prefix: null,
  country: null,
  mccmnc: null,
  planId: null,
}

function told(
  { fields = {}, ...question }: Partial<Parameters<typeof preflight>[0]> = {},
  contents: TestContents = {},
) {
  const directory = aDirectory({
    carriers: [aCarrier({ name: 'acme' })],
    senders: new Map([
      [senderKey(7, 'ACME'), 'approved'],
      [senderKey(7, 'Later'), 'pending'],
    ]),
    ...contents,
  })
  const known = Object.keys(FIELDS)
  return preflight({
    directory,
    plan: PLAN,
    faults: [],
    known,
    conditionOf: () => 'usable',
    ...question,
    fields: { ...FIELDS, ...fields },
  })
}

describe('what a send would do', () => {
  it('its route by the rule that matches, in words that say which', () => {
    const uk = aRoute({ id: 2, name: 'uk' })
    const routingRules = [aRule({ planId: 7, sender: 'ACME', country: 'GB', route: uk })]
    expect(told({}, { routingRules }).route).toEqual({
      name: 'uk',
      reason: "plan's rule from ACME, GB → route uk",
      isAvailable: true,
    })
  })

  it.each([
    [['usable', 'draining'], true],
    [['silent', 'stopped'], true],
    [['draining', 'unbound'], false],
  ] as const)('whether a carrier of its route takes messages: %j', (conditions, isAvailable) => {
    const carriers = [1, 2].map((carrierId) => ({ carrierId, priority: 0, weight: 1 }))
    const plan = aPlan({ id: 7, route: aRoute({ carriers }) })
    const both = { carriers: [aCarrier({ name: 'acme' }), aCarrier({ id: 2, name: 'other' })] }
    const conditionOf = (carrierId: number) => conditions[carrierId - 1]!
    expect(told({ plan, conditionOf }, both).route).toMatchObject({ isAvailable })
  })

  it('no route for a sender that the plan may not use: a rule for it would tell whose it is', () => {
    const routingRules = [aRule({ sender: 'OTHER', route: aRoute({ id: 2, name: 'other-brand' }) })]
    const { sender, route } = told({ fields: { from: 'OTHER' } }, { routingRules })
    expect(sender).toMatchObject({ isAllowed: false, refusal: { code: 'SENDER_NOT_AUTHORIZED' } })
    expect(route).toBeNull()
    expect(told({ fields: { from: 'Later' } }).route).toBeNull()
  })

  it('no route without one of the plan itself, whatever rules match', () => {
    const routingRules = [aRule({ country: 'GB', route: ROUTE })]
    expect(told({ plan: aPlan({ id: 7, route: null }) }, { routingRules }).route).toBeNull()
  })

  it('the charge of all segments, by the network of the number ranges', () => {
    const rates = [
      { ...RATE, planId: null },
      { ...RATE, id: 2, planId: 7, mccmnc: '23415', price: '0.02' },
    ]
    const numberRanges = new Map([['+447400', '23415']])
    const body = 'x'.repeat(161)
    expect(told({ fields: { body } }, { rates, numberRanges }).charge).toEqual({
      price: '0.04',
      ptf: '0.002',
      currency: 'EUR',
    })
    expect(told({}, { rates }).charge).toMatchObject({ price: '0.0385' })
  })

  it('the refusal of a sender rule, with its words', () => {
    const senderRules = [{ planId: null, country: 'GB', senderTypes: new Set(['e164' as const]) }]
    expect(told({}, { senderRules }).sender.refusal).toEqual({
      code: 'SENDER_NOT_AUTHORIZED',
      message: 'A sender of this type (alphanumeric) is not allowed for recipients in GB',
    })
  })
})

describe('what cannot be told is null', () => {
  it('without a plan: only what the fields say by themselves', () => {
    expect(told({ plan: null })).toEqual({
      text: null,
      sender: { type: 'alphanumeric', isAllowed: null, refusal: null },
      recipient: { isValid: true, msisdn: '+447400123456', country: 'GB', mccmnc: null },
      route: null,
      charge: null,
      callbackUrl: null,
      unknownFields: [],
    })
  })

  it.each([
    ['from', { type: null, isAllowed: null }, 1],
    ['to', { type: 'alphanumeric', isAllowed: null }, 1],
    ['body', { type: 'alphanumeric', isAllowed: true }, undefined],
  ])('with a fault of %s', (field, sender, segments) => {
    const answer = told({ faults: [fault(field, 'INVALID_FORMAT', 'must be otherwise')] })
    expect(answer.sender).toMatchObject(sender)
    expect(answer.text?.segments.length).toBe(segments)
    expect(answer.charge).toBeNull()
  })

  it('fields of other types', () => {
    const types = [null, 7, {}, [], true]
    for (const value of types) {
      const faults = ['from', 'to', 'body'].map((field) => fault(field, 'WRONG_TYPE', 'must be a string'))
      const fields = { from: value, to: value, body: value }
      expect(told({ fields, faults })).toMatchObject({
        text: null,
        sender: { type: null },
        recipient: { isValid: false, msisdn: null, country: null },
      })
    }
  })
})

it('the verdict on a callbackUrl is the fault of the send', () => {
  const fields = { callbackUrl: 'https://10.0.0.1/' }
  const refused = fault(
    'callbackUrl',
    'FORBIDDEN_ADDRESS',
    'must not point at an internal or reserved address',
  )
  expect(told({ fields, faults: [refused] }).callbackUrl).toEqual({ isAllowed: false, fault: refused })
  expect(told({ fields }).callbackUrl).toEqual({ isAllowed: true, fault: null })
})
