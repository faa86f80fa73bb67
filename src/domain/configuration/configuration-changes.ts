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
 * Compares what there is with what is wanted, object by object: there may be 200,000 of either, and of those that there are only the
 * ones that change are kept. They are looked for by halves, because a Map with 200,000 texts as keys takes 20 ms to grow.
 */
export class Comparison {
  readonly #wanted: readonly WantedObject[]
  readonly #prune: boolean
  readonly #isPresent: Uint8Array
  readonly #updates: Update[] = []
  readonly #deletions: PresentObject[] = []
  #present = 0

  /** `wanted` is sorted by identity; of equal ones, the first counts. `prune`: deletes what is not wanted. */
  constructor(wanted: readonly WantedObject[], prune: boolean) {
    this.#wanted = wanted
    this.#prune = prune
    this.#isPresent = new Uint8Array(wanted.length)
  }

  /** No two objects that there are have the same identity. */
  add(present: PresentObject): void {
    this.#present += 1
    const place = this.#placeOf(present.identity)
    const wanted = this.#wanted[place]
    if (wanted?.identity !== present.identity) {
      if (this.#prune) this.#deletions.push(present)
      return
    }
    this.#isPresent[place] = 1
    const changed = differences(wanted.settings, present.settings)
    if (Object.keys(changed).length > 0) this.#updates.push({ present, wanted, changed })
  }

  /** Call it once all have been added. */
  *changes(): Steps<Changes> {
    const creations: WantedObject[] = []
    let last: WantedObject | null = null
    for (const [place, object] of this.#wanted.entries()) {
      yield
      if (object.identity !== last?.identity && this.#isPresent[place] === 0) creations.push(object)
      last = object
    }
    const updates = yield* sortInSteps(this.#updates, (a, b) => byIdentity(a.present, b.present))
    const deletions = yield* sortedByIdentity(this.#deletions)
    const unchanged = this.#present - updates.length - deletions.length
    return { creations, updates, deletions, unchanged }
  }

  /** The first wanted object that has this identity, or a later one. */
  #placeOf(identity: string): number {
    let from = 0
    let to = this.#wanted.length
    while (from < to) {
      const middle = (from + to) >>> 1
      if (this.#wanted[middle]!.identity < identity) from = middle + 1
      else to = middle
    }
    return from
  }
}

/** How many objects there are. */
export function presentCount({ updates, deletions, unchanged }: Changes): number {
  return updates.length + deletions.length + unchanged
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
  const nameOf = yield* namesInFile(objects.map(({ name }) => name))
  return yield* mapInSteps(objects, (object) => {
    const name = nameOf(object)
    return name === object.name ? object : { ...object, name }
  })
}

/** The function that tells the name of each object in a file, once, if these are the names of all. */
export function* namesInFile(
  names: readonly string[],
): Steps<(object: Pick<PresentObject, 'key' | 'name'>) => string> {
  const shared = yield* repeatedNames(names)
  if (shared.size === 0) return ({ name }) => name
  const taken = new Set<string>()
  for (const name of names) {
    yield
    if (!shared.has(name)) taken.add(name)
  }
  return ({ key, name }) => {
    if (!shared.has(name)) return name
    let own = `${name} (${key})`
    while (taken.has(own)) own = `${own} (${key})`
    taken.add(own)
    return own
  }
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
