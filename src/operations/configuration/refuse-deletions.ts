import { mapOfInSteps } from '../../collections/steps.ts'
import {
  type Changes,
  type KindName,
  needsConfirmation,
  type PresentObject,
  presentCount,
} from '../../domain/configuration/configuration-changes.ts'
import { conflict } from '../../errors.ts'
import { inSlices, mapInSlices } from '../../slices.ts'
import { accountsWithTokens } from '../../store/accounts.ts'
import { servicePlanUses } from '../../store/service-plans.ts'
import type { MessageReads } from '../read-messages.ts'
import type { FileScene } from './file-scene.ts'
import type { Kind, NamingObject } from './kind.ts'
import { KINDS } from './kinds.ts'
import { NAMED, type NamedKind } from './scene.ts'

/** Which deletions of a configuration file are refused, before any is made: a dry run says the same. */

export interface Planned {
  readonly kind: Kind
  readonly changes: Changes
}

export interface DeletionOptions {
  readonly dryRun: boolean
  /** How many deletions of a kind the operator knows of. */
  readonly confirmed: ReadonlyMap<string, number>
}

type PlansInProgress = Pick<MessageReads, 'plansInProgress'>

/** Most names in the message of a refusal. */
const MAX_NAMED = 10

/** Refuses many deletions that are not confirmed, and those of objects that something needs. */
export async function refuseDeletions(
  scene: FileScene,
  planned: readonly Planned[],
  options: DeletionOptions,
  { messages }: { readonly messages: PlansInProgress },
): Promise<void> {
  const unconfirmed = planned.filter((one) => isUnconfirmed(one, options))
  if (unconfirmed.length > 0 && !options.dryRun) {
    const parts = unconfirmed.map(({ kind, changes }) => {
      const { length } = changes.deletions
      return `${length} of ${presentCount(changes)} ${kind.name} would be deleted (confirm ${kind.name}=${length})`
    })
    throw conflict(`More than 20 % of a kind needs its number confirmed: ${parts.join(', ')}`)
  }
  for (const { kind, changes } of planned) await refuseNamed(scene, planned, kind, changes.deletions)
  await refuseUsed(scene, planned, messages)
}

/** Refuses to delete objects that remaining ones name: those would block the deletion, or be deleted with it. */
async function refuseNamed(
  scene: FileScene,
  planned: readonly Planned[],
  { name: kind, noun }: Kind,
  deletions: readonly PresentObject[],
): Promise<void> {
  if (deletions.length === 0 || !NAMED.has(kind)) return
  const names = await inSlices(mapOfInSteps(deletions, ({ identity, name }) => [identity, name]))
  const found = new Map<string, string[]>()
  for (const naming of KINDS) {
    const namesOf = naming.names[kind as NamedKind]
    if (namesOf === undefined) continue
    await mapInSlices(await keptObjects(scene, planned, naming), (object) => {
      for (const identity of namesOf(object)) {
        const name = names.get(identity as string)
        if (name !== undefined) listIn(found, name).push(`${naming.noun} ${object.name}`)
      }
    })
  }
  if (found.size === 0) return
  const said = [...found].map(([name, others]) => `${name} (${shortList(others)})`)
  throw conflict(`Objects cannot be deleted while others name them: ${noun} ${shortList(said)}`)
}

/** The objects of a kind as they will be. */
async function keptObjects(
  scene: FileScene,
  planned: readonly Planned[],
  kind: Kind,
): Promise<readonly NamingObject[]> {
  const changes = planned.find((one) => one.kind === kind)?.changes
  const present = await scene.all(kind)
  if (changes === undefined) return present
  const deleted = new Set<string>()
  await mapInSlices(changes.deletions, ({ identity }) => deleted.add(identity))
  const updated = await inSlices(
    mapOfInSteps(changes.updates, ({ present: { identity }, changed }) => [identity, changed]),
  )
  const kept: NamingObject[] = []
  await mapInSlices(present, (object) => {
    const { identity, settings } = object
    if (!deleted.has(identity)) kept.push({ ...object, settings: { ...settings, ...updated.get(identity) } })
  })
  return [...kept, ...changes.creations]
}

/** Refuses to delete plans and accounts that messages or tokens need. */
async function refuseUsed(
  scene: FileScene,
  planned: readonly Planned[],
  messages: PlansInProgress,
): Promise<void> {
  const deletionsOf = (name: KindName) =>
    planned.find(({ kind }) => kind.name === name)?.changes.deletions ?? []
  const plans = deletionsOf('plans')
  if (plans.length > 0) {
    const ids = plans.map(({ identity }) => scene.keys.plans.get(identity)!)
    // Asked before the records are read, so that messages that move into them meanwhile are found there.
    const uses = await servicePlanUses(scene.db, ids, await messages.plansInProgress(ids))
    const used = plans.flatMap(({ name }, index) => {
      const found = uses.get(ids[index]!)
      return found === undefined ? [] : [`${name} (${found.join(' and ')})`]
    })
    if (used.length > 0)
      throw conflict(`Service plans that are in use cannot be deleted, but made inactive: ${shortList(used)}`)
  }
  const owners = deletionsOf('accounts')
  if (owners.length === 0) return
  const live = await accountsWithTokens(
    scene.db,
    owners.map(({ identity }) => scene.keys.accounts.get(identity)!),
  )
  const named = owners.filter(({ identity }) => live.has(scene.keys.accounts.get(identity)!))
  if (named.length > 0)
    throw conflict(`Accounts with live tokens cannot be deleted: ${shortList(named.map(({ name }) => name))}`)
}

function listIn(lists: Map<string, string[]>, name: string): string[] {
  const list = lists.get(name) ?? []
  lists.set(name, list)
  return list
}

/** `a, b, c and 4 more` */
function shortList(names: readonly string[]): string {
  const more = names.length - MAX_NAMED
  return `${names.toSorted().slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

export function isUnconfirmed({ kind, changes }: Planned, { confirmed }: DeletionOptions): boolean {
  const { length } = changes.deletions
  return needsConfirmation(length, presentCount(changes)) && confirmed.get(kind.name) !== length
}
