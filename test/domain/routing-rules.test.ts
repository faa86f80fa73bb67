import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RoutingRule } from '../../src/domain/configuration.ts'
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
        expect(new RoutingRules(all).mostSpecific(7, 'ACME', place)).toBe(best)
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

/** The first difference decides. */
function compare(a: readonly number[], b: readonly number[]): number {
  return a.map((value, index) => value - b[index]!).find((difference) => difference !== 0) ?? 0
}
