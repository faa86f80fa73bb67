import { domainToUnicode } from 'node:url'
import { inCidr, isLoopback, isPublicUnicast, parseIpAddress, withoutMapping } from '../ip-addresses.ts'
import { HIDDEN, openSecret, type SecretKeys, sealSecret } from '../secrets.ts'

/** Exceptions that the operator allows. In production everything is empty and false. */
export interface CallbackPolicy {
  /** Networks whose addresses are accepted although they are not public. */
  allowCidrs: readonly string[]
  /** Host names that are accepted without judging the name or its addresses. */
  allowHosts: readonly string[]
  /** `aldis dev`: loopback addresses and `localhost`, over plain http too. */
  allowLoopback: boolean
  /** `aldis dev`: a name without an address is accepted (the dial still fails). */
  allowUnresolvable: boolean
  /** A dlr-url may be plain http, to the exceptions by name or address that are above. Default: false. */
  allowHttp?: boolean
  /** Origins this service answers on; a callback to itself would loop. */
  ownOrigins: readonly string[]
}

/** For a URL that the operator has configured, which may have a private address. */
export function operatorPolicy(url: string): CallbackPolicy {
  return {
    allowCidrs: ['0.0.0.0/0', '::/0'],
    allowHosts: [new URL(url).hostname],
    allowLoopback: true,
    allowUnresolvable: true,
    ownOrigins: [],
  }
}

export type CallbackUrlFault =
  | 'INVALID_TYPE'
  | 'TOO_LONG'
  | 'INVALID_SYNTAX'
  | 'INVALID_SCHEME'
  | 'INVALID_HOST'
  | 'INVALID_CREDENTIALS'
  | 'FORBIDDEN_PORT'
  | 'FORBIDDEN_HOST'
  | 'FORBIDDEN_ADDRESS'
  | 'OWN_ADDRESS'
  | 'HOST_NOT_FOUND'

/** An accepted callback URL, taken apart as a request needs it. */
export interface CallbackTarget {
  /** Normalised, fragment dropped, user info kept: a secret when it has credentials. */
  href: string
  /** Scheme, host and port; no user info, no trailing dot. */
  origin: string
  protocol: 'https:' | 'http:'
  /** Lower-case A-labels without trailing dot, or the IP literal without brackets (IPv4 when it is mapped into IPv6). */
  hostname: string
  port: number
  /** Path and query as they stand in the request line. */
  path: string
  /** `Basic …` made of the user info (RFC 7617), or null. */
  authorization: string | null
  /** The IP literal when the host is one. */
  address: string | null
}

export interface CallbackUrlRefusal {
  ok: false
  code: CallbackUrlFault
  message: string
}
/** The verdict on a callback URL that is being configured or accepted. */
export type CallbackVerdict = { ok: true } | { ok: false; code: CallbackUrlFault; message: string }

export interface CheckOptions {
  /** The URL is a dlr-url, which may be plain http where the policy says so. Default: false. */
  readonly allowsHttp?: boolean
}

/** Judges a URL, including a look-up of its name. Never rejects. */
export interface CallbackChecker {
  check(raw: unknown, options?: CheckOptions): Promise<CallbackVerdict>
}

export type CallbackUrlJudgement = { ok: true; url: CallbackTarget; needsDns: boolean } | CallbackUrlRefusal

/** Most characters of the caller's text; percent-encoding may make the normalised form longer. */
const MAX_URL_CHARACTERS = 2_048
const MAX_HREF_CHARACTERS = 8_192
const MAX_HOST_CHARACTERS = 253
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Top-level names that are never public: RFC 6761, 6762 (local), 7686 (onion), 8375 (home.arpa), 9476 (alt), ICANN's
 * undelegated corp, home, mail and internal, names usual inside private networks and clusters, and those of other
 * naming systems than DNS.
 */
const SPECIAL_USE_TOP_LEVELS = new Set(
  (
    'alt arpa bit cluster consul corp default dmz docker example exit gnu home i2p internal intranet ' +
    'invalid kube lan local localdomain localdomain4 localdomain6 localhost mail mshome nomad onion priv private svc ' +
    'test workgroup zkey'
  ).split(' '),
)

/** Public names of cloud metadata services; the others are below the names above. */
const METADATA_NAME = /(?:^|\.)metadata\.goog$/

/**
 * Mathematical signs: none may be registered (RFC 5892 §2.1), and several look like a slash. Also a top-level name of
 * digits only, which is not a name but another spelling of an IPv4 address.
 */
const DECEPTIVE_HOST = /\p{Sm}|(?:^|\.)\p{N}+$/u

/**
 * White space, control and format characters (soft hyphen, zero-width, bidirectional marks, tags), and everything else
 * that is invisible: variation selectors, fillers, private use, noncharacters. A bidirectional override shows an operator
 * a different URL from the one that is dialled, and IDNA mapping drops others from the host. Percent-encoded, they may
 * occur in a path.
 */
const INVISIBLE = /[\s\p{Cc}\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/u

/** "Bad ports" of the WHATWG Fetch standard §2.9: protocols that could be confused by an HTTP request. */
const BAD_PORTS = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/**
 * Judges a callbackUrl by its text alone; the caller resolves the name when `needsDns`.
 *
 * The text is first checked against rules on which every URL parser agrees, so that no other parser can read a different
 * host from it. Then it is parsed as WHATWG says. Never throws; messages name no address.
 */
export function judgeCallbackUrl(raw: unknown, policy: CallbackPolicy): CallbackUrlJudgement {
  if (typeof raw !== 'string') return refuse('INVALID_TYPE', 'must be a string')
  if (raw.length > MAX_URL_CHARACTERS) {
    return refuse('TOO_LONG', `must be at most ${MAX_URL_CHARACTERS} characters long`)
  }
  const textFault = judgeText(raw)
  if (textFault !== null) return textFault
  const url = parseUrl(raw)
  if (url === null) return refuse('INVALID_SYNTAX', 'must be a valid URL')
  url.hash = ''
  if (url.href.length > MAX_HREF_CHARACTERS) {
    return refuse('TOO_LONG', `must be at most ${MAX_HREF_CHARACTERS} characters long when percent-encoded`)
  }

  const hostname = bareHostname(url.hostname)
  const address = parseIpAddress(hostname) === null ? null : hostname
  const hostFault = judgeHost(raw, url, hostname, address, policy)
  if (hostFault !== null) return hostFault

  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  if (BAD_PORTS.has(port))
    return refuse('FORBIDDEN_PORT', 'must not use a port reserved for another protocol')
  const authorization = basicCredentials(url)
  if (authorization === undefined) {
    return refuse('INVALID_CREDENTIALS', 'must not have a colon in the user name')
  }

  const origin = originOfUrl(url)
  if (policy.ownOrigins.some((own) => originOf(own) === origin)) {
    return refuse('OWN_ADDRESS', 'must not point at this service')
  }
  const protocol = url.protocol === 'https:' ? 'https:' : 'http:'
  const path = url.pathname + url.search
  const target = { href: url.href, origin, protocol, hostname, port, path, authorization, address } as const
  return { ok: true, url: target, needsDns: address === null && !isLocalhost(hostname) }
}

/** Whether a webhook may be sent to the address (an IP literal or a DNS answer) under the policy. */
export function isAllowedAddress(address: string, policy: CallbackPolicy): boolean {
  return (
    isPublicUnicast(address) ||
    (policy.allowLoopback && isLoopback(address)) ||
    policy.allowCidrs.some((cidr) => inCidr(address, cidr))
  )
}

/** Whether the operator allowed exactly this name. */
export function isAllowedHost(hostname: string, policy: CallbackPolicy): boolean {
  return policy.allowHosts.some((allowed) => bareHostname(allowed.toLowerCase()) === hostname)
}

/** `localhost` and the names below it: always loopback, never looked up in DNS (RFC 6761 §6.3). */
export function isLocalhost(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost')
}

export function refuse(code: CallbackUrlFault, message: string): CallbackUrlRefusal {
  return { ok: false, code, message }
}

/** Checks the raw text before any parser sees it. */
function judgeText(raw: string): CallbackUrlRefusal | null {
  if (INVISIBLE.test(raw))
    return refuse('INVALID_SYNTAX', 'must not contain white space, control or invisible characters')
  if (!raw.isWellFormed()) return refuse('INVALID_SYNTAX', 'must be well-formed Unicode')
  if (raw.includes('\\')) return refuse('INVALID_SYNTAX', 'must not contain a backslash')
  const parts = /^https?:\/\/([^/?#]*)/i.exec(raw)
  if (parts === null) return refuse('INVALID_SCHEME', 'must start with https://')
  const authority = parts[1] ?? ''
  const at = authority.indexOf('@')
  if (authority.indexOf('@', at + 1) > at && at !== -1) {
    return refuse('INVALID_CREDENTIALS', 'must have at most one @ before the path')
  }
  const userInfo = authority.slice(0, Math.max(at, 0))
  if (at !== -1 && (userInfo === '' || userInfo === ':')) {
    return refuse('INVALID_CREDENTIALS', 'must not have empty user information')
  }
  // Parsers that normalise first (CVE-2019-9636) read a different host when a character becomes a delimiter.
  if (/[/?#@:\\]/.test(authority.replace(/[\0-\x7f]/g, '').normalize('NFKC'))) {
    return refuse('INVALID_SYNTAX', 'must not contain look-alikes of / ? # @ : before the path')
  }
  const host = authority.slice(at + 1)
  if (host === '') return refuse('INVALID_HOST', 'must have a host')
  if (host.includes('%'))
    return refuse('INVALID_HOST', 'must not have percent-encoded characters in the host')
  return null
}

function judgeHost(
  raw: string,
  url: URL,
  hostname: string,
  address: string | null,
  policy: CallbackPolicy,
): CallbackUrlRefusal | null {
  const local = policy.allowLoopback && (address === null ? isLocalhost(hostname) : isLoopback(address))
  if (url.protocol !== 'https:' && !local && !isNamed(hostname, address, policy))
    return refuse('INVALID_SCHEME', 'must use https')
  if (address !== null) {
    if (!isLiteralAsWritten(raw, url)) {
      return refuse('INVALID_HOST', 'must write an IPv4 address as four plain decimal numbers')
    }
    if (isAllowedAddress(address, policy)) return null
    return refuse('FORBIDDEN_ADDRESS', 'must not point at an internal or reserved address')
  }
  if (isAllowedHost(hostname, policy)) return null
  if (hostname.includes('_')) return refuse('INVALID_HOST', 'must not have an underscore in the host name')
  const labels = hostname.split('.')
  if (hostname.length > MAX_HOST_CHARACTERS || !labels.every((label) => LABEL.test(label))) {
    return refuse('INVALID_HOST', 'must have a valid host name')
  }
  // An A-label that decodes to nothing stays as it is; no registry has such a name (RFC 5891 §4.4).
  const unicode = hostname.includes('xn--') ? domainToUnicode(hostname) : ''
  if (/(?:^|\.)xn--/.test(unicode) || DECEPTIVE_HOST.test(unicode)) {
    return refuse('INVALID_HOST', 'must not have an invalid internationalised label')
  }
  if (local) return null
  if (labels.length === 1) return refuse('FORBIDDEN_HOST', 'must have a fully qualified public host name')
  if (SPECIAL_USE_TOP_LEVELS.has(labels.at(-1) ?? '') || METADATA_NAME.test(hostname)) {
    return refuse('FORBIDDEN_HOST', 'must not use a host name reserved for internal or special use')
  }
  return null
}

/** Whether the host is one of the exceptions that plain http may go to. */
function isNamed(hostname: string, address: string | null, policy: CallbackPolicy): boolean {
  if (policy.allowHttp !== true) return false
  if (address === null) return isAllowedHost(hostname, policy)
  return policy.allowCidrs.some((cidr) => inCidr(address, cidr))
}

/**
 * An IPv4 host must stand in the text exactly as parsed: `0177.0.0.1`, `2130706433`, `127.1`, full-width digits and a
 * trailing dot all parse to an address, and other parsers read other addresses from them (CVE-2024-29415).
 */
function isLiteralAsWritten(raw: string, url: URL): boolean {
  const host = /^https?:\/\/(?:[^/?#@]*@)?(\[|[^/?#:]*)/i.exec(raw)?.[1]
  return host === '[' || host === url.hostname
}

/** Parses as WHATWG says. An IPv4 address mapped into IPv6 becomes the IPv4 address, for the dial and the certificate too. */
function parseUrl(raw: string): URL | null {
  const url = URL.parse(raw)
  if (url?.hostname.startsWith('[')) {
    const address = withoutMapping(bareHostname(url.hostname))
    if (!address.includes(':')) url.hostname = address
  }
  return url
}

/** The host without brackets and without one trailing dot (the DNS root, which SNI and Host leave out: RFC 6066 §3). */
function bareHostname(hostname: string): string {
  if (hostname.startsWith('[')) return hostname.slice(1, -1)
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
}

/** The Authorization value of the user info; null without user info, undefined when it cannot be sent (RFC 7617 §2). */
function basicCredentials(url: URL): string | null | undefined {
  if (url.username === '' && url.password === '') return null
  const user = percentDecode(url.username)
  if (user.includes(':')) return undefined
  const pair = Buffer.concat([user, Buffer.from(':'), percentDecode(url.password)])
  return `Basic ${pair.toString('base64')}`
}

function percentDecode(text: string): Buffer {
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return Buffer.from(bytes, 'latin1')
}

/** Scheme, host and port of a URL, in the form of `CallbackTarget.origin`; null when it is not a URL. */
export function originOf(base: string): string | null {
  const url = parseUrl(base)
  return url === null ? null : originOfUrl(url)
}

function originOfUrl({ protocol, hostname, port }: URL): string {
  const host = hostname.startsWith('[') ? hostname : bareHostname(hostname)
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}`
}

/** Context of the seal. It names no row, because a message's URL is sealed before its id is known. */
export const CALLBACK_URL_CONTEXT = 'callback URL'
/** Every sealed secret begins like this, and no URL does. */
const SEALED = /^v\d+\./

/** The stored form: sealed when the URL carries credentials (user info), plain otherwise. `iv`: 12 fresh random bytes. */
export function sealCallbackUrl(key: SecretKeys, href: string, iv: () => Uint8Array): string {
  if (!href.includes('@')) return href
  const { username, password } = new URL(href)
  return username === '' && password === '' ? href : sealSecret(key, href, iv(), CALLBACK_URL_CONTEXT)
}

/** Whether the stored form is sealed. */
export function isSealedUrl(stored: string): boolean {
  return SEALED.test(stored)
}

/** The URL to be called. @throws SecretError sealed with another key. */
export function openCallbackUrl(key: SecretKeys, stored: string): string {
  return isSealedUrl(stored) ? openSecret(key, stored, CALLBACK_URL_CONTEXT) : stored
}

/** The URL as it is shown, without its user info, which is a secret of the customer. */
export function withoutCredentials(url: string): string {
  return url.replace(/^(https?:\/\/)[^/?#]*@/i, '$1')
}

/** Parts of a path from this length on can be tokens: those of Slack have 24 characters, UUIDs 36. */
const TOKEN_CHARACTERS = 16

/** A URL without its credentials, and without what may be a token in its query or its path. */
export function maskedUrl(url: string): string {
  const [, origin = '', path = '', query] =
    /^([^/]*\/\/[^/?#]*)?([^?#]*)(.*)$/s.exec(withoutCredentials(url)) ?? []
  const masked = path.replace(/[^/]+/g, (part) => (part.length < TOKEN_CHARACTERS ? part : HIDDEN))
  return `${origin}${masked}${query === '' ? '' : `?${HIDDEN}`}`
}
