import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
} from 'yaml'

/** A configuration file as text: its values, and where each of them is. */

export interface Place {
  readonly file: string
  /** Both count from 1. */
  readonly line: number
  readonly column: number
}

/** What is wrong at a place; `path` empty: with the file. */
export interface LocatedFault extends Place {
  readonly path: string
  readonly message: string
}

export interface ParsedFile {
  /** Objects have no prototype properties of their own; a key is as it is written. */
  readonly value: unknown
  /** By path: `carriers.acme.host`. */
  readonly places: ReadonlyMap<string, Place>
  readonly faults: readonly LocatedFault[]
}

/** Returns the value that stands for a mapping, as for `{env: NAME}`; undefined: the mapping itself. Throws Error. */
export type Substitute = (path: string, mapping: Readonly<Record<string, unknown>>) => unknown

/** Values inside of aliases: a "billion laughs" has more within a few lines. */
const MAX_ALIASED = 10_000
const MAX_DEPTH = 16
/** More cannot be read. */
export const MAX_FAULTS = 1_000

const TOO_DEEP = 'is nested too deep'
/** In place of what the parser says to programs. */
const SYNTAX_FAULTS: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'a second document begins here: put it into a file of its own, and repeat -f',
  RESOURCE_EXHAUSTION: TOO_DEEP,
}

/** Parses one YAML document (YAML 1.2, core schema; JSON is one too). Never throws. */
export function parseYaml(text: string, file: string, substitute: Substitute = () => undefined): ParsedFile {
  const lines = new LineCounter()
  const walk = new Walk(file, lines, substitute)
  try {
    // Duplicate keys are found by the walk: the parser compares each key with all others.
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
    for (const { code, message, pos } of [...document.errors, ...document.warnings])
      walk.refuseSyntax(pos[0], SYNTAX_FAULTS[code] ?? message)
    if (document.errors.length > 0) return walk.result(undefined)
    const { contents } = document
    return walk.result(contents === null ? {} : walk.valueOf(contents, [], false))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    walk.refuse('', 0, TOO_DEEP)
    return walk.result(undefined)
  }
}

class Walk {
  readonly #file: string
  readonly #lines: LineCounter
  readonly #substitute: Substitute
  readonly #places = new Map<string, Place>()
  readonly #faults: LocatedFault[] = []
  /** The library looks for the anchor of each alias through the whole document. */
  readonly #anchors = new Map<string, Node>()
  #aliased = 0
  #syntaxOffset = -1

  constructor(file: string, lines: LineCounter, substitute: Substitute) {
    this.#file = file
    this.#lines = lines
    this.#substitute = substitute
  }

  result(value: unknown): ParsedFile {
    return { value, places: this.#places, faults: this.#faults }
  }

  refuse(path: string, offset: number, message: string): void {
    if (this.#faults.length < MAX_FAULTS) this.#faults.push({ ...this.#placeOf(offset), path, message })
  }

  /** At one place, only the first fault of the syntax says something: the others follow from it. */
  refuseSyntax(offset: number, message: string): void {
    if (offset !== this.#syntaxOffset) this.refuse('', offset, message)
    this.#syntaxOffset = offset
  }

  valueOf(node: Node, path: readonly string[], isAliased: boolean): unknown {
    const offset = node.range?.[0] ?? 0
    const name = path.join('.')
    if (!isAliased && !this.#places.has(name)) this.#places.set(name, this.#placeOf(offset))
    if (path.length > MAX_DEPTH) return this.refuse(name, offset, TOO_DEEP)
    if (isAliased) this.#aliased += 1
    if (this.#aliased > MAX_ALIASED) {
      if (this.#aliased === MAX_ALIASED + 1)
        this.refuse(name, offset, `has aliases for more than ${MAX_ALIASED} values`)
      this.#aliased = MAX_ALIASED + 2
      return undefined
    }
    if (isAlias(node)) {
      const target = this.#anchors.get(node.source)
      if (target === undefined) return this.refuse(name, offset, `has no anchor &${node.source} before it`)
      return this.valueOf(target, path, true)
    }
    this.#anchor(node)
    if (isMap(node)) return this.#mapping(node.items as Pair<Node, Node | null>[], path, isAliased, offset)
    if (isSeq(node))
      return (node.items as Node[]).map((item, index) =>
        this.valueOf(item, [...path, String(index)], isAliased),
      )
    if (!isScalar(node)) return undefined
    if (!isJson(node.value))
      return this.refuse(name, offset, 'must be a text, a finite number, true, false or null')
    return node.value
  }

  #mapping(
    items: readonly Pair<Node, Node | null>[],
    path: readonly string[],
    isAliased: boolean,
    offset: number,
  ) {
    const entries = new Map<string, unknown>()
    for (const { key, value } of items) {
      const start = key.range?.[0] ?? offset
      this.#anchor(key)
      const name = isScalar(key) ? keyText(key) : null
      const own = [...path, name ?? '?']
      if (name === null) this.refuse(path.join('.'), start, 'must have texts as keys')
      else if (entries.has(name)) this.refuse(own.join('.'), start, 'must not be given twice')
      else {
        if (!isAliased) this.#places.set(own.join('.'), this.#placeOf(start))
        entries.set(name, value === null ? null : this.valueOf(value, own, isAliased))
      }
    }
    const mapping = Object.fromEntries(entries)
    try {
      return this.#substitute(path.join('.'), mapping) ?? mapping
    } catch (error) {
      this.refuse(path.join('.'), offset, (error as Error).message)
      return undefined
    }
  }

  #anchor(node: Node): void {
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined
    if (anchor !== undefined) this.#anchors.set(anchor, node)
  }

  #placeOf(offset: number): Place {
    const { line, col } = this.#lines.linePos(offset)
    return { file: this.#file, line: Math.max(line, 1), column: Math.max(col, 1) }
  }
}

/** JSON has no `.inf`, `.nan` or `!!binary`: it would have `null`, which resets a setting. */
function isJson(value: unknown): boolean {
  return typeof value === 'number' ? Number.isFinite(value) : value === null || typeof value !== 'object'
}

/** As it is written: `+4477` and `71234` are no numbers here. */
function keyText(key: Scalar): string {
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value))
}
