import { describe, expect, it, test } from 'vitest'
import {
  describeGrowth,
  judgeBinds,
  judgeClock,
  judgeConnections,
  judgeNodes,
  judgePartitions,
  judgePrimaries,
  judgeReadReplica,
  judgeReplication,
  judgeRetention,
  judgeRoles,
  judgeVacuum,
  type Level,
} from '../../src/domain/diagnosis.ts'

const standby = { name: 'two', state: 'streaming', syncState: 'sync', lagSeconds: 0.1 }

test.each<[string, { level: Level; advice: string | null }, Level]>([
  ['one primary', judgePrimaries([]), 'ok'],
  ['two primaries', judgePrimaries(['one:5432 takes writes too (timeline 1)']), 'fault'],
  ['no standby', judgeReplication({ standbys: [], synchronous: false }, false), 'ok'],
  ['none of several', judgeReplication({ standbys: [], synchronous: false }, true), 'warning'],
  ['a COMMIT that waits for nobody', judgeReplication({ standbys: [], synchronous: true }, true), 'fault'],
  ['an asynchronous standby', judgeReplication({ standbys: [standby], synchronous: false }, true), 'warning'],
  ['a synchronous one', judgeReplication({ standbys: [standby], synchronous: true }, true), 'ok'],
  [
    'one far behind',
    judgeReplication({ standbys: [{ ...standby, lagSeconds: 9 }], synchronous: true }, true),
    'warning',
  ],
  ['a read replica', judgeReadReplica({ lagMs: 3 }), 'ok'],
  ['one behind', judgeReadReplica({ trouble: 'behind', message: 'behind' }), 'warning'],
  ['no standby of this primary', judgeReadReplica({ trouble: 'foreign', message: 'no' }), 'fault'],
  ['clocks that agree', judgeClock(-900, 5_000), 'ok'],
  ['clocks that differ', judgeClock(-1_100, 5_000), 'warning'],
  ['a clock with which a node is not ready', judgeClock(5_100, 5_000), 'fault'],
  ['enough connections', judgeConnections(21, 97), 'ok'],
  ['too few', judgeConnections(98, 97), 'fault'],
  ['all partitions', judgePartitions([]), 'ok'],
  ['a missing one', judgePartitions(['messages 20260101']), 'fault'],
  ['a day over', judgeRetention(0), 'ok'],
  ['two days over', judgeRetention(1), 'warning'],
  ['every role', judgeRoles([]), 'ok'],
  ['a role that no node has', judgeRoles(['nobody binds']), 'fault'],
  ['no node', judgeNodes([], '1.0.0'), 'warning'],
  [
    'one version',
    judgeNodes(
      [
        { name: 'a', version: '1.0.0' },
        { name: 'b', version: null },
      ],
      '1.0.0',
    ),
    'ok',
  ],
  [
    'two versions',
    judgeNodes(
      [
        { name: 'a', version: '1.0.0' },
        { name: 'b', version: '1.1.0' },
      ],
      '1.1.0',
    ),
    'warning',
  ],
  ['nodes of another version', judgeNodes([{ name: 'a', version: '1.0.0' }], '1.1.0'), 'warning'],
])('%s', (_, { level, advice }, expected) => {
  expect(level).toBe(expected)
  expect(advice === null).toBe(expected === 'ok')
})

describe('vacuum', () => {
  const well = { bloated: [], oldestSeconds: 3, frozenAge: 1_000 }

  it('has faults by what they do first', () => {
    expect(judgeVacuum(well).level).toBe('ok')
    expect(judgeVacuum({ ...well, oldestSeconds: null }).level).toBe('ok')
    expect(judgeVacuum({ ...well, oldestSeconds: 601 })).toMatchObject({ level: 'warning' })
    const bloated = [{ table: 'events_20260101', dead: 200_000, live: 10 }]
    expect(judgeVacuum({ ...well, bloated }).found).toBe('events_20260101: 200000 dead, 10 live rows')
    expect(judgeVacuum({ bloated, oldestSeconds: 601, frozenAge: 1.6e9 }).level).toBe('fault')
  })
})

describe('binds', () => {
  const carrier = { name: 'acme', state: 'started', bound: 2, binds: 2, lastError: null } as const

  it('of a started carrier must be bound', () => {
    expect(judgeBinds(carrier).level).toBe('ok')
    expect(judgeBinds({ ...carrier, bound: 1 }).level).toBe('warning')
    expect(judgeBinds({ ...carrier, bound: 0, lastError: 'bind_rejected' })).toMatchObject({
      level: 'fault',
      found: '0 of 2 binds are bound; last error: bind_rejected',
    })
    expect(judgeBinds({ ...carrier, bound: 0, state: 'stopped' }).level).toBe('ok')
  })
})

test('growth is foretold from the last whole day', () => {
  expect(describeGrowth({ bytes: 5e9, dayBytes: 2e9 }, 90).found).toBe(
    "5.00 GB now; yesterday's messages take 2.00, 90 such days 185",
  )
  expect(describeGrowth({ bytes: 5e9, dayBytes: null }, 90).found).toBe('5.00 GB now')
})
