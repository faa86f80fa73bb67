import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Document, isMap, isPair, isScalar, type YAMLMap } from 'yaml'
import type { ImportedConfiguration, ImportedObject } from './imported-configuration.ts'

/** The files that an import writes: `aldis.yaml`, and `secrets.env` with the secrets. */

const CONFIGURATION = 'aldis.yaml'
const SECRETS = 'secrets.env'
const OWNER_ONLY = 0o600

/** Kinds with many settings, which have a line each. */
const IN_BLOCKS: ReadonlySet<string> = new Set(['carriers', 'sendsmsUsers'])
const ORDER = ['carriers', 'routes', 'accounts', 'plans', 'sendsmsUsers', 'senders', 'rules'] as const

/** Writes both files, and returns their paths. Throws if one is there already, unless `force`. */
export function writeFiles(
  imported: ImportedConfiguration,
  { folder, force, source }: { folder: string; force: boolean; source: string },
): string[] {
  const contents = [
    [join(folder, CONFIGURATION), yamlOf(imported, source)],
    [join(folder, SECRETS), environmentOf(imported)],
  ] as const
  const there = contents.map(([path]) => path).filter((path) => existsSync(path))
  if (there.length > 0 && !force)
    throw new Error(
      `${there.join(' and ')} would be overwritten; --force overwrites, -o FOLDER writes elsewhere`,
    )
  mkdirSync(folder, { recursive: true })
  for (const [path, text] of contents) {
    writeFileSync(path, text, { mode: OWNER_ONLY, flag: force ? 'w' : 'wx' })
    // The mode above is only that of a new file.
    chmodSync(path, OWNER_ONLY)
  }
  return contents.map(([path]) => path)
}

export function yamlOf(imported: ImportedConfiguration, source: string): string {
  const document = new Document({})
  const contents = document.contents as unknown as YAMLMap
  document.commentBefore = [
    ` Made of ${source}. Passwords are in ${SECRETS}: set -a; . ./${SECRETS}; set +a`,
    ' Carriers are stopped until their state is started: aldis diff, then aldis apply.',
  ].join('\n')
  for (const kind of ORDER) {
    const objects = imported.objects.get(kind)
    if (objects !== undefined) contents.items.push(document.createPair(kind, mapOf(document, kind, objects)))
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

function mapOf(document: Document, kind: string, objects: ReadonlyMap<string, ImportedObject>): YAMLMap {
  const map = document.createNode({}) as YAMLMap
  for (const [name, { settings, origin }] of objects) {
    const pair = document.createPair(name, settings)
    if (isScalar(pair.key) && origin !== '') pair.key.commentBefore = ` ${origin.replace(/\s+/g, ' ')}`
    if (isMap(pair.value)) {
      pair.value.flow = !IN_BLOCKS.has(kind)
      for (const item of pair.value.items) if (isPair(item) && isMap(item.value)) item.value.flow = true
    }
    map.items.push(pair)
  }
  return map
}

/** For a shell, and for `EnvironmentFile` of systemd. */
function environmentOf({ secrets }: ImportedConfiguration): string {
  const lines = [...secrets].map(([name, value]) => `${name}=${quoted(value)}\n`)
  return [`# Secrets of ${CONFIGURATION}: set -a; . ./${SECRETS}; set +a\n`, ...lines].join('')
}

function quoted(value: string): string {
  return value.includes("'") ? `"${value.replace(/[\\"$`]/g, '\\$&')}"` : `'${value}'`
}
