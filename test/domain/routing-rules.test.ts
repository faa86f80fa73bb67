import { describe, expect, it } from 'vitest'
import type { RoutingRule } from '../../src/domain/directory.ts'
import { RoutingRules } from '../../src/domain/routing-rules.ts'
import { aPlan, aRoute, aRule } from '../support/directory.ts'

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
      const rules = new RoutingRules(IN_ORDER.slice(0, last + 1))
      expect(rules.mostSpecific(7, 'ACME', GB)).toBe(rule)
    }
  })

  it("finds nothing of another plan's, sender's or destination's", () => {
    const others = IN_ORDER.filter(({ planId, sender }) => planId !== null && sender !== null)
    const rules = new RoutingRules(others)
    expect(rules.mostSpecific(8, 'ACME', GB)).toBeNull()
    expect(rules.mostSpecific(7, 'acme', GB)).toBeNull()
    expect(new RoutingRules([aRule({ country: 'GB' })]).mostSpecific(7, 'ACME', SE)).toBeNull()
    expect(new RoutingRules([]).mostSpecific(7, 'ACME', GB)).toBeNull()
  })

  it("gives way to a shorter prefix where the longer is another plan's", () => {
    const shorter = aRule({ prefix: '+44' })
    const rules = new RoutingRules([shorter, aRule({ id: 2, planId: 8, prefix: '+4479' })])
    expect(rules.mostSpecific(7, 'ACME', GB)).toBe(shorter)
  })

  it("knows every route that a plan's messages may take", () => {
    const [own, forAll, forPlan, forOther] = [1, 2, 3, 4].map((id) => aRoute({ id })) as [
      never,
      never,
      never,
      never,
    ]
    const rules = new RoutingRules([
      aRule({ country: 'GB', route: forAll }),
      aRule({ planId: 7, country: 'SE', route: forPlan }),
      aRule({ planId: 7, country: 'NO', route: own }),
      aRule({ planId: 8, route: forOther }),
    ])
    expect([...rules.routesOf(aPlan({ id: 7, route: own }))]).toEqual([own, forPlan, forAll])
    expect([...rules.routesOf(aPlan({ id: 9 }))]).toEqual([forAll])
    expect(rules.none).toBe(false)
    expect(new RoutingRules([]).none).toBe(true)
  })
})
