/** Scheme and authority of an absolute-form target (RFC 9112 §3.2.2), which the router drops as well. */
const ABSOLUTE_FORM = /^https?:\/\/[^/?]*/i

/** The paths the server answers, with any method: distinguishes 405 from 404. */
export class KnownPaths {
  /** Paths without a parameter, which take precedence. */
  readonly #fixed = new Map<string, Set<string>>()
  readonly #paths: { pattern: RegExp; methods: Set<string> }[] = []

  /** `url` is a route pattern, `/v1/messages/:msgId`; one with a wildcard answers every method itself. */
  add(url: string, methods: readonly string[]): void {
    if (url.includes('*')) return
    if (!url.includes(':')) {
      this.#fixed.set(url, new Set([...(this.#fixed.get(url) ?? []), ...methods]))
      return
    }
    const source = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+')
    const pattern = new RegExp(`^${source}$`)
    const known = this.#paths.find((path) => path.pattern.source === pattern.source)
    if (known === undefined) this.#paths.push({ pattern, methods: new Set(methods) })
    else for (const method of methods) known.methods.add(method)
  }

  /** Methods that are answered at the path of a request target; none when the path is unknown. */
  methodsOf(target: string): string[] {
    const path = pathOf(target)
    const fixed = this.#fixed.get(path)
    if (fixed !== undefined) return [...fixed].sort()
    const methods = this.#paths
      .filter(({ pattern }) => pattern.test(path))
      .flatMap((known) => [...known.methods])
    return [...new Set(methods)].sort()
  }

  /** Whether the router took a fixed path, `/rates/import`, for the parameter of another one, `/rates/:rateId`. */
  isMistaken(target: string, url: string | undefined): boolean {
    return url?.includes(':') === true && this.#fixed.has(pathOf(target))
  }
}

function pathOf(target: string): string {
  const origin = target.replace(ABSOLUTE_FORM, '')
  const query = origin.indexOf('?')
  return query < 0 ? origin : origin.slice(0, query)
}
