/** DATABASE_URL: one server, or several of which one is the primary. */

/** DATABASE_URL of a node that brings its own PostgreSQL. */
export const EMBEDDED_DATABASE = 'embedded'

/** Most servers that one URL may name. */
const MAX_DATABASE_HOSTS = 8

/** Aldis writes with every message, so it needs a primary. */
const SESSION_ATTRIBUTES = ['read-write', 'primary']
const ATTRIBUTES = 'target_session_attrs'

export type DatabaseAddresses =
  /** One URL for each server, in the given order. */
  { readonly addresses: readonly string[] } | { readonly fault: string }

/** Splits a URL as libpq takes it (PostgreSQL manual, 34.1.1.2): `postgresql://user:password@one:5432,two:5432/name`. */
export function databaseAddresses(text: string): DatabaseAddresses {
  const parts = /^(postgres(?:ql)?:\/\/(?:[^/?#@]*@)?)([^/?#]*)(.*)$/s.exec(text)
  if (parts === null) return { fault: 'must be an address that begins with postgresql://' }
  const [, before, hosts, after] = parts
  const names = hosts!.split(',')
  if (names.length > MAX_DATABASE_HOSTS) return { fault: `must have at most ${MAX_DATABASE_HOSTS} hosts` }
  const addresses: string[] = []
  for (const name of names) {
    const url = URL.parse(`${before}${name}${after}`)
    if (url === null || (name === '' && names.length > 1))
      return { fault: 'must be an address like postgresql://user:password@host:port/name' }
    const wanted = url.searchParams.get(ATTRIBUTES)
    if (wanted !== null && !SESSION_ATTRIBUTES.includes(wanted))
      return { fault: `may have ${ATTRIBUTES}=${SESSION_ATTRIBUTES[0]} and no other` }
    if (wanted !== null) url.searchParams.delete(ATTRIBUTES)
    addresses.push(wanted === null ? `${before}${name}${after}` : url.href)
  }
  return { addresses }
}
