/** What the address of the audit log holds: its filters, by the names of the API. */
export const AUDIT_FILTERS = ['objectType', 'objectId', 'token', 'operation'] as const

export type AuditSearch = { readonly [Name in (typeof AUDIT_FILTERS)[number]]?: string }

export function auditSearchOf(search: Record<string, unknown>): AuditSearch {
  const given = AUDIT_FILTERS.map((name) => [name, search[name]] as const)
  return Object.fromEntries(given.filter(([, value]) => typeof value === 'string' && value !== ''))
}
