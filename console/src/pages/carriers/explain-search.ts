/** What the address of the route explanation holds: the message that is asked about. */
const EXPLAINED = ['servicePlanId', 'from', 'to', 'body'] as const

export type ExplainSearch = { readonly [Name in (typeof EXPLAINED)[number]]?: string }

export function explainSearchOf(search: Record<string, unknown>): ExplainSearch {
  const given = EXPLAINED.map((name) => [name, search[name]] as const)
  return Object.fromEntries(given.filter(([, value]) => typeof value === 'string' && value !== ''))
}
