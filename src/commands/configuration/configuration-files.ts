import { closeSync, openSync, readSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { environmentVariable } from '../../config.ts'
import { type CsvRow, readCsv } from '../admin/csv.ts'
import { type LocatedFault, MAX_FAULTS, type Place, parseYaml } from './yaml-document.ts'

/** What `-f` names, as one configuration: with values of the environment and of other files in their places. */

const MAX_FILE_BYTES = 5 * 1024 * 1024
const MAX_VALUE_BYTES = 64 * 1024

/** Kinds that a CSV file may have, with its columns. */
export const TABLES: Readonly<
  Record<string, { readonly columns: readonly string[]; readonly required: readonly string[] }>
> = {
  rates: {
    columns: ['plan', 'prefix', 'country', 'mccmnc', 'price', 'ptf', 'currency'],
    required: ['price', 'currency'],
  },
  ranges: { columns: ['prefix', 'mccmnc'], required: ['prefix', 'mccmnc'] },
}

type Objects = Record<string, unknown>

export interface ConfigurationFiles {
  readonly configuration: Readonly<Record<string, Objects>>
  readonly places: ReadonlyMap<string, Place>
  readonly faults: readonly LocatedFault[]
}

/** Faults of configuration files, up to 1,000, one a line: `aldis.yaml:3:5: carriers.acme: must …`. */
export class ConfigurationFaults extends Error {
  override readonly name = 'ConfigurationFaults'
  readonly faults: readonly LocatedFault[]

  constructor(faults: readonly LocatedFault[]) {
    const first = faults.slice(0, MAX_FAULTS)
    const end = first.length < MAX_FAULTS ? [] : [`No more than ${MAX_FAULTS} faults are shown.`]
    super([...first.map(lineOf), ...end].join('\n'))
    this.faults = first
  }
}

function lineOf({ file, line, column, path, message }: LocatedFault): string {
  return `${file}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`
}

/** Reads files (`-`: standard input), which may each have some of the objects. What has a fault is left out. */
export async function readConfigurationFiles(files: readonly string[]): Promise<ConfigurationFiles> {
  if (files.filter((file) => file === '-').length > 1) throw new Error('standard input can be read only once')
  const whole = new Whole()
  for (const file of files) await whole.add(file)
  return whole.result()
}

class Whole {
  // Without a prototype: a kind may be misspelt as a property that every object has.
  readonly #configuration: Record<string, Objects> = Object.create(null)
  readonly #places = new Map<string, Place>()
  readonly #faults: LocatedFault[] = []

  result(): ConfigurationFiles {
    return { configuration: this.#configuration, places: this.#places, faults: this.#faults }
  }

  async add(file: string): Promise<void> {
    const start = { file: nameOf(file), line: 1, column: 1 }
    const { value, places, faults } = parseYaml(
      textOf(file === '-' ? STDIN : file, MAX_FILE_BYTES),
      start.file,
      (path, mapping) => substituteFor(file, path, mapping),
    )
    this.#faults.push(...faults)
    if (value === undefined) return
    if (!isObject(value)) return this.#refuse(start, '', 'must be a mapping of kinds: accounts, plans, …')
    for (const [path, place] of places) if (!this.#places.has(path)) this.#places.set(path, place)
    for (const [kind, objects] of Object.entries(value))
      await this.#addKind(file, kind, objects, (path) => places.get(path) ?? start)
  }

  async #addKind(
    file: string,
    kind: string,
    objects: unknown,
    placeOf: (path: string) => Place,
  ): Promise<void> {
    // A kind without objects is a line that ends with its colon.
    const given = objects ?? {}
    if (!isObject(given)) return this.#refuse(placeOf(kind), kind, 'must be a mapping of names')
    // An empty kind is recorded too, because pruning deletes all of its objects.
    this.#configuration[kind] ??= {}
    const table = Object.hasOwn(TABLES, kind) ? TABLES[kind] : undefined
    if (table !== undefined && typeof given.file === 'string')
      return this.#addTable(file, kind, given.file, placeOf(kind))
    for (const [name, object] of Object.entries(given))
      this.#addObject(kind, name, object, placeOf(`${kind}.${name}`))
  }

  async #addTable(file: string, kind: string, csv: string, place: Place): Promise<void> {
    const { columns, required } = TABLES[kind]!
    let rows: readonly CsvRow[]
    try {
      rows = await readCsv(besides(file, csv), columns, required)
    } catch (error) {
      return this.#refuse(place, kind, `${csv}: ${(error as Error).message}`)
    }
    for (const { line, values } of rows) {
      const { prefix, ...rest } = values
      const [name, object] = kind === 'ranges' ? [prefix ?? '', rest] : [`${csv}:${line}`, values]
      this.#places.set(`${kind}.${name}`, { file: besides(file, csv), line, column: 1 })
      this.#addObject(kind, name, object, { file: besides(file, csv), line, column: 1 })
    }
  }

  #addObject(kind: string, name: string, object: unknown, place: Place): void {
    const objects = this.#configuration[kind]!
    // A name may be that of a property that every object has.
    if (Object.hasOwn(objects, name)) this.#refuse(place, `${kind}.${name}`, 'must not be given twice')
    else Object.defineProperty(objects, name, { value: object ?? {}, enumerable: true })
  }

  #refuse(place: Place, path: string, message: string): void {
    this.#faults.push({ ...place, path, message })
  }
}

function nameOf(file: string): string {
  return file === '-' ? 'standard input' : file
}

/** Paths in a file are relative to its folder. */
function besides(file: string, path: string): string {
  return isAbsolute(path) || file === '-' ? path : join(dirname(file), path)
}

const STDIN = 0

function textOf(source: string | typeof STDIN, mostBytes: number): string {
  const name = source === STDIN ? nameOf('-') : source
  let bytes: Buffer
  try {
    bytes = readAtMost(source, mostBytes + 1)
  } catch (error) {
    throw new Error(`cannot read ${name}: ${(error as NodeJS.ErrnoException).code}`, { cause: error })
  }
  if (bytes.length > mostBytes) throw new Error(tooLarge(name, mostBytes))
  return decoded(bytes, name)
}

/** A pipe or a device does not say how large it is. */
function readAtMost(source: string | typeof STDIN, most: number): Buffer {
  const descriptor = source === STDIN ? STDIN : openSync(source, 'r')
  try {
    const bytes = Buffer.allocUnsafe(most)
    let length = 0
    for (let read = -1; read !== 0 && length < most; length += read)
      read = readSync(descriptor, bytes, length, most - length, null)
    return bytes.subarray(0, length)
  } finally {
    if (descriptor !== STDIN) closeSync(descriptor)
  }
}

/** Without a byte order mark. Other encodings would silently change names and passwords. */
function decoded(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new Error(`${name} is not in UTF-8`, { cause: error })
  }
}

function tooLarge(path: string, mostBytes: number): string {
  const most = mostBytes >= 1024 * 1024 ? `${mostBytes / 1024 / 1024} MiB` : `${mostBytes / 1024} KiB`
  return `${path} is larger than ${most}${mostBytes === MAX_FILE_BYTES ? ': rates and ranges can be CSV files' : ''}`
}

/** Settings are three names deep: `carriers.acme.password`. Nothing above is a text. */
const SETTING_DEPTH = 3

/** The text that `{env: NAME}` or `{file: path}` stands for; a line feed at its end is not part of it. */
function substituteFor(
  file: string,
  path: string,
  mapping: Readonly<Record<string, unknown>>,
): string | undefined {
  const [[source, name] = [], ...others] = Object.entries(mapping)
  if (path.split('.').length < SETTING_DEPTH || others.length > 0) return undefined
  if (typeof name !== 'string' || name === '') return undefined
  if (source === 'file') return textOf(besides(file, name), MAX_VALUE_BYTES).replace(/\r?\n$/, '')
  if (source !== 'env') return undefined
  const value = environmentVariable(name)
  if (value === undefined || value === '')
    throw new Error(`needs the environment variable ${name}, which is not set`)
  return value
}

function isObject(value: unknown): value is Objects {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
