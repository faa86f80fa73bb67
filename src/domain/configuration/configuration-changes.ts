import { isDeepStrictEqual } from 'node:util'
import { mapInSteps, type Steps, sortInSteps } from '../../collections/steps.ts'
import { type Fault, fault } from '../../errors.ts'

/** What an apply of a configuration does to the objects of one kind (docs/adr/0028-configuration-as-a-file.md). */

/** The kinds of object in a configuration file, in an order in which none names one of a later kind. */
export const CONFIGURATION_KINDS = [
  'accounts',
  'carriers',
  'routes',
  'plans',
  'senders',
  'numbers',
  'sendsmsUsers',
  'rules',
  'senderRules',
  'rates',
  'ranges',
] as const
export type KindName = (typeof CONFIGURATION_KINDS)[number]

export type Settings = Readonly<Record<string, unknown>>

/** An object as the file wants it. */
export interface WantedObject {
  /** What tells it from other objects of its kind. */
  readonly identity: string
  /** What the file calls it. */
  readonly name: string
  /** Where it is in the file: `carriers.acme`. */
  readonly path: string
  /** Settings that the file omits are not here, and keep their values. */
  readonly settings: Settings
}

/** An object that there is. */
export interface PresentObject {
  readonly identity: string
  /** What an exported file calls it. */
  readonly name: string
  /** The key of its row. */
  readonly key: string
  /** All of them, in the form of the file, secrets included. */
  readonly settings: Settings
}

export interface Update {
  readonly present: PresentObject
  readonly wanted: WantedObject
  /** The settings that differ, as they are wanted. */
  readonly changed: Settings
}

/** The changes of one kind, each list by identity, so that the order of a file does not matter. */
export interface Changes {
  readonly creations: readonly WantedObject[]
  readonly updates: readonly Update[]
  readonly deletions: readonly PresentObject[]
  readonly unchanged: number
}

/** Objects of one identity stay in their order. */
export function sortedByIdentity<T extends { readonly identity: string }>(objects: readonly T[]): Steps<T[]> {
  return sortInSteps(objects, byIdentity)
}

/**
 * `wanted` is sorted by identity. No two of `present` have the same one; of several wanted ones, the first counts. `prune`: objects
 * that are not wanted are deleted. Both are walked side by side, because a Map with 200,000 texts as keys takes 20 ms to grow.
 */
export function* changesOf(
  wanted: readonly WantedObject[],
  present: readonly PresentObject[],
  prune: boolean,
): Steps<Changes> {
  const creations: WantedObject[] = []
  const updates: Update[] = []
  const unwanted: PresentObject[] = []
  const before = yield* sortedByIdentity(present)
  let at = 0
  let last: WantedObject | null = null
  for (const object of wanted) {
    yield
    if (object.identity === last?.identity) continue
    last = object
    for (; at < before.length && before[at]!.identity < object.identity; at += 1) {
      yield
      unwanted.push(before[at]!)
    }
    const old = before[at]
    if (old?.identity !== object.identity) {
      creations.push(object)
      continue
    }
    at += 1
    const changed = differences(object.settings, old.settings)
    if (Object.keys(changed).length > 0) updates.push({ present: old, wanted: object, changed })
  }
  const deletions = prune ? [...unwanted, ...before.slice(at)] : []
  return { creations, updates, deletions, unchanged: present.length - updates.length - deletions.length }
}

function byIdentity(a: { identity: string }, b: { identity: string }): number {
  return ascending(a.identity, b.identity)
}

function ascending(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function differences(wanted: Settings, present: Settings): Settings {
  const changed = Object.entries(wanted).filter(
    ([name, value]) => value !== present[name] && !isDeepStrictEqual(value, present[name]),
  )
  return Object.fromEntries(changed)
}

/** Whether the deletions of one kind must be confirmed by their number, being more than 20 % of its objects. */
export function needsConfirmation(deleted: number, present: number): boolean {
  return deleted * 5 > present
}

/** A fault for each object that has the identity of an earlier one. `wanted` is sorted by identity. */
export function* repeatedObjects(wanted: readonly WantedObject[]): Steps<Fault[]> {
  const faults: Fault[] = []
  let first: WantedObject | null = null
  for (const object of wanted) {
    yield
    if (first?.identity === object.identity)
      faults.push(fault(object.path, 'REPEATED', `must not be the same object as ${first.path}`))
    else first = object
  }
  return faults
}

/** The objects with the names that a file uses for them: `name (key)` where several have one name. No two are the same. */
export function* namedInFile<T extends Pick<PresentObject, 'key' | 'name'>>(
  objects: readonly T[],
): Steps<readonly T[]> {
  const shared = yield* repeatedNames(objects.map(({ name }) => name))
  if (shared.size === 0) return objects
  const taken = new Set<string>()
  for (const { name } of objects) {
    yield
    if (!shared.has(name)) taken.add(name)
  }
  return yield* mapInSteps(objects, (object) => {
    if (!shared.has(object.name)) return object
    let name = `${object.name} (${object.key})`
    while (taken.has(name)) name = `${name} (${object.key})`
    taken.add(name)
    return { ...object, name }
  })
}

function* repeatedNames(names: readonly string[]): Steps<Set<string>> {
  const repeated = new Set<string>()
  let before: string | null = null
  for (const name of yield* sortInSteps(names, ascending)) {
    yield
    if (name === before) repeated.add(name)
    before = name
  }
  return repeated
}
