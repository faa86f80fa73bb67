import { AdminRefusal, requestAdmin } from '../admin/client.ts'
import { type Fields, printAnswer, printJson } from '../admin/printing.ts'
import {
  ConfigurationFaults,
  type ConfigurationFiles,
  readConfigurationFiles,
} from './configuration-files.ts'
import type { FileOptions } from './file-options.ts'
import type { LocatedFault, Place } from './yaml-document.ts'

/** What `aldis apply` and `aldis diff` share: files are sent to the service, which says what changes or what is wrong. */

interface Change {
  readonly action: 'create' | 'update' | 'delete'
  readonly kind: string
  readonly name: string
  readonly namesakes: readonly string[]
  readonly before: Fields | null
  readonly after: Fields | null
}

interface Count {
  readonly kind: string
  readonly created: number
  readonly updated: number
  readonly deleted: number
  readonly unconfirmed: boolean
}

interface Applied {
  readonly version: string
  readonly counts: readonly Count[]
  readonly changes: readonly Change[]
  readonly moreChanges: number
  readonly webhookSecrets: readonly Fields[]
}

/** Writing 200,000 rates takes seconds; on a busy database, minutes. */
const TIMEOUT_MS = 600_000
/** Larger files take long to send, so the wait is announced. */
const LARGE_BYTES = 1024 * 1024

/** Sends the files and prints what changes. Returns whether anything does. */
export async function sendConfiguration(
  options: FileOptions,
  { dryRun }: { dryRun: boolean },
): Promise<boolean> {
  try {
    const files = await readConfigurationFiles(options.file)
    if (files.faults.length > 0) throw await allFaults(options, files)
    const applied = await request(options, files, dryRun)
    if (options.json) printJson(applied)
    else printChanges(applied, dryRun)
    return total(applied) > 0
  } catch (error) {
    if (!(error instanceof ConfigurationFaults) || options.json !== true) throw error
    printJson({ faults: error.faults })
    throw new Error(`the files have ${error.faults.length} faults`, { cause: error })
  }
}

/** The faults of the files, with those that the service finds in the rest of them. */
async function allFaults(options: FileOptions, files: ConfigurationFiles): Promise<ConfigurationFaults> {
  const own = new Set(files.faults.map(({ path }) => path))
  const others = own.has('') ? [] : await faultsOfService(options, files)
  const faults = [...files.faults, ...others.filter(({ path }) => !own.has(path))]
  return new ConfigurationFaults(inOrder(faults, files.places))
}

async function faultsOfService(
  options: FileOptions,
  files: ConfigurationFiles,
): Promise<readonly LocatedFault[]> {
  try {
    await request(options, files, true)
  } catch (error) {
    // The files have to be mended first, whatever else stands in the way.
    if (error instanceof ConfigurationFaults) return error.faults
  }
  return []
}

async function request(options: FileOptions, files: ConfigurationFiles, dryRun: boolean): Promise<Applied> {
  const { prune, confirm = [], ifMatch } = options
  const query = new URLSearchParams({
    ...(dryRun && { dryRun: 'true' }),
    ...(prune && { prune: 'true' }),
    ...(confirm.length > 0 && { confirm: confirm.join() }),
  })
  const bytes = JSON.stringify(files.configuration).length
  if (bytes > LARGE_BYTES)
    process.stderr.write(`sending ${objectsIn(files)} objects, ${(bytes / LARGE_BYTES).toFixed(1)} MiB …\n`)
  try {
    const path = `/configuration/apply${query.size === 0 ? '' : `?${query}`}`
    const headers = ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` }
    const more = { headers, timeoutMs: TIMEOUT_MS }
    return (await requestAdmin(options, 'POST', path, files.configuration, more)) as Applied
  } catch (error) {
    throw located(error, files) ?? error
  }
}

function objectsIn({ configuration }: ConfigurationFiles): number {
  return Object.values(configuration).reduce((sum, objects) => sum + Object.keys(objects).length, 0)
}

/** The faults that the service found, with their places; undefined if it found others. */
function located(error: unknown, { places }: ConfigurationFiles): ConfigurationFaults | undefined {
  if (!(error instanceof AdminRefusal) || error.faults.length === 0) return undefined
  const faults = error.faults.flatMap(({ field, message }): LocatedFault[] => {
    const place = placeOf(field, places)
    return place === undefined ? [] : [{ ...place, path: field, message }]
  })
  return faults.length < error.faults.length ? undefined : new ConfigurationFaults(inOrder(faults, places))
}

/** The place of a field in the files. A missing field has the place of the nearest object around it. */
function placeOf(path: string, places: ReadonlyMap<string, Place>): Place | undefined {
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const place = places.get(path.slice(0, end))
    if (place !== undefined) return place
  }
  return undefined
}

function inOrder(faults: readonly LocatedFault[], places: ReadonlyMap<string, Place>): LocatedFault[] {
  const files = [...new Set([...places.values(), ...faults].map(({ file }) => file))]
  return faults.toSorted(
    (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
  )
}

function total({ counts }: Applied): number {
  return counts.reduce((sum, { created, updated, deleted }) => sum + created + updated + deleted, 0)
}

function printChanges(applied: Applied, dryRun: boolean): void {
  const { version, counts, changes, moreChanges, webhookSecrets } = applied
  const rows = changes.map((change) => ({ ...change, changes: settingsOf(change) }))
  if (rows.length > 0) {
    printAnswer({ changes: rows }, { changes: 'action kind name changes' })
    process.stdout.write('\n')
  }
  if (moreChanges > 0) process.stdout.write(`and ${moreChanges} more changes\n`)
  const sum = (count: 'created' | 'updated' | 'deleted') => counts.reduce((all, each) => all + each[count], 0)
  const verb = dryRun ? 'would be ' : ''
  const numbers = (['created', 'updated', 'deleted'] as const).map((count) => `${sum(count)} ${verb}${count}`)
  const said = total(applied) === 0 ? 'no changes' : numbers.join(', ')
  process.stdout.write(`${said}; configuration version ${version}\n`)
  for (const { kind, deleted, unconfirmed } of counts)
    if (unconfirmed) process.stdout.write(`apply needs --confirm ${kind}=${deleted}\n`)
  if (webhookSecrets.length === 0) return
  process.stdout.write('\nWebhook secrets of new accounts, which are shown only now:\n')
  printAnswer({ webhookSecrets }, { webhookSecrets: 'accountId name webhookSecret' })
}

/** `window 10 -> 20, password ***`, `new, beside 65f0… of the same name` */
function settingsOf({ before, after, namesakes }: Change): string {
  if (namesakes.length > 0) return `new, beside ${namesakes.join(', ')} of the same name`
  if (before === null || after === null) return ''
  const words = Object.entries(after).map(([name, value]) => {
    const [old, now] = [JSON.stringify(before[name] ?? null), JSON.stringify(value)]
    return old === now ? `${name} ${String(value)}` : `${name} ${old} -> ${now}`
  })
  return words.join(', ')
}
