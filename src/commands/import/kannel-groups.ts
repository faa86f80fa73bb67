import { dirname, isAbsolute, join } from 'node:path'
import type { ImportedConfiguration, ImportFault, Place } from './imported-configuration.ts'
import { begins, internationalPrefix, type PrefixRules, prefixesOfRegex } from './prefix-routing.ts'

/** Kannel's configuration files (user guide 1.4.5, "Configuration file syntax"): groups of `name = value`. */

export interface KannelSetting extends Place {
  readonly name: string
  readonly value: string
}

export interface KannelGroup extends Place {
  readonly type: string
  /** In the order of the file; a name may occur twice, and then its last value counts. */
  readonly settings: readonly KannelSetting[]
}

export interface KannelFiles {
  readonly groups: readonly KannelGroup[]
  readonly faults: readonly ImportFault[]
}

/** What a path is: the text of a file, or the names of the files in a folder; null: it cannot be read. */
export type ReadPath = (path: string) => string | readonly string[] | null

const MAX_FILES = 1_000

/** Reads a file and those that it includes. Never throws. */
export function readKannelFiles(file: string, read: ReadPath): KannelFiles {
  const reader = new Reader(read)
  reader.include(file, { file, line: 1 })
  return reader
}

interface OpenGroup extends Place {
  type: string | null
  readonly settings: KannelSetting[]
}

class Reader implements KannelFiles {
  readonly groups: KannelGroup[] = []
  readonly faults: ImportFault[] = []
  readonly #read: ReadPath
  readonly #opened = new Set<string>()
  #group: OpenGroup | null = null

  constructor(read: ReadPath) {
    this.#read = read
  }

  include(path: string, place: Place): void {
    const fault = this.#faultOf(path)
    if (fault !== null) this.#refuse(place, fault)
    this.#opened.add(path)
    const content = fault === null ? this.#read(path) : ''
    if (content === null) this.#refuse(place, `${path} cannot be read`)
    else if (typeof content === 'string') this.#lines(path, content)
    else for (const name of content.toSorted()) this.include(join(path, name), place)
  }

  #faultOf(path: string): string | null {
    if (this.#opened.has(path)) return `includes ${path} again`
    return this.#opened.size < MAX_FILES ? null : `includes more than ${MAX_FILES} files`
  }

  #lines(file: string, text: string): void {
    for (const { number, content } of joinedLines(text)) {
      const place = { file, line: number }
      if (content === '') this.#endGroup()
      else if (!content.startsWith('#')) this.#setting(place, content)
    }
    // Kannel reads an empty line at the end of every file.
    this.#endGroup()
  }

  #setting(place: Place, content: string): void {
    const [, name = '', written = ''] = /^([^=]*[^=\s])\s*=(.*)$/s.exec(content) ?? []
    const value = unquoted(written.trim())
    if (name === '') this.#refuse(place, 'is no line of the form name = value')
    else if (name === 'include') this.include(besides(place.file, value), place)
    else this.#add({ ...place, name, value })
  }

  #add(setting: KannelSetting): void {
    const { file, line, name, value } = setting
    if (name === 'group' && this.#group?.type != null) this.#endGroup()
    this.#group ??= { file, line, type: null, settings: [] }
    if (name === 'group') this.#group.type = value
    else this.#group.settings.push(setting)
  }

  #endGroup(): void {
    const group = this.#group
    this.#group = null
    if (group === null) return
    const { type, ...rest } = group
    if (type === null) this.#refuse(group, 'begins a group that has no line "group = …"')
    else this.groups.push({ ...rest, type })
  }

  #refuse({ file, line }: Place, message: string): void {
    this.faults.push({ file, line, message })
  }
}

/** Paths are those of the process that reads them; a relative one is looked for beside the file, where both can be moved. */
function besides(file: string, path: string): string {
  return isAbsolute(path) ? path : join(dirname(file), path)
}

/** Lines without the space around them. A backslash at the end joins the next line; two are one backslash. */
function joinedLines(text: string): { number: number; content: string }[] {
  const lines: { number: number; content: string }[] = []
  let parts: string[] = []
  let start = 1
  for (const [index, line] of text.split('\n').entries()) {
    const isJoined = line.endsWith('\\') && !line.endsWith('\\\\')
    parts.push(line.endsWith('\\') ? line.slice(0, -1) : line)
    if (isJoined) continue
    lines.push({ number: start, content: parts.join('').trim() })
    parts = []
    start = index + 2
  }
  if (parts.length > 0) lines.push({ number: start, content: parts.join('').trim() })
  return lines
}

/** `"a \"b\""` -> `a "b"`. Only quotation marks and backslashes are escaped. */
function unquoted(value: string): string {
  if (value.length < 2 || !value.startsWith('"') || !value.endsWith('"')) return value
  return value.slice(1, -1).replace(/\\(["\\])/g, '$1')
}

/** The settings of a group by name. */
export function lastValues({ settings }: KannelGroup): ReadonlyMap<string, KannelSetting> {
  return new Map(settings.map((setting) => [setting.name, setting]))
}

/** `number` settings may be decimal or `0x` hexadecimal, as strtol reads them. */
export function integerOf(setting: KannelSetting | undefined): number | null {
  const text = setting?.value ?? ''
  return /^(?:[0-9]{1,9}|0[xX][0-9a-fA-F]{1,7})$/.test(text) ? Number(text) : null
}

// Lists of prefixes in a group: `allowed-prefix`, `denied-prefix` and their regular expressions.

/** A number passes if `allowed` has its beginning, or `denied` has not; a list that is null is not there. */
interface PrefixTest {
  readonly allowed: ReadonlySet<string> | null
  readonly denied: ReadonlySet<string> | null
}

export interface PrefixLists {
  readonly tests: readonly PrefixTest[]
  readonly preferred: ReadonlySet<string>
  /** Every prefix of these lists. */
  readonly all: readonly string[]
}

export function prefixLists(
  imported: ImportedConfiguration,
  group: KannelGroup,
  rules: PrefixRules,
): PrefixLists {
  const values = lastValues(group)
  const listOf = (name: string) => {
    const setting = values.get(name)
    return setting === undefined ? null : prefixesIn(imported, setting, rules)
  }
  const pair = (ending: string): PrefixTest => ({
    allowed: listOf(`allowed-prefix${ending}`),
    denied: listOf(`denied-prefix${ending}`),
  })
  const tests = [pair(''), pair('-regex')]
  const preferred = new Set([
    ...(listOf('preferred-prefix') ?? []),
    ...(listOf('preferred-prefix-regex') ?? []),
  ])
  const sets = [...tests.flatMap(({ allowed, denied }) => [allowed, denied]), preferred]
  return { tests, preferred, all: [...new Set(sets.flatMap((set) => [...(set ?? [])]))] }
}

function prefixesIn(
  imported: ImportedConfiguration,
  setting: KannelSetting,
  rules: PrefixRules,
): Set<string> {
  const { name, value } = setting
  const written = name.endsWith('-regex') ? prefixesOfRegex(value, false) : value.split(';')
  if (written === null) {
    imported.drop(setting, name, `${value} is no list of prefixes; write it as one`)
    return new Set()
  }
  const prefixes = new Set<string>()
  for (const each of written.map((prefix) => prefix.trim())) {
    const prefix = each === '' ? '' : internationalPrefix(each, rules)
    if (prefix !== null) prefixes.add(prefix)
    else
      imported.drop(
        setting,
        name,
        `the country of ${each} is unknown: write it as +… or set unified-prefix of core`,
      )
  }
  // An empty entry of a list is no prefix; a regular expression that matches everything is.
  if (!name.endsWith('-regex')) prefixes.delete('')
  return prefixes
}

/** As Kannel tests a receiver (user guide, "SMSC Group Variables"). `number`: a prefix, of which the rest is unknown. */
export function passes(number: string, { tests }: PrefixLists): boolean {
  return tests.every(({ allowed, denied }) => {
    if (allowed === null) return denied === null || !begins(number, denied)
    return begins(number, allowed) || (denied !== null && !begins(number, denied))
  })
}
