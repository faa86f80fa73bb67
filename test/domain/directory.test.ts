import { expect, it } from 'vitest'
import { chooseCarrier } from '../../src/domain/routing.ts'
import { aCarrier, aDirectory, aPlan, aRoute, aRule } from '../support/directory.ts'

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
  expect(directory.routeFor(PLAN, 'ACME', TO_GB)?.rule).toBe(byNetwork)
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
