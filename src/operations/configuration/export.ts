import {
  type KindName,
  namesInFile,
  type PresentObject,
  type Settings,
} from '../../domain/configuration/configuration-changes.ts'
import type { SecretKeys } from '../../domain/secrets.ts'
import { withoutCredentials } from '../../domain/webhooks/callback-url.ts'
import { inSlices, mapInSlices } from '../../slices.ts'
import type { Transaction } from '../../store/database.ts'
import { allowPauses, readDirectoryVersion, readOneSnapshot } from '../../store/directory.ts'
import { FileScene } from './file-scene.ts'
import type { Kind } from './kind.ts'
import { KINDS } from './kinds.ts'
import { NAMED } from './scene.ts'
import { senderInFile } from './senders.ts'

export interface ExportedConfiguration {
  readonly version: string
  /** Paths of settings that are not exported, because they are secret: `carriers.acme.password`. */
  readonly withheld: readonly string[]
}

/** What becomes of the objects of an export, in the form of a file. */
export interface ExportWriter {
  /** The objects that are added from now on are of this kind. */
  begin(kind: KindName): void
  add(name: string, settings: Settings): void
}

/** Writes the whole configuration as a file, which changes nothing when it is applied. It has no secrets. */
export async function exportConfiguration(
  transaction: Transaction,
  secretKey: SecretKeys,
  writer: ExportWriter,
): Promise<ExportedConfiguration> {
  await readOneSnapshot(transaction)
  await allowPauses(transaction)
  const version = await readDirectoryVersion(transaction)
  const scene = new FileScene(transaction, secretKey)
  const withheld: string[] = []
  for (const kind of KINDS) {
    writer.begin(kind.name)
    const write = (object: PresentObject) => {
      const { open, secret } = inFile(scene, kind, object)
      for (const name of secret) withheld.push(`${kind.name}.${object.name}.${name}`)
      writer.add(object.name, open)
    }
    if (NAMED.has(kind.name)) await mapInSlices(await scene.read(kind), write)
    else if (kind.name === 'senders') writeSenders(scene, await scene.all(kind), writer)
    else await eachNamed(scene, kind, write)
  }
  return { version, withheld }
}

/** There may be 200,000 objects, and none is kept. So that no two have the same name, those with labels are read twice. */
async function eachNamed(
  scene: FileScene,
  kind: Kind,
  write: (object: PresentObject) => void,
): Promise<void> {
  if (kind.hasLabels !== true) return kind.each(scene, write)
  const labels: string[] = []
  await kind.each(scene, ({ name }) => labels.push(name))
  const nameOf = await inSlices(namesInFile(labels))
  await kind.each(scene, (object) => write({ ...object, name: nameOf(object) }))
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

/** The senders of a plan are one object of a file. */
function writeSenders(scene: FileScene, senders: readonly PresentObject[], writer: ExportWriter): void {
  const ofPlans = Map.groupBy(senders, ({ identity }) => identity.slice(0, identity.indexOf('/')))
  for (const [plan, own] of ofPlans) {
    const settings = own.map(({ identity, settings: { status } }) => [
      identity.slice(plan.length + 1),
      senderInFile(status),
    ])
    writer.add(scene.presentWith('plans', plan)!.name, Object.fromEntries(settings))
  }
}
