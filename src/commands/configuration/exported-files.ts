import { writeFileSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { stringify } from 'yaml'
import { type ConnectionOptions, requestAdmin } from '../admin/client.ts'
import { printJson } from '../admin/printing.ts'
import { TABLES } from './configuration-files.ts'

type Objects = Readonly<Record<string, Readonly<Record<string, unknown>>>>

interface Exported {
  readonly version: string
  readonly configuration: Readonly<Record<string, Objects>>
  readonly withheld: readonly string[]
}

const TIMEOUT_MS = 600_000

export interface ExportOptions extends ConnectionOptions {
  /** File that is written; without it the configuration is printed. */
  readonly output?: string
  /** Folder for CSV files. */
  readonly tables?: string
}

/** Writes the configuration as YAML. */
export async function exportConfiguration(options: ExportOptions): Promise<void> {
  const more = { timeoutMs: TIMEOUT_MS }
  const exported = (await requestAdmin(options, 'GET', '/configuration', undefined, more)) as Exported
  if (options.json) return printJson(exported)
  const { configuration } = exported
  const { tables, output } = options
  const inFile =
    tables === undefined ? configuration : { ...configuration, ...writeTables(tables, output, configuration) }
  // Each object is written in full, wherever it is.
  const text =
    headOf(options.url, exported) + stringify(inFile, { aliasDuplicateObjects: false, lineWidth: 0 })
  if (output === undefined) process.stdout.write(text)
  else writeFileSync(output, text)
}

function headOf(url: string, { version, withheld }: Exported): string {
  const lines = [
    `yaml-language-server: $schema=${url.replace(/\/+$/, '')}/docs/aldis.schema.json`,
    `The configuration of ${url}, version ${version}.`,
  ]
  if (withheld.length > 0)
    lines.push('Secrets are not exported. To change one, add it as {env: NAME} or {file: path}:')
  return [...lines, ...withheld.map((path) => `  ${path}`)].map((line) => `# ${line}\n`).join('')
}

/** Writes `rates.csv` and `ranges.csv`, and returns what the file has instead of their objects. */
function writeTables(
  folder: string,
  output: string | undefined,
  configuration: Exported['configuration'],
): Record<string, { file: string }> {
  const names = Object.keys(TABLES)
  for (const kind of names) {
    const { columns } = TABLES[kind]!
    const key = kind === 'ranges' ? 'prefix' : undefined
    const rows = Object.entries(configuration[kind] ?? {}).map(([name, object]) =>
      columns.map((column) => cell(column === key ? name : object[column])).join(),
    )
    writeFileSync(join(folder, `${kind}.csv`), [columns.join(), ...rows].map((row) => `${row}\n`).join(''))
  }
  const path = output === undefined || isAbsolute(folder) ? folder : relative(dirname(output), folder)
  return Object.fromEntries(names.map((kind) => [kind, { file: join(path, `${kind}.csv`) }]))
}

/** RFC 4180. */
function cell(value: unknown): string {
  const text = value === undefined || value === null ? '' : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
