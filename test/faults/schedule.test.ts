import { expect, it } from 'vitest'
import { KINDS, kindsNamed } from './kinds.ts'
import { scheduleOf } from './schedule.ts'

const taken = (seed: number, count: number) =>
  scheduleOf(seed, KINDS, 3)
    .take(count)
    .map(({ kind, ...planned }) => ({ kind: kind.name, ...planned }))
    .toArray()

it('there are at least thirty kinds, each with a name of its own', () => {
  expect(KINDS.length).toBeGreaterThanOrEqual(30)
  expect(new Set(KINDS.map(({ name }) => name)).size).toBe(KINDS.length)
})

it('a seed gives the same faults each time, and another seed gives others', () => {
  expect(taken(7, 200)).toEqual(taken(7, 200))
  expect(taken(7, 200)).not.toEqual(taken(8, 200))
})

it('each kind comes once before any comes again, within its bounds', () => {
  const round = taken(7, KINDS.length)
  expect(new Set(round.map(({ kind }) => kind)).size).toBe(KINDS.length)
  for (const { kind, holdMs, node } of round) {
    const [least, most] = kindsNamed([kind])[0]!.holdMs
    expect(holdMs).toBeGreaterThanOrEqual(least)
    expect(holdMs).toBeLessThanOrEqual(most)
    expect([0, 1, 2]).toContain(node)
  }
})

it('a kind that is not there is refused', () => {
  expect(() => kindsNamed(['kill', 'flood'])).toThrow('no kind of fault is named flood')
})
