import { isDeepStrictEqual } from 'node:util'
import { mapOfInSteps, type Steps, sortInSteps } from '../../collections/steps.ts'
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

/** No two of `wanted`, and no two of `present`, have the same identity. `prune`: objects that are not wanted are deleted. */
export function* changesOf(
  wanted: readonly WantedObject[],
  present: readonly PresentObject[],
  prune: boolean,
): Steps<Changes> {
  const known = yield* mapOfInSteps(present, (object) => [object.identity, object])
  const kept = new Set<string>()
  const creations: WantedObject[] = []
  const updates: Update[] = []
  for (const object of wanted) {
    yield
    kept.add(object.identity)
    const before = known.get(object.identity)
    if (before === undefined) creations.push(object)
    else {
      const changed = differences(object.settings, before.settings)
      if (Object.keys(changed).length > 0) updates.push({ present: before, wanted: object, changed })
    }
  }
  const deletions: PresentObject[] = []
  for (const object of prune ? present : []) {
    yield
    if (!kept.has(object.identity)) deletions.push(object)
  }
  return {
    creations: yield* sortInSteps(creations, byIdentity),
    updates: yield* sortInSteps(updates, (a, b) => byIdentity(a.wanted, b.wanted)),
    deletions: yield* sortInSteps(deletions, byIdentity),
    unchanged: present.length - updates.length - deletions.length,
  }
}

function byIdentity(a: { identity: string }, b: { identity: string }): number {
  return a.identity < b.identity ? -1 : a.identity > b.identity ? 1 : 0
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

/** A fault for each object that has the identity of an earlier one. */
export function* repeatedObjects(wanted: readonly WantedObject[]): Steps<Fault[]> {
  const first = new Map<string, WantedObject>()
  const faults: Fault[] = []
  for (const object of wanted) {
    yield
    const other = first.get(object.identity)
    if (other === undefined) first.set(object.identity, object)
    else faults.push(fault(object.path, 'REPEATED', `must not be the same object as ${other.path}`))
  }
  return faults
}

/**
 * The names that a file uses for objects, by id. An object whose name is not unique is called `name (id)`. No two of
 * these names are the same.
 */
export function* namesInFile(
  objects: readonly { readonly id: string; readonly name: string }[],
): Steps<Map<string, string>> {
  const seen = new Set<string>()
  const shared = new Set<string>()
  for (const { name } of objects) {
    yield
    if (seen.has(name)) shared.add(name)
    seen.add(name)
  }
  const names = new Map<string, string>()
  for (const { id, name } of objects) {
    yield
    if (!shared.has(name)) names.set(id, name)
  }
  if (shared.size === 0) return names
  const taken = new Set<string>()
  for (const name of names.values()) yield void taken.add(name)
  for (const object of objects) {
    yield
    if (!shared.has(object.name)) continue
    let name = `${object.name} (${object.id})`
    while (taken.has(name)) name = `${name} (${object.id})`
    taken.add(name)
    names.set(object.id, name)
  }
  return names
}
