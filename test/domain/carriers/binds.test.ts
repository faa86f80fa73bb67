import fc from 'fast-check'
import { expect, test } from 'vitest'
import { assignBinds, type CarrierBind } from '../../../src/domain/carriers/binds.ts'

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
