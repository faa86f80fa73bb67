import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { atOnce } from '../../../src/collections/steps.ts'
import {
  type Changes,
  Comparison,
  namedInFile,
  needsConfirmation,
  type PresentObject,
  repeatedObjects,
  type Settings,
  sortedByIdentity,
  type WantedObject,
} from '../../../src/domain/configuration/configuration-changes.ts'

const wanted = (identity: string, settings: Settings): WantedObject => ({
  identity,
  name: identity,
  path: `carriers.${identity}`,
  settings,
})
const present = (identity: string, settings: Settings): PresentObject => ({
  identity,
  name: identity,
  key: identity,
  settings,
})

const value = fc.oneof(
  fc.integer({ min: 0, max: 2 }),
  fc.constantFrom('a', 'b', null),
  fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 2 }),
  fc.record({ perSecond: fc.integer({ min: 0, max: 1 }) }),
)
const some = fc.dictionary(fc.constantFrom('one', 'two', 'three'), value)
const objects = fc.dictionary(fc.constantFrom(...'abcdefgh'), some)
const toWanted = (all: Record<string, Settings>) =>
  Object.entries(all).map(([name, settings]) => wanted(name, settings))
const toPresent = (all: Record<string, Settings>) =>
  Object.entries(all).map(([name, settings]) => present(name, settings))

/** What there is after the changes. */
function after(before: readonly PresentObject[], changes: Changes): PresentObject[] {
  const all = new Map(before.map((object) => [object.identity, object]))
  for (const { identity } of changes.deletions) all.delete(identity)
  for (const { identity, settings } of changes.creations) all.set(identity, present(identity, settings))
  for (const { present: old, changed } of changes.updates)
    all.set(old.identity, { ...old, settings: { ...old.settings, ...changed } })
  return [...all.values()]
}

const changesOf = (wanted: readonly WantedObject[], there: readonly PresentObject[], prune: boolean) => {
  const comparison = new Comparison(atOnce(sortedByIdentity(wanted)), prune)
  for (const object of there) comparison.add(object)
  return atOnce(comparison.changes())
}
const isNothing = ({ creations, updates, deletions }: Changes) =>
  creations.length + updates.length + deletions.length === 0

describe('changes', () => {
  test('make what is wanted, and then there are none', () => {
    fc.assert(
      fc.property(objects, objects, fc.boolean(), (file, there, prune) => {
        const [wants, before] = [toWanted(file), toPresent(there)]
        const now = after(before, changesOf(wants, before, prune))
        for (const { identity, settings } of wants)
          expect(now.find((object) => object.identity === identity)!.settings).toMatchObject(settings)
        expect(isNothing(changesOf(wants, now, prune))).toBe(true)
        expect(now.length).toBe(prune ? wants.length : new Set([...wants, ...before].map(identityOf)).size)
      }),
    )
  })

  test('are none when the file is what there is', () => {
    fc.assert(
      fc.property(objects, fc.boolean(), (there, prune) =>
        isNothing(changesOf(toWanted(there), toPresent(there), prune)),
      ),
    )
  })

  test('do not depend on the order of the file or of the rows', () => {
    fc.assert(
      fc.property(objects, objects, (file, there) => {
        const [wants, before] = [toWanted(file), toPresent(there)]
        expect(changesOf(wants.toReversed(), before.toReversed(), true)).toEqual(
          changesOf(wants, before, true),
        )
      }),
    )
  })

  it('keeps settings that the file omits, and what is not in it without prune', () => {
    const there = [present('a', { one: 1, two: 2 }), present('b', { one: 1 })]
    expect(changesOf([wanted('a', { one: 3 })], there, false)).toEqual({
      creations: [],
      updates: [{ present: there[0], wanted: wanted('a', { one: 3 }), changed: { one: 3 } }],
      deletions: [],
      unchanged: 1,
    })
    expect(changesOf([wanted('a', {})], there, true)).toMatchObject({ deletions: [there[1]], unchanged: 1 })
  })
})

function identityOf({ identity }: { identity: string }): string {
  return identity
}

test.each([
  [0, 0, false],
  [0, 5, false],
  [1, 5, false],
  [2, 5, true],
  [1, 1, true],
  [20, 100, false],
  [21, 100, true],
])('%i deletions of %i need a confirmation: %s', (deleted, there, needed) => {
  expect(needsConfirmation(deleted, there)).toBe(needed)
})

test('an object that is there twice is named with the first', () => {
  const twice = [wanted('a', {}), wanted('b', {}), { ...wanted('a', {}), path: 'carriers.other' }]
  expect(atOnce(repeatedObjects(atOnce(sortedByIdentity(twice))))).toEqual([
    { field: 'carriers.other', code: 'REPEATED', message: 'must not be the same object as carriers.a' },
  ])
})

describe('names in a file', () => {
  it('are those of the objects, with the id where several have one', () => {
    const named = atOnce(
      namedInFile([
        { key: '1', name: 'One' },
        { key: '2', name: 'Two' },
        { key: '3', name: 'Two' },
      ]),
    )
    expect(named.map(({ name }) => name)).toEqual(['One', 'Two (2)', 'Two (3)'])
  })

  test('are all different', () => {
    const name = fc.constantFrom('a', 'a (1)', 'a (2)', 'a (1) (1)', 'b')
    fc.assert(
      fc.property(fc.array(name), (all) => {
        const objects = all.map((each, index) => ({ key: String(index), name: each }))
        expect(new Set(atOnce(namedInFile(objects)).map(({ name }) => name)).size).toBe(all.length)
      }),
    )
  })
})
