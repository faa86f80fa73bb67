import { isIP } from 'node:net'
import tls from 'node:tls'

/**
 * Adds the certificate checks to the options of a TLS client; `servername` may be an address. Only `rejectUnauthorized:
 * false` here turns them off. NODE_TLS_REJECT_UNAUTHORIZED, set for something else, does not count.
 */
export function checkedTls(host: string, given: tls.ConnectionOptions): tls.ConnectionOptions {
  const { servername: name = host, ...rest } = given
  const trust = Object.keys(rest).length === 0 ? { secureContext: defaultTrust() } : rest
  const options = { rejectUnauthorized: true, ...trust }
  if (isIP(name) === 0) return { ...options, servername: name }
  // SNI has names only (RFC 6066 §3), so an address is checked but not sent.
  const checkServerIdentity = (_host: string, certificate: tls.PeerCertificate) =>
    tls.checkServerIdentity(name, certificate)
  return { checkServerIdentity, ...options }
}

let trusted: tls.SecureContext | null = null

/** The authorities of Node and of the system, some hundreds. They are read when first needed, and kept. */
function defaultTrust(): tls.SecureContext {
  const lists = ['default', 'system'] as const
  trusted ??= tls.createSecureContext({ ca: lists.flatMap((list) => tls.getCACertificates(list)) })
  return trusted
}
