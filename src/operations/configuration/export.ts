import type { KindName, PresentObject, Settings } from '../../domain/configuration/configuration-changes.ts'
import type { SecretKeys } from '../../domain/secrets.ts'
import { withoutCredentials } from '../../domain/webhooks/callback-url.ts'
import { mapInSlices } from '../../slices.ts'
import type { Transaction } from '../../store/database.ts'
import { allowPauses, readDirectoryVersion, readOneSnapshot } from '../../store/directory.ts'
import { FileScene } from './file-scene.ts'
import type { Kind } from './kind.ts'
import { KINDS } from './kinds.ts'
import { senderInFile } from './senders.ts'

export interface ExportedConfiguration {
  readonly version: string
  /** By kind and name, in the form of a file. */
  readonly configuration: ReadonlyMap<KindName, readonly (readonly [name: string, settings: Settings])[]>
  /** Paths of settings that are not exported, because they are secret: `carriers.acme.password`. */
  readonly withheld: readonly string[]
}

/** The whole configuration as a file, which changes nothing when it is applied. It has no secrets. */
export async function exportConfiguration(
  transaction: Transaction,
  secretKey: SecretKeys,
): Promise<ExportedConfiguration> {
  await readOneSnapshot(transaction)
  await allowPauses(transaction)
  const version = await readDirectoryVersion(transaction)
  const scene = new FileScene(transaction, secretKey)
  const configuration = new Map<KindName, [string, Settings][]>()
  const withheld: string[] = []
  for (const kind of KINDS) {
    const present = await scene.read(kind)
    const objects = await mapInSlices(present, (object): [string, Settings] => {
      const { open, secret } = inFile(scene, kind, object)
      withheld.push(...secret.map((name) => `${kind.name}.${object.name}.${name}`))
      return [kind.name === 'senders' ? object.identity : object.name, open]
    })
    configuration.set(kind.name, kind.name === 'senders' ? byPlan(scene, objects) : objects)
  }
  return { version, configuration, withheld }
}

/** The settings as a file has them, and the names of those that it must not have. */
function inFile(scene: FileScene, kind: Kind, object: PresentObject) {
  const { secrets, urls, references, idField } = kind
  const secret: string[] = []
  const open = Object.entries(object.settings).flatMap(([name, value]): [string, unknown][] => {
    // What a rule or a rate does not name is no limit of it.
    if (value === null && !secrets.includes(name))
      return kind.numberField === undefined ? [[name, value]] : []
    const isUrl = urls.includes(name) && typeof value === 'string'
    if (secrets.includes(name) || (isUrl && !isPublic(value))) {
      if (value !== null) secret.push(name)
      return []
    }
    // The key of an object is its name.
    if (name === 'name' && value === object.name) return []
    if (name === 'sandbox' && value === false) return []
    const named = references[name]
    return [[name, named === undefined ? value : scene.presentWith(named, value as string)!.name]]
  })
  return { secret, open: { ...(idField && { [idField]: object.identity }), ...Object.fromEntries(open) } }
}

/** A URL that can be read and has no credentials. */
function isPublic(url: string): boolean {
  return URL.canParse(url) && withoutCredentials(url) === url
}

function byPlan(
  scene: FileScene,
  objects: readonly (readonly [identity: string, settings: Settings])[],
): [string, Settings][] {
  const ofPlans = Map.groupBy(objects, ([identity]) => identity.slice(0, identity.indexOf('/')))
  return [...ofPlans].map(([plan, own]) => {
    const settings = own.map(([identity, { status }]) => [
      identity.slice(plan.length + 1),
      senderInFile(status),
    ])
    return [scene.presentWith('plans', plan)!.name, Object.fromEntries(settings)]
  })
}
