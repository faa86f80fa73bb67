import { randomBytes } from 'node:crypto'
import type {
  KindName,
  PresentObject,
  Settings,
  WantedObject,
} from '../../domain/configuration/configuration-changes.ts'
import { canonicalPublicId, publicId } from '../../domain/identifiers.ts'
import { SANDBOX } from '../../domain/sandbox.ts'
import type { SecretKeys } from '../../domain/secrets.ts'
import type { CallbackChecker } from '../../domain/webhooks/callback-url.ts'
import { type Fault, refuseAny, WHOLE_REQUEST } from '../../errors.ts'
import type { Database, Transaction } from '../../store/database.ts'
import { lockedRow, mustExist, refuseMore, reservedName, sayConflicts } from '../manage/configuration-rows.ts'
import { ACCOUNTS } from './accounts.ts'
import { CARRIERS } from './carriers.ts'
import type { Kind, TableKind } from './kind.ts'
import { ROUTES } from './routes.ts'
import { type Judged, judgeUrls, type NamedKind, Scene } from './scene.ts'
import { hashedPasswords } from './sendsms-users.ts'
import { PLANS } from './service-plans.ts'

/** Changes of single objects by requests of the admin API, which names other objects by id or name in fields of its own. */

const NAMED_KINDS: Readonly<Record<NamedKind, TableKind>> = {
  accounts: ACCOUNTS,
  carriers: CARRIERS,
  routes: ROUTES,
  plans: PLANS,
}

/** The field of a request for a setting of a file that names an account or a service plan. */
const REQUEST_FIELDS: Readonly<Record<string, string>> = { account: 'accountId', plan: 'servicePlanId' }

/** A request that creates or changes an object of this kind, as far as it must be judged before the transaction. */
export async function judgeRequest(
  { urls, of: { nameField } }: TableKind,
  body: Settings,
  { reads, guard }: { readonly reads: Database; readonly guard: CallbackChecker },
  key?: string,
): Promise<Judged> {
  const given = urls.map((url) => body[url]).filter((url) => typeof url === 'string')
  const { password, [nameField ?? '']: name = key } = body
  const isUser = nameField === 'username' && typeof password === 'string'
  return {
    badUrls: await judgeUrls(guard, given),
    passwords: await hashedPasswords(reads, new Map(isUser ? [[String(name), password]] : [])),
  }
}

export interface RequestContext {
  readonly transaction: Transaction
  readonly secretKey: SecretKeys
  readonly judged?: Judged
}

/** Adds an object. `issued`: the webhook secret of a new account, which only this answer has in plain text. */
export async function createObject<Row extends object>(
  kind: TableKind<Row>,
  { transaction, secretKey, judged }: RequestContext,
  body: Settings,
): Promise<{ readonly row: Row; readonly issued: Scene['issued'] }> {
  const scene = new RequestScene(transaction, secretKey, judged)
  const wanted = await scene.want(kind, body)
  const row = await sayConflicts(conflictsOf(kind, wanted), async () => {
    await kind.of.prepare?.(scene, [wanted])
    const created = await kind.table.insert(transaction, kind.newRow(wanted, scene))
    return withOthers(kind, scene, created, wanted)
  })
  if (kind.most !== undefined) await refuseMore(transaction, kind.table, kind.most)
  return { row, issued: scene.issued }
}

/** Settings that are not in `change` keep their values. 404 if there is no such object. */
export async function updateObject<Row extends object>(
  kind: TableKind<Row>,
  { transaction, secretKey, judged }: RequestContext,
  key: string,
  change: Settings,
): Promise<{ readonly before: Row; readonly after: Row }> {
  const before = await lockedRow(transaction, kind.table, key)
  kind.of.refuseChange?.(before, change)
  const scene = new RequestScene(transaction, secretKey, judged)
  const wanted = await scene.want(kind, change, before)
  const after = await sayConflicts(conflictsOf(kind, wanted), async () => {
    const columns = kind.columns(wanted.settings, scene, wanted.identity)
    const changed = await kind.table.update(transaction, key, columns)
    return withOthers(kind, scene, changed!, wanted)
  })
  return { before, after }
}

/** The row with what other tables have of it. */
async function withOthers<Row extends object>(
  kind: TableKind<Row>,
  scene: Scene,
  row: Row,
  wanted: WantedObject,
): Promise<Row> {
  if (kind.of.writeOthers === undefined) return row
  kind.learnKey(scene, row)
  await kind.of.writeOthers(scene, [wanted])
  return (await kind.table.find(scene.db, kind.keyOf(row)))!
}

function conflictsOf({ noun, numberField }: Kind, { identity }: WantedObject) {
  return {
    taken:
      numberField === undefined
        ? `${noun} ${identity} exists already`
        : `a ${noun} for the same messages exists already`,
    inUse: 'an object that it names was removed in the meantime',
  }
}

/** Knows the object that a request changes, and those that it names. */
class RequestScene extends Scene {
  readonly #named = new Map<string, string>()
  #present: PresentObject | undefined

  /** What a request wants of an object, which is new without `row`. Throws VALIDATION_ERROR. */
  async want<Row extends object>(kind: TableKind<Row>, body: Settings, row?: Row): Promise<WantedObject> {
    const { idField = '', nameField = '', numberField } = kind.of
    const given = settingsOf(kind, body)
    const present = row && kind.present(row, this)
    this.#present = present
    const name = String(given[nameField] ?? present?.name ?? '')
    if (kind.hasSandbox && given[nameField] === SANDBOX) refuseAny([reservedName(nameField)])
    // The settings that identify a rule or a rate are judged with those that change.
    const value = {
      ...(numberField !== undefined && present?.settings),
      ...given,
      ...(idField !== '' && present && { [idField]: present.identity }),
    }
    await this.#find(kind, value)
    if (row !== undefined) kind.learnKey(this, { ...row, ...(nameField !== '' && { [nameField]: name }) })
    const [wanted] = kind.want({ name, path: '', value }, this)
    refuseAny(this.faults.map((each) => ({ ...each, field: fieldOf(kind, each) })))
    if (present === undefined) return wanted!
    const changed = Object.entries(wanted!.settings).filter(([setting]) => setting in given)
    return { ...wanted!, settings: Object.fromEntries(changed) }
  }

  /** Looks up the objects that the settings name. */
  async #find(kind: Kind, settings: Settings): Promise<void> {
    const naming = { identity: '', name: '', settings }
    for (const [named, namesOf] of Object.entries(kind.names)) {
      const other = NAMED_KINDS[named as NamedKind]
      for (const name of namesOf(naming)) {
        const row = name == null ? undefined : await other.table.find(this.db, name as string)
        if (row === undefined) continue
        other.learnKey(this, row)
        this.#named.set(`${named} ${name}`, other.keyOf(row))
      }
    }
  }

  presentWith(_kind: KindName, identity: string): PresentObject | undefined {
    return this.#present?.identity === identity ? this.#present : undefined
  }

  identify(_kind: 'accounts' | 'plans', _path: string, _name: string, id: string | undefined): string {
    return canonicalPublicId(id ?? publicId(randomBytes(12)))
  }

  refer(kind: NamedKind, path: string, name: string): string | null {
    const identity = this.#named.get(`${kind} ${name}`)
    if (identity === undefined || identity === SANDBOX)
      return this.missing(kind, path, identity ?? name, mustExist(NAMED_KINDS[kind].table))
    return identity
  }
}

/** The fields of a request as settings of a file. */
function settingsOf({ references }: Kind, body: Settings): Settings {
  const settings: Record<string, unknown> = { ...body }
  for (const setting of Object.keys(references)) {
    const field = REQUEST_FIELDS[setting]
    if (field === undefined || !(field in body)) continue
    settings[setting] = body[field]
    delete settings[field]
  }
  return settings
}

/** The field of a request in which a setting of a file is at fault; '': the name of the object. */
function fieldOf({ references, of: { nameField = WHOLE_REQUEST } }: TableKind, { field }: Fault): string {
  const setting = field.slice(1)
  if (setting === '') return nameField
  return (setting in references && REQUEST_FIELDS[setting]) || setting
}
