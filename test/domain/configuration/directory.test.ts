import fc from 'fast-check'
import { expect, it } from 'vitest'
import { chooseCarrier } from '../../../src/domain/routing/routing.ts'
import { SANDBOX } from '../../../src/domain/sandbox.ts'
import { aCarrier, aDirectory, aPlan, aRoute, aRule } from '../../support/directory.ts'

const OWN = aRoute({ id: 1, name: 'default' })
const UK = aRoute({ id: 2, name: 'uk', carriers: [{ carrierId: 2, priority: 0, weight: 1 }] })
const PLAN = aPlan({ id: 7, route: OWN })
const CARRIERS = [aCarrier({ id: 1, name: 'acme' }), aCarrier({ id: 2, name: 'best' })]
const TO_GB = '+447400123456'
const TO_SE = '+46701234567'

it('routes by the rule that fits, else by the plan', () => {
  const byCountry = aRule({ country: 'GB', route: UK })
  const directory = aDirectory({ carriers: CARRIERS, routingRules: [byCountry] })
  expect(directory.routeFor(PLAN, 'ACME', TO_GB)).toMatchObject({ route: UK, rule: byCountry })
  expect(directory.routeFor(PLAN, 'ACME', TO_SE)).toMatchObject({ route: OWN, rule: null })
  expect(directory.routeFor(aPlan({ route: null }), 'ACME', TO_GB)).toMatchObject({ route: UK })
  expect(directory.routeFor(aPlan({ route: null }), 'ACME', TO_SE)).toBeNull()
  expect([...directory.routesOf(PLAN)]).toEqual([OWN, UK])
})

it('tells a network by the longest prefix, and routes by it', () => {
  const numberRanges = new Map([
    ['+4474', '23410'],
    ['+447400', '23415'],
  ])
  const byNetwork = aRule({ mccmnc: '23415', route: UK })
  const directory = aDirectory({ carriers: CARRIERS, numberRanges, routingRules: [byNetwork] })
  expect(directory.mccmncOf(TO_GB)).toBe('23415')
  expect(directory.mccmncOf('+447401123456')).toBe('23410')
  expect(directory.mccmncOf(TO_SE)).toBeNull()
  expect(directory.routeFor(PLAN, 'ACME', TO_GB)?.rule).toEqual(byNetwork)
  expect(directory.routeFor(PLAN, 'ACME', '+447401123456')?.rule).toBeNull()
})

it('names carriers, and makes what it tells of a route once', () => {
  const directory = aDirectory({ carriers: CARRIERS })
  const routed = directory.routeFor(PLAN, 'ACME', TO_GB)!
  expect(routed.carrierNames).toEqual(['acme'])
  expect(directory.routeFor(PLAN, 'ACME', TO_SE)).toBe(routed)
  const choices = [0, 0.5].map((random) => chooseCarrier(routed, () => 'usable', random))
  expect(choices[0]).toBe(choices[1])
})

it('no rule and no rate is for messages of a sandbox plan', () => {
  const route = aRoute({ id: 9, name: SANDBOX, carriers: [{ carrierId: 9, priority: 0, weight: 1 }] })
  const plan = aPlan({ id: 5, sandbox: true, route })
  const match = fc.constantFrom(
    {},
    { prefix: '+4' },
    { prefix: '+447400' },
    { country: 'GB' },
    { mccmnc: '23415' },
  )
  const planId = fc.constantFrom(null, 5)
  const rules = fc.array(fc.record({ planId, match, sender: fc.constantFrom(null, 'ACME') }))
  const rates = fc.array(fc.record({ planId, match }))
  fc.assert(
    fc.property(rules, rates, (rules, rates) => {
      const directory = aDirectory({
        plans: [plan, aPlan({ id: 6, route: OWN })],
        carriers: [...CARRIERS, aCarrier({ id: 9, name: SANDBOX })],
        routes: [OWN, UK, route],
        routingRules: rules.map(({ match, ...rule }, id) => aRule({ id, route: UK, ...rule, ...match })),
        numberRanges: new Map([['+447400', '23415']]),
        rates: rates.map(({ planId, match }, id) => ({
          ...{ id, planId, prefix: null, country: null, mccmnc: null, ...match },
          ...{ price: '1', ptf: '0', currency: 'EUR' },
        })),
      })
      expect(directory.routeFor(plan, 'ACME', TO_GB)).toMatchObject({ route, rule: null })
      expect([...directory.routesOf(plan)]).toEqual([route])
      expect(directory.rateOf(5, TO_GB)).toBeNull()
    }),
  )
})
