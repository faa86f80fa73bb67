import { randomBytes } from 'node:crypto'
import {
  type Changes,
  Comparison,
  type KindName,
  namedInFile,
  type PresentObject,
  type WantedObject,
} from '../../domain/configuration/configuration-changes.ts'
import { canonicalPublicId, publicId } from '../../domain/identifiers.ts'
import { SANDBOX } from '../../domain/sandbox.ts'
import { fault } from '../../errors.ts'
import { inSlices, mapInSlices } from '../../slices.ts'
import { reservedName } from '../manage/configuration-rows.ts'
import type { Entry, Kind } from './kind.ts'
import { NAMED, type NamedKind, NOUNS, Scene } from './scene.ts'

/** An object of a configuration file. */
export interface FileEntry extends Omit<Entry, 'value'> {
  /** Null: nothing of it can be read. */
  readonly value: Entry['value'] | null
  readonly isFaulty: boolean
}

const REFERENCE_FAULTS: ReadonlySet<string> = new Set(['NOT_FOUND', 'AMBIGUOUS'])

interface Objects {
  /** Empty, as are the maps, if no kind names this one: there may be 200,000 rates. */
  readonly present: readonly PresentObject[]
  readonly byIdentity: ReadonlyMap<string, PresentObject>
  readonly byName: ReadonlyMap<string, readonly PresentObject[]>
  wanted: readonly WantedObject[]
  wantedByName: ReadonlyMap<string, string>
  /** Entries with faults. Nobody is told that they do not exist. */
  broken: ReadonlySet<string>
}

/** The configuration that there is and the one that a file wants, as far as they have been read. */
export class FileScene extends Scene {
  readonly #objects = new Map<KindName, Objects>()
  /** By kind and name: two objects of one name, neither with an id, are one object given twice. */
  readonly #newIds = new Map<string, string>()

  /** Reads the objects, if other kinds name them. */
  async read(kind: Kind): Promise<readonly PresentObject[]> {
    const present = NAMED.has(kind.name) ? await this.all(kind) : []
    const byIdentity = new Map<string, PresentObject>()
    const byName = new Map<string, PresentObject[]>()
    await mapInSlices(present, (object) => {
      byIdentity.set(object.identity, object)
      const name = String(object.settings.name ?? object.name)
      const alike = byName.get(name)
      if (alike === undefined) byName.set(name, [object])
      else alike.push(object)
    })
    this.#objects.set(kind.name, {
      present,
      byIdentity,
      byName,
      wanted: [],
      wantedByName: new Map(),
      broken: new Set(),
    })
    return present
  }

  /** All objects, with the names that a file uses for them. */
  async all(kind: Kind): Promise<readonly PresentObject[]> {
    const objects: PresentObject[] = []
    await kind.each(this, (object) => objects.push(object))
    return kind.hasLabels ? inSlices(namedInFile(objects)) : objects
  }

  /** What there is, compared with what the file wants, which is sorted by identity. */
  async compare(kind: Kind, wanted: readonly WantedObject[], prune: boolean): Promise<Changes> {
    const comparison = new Comparison(wanted, prune)
    const add = (object: PresentObject) => comparison.add(object)
    if (NAMED.has(kind.name)) await mapInSlices(this.#objects.get(kind.name)!.present, add)
    else await kind.each(this, add)
    const changes = await inSlices(comparison.changes())
    return { ...changes, deletions: await inSlices(namedInFile(changes.deletions)) }
  }

  async want(kind: Kind, entries: readonly FileEntry[]): Promise<void> {
    const objects = this.#objects.get(kind.name)!
    const broken = new Set<string>()
    const named = new Map<string, string>()
    const wanted: WantedObject[] = []
    await mapInSlices(entries, (entry) => {
      const found = this.#wantEntry(kind, entry)
      if (found.includes(null)) broken.add(entry.name)
      const fitting = found.filter((object) => object !== null)
      if (fitting.length === 1 && NAMED.has(kind.name)) named.set(entry.name, fitting[0]!.identity)
      wanted.push(...fitting)
    })
    objects.wanted = wanted
    objects.wantedByName = named
    objects.broken = broken
  }

  #wantEntry(kind: Kind, { name, path, value, isFaulty }: FileEntry): readonly (WantedObject | null)[] {
    if (value === null) return [null]
    if (kind.hasSandbox === true && name === SANDBOX) {
      this.faults.push(reservedName(path))
      return [null]
    }
    const known = this.faults.length
    const found = kind.want({ name, path, value }, this)
    if (!isFaulty) return found
    // Only the objects that it names are judged: other settings may depend on those that are left out.
    this.faults.push(...this.faults.splice(known).filter(({ code }) => REFERENCE_FAULTS.has(code)))
    return [null]
  }

  /** Adds a fault for each setting that a new object lacks. */
  async requireSettings({ noun, required }: Kind, creations: readonly WantedObject[]): Promise<void> {
    await mapInSlices(creations, ({ path, settings }) => {
      for (const name of required)
        if (settings[name] === undefined)
          this.faults.push(fault(`${path}.${name}`, 'REQUIRED', `is required of a new ${noun}`))
    })
  }

  wanted(kind: KindName): readonly WantedObject[] {
    return this.#objects.get(kind)!.wanted
  }

  presentWith(kind: KindName, identity: string): PresentObject | undefined {
    return this.#objects.get(kind)!.byIdentity.get(identity)
  }

  /** The ids of accounts or plans that there are and have this name. */
  namesakes(kind: KindName, name: unknown): string[] {
    if (kind !== 'accounts' && kind !== 'plans') return []
    const found = this.#objects.get(kind)!.byName.get(String(name)) ?? []
    return found.map(({ identity }) => identity)
  }

  /** The id of an account or plan of the file: its own, that of the only one with its name, or a new one. */
  identify(kind: 'accounts' | 'plans', path: string, name: string, id: string | undefined): string | null {
    if (id !== undefined) return canonicalPublicId(id)
    const found = this.#objects.get(kind)!.byName.get(name) ?? []
    if (found.length <= 1) return found[0]?.identity ?? this.#newId(`${kind}.${name}`)
    const field = kind === 'accounts' ? 'accountId' : 'servicePlanId'
    const message = `must say which of the ${found.length} ${NOUNS[kind]}s with this name: ${found.map(({ identity }) => identity).join(', ')}`
    this.faults.push(fault(`${path}.${field}`, 'AMBIGUOUS', message))
    return null
  }

  #newId(called: string): string {
    const id = this.#newIds.get(called) ?? publicId(randomBytes(12))
    this.#newIds.set(called, id)
    return id
  }

  /** The identity of what the file names: an object of the file, the only one with that name, or the one with that id. */
  refer(kind: NamedKind, path: string, name: string): string | null {
    const { wantedByName, byName, byIdentity, broken } = this.#objects.get(kind)!
    if (broken.has(name)) return null
    const wanted = wantedByName.get(name)
    if (wanted !== undefined) return wanted
    const found = byName.get(name) ?? []
    if (found.length === 1) return found[0]!.identity
    const hasId = kind === 'accounts' || kind === 'plans'
    if (hasId && byIdentity.has(name.toLowerCase())) return name.toLowerCase()
    if (found.length === 0)
      return this.missing(kind, path, name, `names no ${NOUNS[kind]} of the file or of the service`)
    const message = `must be an id: ${found.length} ${NOUNS[kind]}s have this name`
    this.faults.push(fault(path, 'AMBIGUOUS', message))
    return null
  }
}
