import { expect, it } from 'vitest'
import { senderKey } from '../../../src/domain/configuration/directory.ts'
import { explainRoute } from '../../../src/domain/messages/preflight.ts'
import type { CarrierCondition } from '../../../src/domain/routing/routing.ts'
import { aCarrier, aDirectory, aPlan, aRoute, aRule, type TestContents } from '../../support/directory.ts'

const OWN = aRoute({
  name: 'default',
  carriers: [
    { carrierId: 1, priority: 0, weight: 2 },
    { carrierId: 2, priority: 0, weight: 1 },
    { carrierId: 3, priority: 1, weight: 1 },
  ],
})
const UK = aRoute({ id: 2, name: 'uk', carriers: [{ carrierId: 2, priority: 0, weight: 1 }] })
const PLAN = aPlan({ id: 7, route: OWN })
const TO_GB = '+447400123456'
const TO_SE = '+46701234567'

function explain(
  question: { to?: string; from?: string; body?: string; plan?: typeof PLAN } = {},
  contents: TestContents = {},
  conditions: Record<string, CarrierCondition> = {},
) {
  const directory = aDirectory({
    carriers: ['acme', 'best', 'cheap'].map((name, n) => aCarrier({ id: n + 1, name })),
    senders: new Map([
      [senderKey(7, 'ACME'), 'approved'],
      [senderKey(7, 'Later'), 'pending'],
    ]),
    ...contents,
  })
  return explainRoute(
    directory,
    { plan: PLAN, from: 'ACME', to: TO_GB, body: null, ...question },
    (carrierId, routeId) => conditions[`${routeId}/${carrierId}`] ?? 'usable',
  )
}

it("explains the plan's own route: every carrier, its share and its reason", () => {
  expect(explain()).toMatchObject({
    country: 'GB',
    mccmnc: null,
    isActive: true,
    isComplete: true,
    senderRefusal: null,
    recipientRefusal: null,
    route: 'default',
    rule: null,
    encoding: null,
    segments: 1,
    rate: null,
    charge: null,
  })
  expect(explain().carriers).toEqual([
    {
      carrier: 'acme',
      priority: 0,
      weight: 2,
      condition: 'usable',
      share: 66.7,
      reason: "plan's route default: weight 2 of 3",
    },
    {
      carrier: 'best',
      priority: 0,
      weight: 1,
      condition: 'usable',
      share: 33.3,
      reason: "plan's route default: weight 1 of 3",
    },
    { carrier: 'cheap', priority: 1, weight: 1, condition: 'usable', share: 0, reason: null },
  ])
})

it('knows the conditions of carriers, which differ from route to route', () => {
  const conditions = { '1/1': 'out-of-use', '1/2': 'unbound', '2/2': 'throttled' } as const
  expect(explain({}, {}, conditions).carriers).toMatchObject([
    { condition: 'out-of-use', share: 0 },
    { condition: 'unbound', share: 0 },
    {
      condition: 'usable',
      share: 100,
      reason: "plan's route default: after acme (out of use), best (unbound)",
    },
  ])
  const rules = { routingRules: [aRule({ country: 'GB', route: UK })] }
  expect(explain({}, rules, conditions).carriers).toMatchObject([
    { carrier: 'best', condition: 'throttled', share: 100 },
  ])
  const down = { '1/1': 'unbound', '1/2': 'unbound', '1/3': 'stopped' } as const
  expect(explain({}, {}, down).carriers.map(({ share }) => share)).toEqual([0, 0, 0])
})

it('names the rule and the network', () => {
  const rule = aRule({ id: 5, sender: 'ACME', mccmnc: '23415', route: UK })
  const contents = { routingRules: [rule], numberRanges: new Map([['+4474', '23415']]) }
  expect(explain({}, contents)).toMatchObject({ mccmnc: '23415', route: 'uk', rule })
  expect(explain({ from: 'Later' }, contents)).toMatchObject({
    mccmnc: '23415',
    route: 'default',
    rule: null,
  })
})

it('answers for plans and senders that cannot send', () => {
  const incomplete = aPlan({ id: 7, active: false, route: null })
  expect(explain({ plan: incomplete })).toMatchObject({
    isActive: false,
    isComplete: false,
    route: null,
    rule: null,
    carriers: [],
  })
  expect(explain({ from: 'Later' }).senderRefusal).toMatchObject({ code: 'SENDER_PENDING_APPROVAL' })
  expect(explain({ from: 'Nobody' }).senderRefusal).toMatchObject({ code: 'SENDER_NOT_AUTHORIZED' })
})

it('counts the segments of the text and what they cost', () => {
  const rate = {
    id: 3,
    planId: null,
    prefix: null,
    country: 'GB',
    mccmnc: null,
    price: '0.007500',
    ptf: '0.001',
    currency: 'EUR',
  }
  const long = 'x'.repeat(153 * 2 + 1)
  expect(explain({ body: long }, { rates: [rate] })).toMatchObject({
    encoding: 'GSM7',
    segments: 3,
    rate,
    charge: { price: '0.0225', ptf: '0.003', currency: 'EUR' },
  })
  expect(explain({ body: 'Ж' }, { rates: [rate] })).toMatchObject({ encoding: 'UCS2', segments: 1 })
  expect(explain({ to: TO_SE }, { rates: [rate] })).toMatchObject({ rate: null, charge: null })
})

it('counts as the carrier that gets most of the messages writes them', () => {
  const carriers = [
    aCarrier({ id: 1, name: 'acme' }),
    aCarrier({ id: 2, name: 'best', longMessages: 'udh16' }),
  ]
  const body = 'x'.repeat(153 * 2)
  expect(explain({ body }, { carriers }).segments).toBe(2)
  expect(explain({ body }, { carriers }, { '1/1': 'unbound' }).segments).toBe(3)
})
