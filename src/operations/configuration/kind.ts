import type {
  KindName,
  PresentObject,
  Settings,
  Update,
  WantedObject,
} from '../../domain/configuration/configuration-changes.ts'
import { isSandbox } from '../../domain/sandbox.ts'
import type { Fault } from '../../errors.ts'
import type { AnyTable } from '../../store/configuration-table.ts'
import type { Queryable } from '../../store/database.ts'
import { type NamedKind, openUrl, type Scene } from './scene.ts'

/** An object that a file or a request wants. What does not fit its schema is known as faults, and left out of `value`. */
export interface Entry {
  /** What the file calls it. */
  readonly name: string
  /** `carriers.acme` */
  readonly path: string
  readonly value: Settings
}

/** What the objects that an object names are read from: all of its settings. */
export type NamingObject = Pick<PresentObject, 'identity' | 'name' | 'settings'>

/** How the objects of one kind are read, judged and written. Both files and single requests of the admin API work from it. */
export interface Kind {
  readonly name: KindName
  readonly noun: string
  /** Settings that are never shown. */
  readonly secrets: readonly string[]
  /** URLs, whose credentials are never shown. */
  readonly urls: readonly string[]
  /** URLs without credentials. Like `urls` they are masked where they are kept: they may have tokens. */
  readonly openUrls: readonly string[]
  /** Settings that name an object of another kind, or, if they are null, none or all of them. */
  readonly references: Readonly<Record<string, NamedKind>>
  /** The field of the id of an account or a service plan, whose name for people need not be unique. */
  readonly idField?: 'accountId' | 'servicePlanId' | undefined
  /** The field of the number of a row that has no name: its settings identify it. */
  readonly numberField?: string | undefined
  /** Settings that a new object must have. */
  readonly required: readonly string[]
  /** The objects that one of this kind names, by identity: while it is kept, they cannot be deleted. */
  readonly names: Readonly<Partial<Record<NamedKind, (object: NamingObject) => readonly unknown[]>>>
  /** Some of its objects are those of the sandbox, and no other may have their name. */
  readonly hasSandbox?: boolean
  /** How many there may be, where every node keeps all of them in memory. */
  readonly most?: number | undefined
  /** The names of several may be the same. */
  readonly hasLabels?: boolean
  /**
   * Calls `use` for all of them but those of the sandbox, which are nobody's to change. There may be 200,000, and none is kept.
   * The name of a kind that has labels is its label.
   */
  each(scene: Scene, use: (object: PresentObject) => void): Promise<void>
  /** Adds what is wrong with the entry to the faults of the scene. */
  want(entry: Entry, scene: Scene): readonly (WantedObject | null)[]
  create(scene: Scene, objects: readonly WantedObject[]): Promise<void>
  /** Reads the database keys of all objects into `scene.keys` once new ones have been created. */
  learnKeys(scene: Scene): Promise<void>
  update(scene: Scene, updates: readonly Update[]): Promise<void>
  delete(scene: Scene, objects: readonly PresentObject[]): Promise<void>
}

/** An object whose settings are judged. */
export interface Judging {
  readonly scene: Scene
  readonly name: string
  readonly path: string
  /** The settings that it has; undefined: it is new, or all of its settings are wanted. */
  readonly present: Settings | undefined
  /** An object that it names does not exist, which is known as a fault; the setting is null. */
  readonly isBroken: boolean
  readonly faults: Fault[]
}

/** A kind whose objects are the rows of a table. A setting without a function here is the column of its name. */
interface Description<Row extends object>
  extends Pick<Kind, 'name' | 'idField' | 'numberField' | 'hasSandbox' | 'most'>,
    Partial<Pick<Kind, 'secrets' | 'urls' | 'openUrls' | 'references' | 'names' | 'required'>> {
  readonly table: AnyTable<Row>
  /** The field of the name, without `idField` and `numberField`. A file cannot change it. */
  readonly nameField?: string
  /** The database key, if objects of other kinds name those of this one. */
  databaseKey?(row: Row): number
  /** Stored secrets by name, where rows come without them. */
  readonly storedSecrets?: (db: Queryable) => Promise<ReadonlyMap<string, string>>
  /** All settings of a row, in the form of a file; URLs as they are stored. */
  settingsOf(row: Row, scene: Scene, secret: string | undefined): Settings
  /** What identifies an object without a name, and what an exported file calls it. */
  identityOf?(settings: Settings): string
  labelOf?(settings: Settings, scene: Scene): string
  /** The settings in the form in which they are compared. Adds what is wrong with them. Default: as they are. */
  judge?(given: Settings, about: Judging): Settings
  /** Settings whose columns have another form, as columns. */
  columns?(settings: Settings, scene: Scene, identity: string): object
  /** What a new row has besides. */
  newColumns?(object: WantedObject, scene: Scene): object | false
  /** Called before rows are added. */
  prepare?(scene: Scene, objects: readonly WantedObject[]): Promise<void>
  /** Writes settings that other tables have. */
  writeOthers?(scene: Scene, objects: readonly WantedObject[]): Promise<void>
  /** Default: deletes the rows. */
  delete?(scene: Scene, objects: readonly PresentObject[]): Promise<void>
  /** Throws CONFLICT if a request may not make this change of this object. */
  refuseChange?(row: Row, change: Settings): void
}

/** The column of a reference. */
const REFERENCE_COLUMNS: Readonly<Record<string, string>> = {
  account: 'account',
  plan: 'planId',
  route: 'routeId',
}

export class TableKind<Row extends object = object> implements Kind {
  readonly of: Description<Row>
  readonly name: KindName
  readonly noun: string
  readonly table: AnyTable<Row>
  readonly secrets: readonly string[]
  readonly urls: readonly string[]
  readonly openUrls: readonly string[]
  readonly references: Kind['references']
  readonly required: readonly string[]
  readonly names: Kind['names']
  readonly idField: Kind['idField']
  readonly numberField: Kind['numberField']
  readonly hasSandbox: boolean
  readonly most: Kind['most']
  /** The field by which a row is known. */
  readonly #keyField: string

  constructor(of: Description<Row>) {
    const { name, table, secrets = [], urls = [], openUrls = [], references = {}, required = [], names } = of
    this.of = of
    this.idField = of.idField
    this.numberField = of.numberField
    this.hasSandbox = of.hasSandbox ?? false
    this.most = of.most
    this.#keyField = (of.nameField ?? of.idField ?? of.numberField)!
    this.name = name
    this.noun = table.noun
    this.table = table
    this.secrets = secrets
    this.urls = urls
    this.openUrls = openUrls
    this.references = references
    this.required = required
    this.names = { ...namesOf(references), ...names }
  }

  keyOf(row: Row): string {
    return String(row[this.#keyField as keyof Row])
  }

  get hasLabels(): boolean {
    return this.of.nameField === undefined
  }

  async each(scene: Scene, use: (object: PresentObject) => void): Promise<void> {
    const { storedSecrets, labelOf } = this.of
    const kept = (await storedSecrets?.(scene.db)) ?? new Map<string, string>()
    await this.table.each(scene.db, (row) => {
      this.learnKey(scene, row)
      if (this.hasSandbox && isSandbox(row as { name: string })) return
      const object = this.present(row, scene, kept.get(this.keyOf(row)))
      const { settings } = object
      if (!this.hasLabels) use(object)
      else use({ ...object, name: labelOf?.(settings, scene) ?? String(settings.name) })
    })
  }

  /** The object of a row. `secret`: its stored secret, if it is needed. */
  present(row: Row, scene: Scene, secret?: string): PresentObject {
    const key = this.keyOf(row)
    const settings = this.of.settingsOf(row, scene, secret)
    const open = (url: string) => [url, openUrl(scene.secretKey, settings[url] as string | null)]
    return {
      identity: this.of.identityOf?.(settings) ?? key,
      name: key,
      key,
      settings:
        this.urls.length === 0 ? settings : { ...settings, ...Object.fromEntries(this.urls.map(open)) },
    }
  }

  want({ name: called, path, value }: Entry, scene: Scene): readonly (WantedObject | null)[] {
    const { judge, identityOf } = this.of
    const { given, id } = this.#identified(called, path, value, scene)
    const referred: Record<string, unknown> = {}
    let isBroken = false
    for (const [field, kind] of Object.entries(this.references)) {
      const other = given[field]
      if (other === undefined) continue
      referred[field] = other === null ? null : scene.refer(kind, `${path}.${field}`, other as string)
      if (referred[field] === null && other !== null) isBroken = true
    }
    for (const url of this.urls) scene.judgeUrl(path, url, given[url])
    const faults: Fault[] = []
    const present = id === null ? undefined : scene.presentWith(this.name, id)?.settings
    const wanted = { ...given, ...referred }
    const about = { scene, name: called, path, present, isBroken, faults }
    const settings = definedOf(judge?.(wanted, about) ?? wanted)
    scene.addFaults(path, faults)
    if (isBroken || id === null) return [null]
    return [{ identity: identityOf?.(settings) ?? id, name: called, path, settings }]
  }

  /** The settings, with the name for people, and the id, of an entry of a kind with ids; otherwise its name is its id. */
  #identified(called: string, path: string, value: Settings, scene: Scene) {
    const { idField } = this.of
    if (idField === undefined) return { given: value, id: called }
    const { [idField]: own, name = called, ...given } = value
    const kind = this.name as 'accounts' | 'plans'
    const id = scene.identify(kind, path, name as string, own as string | undefined)
    return { given: { name, ...given } as Settings, id }
  }

  async create(scene: Scene, objects: readonly WantedObject[]): Promise<void> {
    await this.of.prepare?.(scene, objects)
    const rows = objects.map((object) => this.newRow(object, scene))
    await this.table.insertAll(scene.db, rows)
    if (this.of.writeOthers === undefined) return
    await this.learnKeys(scene)
    await this.of.writeOthers(scene, objects)
  }

  newRow(object: WantedObject, scene: Scene): object {
    const { numberField, newColumns } = this.of
    return {
      ...this.columns(object.settings, scene, object.identity),
      ...(numberField === undefined && { [this.#keyField]: object.identity }),
      ...newColumns?.(object, scene),
    }
  }

  /** Settings as columns. */
  columns(settings: Settings, scene: Scene, identity: string): object {
    const made: Record<string, unknown> = { ...settings }
    for (const url of this.urls)
      if (settings[url] !== undefined) made[url] = scene.sealUrl(settings[url] as string | null)
    for (const [field, kind] of Object.entries(this.references)) {
      const other = settings[field] as string | null | undefined
      if (other !== undefined) made[REFERENCE_COLUMNS[field]!] = other && scene.keys[kind].get(other)!
    }
    return { ...made, ...this.of.columns?.(settings, scene, identity) }
  }

  async update(scene: Scene, updates: readonly Update[]): Promise<void> {
    const changes = updates.map(({ present: { key, identity }, changed }) => {
      return { key, change: this.columns(changed, scene, identity) }
    })
    await this.table.updateAll(scene.db, changes)
    const written = updates.map(({ wanted, changed: settings }) => ({ ...wanted, settings }))
    await this.of.writeOthers?.(scene, written)
  }

  async delete(scene: Scene, objects: readonly PresentObject[]): Promise<void> {
    if (this.of.delete !== undefined) return this.of.delete(scene, objects)
    const keys = objects.map(({ key }) => key)
    await this.table.deleteAll(scene.db, keys)
  }

  async learnKeys(scene: Scene): Promise<void> {
    if (this.of.databaseKey !== undefined) await this.table.each(scene.db, (row) => this.learnKey(scene, row))
  }

  /** Adds the database key of the row to `scene.keys`, if objects of other kinds name those of this one. */
  learnKey(scene: Scene, row: Row): void {
    const { databaseKey } = this.of
    if (databaseKey !== undefined) scene.keys[this.name as NamedKind].set(this.keyOf(row), databaseKey(row))
  }
}

/** The functions that read which objects the references of an object name. */
function namesOf(references: Kind['references']): Kind['names'] {
  const named = Object.entries(references).map(([field, kind]) => {
    return [kind, ({ settings }: NamingObject) => [settings[field]]]
  })
  return Object.fromEntries(named)
}

/** Without properties that have no value. */
function definedOf(settings: Settings): Settings {
  const given = Object.entries(settings)
  const defined = given.filter(([, value]) => value !== undefined)
  return defined.length === given.length ? settings : Object.fromEntries(defined)
}
