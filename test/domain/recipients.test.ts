import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RecipientMatch, RoutingRule } from '../../src/domain/configuration.ts'
import {
  PrefixTable,
  RecipientTable,
  RoutingRules,
  recipientMatchFaults,
  specificity,
} from '../../src/domain/recipients.ts'
import { aPlan, aRoute, aRule } from '../support/directory.ts'

it('gives the value of the longest prefix', () => {
  const table = new PrefixTable([
    ['+4', 'four'],
    ['+4477', 'mobile'],
    ['+44', 'GB'],
  ])
  expect(table.longest('+447700900123')).toBe('mobile')
  expect(table.longest('+44')).toBe('GB')
  expect(table.longest('+4915112345678')).toBe('four')
  expect(table.longest('+15551230000')).toBeUndefined()
  expect(new PrefixTable([]).longest('+15551230000')).toBeUndefined()
})

it('gives what comparing every prefix gives', () => {
  const prefix = fc.stringMatching(/^\+[1-3]{1,6}$/)
  fc.assert(
    fc.property(
      fc.array(prefix, { maxLength: 40 }),
      fc.stringMatching(/^\+[1-3]{3,9}$/),
      (prefixes, number) => {
        const fitting = prefixes.filter((each) => number.startsWith(each))
        const longest = fitting.sort((a, b) => b.length - a.length)[0]
        expect(new PrefixTable(prefixes.map((each) => [each, each])).longest(number)).toBe(longest)
      },
    ),
  )
})

const to = (changes: Partial<RecipientMatch>): RecipientMatch => ({
  prefix: null,
  country: null,
  mccmnc: null,
  ...changes,
})

const NETWORK = to({ mccmnc: '23415' })
const LONG = to({ prefix: '+447911' })
const SHORT = to({ prefix: '+4479' })
const COUNTRY = to({ country: 'GB' })
const ANYWHERE = to({})
const ALL = [ANYWHERE, COUNTRY, SHORT, LONG, NETWORK]
const MESSAGE = { recipient: '+447911123456', country: 'GB', mccmnc: '23415' }

it('finds mccmnc before the longer prefix, country, anywhere', () => {
  const found = ALL.map((_, most) => new RecipientTable(ALL.slice(0, most + 1)).mostSpecific(MESSAGE))
  expect(found).toEqual(ALL)
})

it('finds only what the message fits', () => {
  const table = new RecipientTable([COUNTRY, SHORT, LONG, NETWORK])
  expect(table.mostSpecific({ ...MESSAGE, mccmnc: null })).toBe(LONG)
  expect(table.mostSpecific({ ...MESSAGE, recipient: '+447912123456', mccmnc: '23410' })).toBe(SHORT)
  expect(table.mostSpecific({ recipient: '+447700900123', country: 'GB', mccmnc: null })).toBe(COUNTRY)
  expect(table.mostSpecific({ recipient: '+46701234567', country: 'SE', mccmnc: '24001' })).toBeNull()
  expect(table.mostSpecific({ recipient: '+88213300655', country: null, mccmnc: null })).toBeNull()
  expect(new RecipientTable([]).mostSpecific(MESSAGE)).toBeNull()
})

it('compares destinations as it finds them', () => {
  const ranks = ALL.map(specificity)
  expect(ranks).toEqual([...new Set(ranks)].sort((a, b) => a - b))
  expect(specificity(to({ prefix: '+4' }))).toBeGreaterThan(specificity(COUNTRY))
  expect(specificity(NETWORK)).toBeGreaterThan(specificity(to({ prefix: '+123456789012345' })))
})

it('names the fields of a destination that do not go together', () => {
  for (const right of [...ALL, to({ country: 'XK' })]) expect(recipientMatchFaults(right)).toEqual([])
  const fields = (changes: Partial<RecipientMatch>) =>
    recipientMatchFaults(to(changes)).map(({ field, code }) => `${field} ${code}`)
  expect(fields({ prefix: '+44', country: 'GB' })).toEqual(['country EXCLUSIVE'])
  expect(fields({ prefix: '+44', mccmnc: '23415' })).toEqual(['mccmnc EXCLUSIVE'])
  expect(fields({ mccmnc: '23415', country: 'XX' })).toEqual(['mccmnc EXCLUSIVE', 'country NOT_FOUND'])
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
