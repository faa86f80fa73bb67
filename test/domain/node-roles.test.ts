import { expect, test } from 'vitest'
import { hasDuty, lackingDuties, NODE_ROLES } from '../../src/domain/nodes.ts'

test('a role has its own duty, and all has every duty', () => {
  const roles = (duty: 'api' | 'carrier' | 'webhook') => NODE_ROLES.filter((role) => hasDuty(role, duty))
  expect(roles('api')).toEqual(['all', 'api'])
  expect(roles('carrier')).toEqual(['all', 'carrier'])
  expect(roles('webhook')).toEqual(['all', 'webhook'])
})

test('what no node does is said, a sentence for each duty', () => {
  const lacking = (...roles: (typeof NODE_ROLES)[number][]) => lackingDuties(roles.map((role) => ({ role })))
  expect(lacking('all')).toEqual([])
  expect(lacking('api', 'carrier', 'webhook')).toEqual([])
  expect(lacking('api', 'carrier')).toEqual([expect.stringContaining('NODE_ROLE=webhook or all')])
  expect(lacking()).toHaveLength(3)
})
