import type { ImportFault, Place } from './imported-configuration.ts'

/** What Jasmin's console prints: the `jcli` of 0.11 ("Management CLI Modules" of its documentation). */

/** A line of a list: `#20   StaticMTRoute  …`, without the mark. */
export interface JasminRow extends Place {
  readonly text: string
}

export interface JasminSetting extends Place {
  readonly name: string
  readonly value: string
}

/** What `smppccm -s` or `user -s` prints, by name: `host`, `mt_messaging_cred quota balance`. */
export type JasminObject = ReadonlyMap<string, JasminSetting>

export interface JasminText {
  readonly connectors: readonly JasminObject[]
  readonly users: readonly JasminObject[]
  /** By the first words of their heading. */
  readonly lists: ReadonlyMap<ListName, readonly JasminRow[]>
  readonly faults: readonly ImportFault[]
}

const HEADINGS = {
  connectors: /^#Connector id +Service /,
  users: /^#User id +Group id /,
  groups: /^#Group id *$/,
  mtRoutes: /^#Order +Type +Rate +Connector/,
  moRoutes: /^#Order +Type +Connector/,
  filters: /^#Filter id +Type /,
  httpConnectors: /^#Httpcc id +Type /,
  interceptors: /^#Order +Type +Script/,
} as const
export type ListName = keyof typeof HEADINGS

const PROMPT = /^jcli : ?/
/** Its lists have headings of their own, and nothing to import. */
const STATISTICS = /^jcli : ?stats\b/
/** Names of two and three words: `mt_messaging_cred quota balance ND`. */
const CREDENTIAL = /^((?:mt_messaging_cred|smpps_cred) \S+ \S+)(?: (.*))?$/
const SETTING = /^([a-z][a-z0-9_]*)(?: (.*))?$/

/** Reads the output of one session, or of several. Lines that are neither a list nor a setting are ignored. Never throws. */
export function readJasminText(
  files: readonly { readonly file: string; readonly text: string }[],
): JasminText {
  const reader = new Reader()
  for (const { file, text } of files) {
    for (const [index, line] of text.split(/\r?\n/).entries()) reader.line({ file, line: index + 1 }, line)
    reader.endObject()
  }
  return reader
}

class Reader implements JasminText {
  readonly connectors: JasminObject[] = []
  readonly users: JasminObject[] = []
  readonly lists = new Map<ListName, JasminRow[]>()
  readonly faults: ImportFault[] = []
  #list: JasminRow[] | null = null
  #isOfStatistics = false
  #object = new Map<string, JasminSetting>()

  line(place: Place, raw: string): void {
    const text = raw.trim()
    const isPrompt = PROMPT.test(text)
    if (isPrompt) this.#isOfStatistics = STATISTICS.test(text)
    // Rows of a list have empty lines between them.
    const isEnd = isPrompt || text.startsWith('Total ')
    if (isEnd) this.#list = null
    if (isEnd || text === '') this.endObject()
    else if (this.#isOfStatistics) return
    else if (!text.startsWith('#')) this.#setting(place, text)
    else if (!this.#heading(text)) this.#row(place, text.slice(1))
  }

  endObject(): void {
    const object = this.#object
    this.#object = new Map()
    if (object.has('cid')) this.connectors.push(object)
    else if (object.has('uid')) this.users.push(object)
  }

  #heading(text: string): boolean {
    const found = Object.entries(HEADINGS).find(([, pattern]) => pattern.test(text))
    if (found === undefined) return false
    const name = found[0] as ListName
    this.#list = this.lists.get(name) ?? []
    this.lists.set(name, this.#list)
    return true
  }

  #row(place: Place, text: string): void {
    if (this.#list !== null) {
      this.#list.push({ ...place, text })
      return
    }
    this.faults.push({ ...place, message: 'is no heading of a list that is imported; remove this list' })
    // Its other rows belong to nothing.
    this.#list = []
  }

  #setting(place: Place, text: string): void {
    const [, name, value = ''] = CREDENTIAL.exec(text) ?? SETTING.exec(text) ?? []
    if (name === undefined) return
    // Without an empty line between them, the next object begins with a name that this one has.
    if (this.#object.has(name)) this.endObject()
    this.#object.set(name, { ...place, name, value: value.trim() })
  }
}
