import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { type DirectoryContents, senderKey } from '../../src/domain/directory.ts'
import {
  bestConditions,
  type CarrierCondition,
  chooseCarrier,
  explainRoute,
  isAsGood,
  LINK_CONDITIONS,
  possibleChoices,
  routed,
} from '../../src/domain/routing.ts'
import { aCarrier, aDirectory, aPlan, aRoute, aRule } from '../support/directory.ts'

const NAMES = ['', 'acme', 'best', 'cheap']
const nameOf = (id: number) => NAMES[id] ?? `carrier-${id}`
const route = aRoute({
  name: 'default',
  carriers: [
    { carrierId: 1, priority: 0, weight: 3 },
    { carrierId: 2, priority: 0, weight: 1 },
    { carrierId: 3, priority: 1, weight: 1 },
  ],
})
const lone = aRoute({ name: 'uk', carriers: [{ carrierId: 1, priority: 0, weight: 1 }] })

type Conditions = Record<number, CarrierCondition>

const choose = (conditions: Conditions, random = 0, of = routed(route, null, nameOf)) =>
  chooseCarrier(of, (id) => conditions[id] ?? 'usable', random)

function shares(conditions: Conditions): Record<string, number> {
  const counts: Record<string, number> = {}
  for (let step = 0; step < 1000; step += 1) {
    const chosen = String(choose(conditions, step / 1000)?.carrierId)
    counts[chosen] = (counts[chosen] ?? 0) + 1
  }
  return counts
}

describe('chooseCarrier', () => {
  it('shares by weight within the first priority', () => {
    expect(shares({})).toEqual({ 1: 750, 2: 250 })
  })

  it.each(['unbound', 'stopped', 'draining', 'throttled', 'out-of-use', 'silent'] as const)(
    'passes over one that is %s, and then falls to the next priority',
    (condition) => {
      expect(shares({ 1: condition })).toEqual({ 2: 1000 })
      expect(shares({ 1: condition, 2: condition })).toEqual({ 3: 1000 })
    },
  )

  it('takes throttled ones before those out of use, then silent ones, and these before none', () => {
    expect(shares({ 1: 'throttled', 2: 'throttled', 3: 'unbound' })).toEqual({ 1: 750, 2: 250 })
    expect(shares({ 1: 'out-of-use', 2: 'unbound', 3: 'throttled' })).toEqual({ 3: 1000 })
    expect(shares({ 1: 'stopped', 2: 'silent', 3: 'out-of-use' })).toEqual({ 3: 1000 })
    expect(shares({ 1: 'stopped', 2: 'unbound', 3: 'silent' })).toEqual({ 3: 1000 })
  })

  it('gives none where none may be used', () => {
    expect(shares({ 1: 'unbound', 2: 'stopped', 3: 'draining' })).toEqual({ undefined: 1000 })
    expect(choose({}, 0, routed({ ...route, carriers: [] }, null, nameOf))).toBeNull()
  })

  it('chooses a usable one wherever there is one, whatever the weights', () => {
    const carriers = fc.array(
      fc.record({
        priority: fc.integer({ min: 0, max: 3 }),
        weight: fc.integer({ min: 1, max: 1000 }),
        condition: fc.constantFrom<CarrierCondition>(
          'usable',
          'stopped',
          'draining',
          'unbound',
          'throttled',
          'out-of-use',
          'silent',
        ),
      }),
      { maxLength: 10 },
    )
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(carriers, random, (entries, value) => {
        const of = aRoute({ carriers: entries.map((entry, carrierId) => ({ ...entry, carrierId })) })
        const choice = chooseCarrier(routed(of, null, nameOf), (id) => entries[id]!.condition, value)
        const present = (condition: CarrierCondition) =>
          entries.some((entry) => entry.condition === condition)
        const wanted = (['usable', 'throttled', 'out-of-use', 'silent'] as const).find(present)
        const chosen = choice === null ? undefined : entries[choice.carrierId]
        expect(chosen?.condition).toBe(wanted)
        const priorities = entries.filter((e) => e.condition === wanted).map((e) => e.priority)
        if (chosen !== undefined) expect(chosen.priority).toBe(Math.min(...priorities))
      }),
    )
  })
})

describe('possibleChoices', () => {
  const possible = (conditions: Conditions) =>
    possibleChoices(routed(route, null, nameOf), (id) => conditions[id] ?? 'usable')

  it('are those that are made, with their shares', () => {
    expect(possible({})).toEqual([
      { choice: choose({}, 0), share: 0.75 },
      { choice: choose({}, 0.75), share: 0.25 },
    ])
    expect(possible({ 1: 'unbound' })).toEqual([{ choice: choose({ 1: 'unbound' }), share: 1 }])
    expect(possible({ 1: 'throttled', 2: 'unbound', 3: 'out-of-use' })).toEqual([
      { choice: choose({ 1: 'throttled', 2: 'unbound', 3: 'out-of-use' }), share: 1 },
    ])
    expect(possible({ 1: 'unbound', 2: 'stopped', 3: 'draining' })).toEqual([])
  })
})

describe('the reason of a choice', () => {
  it('is the share, where none was passed over', () => {
    expect(choose({})?.reason).toBe("plan's route default: weight 3 of 4")
    expect(choose({}, 0.9)?.reason).toBe("plan's route default: weight 1 of 4")
    expect(choose({ 3: 'unbound' })?.reason).toBe("plan's route default: weight 3 of 4")
    expect(choose({}, 0, routed(lone, null, nameOf))?.reason).toBe("plan's route uk: only carrier")
    const standby = aRoute({ name: 'hot', carriers: [route.carriers[0]!, route.carriers[2]!] })
    expect(choose({}, 0, routed(standby, null, nameOf))?.reason).toBe("plan's route hot: first by priority")
  })

  it('names what was passed over, and what was taken all the same', () => {
    expect(choose({ 1: 'unbound' })?.reason).toBe("plan's route default: after acme (unbound)")
    expect(choose({ 1: 'stopped', 2: 'out-of-use' })?.reason).toBe(
      "plan's route default: after acme (stopped), best (out of use)",
    )
    expect(choose({ 1: 'throttled', 2: 'throttled', 3: 'unbound' })?.reason).toBe(
      "plan's route default: weight 3 of 4, though throttled",
    )
    expect(choose({ 1: 'throttled', 2: 'unbound', 3: 'unbound' })?.reason).toBe(
      "plan's route default: after best (unbound), though throttled",
    )
    expect(choose({ 1: 'throttled' }, 0, routed(lone, null, nameOf))?.reason).toBe(
      "plan's route uk: only carrier, though throttled",
    )
    const three = aRoute({ carriers: [1, 2, 3].map((carrierId) => ({ carrierId, priority: 0, weight: 2 })) })
    expect(choose({ 1: 'unbound' }, 0, routed(three, null, nameOf))?.reason).toBe(
      "plan's route main: weight 2 of 4, after acme (unbound)",
    )
  })

  it.each([
    [aRule({ prefix: '+4479' }), 'rule +4479 → route uk: only carrier'],
    [aRule({ planId: 7 }), "plan's rule → route uk: only carrier"],
    [aRule({ sender: 'ACME', country: 'GB' }), 'rule from ACME, GB → route uk: only carrier'],
    [
      aRule({ planId: 7, sender: '12345', mccmnc: '23415' }),
      "plan's rule from 12345, 23415 → route uk: only carrier",
    ],
  ])('names the rule', (by, reason) => {
    expect(choose({}, 0, routed(lone, by, nameOf))?.reason).toBe(reason)
  })

  it('has at most 200 characters', () => {
    const many = aRoute({
      carriers: Array.from({ length: 30 }, (_, carrierId) => ({ carrierId, priority: carrierId, weight: 1 })),
    })
    const reason = chooseCarrier(
      routed(many, null, () => 'x'.repeat(63)),
      (id) => (id === 29 ? 'usable' : 'unbound'),
      0,
    )!.reason
    expect(reason).toHaveLength(200)
    expect(reason.startsWith("plan's route main: after xxx")).toBe(true)
  })
})

test('conditions are ordered, the best first', () => {
  const order = LINK_CONDITIONS.map((a) => LINK_CONDITIONS.filter((b) => isAsGood(a, b)).length)
  expect(order).toEqual([4, 3, 2, 1])
})

test('several nodes can do what the best of them can', () => {
  const best = bestConditions([
    { 1: 'silent', 2: 'usable' },
    { 1: 'throttled', 3: 'silent' },
    { 1: 'silent', 2: 'throttled' },
  ])
  expect([...best].toSorted()).toEqual([
    [1, 'throttled'],
    [2, 'usable'],
    [3, 'silent'],
  ])
  expect(bestConditions([]).size).toBe(0)
})

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
  contents: Partial<DirectoryContents> = {},
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
