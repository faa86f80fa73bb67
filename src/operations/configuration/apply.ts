import {
  type KindName,
  presentCount,
  repeatedObjects,
  type Settings,
  sortedByIdentity,
} from '../../domain/configuration/configuration-changes.ts'
import type { SecretKeys } from '../../domain/secrets.ts'
import { type CallbackChecker, maskedUrl } from '../../domain/webhooks/callback-url.ts'
import { AppError, conflict, type Fault, refuseAny } from '../../errors.ts'
import { inSlices } from '../../slices.ts'
import { accounts } from '../../store/accounts.ts'
import type { ObjectChange } from '../../store/audit-log.ts'
import type { Database, Transaction } from '../../store/database.ts'
import {
  allowPauses,
  lockDirectoryVersion,
  readDirectoryVersion,
  readOneSnapshot,
} from '../../store/directory.ts'
import { servicePlans } from '../../store/service-plans.ts'
import type { Changed } from '../manage/audited-changes.ts'
import { sayConflicts } from '../manage/configuration-rows.ts'
import type { MessageReads } from '../read-messages.ts'
import { type FileEntry, FileScene } from './file-scene.ts'
import type { Kind } from './kind.ts'
import { KINDS } from './kinds.ts'
import { type DeletionOptions, isUnconfirmed, type Planned, refuseDeletions } from './refuse-deletions.ts'
import { type Judged, judgeUrls, NAMED, openUrl, type Scene } from './scene.ts'
import { hashedPasswords } from './sendsms-users.ts'

/** A configuration file, of which each object fits its schema or has its faults among `faults`. */
export interface WantedConfiguration {
  /** Kinds that the file does not have are left alone. */
  readonly entries: ReadonlyMap<KindName, readonly FileEntry[]>
  readonly faults: readonly Fault[]
}

export interface ApplyOptions extends DeletionOptions {
  /** Objects of the file's kinds that are not in the file are deleted. */
  readonly prune: boolean
  /** The version that the configuration must have; null: any. */
  readonly version: string | null
}

/** One object that changes: of an update, only the settings that differ. */
interface AppliedChange {
  readonly action: 'create' | 'update' | 'delete'
  readonly kind: KindName
  readonly name: string
  /** Of a new account or plan: the ids of others with its name, one of which may have been meant. */
  readonly namesakes: readonly string[]
  readonly before: Settings | null
  readonly after: Settings | null
}

export interface Applied {
  /** Of the configuration after the changes; of a dry run, the one that it looked at. */
  readonly version: string
  readonly counts: readonly (Record<'created' | 'updated' | 'deleted' | 'unchanged', number> & {
    readonly kind: KindName
    /** The deletions need to be confirmed by their number, and are not. */
    readonly unconfirmed: boolean
  })[]
  readonly changes: readonly AppliedChange[]
  /** Changes beyond the most that are listed. */
  readonly moreChanges: number
  readonly webhookSecrets: Scene['issued']
}

export interface ApplyDeps {
  readonly secretKey: SecretKeys
  readonly messages: Pick<MessageReads, 'plansInProgress'>
  readonly guard: CallbackChecker
}

/** Most faults that are answered: more cannot be read. */
const MAX_FAULTS = 1_000
/** Most changes that are answered one by one. */
const MAX_CHANGES_LISTED = 1_000
/** Most rows of the audit log for one kind: of more changes it has their numbers. */
const MAX_RECORDED = 1_000
/** Rows of one statement, which are made without a pause. New accounts, each with a secret, take longest: some 8 ms. */
const BATCH = 250
/** URLs that are judged at once; each may ask the name service. */
const URLS_AT_ONCE = 20

/** Finds out what takes long about a file. Call it before the transaction. */
export async function judge(db: Database, wanted: WantedConfiguration, deps: ApplyDeps): Promise<Judged> {
  const given = (wanted.entries.get('sendsmsUsers') ?? []).flatMap(({ name, value }): [string, string][] =>
    typeof value?.password === 'string' ? [[name, value.password]] : [],
  )
  return {
    badUrls: await badUrls(db, wanted, deps),
    passwords: await hashedPasswords(db, new Map(given)),
  }
}

/** The callback guard's objections to URLs of the file. URLs that are already stored were judged when they were new. */
async function badUrls(
  db: Database,
  wanted: WantedConfiguration,
  { guard, secretKey }: ApplyDeps,
): Promise<Map<string, Fault>> {
  const given = [...urlsIn(wanted, 'accounts', 'defaultDlrUrl'), ...urlsIn(wanted, 'plans', 'inboundUrl')]
  const bad = new Map<string, Fault>()
  if (given.length === 0) return bad
  const stored = new Set([
    ...(await accounts.all(db)).map(({ defaultDlrUrl }) => openUrl(secretKey, defaultDlrUrl)),
    ...(await servicePlans.all(db)).map(({ inboundUrl }) => openUrl(secretKey, inboundUrl)),
  ])
  const added = [...new Set(given)].filter((url) => !stored.has(url))
  for (const batch of batchesOf(added, URLS_AT_ONCE))
    for (const [url, objection] of await judgeUrls(guard, batch)) bad.set(url, objection)
  return bad
}

function urlsIn({ entries }: WantedConfiguration, kind: KindName, field: string): string[] {
  const values = (entries.get(kind) ?? []).map(({ value }) => value?.[field])
  return values.filter((value) => typeof value === 'string')
}

/**
 * Makes the configuration what the file wants, all or nothing: no setting that the file omits changes, and without `prune`
 * nothing is deleted. Throws VALIDATION_ERROR with all faults, PRECONDITION_FAILED for another version, and CONFLICT for
 * deletions that are not confirmed or of what is in use.
 */
export async function applyConfiguration(
  transaction: Transaction,
  wanted: WantedConfiguration,
  options: ApplyOptions,
  deps: ApplyDeps,
  judged: Judged,
): Promise<Changed<Applied>> {
  // Others wait for this lock, so what is read is what is changed. A dry run keeps nobody waiting.
  await (options.dryRun ? readOneSnapshot(transaction) : lockDirectoryVersion(transaction))
  await allowPauses(transaction)
  const before = await readDirectoryVersion(transaction)
  if (options.version !== null && options.version !== before) {
    const message = `The configuration has version ${before}, not ${options.version}: somebody changed it`
    throw new AppError('PRECONDITION_FAILED', { message })
  }
  const scene = new FileScene(transaction, deps.secretKey, judged)
  const planned = await plan(scene, wanted, options)
  await refuseDeletions(scene, planned, options, deps)
  refuseMore(planned)
  if (!options.dryRun) await execute(scene, planned)
  const entry = options.dryRun ? [] : planned.flatMap(recordOf)
  const version = options.dryRun ? before : await readDirectoryVersion(transaction)
  return { value: { version, ...summaryOf(scene, planned, options) }, entry }
}

async function plan(
  scene: FileScene,
  wanted: WantedConfiguration,
  { prune }: ApplyOptions,
): Promise<Planned[]> {
  const planned: Planned[] = []
  for (const kind of KINDS) {
    const entries = wanted.entries.get(kind.name)
    if (entries === undefined && !NAMED.has(kind.name)) continue
    await scene.read(kind)
    await scene.want(kind, entries ?? [])
    if (entries === undefined) continue
    const objects = await inSlices(sortedByIdentity(scene.wanted(kind.name)))
    scene.faults.push(...(await inSlices(repeatedObjects(objects))).slice(0, MAX_FAULTS))
    const changes = await scene.compare(kind, objects, prune)
    await scene.requireSettings(kind, changes.creations)
    planned.push({ kind, changes })
  }
  const faults = [...wanted.faults, ...scene.faults]
  refuseAny(faults.slice(0, MAX_FAULTS))
  return planned
}

/** Objects are created before those that name them, and deleted after them. */
async function execute(scene: Scene, planned: readonly Planned[]): Promise<void> {
  for (const { kind, changes } of planned) {
    for (const batch of batchesOf(changes.creations, BATCH)) await kind.create(scene, batch)
    if (changes.creations.length > 0) await kind.learnKeys(scene)
    for (const batch of batchesOf(changes.updates, BATCH)) await kind.update(scene, batch)
  }
  for (const { kind, changes } of planned.toReversed()) {
    const words = { inUse: `Of the ${kind.name} that would be deleted, some are still in use` }
    for (const batch of batchesOf(changes.deletions, BATCH))
      await sayConflicts(words, () => kind.delete(scene, batch))
  }
}

/** Refuses more objects of a kind than every node can keep in memory. */
function refuseMore(planned: readonly Planned[]): void {
  for (const { kind, changes } of planned) {
    const { creations, deletions } = changes
    const count = presentCount(changes) + creations.length - deletions.length
    if (creations.length > 0 && count > (kind.most ?? Number.POSITIVE_INFINITY))
      throw conflict(`there can be at most ${kind.most} ${kind.noun}s, and there would be ${count}`)
  }
}

function batchesOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}

/** The rows of the audit log. */
function recordOf({ kind, changes }: Planned): ObjectChange[] {
  const { creations, updates, deletions } = changes
  const objectType = kind.noun.replaceAll(' ', '-')
  if (creations.length + updates.length + deletions.length > MAX_RECORDED) {
    const after = { created: creations.length, changed: updates.length, deleted: deletions.length }
    return [{ objectType, objectId: '', before: null, after }]
  }
  return [
    ...creations.map(({ identity, name, settings }) => ({
      objectType,
      objectId: kind.numberField === undefined ? identity : name,
      before: null,
      after: shown(kind, settings),
    })),
    ...updates.map(({ present, changed }) => ({
      objectType,
      objectId: present.key,
      before: withoutSecrets(kind, present.settings),
      after: { ...withoutSecrets(kind, present.settings), ...shown(kind, changed) },
    })),
    ...deletions.map(({ key, settings }) => ({
      objectType,
      objectId: key,
      before: withoutSecrets(kind, settings),
      after: null,
    })),
  ]
}

const HIDDEN = '***'

/** Settings as they may be shown. A secret is masked, so only its presence shows. */
function shown({ secrets, urls, openUrls }: Kind, settings: Settings): Settings {
  const masked = [...urls, ...openUrls]
  const visible = Object.entries(settings).map(([name, value]): [string, unknown] => {
    if (value !== null && secrets.includes(name)) return [name, HIDDEN]
    return [name, typeof value === 'string' && masked.includes(name) ? maskedUrl(value) : value]
  })
  return Object.fromEntries(visible)
}

/** Settings without those that are secret. */
function withoutSecrets(kind: Kind, settings: Settings): Settings {
  const open = Object.entries(settings).filter(([name]) => !kind.secrets.includes(name))
  return shown(kind, Object.fromEntries(open))
}

function summaryOf(
  scene: FileScene,
  planned: readonly Planned[],
  options: ApplyOptions,
): Omit<Applied, 'version'> {
  const counts = planned.map((one) => ({
    kind: one.kind.name,
    created: one.changes.creations.length,
    updated: one.changes.updates.length,
    deleted: one.changes.deletions.length,
    unchanged: one.changes.unchanged,
    unconfirmed: isUnconfirmed(one, options),
  }))
  const total = counts.reduce((sum, { created, updated, deleted }) => sum + created + updated + deleted, 0)
  const changes = [...listed(scene, planned).take(MAX_CHANGES_LISTED)]
  return { counts, changes, moreChanges: total - changes.length, webhookSecrets: scene.issued }
}

function* listed(scene: FileScene, planned: readonly Planned[]): Generator<AppliedChange> {
  for (const { kind, changes } of planned) {
    for (const { name, settings } of changes.creations) {
      const namesakes = scene.namesakes(kind.name, settings.name)
      yield { action: 'create', kind: kind.name, name, namesakes, before: null, after: shown(kind, settings) }
    }
    for (const { wanted, present, changed } of changes.updates) {
      const before = Object.keys(changed).map((setting) => [setting, present.settings[setting] ?? null])
      yield {
        action: 'update',
        kind: kind.name,
        name: wanted.name,
        namesakes: [],
        before: shown(kind, Object.fromEntries(before)),
        after: shown(kind, changed),
      }
    }
    for (const { name, settings } of changes.deletions) {
      const before = withoutSecrets(kind, settings)
      yield { action: 'delete', kind: kind.name, name, namesakes: [], before, after: null }
    }
  }
}
