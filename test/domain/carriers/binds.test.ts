import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  assignBinds,
  BindErrors,
  type CarrierBind,
  type LinkFailure,
  MAX_BIND_ERRORS,
  nextPauseMs,
} from '../../../src/domain/carriers/binds.ts'

const binds = (carrierId: number, nodeIds: readonly (number | null)[]): CarrierBind[] =>
  nodeIds.map((nodeId, bind) => ({ carrierId, bind, nodeId }))

const nodesOf = (shares: readonly CarrierBind[]) => shares.map(({ nodeId }) => nodeId)

/** Binds by node, of each carrier and in all. */
function counts(shares: readonly CarrierBind[], nodes: readonly number[]): number[][] {
  const carriers = [...new Set(shares.map(({ carrierId }) => carrierId))]
  const count = (among: readonly CarrierBind[]) =>
    nodes.map((node) => among.filter(({ nodeId }) => nodeId === node).length)
  return [...carriers.map((id) => count(shares.filter(({ carrierId }) => carrierId === id))), count(shares)]
}

test('one node has all', () => {
  expect(nodesOf(assignBinds([...binds(1, [null, null]), ...binds(2, [null])], [7]))).toEqual([7, 7, 7])
})

test('without nodes nobody has any', () => {
  expect(assignBinds(binds(1, [null]), [])).toEqual([])
})

test('the binds of a carrier are spread', () => {
  expect(nodesOf(assignBinds(binds(1, [null, null, null, null]), [1, 2]))).toEqual([1, 2, 1, 2])
  expect(nodesOf(assignBinds(binds(1, [1, 1, 1, 1]), [1, 2]))).toEqual([1, 1, 2, 2])
})

test('ten carriers with one bind each are spread too', () => {
  const ten = Array.from({ length: 10 }, (_, index) => binds(index + 1, [null])).flat()
  expect(counts(assignBinds(ten, [1, 2]), [1, 2]).at(-1)).toEqual([5, 5])
})

test('what a dead node had goes to the living, and theirs stay', () => {
  expect(nodesOf(assignBinds(binds(1, [1, 2, 3, 1, 2, 3]), [1, 3]))).toEqual([1, 1, 3, 1, 3, 3])
})

test('a bind alone stays where it is when a node comes', () => {
  expect(nodesOf(assignBinds(binds(1, [5]), [5, 6]))).toEqual([5])
})

test('no rule of its own keeps a bind from every node', () => {
  const held = [...binds(1, [1]), ...binds(2, [1]), ...binds(3, [2, null])]
  const shares = assignBinds(held, [1, 2])
  expect(counts(shares, [1, 2]).at(-1)).toEqual([2, 2])
})

const clusters = fc
  .record({
    nodes: fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
    carriers: fc.array(fc.array(fc.option(fc.integer({ min: 1, max: 9 })), { minLength: 1, maxLength: 12 }), {
      minLength: 1,
      maxLength: 12,
    }),
  })
  .map(({ nodes, carriers }) => ({
    nodes,
    held: carriers.flatMap((nodeIds, index) => binds(index + 1, nodeIds)),
  }))

test('every bind has a living node, and no node two more than another, by carrier and in all', () => {
  fc.assert(
    fc.property(clusters, ({ nodes, held }) => {
      const shares = assignBinds(held, nodes)
      expect(shares.map(({ carrierId, bind }) => [carrierId, bind])).toEqual(
        held.map(({ carrierId, bind }) => [carrierId, bind]),
      )
      for (const count of counts(shares, nodes))
        expect(Math.max(...count) - Math.min(...count)).toBeLessThan(2)
      expect(shares.every(({ nodeId }) => nodes.includes(nodeId))).toBe(true)
    }),
  )
})

test('what is shared out stays as it is, whatever order it is read in', () => {
  fc.assert(
    fc.property(clusters, ({ nodes, held }) => {
      const shares = assignBinds(held, nodes)
      expect(assignBinds(shares, nodes)).toEqual(shares)
      expect(assignBinds(held.toReversed(), nodes.toReversed())).toEqual(shares)
    }),
  )
})

describe('errors of a bind', () => {
  const AT = Date.UTC(2026, 0, 2)
  const fault = (error: string, status: string | null = null) => ({ error, status, detail: null })

  test('the newest error is first, and a repeated one is counted', () => {
    const errors = new BindErrors()
    expect(errors.list()).toEqual([])
    errors.note(fault('bind_rejected', 'ESME_RINVPASWD'), AT)
    errors.note(fault('bind_rejected', 'ESME_RALYBND'), AT + 1_000)
    errors.note(fault('bind_rejected', 'ESME_RINVPASWD'), AT + 2_000)
    expect(errors.list()).toEqual([
      { at: '2026-01-02T00:00:02.000Z', ...fault('bind_rejected', 'ESME_RINVPASWD'), count: 2 },
      { at: '2026-01-02T00:00:01.000Z', ...fault('bind_rejected', 'ESME_RALYBND'), count: 1 },
    ])
  })

  test('beyond the limit the one that came longest ago is forgotten', () => {
    const errors = new BindErrors()
    for (let index = 0; index < MAX_BIND_ERRORS; index += 1) errors.note(fault(`e${index}`), AT + index)
    errors.note(fault('e0'), AT + 10)
    errors.note(fault('more'), AT + 11)
    expect(errors.list().map(({ error }) => error)).toEqual(['more', 'e0', 'e4', 'e3', 'e2'])
  })
})

describe('the pause before another bind', () => {
  const pauses = (failure: LinkFailure, fromMs = 0) => {
    const all: number[] = []
    for (let lastMs = fromMs; all.length < 14; all.push(lastMs / 1_000))
      lastMs = nextPauseMs(failure, { lastMs, firstMs: 1_000, closes: all.length + 1 })
    return all
  }

  test('doubles up to five seconds while the carrier cannot be reached', () => {
    expect(pauses('unreached').slice(0, 5)).toEqual([1, 2, 4, 5, 5])
  })

  test('doubles up to a minute while the carrier refuses, to five while it refuses the credentials', () => {
    expect(pauses('refused').slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    expect(pauses('unauthorized').slice(6, 10)).toEqual([64, 128, 256, 300])
  })

  test('stays short for eight closed sessions, as of a carrier that restarts, and then doubles up to a minute', () => {
    expect(pauses('closed')).toEqual([1, 2, 4, 5, 5, 5, 5, 5, 10, 20, 40, 60, 60, 60])
  })

  test('of a carrier that comes back and refuses the first binds grows from five seconds', () => {
    expect(pauses('refused', pauses('unreached').at(-1)! * 1_000).slice(0, 4)).toEqual([10, 20, 40, 60])
    expect(pauses('unreached', 300_000)[0]).toBe(5)
  })
})
