import type { ImportedConfiguration, Settings } from './imported-configuration.ts'

/** Routes and routing rules that choose as another gateway does, whose choice depends on the sender and the prefix. */

export interface RouteCarrier {
  readonly carrier: string
  readonly priority: number
  readonly weight: number
}

/** What the other gateway does with messages to a number. `number` is a prefix in E.164; empty: a number of none. */
export type Choose = (number: string, sender: string | null) => readonly RouteCarrier[]

interface PlanRouting {
  /** Name of the plan's own route. */
  readonly route: string
  readonly rules: readonly RoutingRule[]
  /** Some of its messages have no carrier. */
  readonly hasGaps: boolean
}

/** What a plan with gaps is reported to have. */
export const GAPS =
  'recipients that nothing takes are not refused: they have the route nowhere, and fail when their validity ends'

interface RoutingRule {
  readonly from: string | null
  readonly prefix: string | null
  readonly route: string
}

/** Routes by what they have, so that plans share them. */
export class ImportedRoutes {
  readonly #imported: ImportedConfiguration
  readonly #names = new Map<string, string>()
  /** The name of the route without carriers. */
  #empty: string | null = null

  constructor(imported: ImportedConfiguration) {
    this.#imported = imported
  }

  /** The name of the route over these carriers, which is added if there is none yet. */
  nameOf(carriers: readonly RouteCarrier[]): string {
    const settings: Settings = { carriers: carriers.toSorted(inOrder) }
    const content = JSON.stringify(settings)
    const known = this.#names.get(content)
    if (known !== undefined) return known
    const name = this.#imported.linkName('routes', wordsFor(carriers))
    if (carriers.length === 0) this.#empty = name
    const origin = carriers.length === 0 ? 'no carrier: messages wait until their validity ends' : ''
    this.#imported.add('routes', name, settings, origin)
    this.#names.set(content, name)
    return name
  }

  isEmpty(name: string): boolean {
    return name === this.#empty
  }
}

/**
 * The route and the rules of a plan. The choice may change only at `prefixes`, and for `senders`. A rule that names a sender
 * decides before those that do not (docs/routing.md), so a sender with a rule has rules for every prefix that needs one.
 */
export function planRouting(
  routes: ImportedRoutes,
  prefixes: readonly string[],
  senders: readonly string[],
  choose: Choose,
): PlanRouting {
  // Shorter ones first: the prefix around another one comes before it.
  const ordered = [...new Set(prefixes)].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  const routeFor = (number: string, sender: string | null) => routes.nameOf(choose(number, sender))
  const own = routeFor('', null)
  const rules = rulesByPrefix(ordered, null, own, routeFor)
  for (const sender of new Set(senders)) {
    const differs = ['', ...ordered].some((prefix) => routeFor(prefix, sender) !== routeFor(prefix, null))
    if (!differs) continue
    const all = routeFor('', sender)
    rules.push({ from: sender, prefix: null, route: all }, ...rulesByPrefix(ordered, sender, all, routeFor))
  }
  const hasGaps = [own, ...rules.map(({ route }) => route)].some((name) => routes.isEmpty(name))
  return { route: own, rules, hasGaps }
}

/** A rule for each prefix whose route is not that of the prefix around it. */
function rulesByPrefix(
  prefixes: readonly string[],
  from: string | null,
  otherwise: string,
  routeFor: (number: string, sender: string | null) => string,
): RoutingRule[] {
  const routes = new Map<string, string>()
  const rules: RoutingRule[] = []
  for (const prefix of prefixes) {
    const route = routeFor(prefix, from)
    if (route !== around(prefix, routes, otherwise)) rules.push({ from, prefix, route })
    routes.set(prefix, route)
  }
  return rules
}

function around(prefix: string, routes: ReadonlyMap<string, string>, otherwise: string): string {
  for (let length = prefix.length - 1; length > 0; length -= 1) {
    const route = routes.get(prefix.slice(0, length))
    if (route !== undefined) return route
  }
  return otherwise
}

function inOrder(a: RouteCarrier, b: RouteCarrier): number {
  return a.priority - b.priority || (a.carrier < b.carrier ? -1 : a.carrier > b.carrier ? 1 : 0)
}

/** `acme`, `acme-beta`, `acme-then-beta`; more than four carriers are counted. */
function wordsFor(carriers: readonly RouteCarrier[]): string {
  if (carriers.length === 0) return 'nowhere'
  if (carriers.length > 4) return `${carriers.length}-carriers`
  const levels = Map.groupBy(carriers.toSorted(inOrder), ({ priority }) => priority)
  return [...levels.values()].map((level) => level.map(({ carrier }) => carrier).join('-')).join('-then-')
}

// Prefixes of telephone numbers as other gateways write them, in the form that Aldis has: `+` and digits.

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
