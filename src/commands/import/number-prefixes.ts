/** Prefixes of telephone numbers as other gateways write them, in the form that Aldis has: `+` and digits. */

const E164_PREFIX = /^\+[1-9][0-9]{0,14}$/

/** How numbers are made international: `+358,00358,0;+,00` replaces 00358 and 0 by +358, and 00 by +. */
export type PrefixRules = readonly { readonly official: string; readonly replaced: readonly string[] }[]

/** Reads `unified-prefix` of Kannel. `-` as the first prefix removes the others. */
export function readUnifiedPrefix(text: string): PrefixRules {
  return text.split(';').map((rule) => {
    const [official = '', ...replaced] = rule.split(',').map((part) => part.trim())
    return { official: official === '-' ? '' : official, replaced: replaced.filter((part) => part !== '') }
  })
}

/** The prefix as E.164. Null: the country is unknown. Digits that do not begin with 0 are taken for a calling code. */
export function internationalPrefix(prefix: string, rules: PrefixRules = []): string | null {
  const number = unified(prefix.replace(/[ ()-]/g, ''), rules)
    .replace(/^00/, '+')
    .replace(/^(?=[1-9])/, '+')
  return E164_PREFIX.test(number) ? number : null
}

/** The longest prefix decides, because the example of the user guide has 0 before 00. */
function unified(number: string, rules: PrefixRules): string {
  let [best, result] = ['', number]
  for (const { official, replaced } of rules)
    for (const prefix of [...replaced, official])
      if (number.startsWith(prefix) && prefix.length > best.length)
        [best, result] = [prefix, official + number.slice(prefix.length)]
  return result
}

/** Whether a number begins with one of them. */
export function begins(number: string, prefixes: ReadonlySet<string>): boolean {
  for (let length = 0; length <= number.length; length += 1)
    if (prefixes.has(number.slice(0, length))) return true
  return false
}

/** Texts that a pattern expands to; more are not followed. */
const MAX_EXPANSION = 1_000
const MAX_PATTERN = 10_000
const MAX_DEPTH = 16
/** What may follow a prefix: any further digits, with any end. */
const TAIL = /(?:(?:\.|\\d|\[0-9\]|\[\[:digit:\]\])(?:[*+]|\{[0-9,]{1,8}\})?)+\$?(?=$|\|)/y

/**
 * The prefixes that a regular expression stands for, such as `^44(7|8)[0-4]\d*$`; the empty prefix is every number. Null:
 * it matches something other than the beginnings of numbers. `anchored`: it is compared with the beginning of a number.
 */
export function prefixesOfRegex(pattern: string, anchored: boolean): readonly string[] | null {
  if (pattern.length > MAX_PATTERN) return null
  if (/^\^?(?:\.\*)?\$?$/.test(pattern) && pattern !== '^$') return ['']
  const expansion = new Expansion(pattern, anchored)
  const prefixes = expansion.alternatives(0)
  if (prefixes === null || !expansion.isAtEnd) return null
  return prefixes.includes('') ? [''] : [...new Set(prefixes)]
}

/** Expands a pattern by recursive descent, so a hostile one costs no more than its length times the limit. */
class Expansion {
  readonly #pattern: string
  readonly #anchored: boolean
  #at = 0

  constructor(pattern: string, anchored: boolean) {
    this.#pattern = pattern
    this.#anchored = anchored
  }

  get isAtEnd(): boolean {
    return this.#at === this.#pattern.length
  }

  alternatives(depth: number): string[] | null {
    const all: string[] = []
    do {
      const texts = this.#sequence(depth)
      if (texts === null || all.length + texts.length > MAX_EXPANSION) return null
      all.push(...texts)
    } while (this.#take('|'))
    return all
  }

  #sequence(depth: number): string[] | null {
    if (depth === 0 && !this.#take('^') && !this.#anchored) return null
    let texts = ['']
    while (!this.isAtEnd && !'|)'.includes(this.#next)) {
      // What follows a prefix is of any length, so nothing can follow that.
      if (depth === 0 && this.#takeTail()) return texts
      const parts = this.#atom(depth)
      if (parts === null || texts.length * parts.length > MAX_EXPANSION) return null
      texts = texts.flatMap((text) => parts.map((part) => text + part))
    }
    return texts
  }

  #atom(depth: number): string[] | null {
    const parts = this.#plain(depth)
    return parts !== null && this.#take('?') ? [...parts, ''] : parts
  }

  #plain(depth: number): string[] | null {
    if (this.#take('(')) {
      this.#take('?:')
      const parts = depth < MAX_DEPTH ? this.alternatives(depth + 1) : null
      return this.#take(')') ? parts : null
    }
    if (this.#take('\\+') || this.#take('[+]')) return ['+']
    const set = /^\[([0-9-]{1,20})\]/.exec(this.#pattern.slice(this.#at, this.#at + 22))
    if (set !== null) {
      this.#at += set[0].length
      return digitsOf(set[1]!)
    }
    if (!/[0-9]/.test(this.#next ?? '')) return null
    this.#at += 1
    return [this.#pattern[this.#at - 1]!]
  }

  #takeTail(): boolean {
    TAIL.lastIndex = this.#at
    const found = TAIL.test(this.#pattern)
    if (found) this.#at = TAIL.lastIndex
    return found
  }

  get #next(): string {
    return this.#pattern[this.#at]!
  }

  #take(text: string): boolean {
    if (!this.#pattern.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }
}

/** `0-37` -> 0, 1, 2, 3, 7 */
function digitsOf(set: string): string[] | null {
  const digits = new Set<string>()
  for (const [range] of set.matchAll(/[0-9]-[0-9]|[0-9-]/g)) {
    if (range === '-') return null
    const [from, to] = [Number(range[0]), Number(range.at(-1))]
    for (let digit = from; digit <= to; digit += 1) digits.add(String(digit))
  }
  return digits.size === 0 ? null : [...digits]
}
