import { randomBytes } from 'node:crypto'
import type {
  KindName,
  PresentObject,
  Settings,
  Update,
  WantedObject,
} from '../../domain/configuration/configuration-changes.ts'
import { canonicalPublicId, publicId } from '../../domain/identifiers.ts'
import { SANDBOX } from '../../domain/sandbox.ts'
import { IV_BYTES, orUnreadable, type SecretKeys } from '../../domain/secrets.ts'
import { openCallbackUrl, sealCallbackUrl } from '../../domain/webhooks/callback-url.ts'
import { type Fault, fault } from '../../errors.ts'
import { mapInSlices } from '../../slices.ts'
import type { ConfigurationTable } from '../../store/configuration-table.ts'
import type { Transaction } from '../../store/database.ts'
import { reservedName } from '../manage/configuration-rows.ts'

/** The URL in plain text, or `unreadable`. */
export function openUrl(secretKey: SecretKeys, stored: string | null): string | null {
  return stored && orUnreadable(() => openCallbackUrl(secretKey, stored))
}

/** Without properties that have no value. */
export function definedOf(settings: Settings): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}

/** An object of a configuration file. What does not fit its schema is known as faults, and left out of `value`. */
export interface Entry {
  /** What the file calls it. */
  readonly name: string
  /** `carriers.acme` */
  readonly path: string
  /** Null: nothing of it can be read. */
  readonly value: Settings | null
  readonly isFaulty: boolean
}

/** What the objects that an object names are read from: all of its settings. */
export type NamingObject = Pick<PresentObject, 'identity' | 'name' | 'settings'>

/** How the objects of one kind are read, and how a file changes them. */
export interface Kind {
  readonly name: KindName
  readonly noun: string
  /** Settings that are never shown. */
  readonly secrets?: readonly string[]
  /** URLs, whose credentials are never shown. */
  readonly urls?: readonly string[]
  /** Rows have numbers, which new ones do not have yet. */
  readonly isNumbered?: true
  /** Settings that a new object must have. */
  readonly required: readonly string[]
  /** The objects that one of this kind names, by identity: while it is kept, they cannot be deleted. */
  readonly names?: Readonly<Partial<Record<NamedKind, (object: NamingObject) => readonly unknown[]>>>
  /** How many there may be, where every node keeps all of them in memory. */
  readonly most?: number
  /** All of them but those of the sandbox, which are nobody's to change. */
  read(scene: Scene): Promise<PresentObject[]>
  /** Adds what is wrong with the entry to the faults of the scene. */
  want(entry: Entry & { readonly value: Settings }, scene: Scene): readonly (WantedObject | null)[]
  create(scene: Scene, objects: readonly WantedObject[]): Promise<void>
  /** Reads the database keys of all objects into `scene.keys` once new ones have been created, if `create` cannot know them. */
  learnKeys?(scene: Scene): Promise<void>
  update(scene: Scene, updates: readonly Update[]): Promise<void>
  delete(scene: Scene, objects: readonly PresentObject[]): Promise<void>
}

const REFERENCE_FAULTS: ReadonlySet<string> = new Set(['NOT_FOUND', 'AMBIGUOUS'])

/** Deletes the rows of a table by the keys of the objects. */
export function deleteFrom(table: {
  deleteAll(db: Transaction, keys: readonly string[]): Promise<void>
}): Kind['delete'] {
  return (scene, objects) =>
    table.deleteAll(
      scene.db,
      objects.map(({ key }) => key),
    )
}

/** Writes changed settings to the rows of a table. `columnsOf` returns them as columns. */
export function updateIn<Columns extends object>(
  table: Pick<ConfigurationTable<object, Columns>, 'updateAll'>,
  columnsOf: (scene: Scene, changed: Settings, identity: string) => object,
): Kind['update'] {
  return (scene, updates) =>
    table.updateAll(
      scene.db,
      updates.map(({ present: { key, identity }, changed }) => ({
        key,
        change: columnsOf(scene, changed, identity) as Partial<Columns>,
      })),
    )
}

/** Kinds that objects of other kinds name, so that they are always read. */
export type NamedKind = 'accounts' | 'carriers' | 'routes' | 'plans'
export const NAMED: ReadonlySet<KindName> = new Set(['accounts', 'carriers', 'routes', 'plans'])

const NOUNS = { accounts: 'account', carriers: 'carrier', routes: 'route', plans: 'service plan' } as const

interface Objects {
  readonly present: readonly PresentObject[]
  /** Empty, as are the other maps, if no kind names this one: they would have 200,000 rates. */
  readonly byIdentity: ReadonlyMap<string, PresentObject>
  readonly byName: ReadonlyMap<string, readonly PresentObject[]>
  wanted: readonly WantedObject[]
  wantedByName: ReadonlyMap<string, string>
  /** Entries with faults. Nobody is told that they do not exist. */
  broken: ReadonlySet<string>
}

/** What was found out about a file before the transaction, because it takes long. */
export interface Judged {
  /** The callback guard's objections, by URL. */
  readonly badUrls: ReadonlyMap<string, Fault>
  /** The hash of the password of each sendsms user. */
  readonly passwords: ReadonlyMap<string, string>
}

const NOTHING_JUDGED: Judged = { badUrls: new Map(), passwords: new Map() }

/** The configuration that there is and the one that a file wants, as far as they have been read. */
export class Scene {
  readonly db: Transaction
  readonly faults: Fault[] = []
  /** Database keys of objects by their identity. */
  readonly keys: Record<NamedKind, Map<string, number>> = {
    accounts: new Map(),
    carriers: new Map(),
    routes: new Map(),
    plans: new Map(),
  }
  /** Webhook secrets of new accounts, in plain text. */
  readonly issued: { accountId: string; name: string; webhookSecret: string }[] = []
  readonly secretKey: SecretKeys
  /** The hash of each password of a sendsms user that the file has. */
  readonly passwords: ReadonlyMap<string, string>
  readonly #badUrls: ReadonlyMap<string, Fault>
  readonly #objects = new Map<KindName, Objects>()
  /** By kind and name: two objects of one name, neither with an id, are one object given twice. */
  readonly #newIds = new Map<string, string>()

  constructor(db: Transaction, secretKey: SecretKeys, { badUrls, passwords }: Judged = NOTHING_JUDGED) {
    this.db = db
    this.secretKey = secretKey
    this.passwords = passwords
    this.#badUrls = badUrls
  }

  async read(kind: Kind): Promise<readonly PresentObject[]> {
    const present = await kind.read(this)
    const byIdentity = new Map<string, PresentObject>()
    const byName = new Map<string, PresentObject[]>()
    await mapInSlices(NAMED.has(kind.name) ? present : [], (object) => {
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

  async want(kind: Kind, entries: readonly Entry[]): Promise<void> {
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

  #wantEntry(kind: Kind, entry: Entry): readonly (WantedObject | null)[] {
    const { value } = entry
    if (value === null) return [null]
    const known = this.faults.length
    const found = kind.want({ ...entry, value }, this)
    if (!entry.isFaulty) return found
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

  present(kind: KindName): readonly PresentObject[] {
    return this.#objects.get(kind)!.present
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
    this.faults.push(
      found.length > 1
        ? fault(path, 'AMBIGUOUS', `must be an id: ${found.length} ${NOUNS[kind]}s have this name`)
        : name === SANDBOX && (kind === 'carriers' || kind === 'routes')
          ? reservedName(path)
          : fault(path, 'NOT_FOUND', `names no ${NOUNS[kind]} of the file or of the service`),
    )
    return null
  }

  /** Null names every plan. */
  referToPlan(path: string, name: string | null | undefined): { plan: string | null } | null {
    if (name === null || name === undefined) return { plan: null }
    const plan = this.refer('plans', path, name)
    return plan === null ? null : { plan }
  }

  addFaults(path: string, faults: readonly Fault[]): void {
    for (const each of faults)
      this.faults.push({ ...each, field: each.field === 'request' ? path : `${path}.${each.field}` })
  }

  /** Adds what the callback guard found wrong with the URL. */
  judgeUrl(path: string, field: string, url: string | null | undefined): void {
    const bad = typeof url === 'string' ? this.#badUrls.get(url) : undefined
    if (bad !== undefined) this.faults.push({ ...bad, field: `${path}.${field}` })
  }

  sealUrl(url: string | null): string | null {
    return url && sealCallbackUrl(this.secretKey, url, () => randomBytes(IV_BYTES))
  }
}
