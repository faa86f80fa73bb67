/** Scheme and authority of a target in absolute form (RFC 9112 §3.2.2), which the router drops as well. */
const ABSOLUTE_FORM = /^https?:\/\/[^/?]*/i

/** The paths the server answers, whatever the method: what tells 405 from 404. */
export class KnownPaths {
  readonly #paths: { pattern: RegExp; methods: Set<string> }[] = []

  /** `url` is a route pattern, `/v1/messages/:msgId`; one with a wildcard answers every method itself. */
  add(url: string, methods: readonly string[]): void {
    if (url.includes('*')) return
    const source = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+')
    const pattern = new RegExp(`^${source}$`)
    const known = this.#paths.find((path) => path.pattern.source === pattern.source)
    if (known === undefined) this.#paths.push({ pattern, methods: new Set(methods) })
    else for (const method of methods) known.methods.add(method)
  }

  /** Methods that the path of a request target answers; none when the path is unknown. */
  methodsOf(target: string): string[] {
    const origin = target.replace(ABSOLUTE_FORM, '')
    const query = origin.indexOf('?')
    const path = query < 0 ? origin : origin.slice(0, query)
    const methods = this.#paths
      .filter(({ pattern }) => pattern.test(path))
      .flatMap((known) => [...known.methods])
    return [...new Set(methods)].sort()
  }
}
