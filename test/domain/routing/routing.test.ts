import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { RoutingRule } from '../../../src/domain/configuration/configuration.ts'
import {
  bestConditions,
  type CarrierCondition,
  chooseCarrier,
  isAsGood,
  LINK_CONDITIONS,
  possibleChoices,
  routed,
} from '../../../src/domain/routing/routing.ts'
import { aPlan, aRoute, aRule, rulesOf } from '../../support/directory.ts'

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

const GB = { recipient: '+447911123456', country: 'GB', mccmnc: '23415' }
const SE = { recipient: '+46701234567', country: 'SE', mccmnc: null }

/** Every combination of limits that the message fits, the least specific first. */
const IN_ORDER: RoutingRule[] = []
for (const sender of [null, 'ACME'])
  for (const destination of [
    {},
    { country: 'GB' },
    { prefix: '+44' },
    { prefix: '+4479' },
    { mccmnc: '23415' },
  ])
    for (const planId of [null, 7])
      IN_ORDER.push(aRule({ id: IN_ORDER.length, planId, sender, ...destination }))

describe('RoutingRules', () => {
  it('finds a sender before the destination, and that before the plan', () => {
    for (const [last, rule] of IN_ORDER.entries()) {
      const rules = rulesOf(IN_ORDER.slice(0, last + 1))
      const found = rules.mostSpecific(7, 'ACME', GB)
      expect(found).toEqual(rule)
      // A directory keeps what it makes of a rule by the object.
      expect(rules.mostSpecific(7, 'ACME', GB)).toBe(found)
    }
  })

  it("finds nothing of another plan's, sender's or destination's", () => {
    const others = IN_ORDER.filter(({ planId, sender }) => planId !== null && sender !== null)
    const rules = rulesOf(others)
    expect(rules.mostSpecific(8, 'ACME', GB)).toBeNull()
    expect(rules.mostSpecific(7, 'acme', GB)).toBeNull()
    expect(rulesOf([aRule({ country: 'GB' })]).mostSpecific(7, 'ACME', SE)).toBeNull()
    expect(rulesOf([]).mostSpecific(7, 'ACME', GB)).toBeNull()
  })

  it("gives way to a shorter prefix where the longer is another plan's", () => {
    const shorter = aRule({ prefix: '+44' })
    const rules = rulesOf([shorter, aRule({ id: 2, planId: 8, prefix: '+4479' })])
    expect(rules.mostSpecific(7, 'ACME', GB)).toEqual(shorter)
  })

  it('finds what comparing every rule finds', () => {
    const destination = fc.oneof(
      fc.constant({}),
      fc.constantFrom('GB', 'SE').map((country) => ({ country })),
      fc.constantFrom('+4', '+44', '+4479', '+46').map((prefix) => ({ prefix })),
      fc.constantFrom('23415', '24001').map((mccmnc) => ({ mccmnc })),
    )
    const limits = fc.record({
      planId: fc.constantFrom(null, 7, 8),
      sender: fc.constantFrom(null, 'ACME', '12345'),
      destination,
    })
    const rules = fc
      .uniqueArray(limits, { selector: (each) => JSON.stringify(each), maxLength: 40 })
      .map((all) => all.map(({ destination, ...rest }, id) => aRule({ id, ...rest, ...destination })))
    fc.assert(
      fc.property(rules, fc.constantFrom(GB, SE), (all, place) => {
        const fitting = all
          .filter(({ planId }) => planId === null || planId === 7)
          .filter(({ sender }) => sender === null || sender === 'ACME')
          .filter(({ country }) => country === null || country === place.country)
          .filter(({ mccmnc }) => mccmnc === null || mccmnc === place.mccmnc)
          .filter(({ prefix }) => prefix === null || place.recipient.startsWith(prefix))
        const rank = ({ sender, mccmnc, prefix, country, planId }: RoutingRule) =>
          [sender !== null, mccmnc !== null, prefix?.length ?? 0, country !== null, planId !== null].map(
            Number,
          )
        const [best = null] = fitting.sort((a, b) => compare(rank(b), rank(a)))
        expect(rulesOf(all).mostSpecific(7, 'ACME', place)).toEqual(best)
      }),
    )
  })

  it("knows every route that a plan's messages may take", () => {
    const [own, forAll, forPlan, forOther] = [1, 2, 3, 4].map((id) => aRoute({ id })) as [
      never,
      never,
      never,
      never,
    ]
    const rules = rulesOf([
      aRule({ country: 'GB', route: forAll }),
      aRule({ planId: 7, country: 'SE', route: forPlan }),
      aRule({ planId: 7, country: 'NO', route: own }),
      aRule({ planId: 8, route: forOther }),
    ])
    expect([...rules.routesOf(aPlan({ id: 7, route: own }))]).toEqual([own, forPlan, forAll])
    expect([...rules.routesOf(aPlan({ id: 9 }))]).toEqual([forAll])
    expect(rules.none).toBe(false)
    expect(rulesOf([]).none).toBe(true)
  })
})

/** The first difference decides. */
function compare(a: readonly number[], b: readonly number[]): number {
  return a.map((value, index) => value - b[index]!).find((difference) => difference !== 0) ?? 0
}
