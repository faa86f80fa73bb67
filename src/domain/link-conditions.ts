/** What one node can do with a carrier over its own sessions, best first. */
export const LINK_CONDITIONS = ['usable', 'throttled', 'silent', 'unbound'] as const

export type LinkCondition = (typeof LINK_CONDITIONS)[number]

/** By carrier id; a carrier that is missing is unbound. */
export type LinkConditions = ReadonlyMap<number, LinkCondition>

/** Whether `a` is as good as `b`, or better. */
export function isAsGood(a: LinkCondition, b: LinkCondition): boolean {
  return LINK_CONDITIONS.indexOf(a) <= LINK_CONDITIONS.indexOf(b)
}

/** What several nodes can do together: the best condition of each carrier on any of them. */
export function bestConditions(nodes: readonly Readonly<Record<string, LinkCondition>>[]): LinkConditions {
  const best = new Map<number, LinkCondition>()
  for (const node of nodes) {
    for (const [id, condition] of Object.entries(node)) {
      const known = best.get(Number(id)) ?? 'unbound'
      if (!isAsGood(known, condition)) best.set(Number(id), condition)
    }
  }
  return best
}
