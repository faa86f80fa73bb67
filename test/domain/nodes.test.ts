import { describe, expect, test } from 'vitest'
import { bindStates, hasDuty, lackingDuties, NODE_ROLES } from '../../src/domain/nodes.ts'
import { aBindReport, aCarrierReport, aLivingNode, aNodeReport } from '../support/node-reports.ts'

describe('reports of nodes', () => {
  const CARRIER = { carrierId: 1, state: 'started', bindMode: 'transceiver', binds: 1, window: 10 } as const
  const reporting = (name: string, ...binds: Parameters<typeof aBindReport>[0][]) =>
    aLivingNode({
      name,
      report: aNodeReport({ carriers: { 1: aCarrierReport({ binds: binds.map(aBindReport) }) } }),
    })
  const seen = (...args: Parameters<typeof bindStates>) =>
    bindStates(...args).map(({ number, type, node, state }) => `${number} ${type} ${node} ${state}`)

  test('binds that nodes report, by number; each has what its node says', () => {
    const nodes = [reporting('a', { number: 1 }), reporting('b', { number: 0, state: 'backing-off' })]
    expect(seen({ ...CARRIER, binds: 2, leases: [] }, nodes)).toEqual([
      '0 transceiver b backing-off',
      '1 transceiver a bound',
    ])
    expect(bindStates({ ...CARRIER, leases: [] }, [reporting('a', { unanswered: 3 })])).toEqual([
      { ...aBindReport({ unanswered: 3 }), node: 'a' },
    ])
  })

  test('binds that nobody reports: the node that has it may not have reported yet', () => {
    const nodes = [aLivingNode({ name: 'new' }), reporting('a')]
    const leases = [{ bind: 0, node: 'new' }]
    expect(seen({ ...CARRIER, bindMode: 'transmitter+receiver', binds: 2, leases }, nodes)).toEqual([
      '0 transmitter new unreported',
      '0 receiver new unreported',
      '1 transmitter null unassigned',
      '1 receiver null unassigned',
    ])
  })

  test('the binds of a stopped carrier are stopped, but for sessions that are ending', () => {
    const stopped = { ...CARRIER, state: 'stopped', binds: 2, leases: [] } as const
    expect(seen(stopped, [reporting('a', { number: 1, state: 'unbinding' })])).toEqual([
      '0 transceiver null stopped',
      '1 transceiver a unbinding',
    ])
  })
})

describe('roles of nodes', () => {
  test('a role has its own duty, and all has every duty', () => {
    const roles = (duty: 'api' | 'carrier' | 'webhook') => NODE_ROLES.filter((role) => hasDuty(role, duty))
    expect(roles('api')).toEqual(['all', 'api'])
    expect(roles('carrier')).toEqual(['all', 'carrier'])
    expect(roles('webhook')).toEqual(['all', 'webhook'])
  })

  test('what no node does is said, a sentence for each duty', () => {
    const lacking = (...roles: (typeof NODE_ROLES)[number][]) =>
      lackingDuties(roles.map((role) => ({ role })))
    expect(lacking('all')).toEqual([])
    expect(lacking('api', 'carrier', 'webhook')).toEqual([])
    expect(lacking('api', 'carrier')).toEqual([expect.stringContaining('NODE_ROLE=webhook or all')])
    expect(lacking()).toHaveLength(3)
  })
})
