/**
 * IP addresses as values: parsing, CIDR membership, and the one question the callback guard asks of an
 * address: is it public unicast?
 */

/** An address: family 4 with a 32-bit value, or family 6 with a 128-bit value. */
export interface IpAddress {
  family: 4 | 6
  value: bigint
}

/** A network: its address family, first address and prefix length in bits. */
export interface Cidr {
  family: 4 | 6
  base: bigint
  prefixBits: number
}

const MAPPED_PREFIX = 0xffffn
const MAPPED_PREFIX_BITS = 96
const OCTET = /^(?:0|[1-9]\d{0,2})$/
const HEXTET = /^[0-9a-f]{1,4}$/i

/** Parses strict dotted decimal (RFC 6943 §3.1.1: no octal, hexadecimal or short forms). */
function parseIpv4(text: string): bigint | null {
  const octets = text.split('.')
  if (octets.length !== 4) return null
  let value = 0n
  for (const octet of octets) {
    if (!OCTET.test(octet) || Number(octet) > 255) return null
    value = (value << 8n) | BigInt(octet)
  }
  return value
}

/** Reads `a:b:c` as 16-bit groups, a last dotted-decimal part as two of them; null when malformed. */
function parseHextets(text: string, dottedAllowed: boolean): bigint[] | null {
  if (text === '') return []
  const parts = text.split(':')
  const groups: bigint[] = []
  for (const [index, part] of parts.entries()) {
    if (HEXTET.test(part)) {
      groups.push(BigInt(`0x${part}`))
      continue
    }
    const dotted = dottedAllowed && index === parts.length - 1 ? parseIpv4(part) : null
    if (dotted === null) return null
    groups.push(dotted >> 16n, dotted & 0xffffn)
  }
  return groups
}

/** Parses RFC 4291 §2.2 text; a zone (`%eth0`) is refused, as it never names a public address. */
function parseIpv6(text: string): bigint | null {
  if (text.length > 45) return null
  const halves = text.split('::')
  if (halves.length > 2) return null
  const [left = '', right] = halves
  const head = parseHextets(left, right === undefined)
  const tail = right === undefined ? [] : parseHextets(right, true)
  if (head === null || tail === null) return null
  const missing = 8 - head.length - tail.length
  if (right === undefined ? missing !== 0 : missing < 1) return null
  const zeros = Array.from({ length: missing }, () => 0n)
  return [...head, ...zeros, ...tail].reduce((value, group) => (value << 16n) | group, 0n)
}

/** Parses an unbracketed IPv4 or IPv6 address; null when it is neither. */
export function parseIpAddress(text: string): IpAddress | null {
  const family = text.includes(':') ? 6 : 4
  const value = family === 6 ? parseIpv6(text) : parseIpv4(text)
  return value === null ? null : { family, value }
}

/**
 * Parses `address/prefix`; a bare address is a network of one. A network of IPv4 addresses mapped into IPv6 becomes the
 * IPv4 network, as in `parseJudged`. Returns null when malformed or with host bits set.
 */
export function parseCidr(text: string): Cidr | null {
  const [addressText = '', prefixText, ...rest] = text.split('/')
  const address = parseIpAddress(addressText)
  if (address === null || rest.length > 0) return null
  const widthBits = address.family === 4 ? 32 : 128
  if (prefixText !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(prefixText)) return null
  const prefixBits = prefixText === undefined ? widthBits : Number(prefixText)
  if (prefixBits > widthBits) return null
  const hostBits = BigInt(widthBits - prefixBits)
  if ((address.value >> hostBits) << hostBits !== address.value) return null
  if (isMapped(address) && prefixBits >= MAPPED_PREFIX_BITS) {
    return { family: 4, base: address.value & 0xffff_ffffn, prefixBits: prefixBits - MAPPED_PREFIX_BITS }
  }
  return { family: address.family, base: address.value, prefixBits }
}

function contains(cidr: Cidr, address: IpAddress): boolean {
  if (cidr.family !== address.family) return false
  const hostBits = BigInt((cidr.family === 4 ? 32 : 128) - cidr.prefixBits)
  return address.value >> hostBits === cidr.base >> hostBits
}

function isMapped({ family, value }: IpAddress): boolean {
  return family === 6 && value >> 32n === MAPPED_PREFIX
}

/**
 * Parses an address for judging it. An IPv4 address mapped into IPv6 (`::ffff:8.8.8.8`, RFC 4291 §2.5.5.2) becomes the
 * IPv4 address, since a socket opened to it speaks IPv4 to that address.
 */
function parseJudged(text: string): IpAddress | null {
  const parsed = parseIpAddress(text)
  if (parsed === null || !isMapped(parsed)) return parsed
  return { family: 4, value: parsed.value & 0xffff_ffffn }
}

/** The dotted IPv4 address of one that is mapped into IPv6; any other text as it is. */
export function withoutMapping(address: string): string {
  const parsed = parseJudged(address)
  if (parsed === null || parsed.family === 6 || !address.includes(':')) return address
  return [24n, 16n, 8n, 0n].map((shift) => (parsed.value >> shift) & 0xffn).join('.')
}

/** Whether the address lies in the network. False for malformed arguments and for different families. */
export function inCidr(address: string, cidr: string): boolean {
  const parsedAddress = parseJudged(address)
  const parsedCidr = parseCidr(cidr)
  return parsedAddress !== null && parsedCidr !== null && contains(parsedCidr, parsedAddress)
}

function networks(...texts: string[]): Cidr[] {
  return texts.map((text) => {
    const cidr = parseCidr(text)
    if (cidr === null) throw new Error(`not a network: ${text}`)
    return cidr
  })
}

/**
 * IANA IPv4 Special-Purpose Address Registry, plus multicast and class E. The anycast service blocks of AS112
 * (192.31.196/24, 192.175.48/24) and AMT (192.52.193/24) are globally reachable, but no receiver has an address
 * there. No receiver has the address that Azure uses inside its networks either.
 */
const SPECIAL_IPV4 = networks(
  '0.0.0.0/8', // "this network", RFC 791
  '10.0.0.0/8', // private use, RFC 1918
  '100.64.0.0/10', // shared address space (CGNAT), RFC 6598
  '127.0.0.0/8', // loopback, RFC 1122
  '168.63.129.16/32', // the platform's own services inside Azure, metadata among them
  '169.254.0.0/16', // link local, cloud metadata services, RFC 3927
  '172.16.0.0/12', // private use, RFC 1918
  '192.0.0.0/24', // IETF protocol assignments, RFC 6890
  '192.0.2.0/24', // TEST-NET-1, RFC 5737
  '192.31.196.0/24', // AS112-v4, RFC 7535
  '192.52.193.0/24', // AMT, RFC 7450
  '192.88.99.0/24', // 6to4 relay anycast, withdrawn, RFC 7526
  '192.168.0.0/16', // private use, RFC 1918
  '192.175.48.0/24', // direct delegation AS112, RFC 7534
  '198.18.0.0/15', // benchmarking, RFC 2544
  '198.51.100.0/24', // TEST-NET-2, RFC 5737
  '203.0.113.0/24', // TEST-NET-3, RFC 5737
  '224.0.0.0/4', // multicast, RFC 5771
  '240.0.0.0/4', // reserved, and limited broadcast, RFC 1112 §4, RFC 8190
)

/** Global unicast, RFC 4291 §2.4; everything outside it (ULA, link local, NAT64, SRv6 …) is refused. */
const GLOBAL_UNICAST_IPV6 = networks('2000::/3')

/** IANA IPv6 Special-Purpose Address Registry, the part inside 2000::/3. */
const SPECIAL_IPV6 = networks(
  '2001::/23', // IETF protocol assignments: Teredo, benchmarking, ORCHID, ORCHIDv2, DRIP …, RFC 2928
  '2001:db8::/32', // documentation, RFC 3849
  '2002::/16', // 6to4, embeds an IPv4 address, RFC 3056
  '2620:4f:8000::/48', // direct delegation AS112, RFC 7534
  '3fff::/20', // documentation, RFC 9637
)

const LOOPBACK = networks('127.0.0.0/8', '::1/128')

/** Interface identifiers ::0:5efe:a.b.c.d and ::200:5efe:a.b.c.d tunnel to the IPv4 address (ISATAP, RFC 5214 §6.1). */
function isIsatap(address: IpAddress): boolean {
  return ((address.value >> 32n) & 0xfdff_ffffn) === 0x0000_5efen
}

/** Whether a stranger's server on the internet can have the address. False for malformed text. */
export function isPublicUnicast(address: string): boolean {
  const parsed = parseJudged(address)
  if (parsed === null) return false
  if (parsed.family === 4) return !SPECIAL_IPV4.some((cidr) => contains(cidr, parsed))
  return (
    GLOBAL_UNICAST_IPV6.some((cidr) => contains(cidr, parsed)) &&
    !SPECIAL_IPV6.some((cidr) => contains(cidr, parsed)) &&
    !isIsatap(parsed)
  )
}

/** Whether the address is the machine's own: 127.0.0.0/8 or ::1. */
export function isLoopback(address: string): boolean {
  const parsed = parseJudged(address)
  return parsed !== null && LOOPBACK.some((cidr) => contains(cidr, parsed))
}

/**
 * The part of the address space that one subscriber has: an IPv4 address, or the /64 around an IPv6 address (RFC 6177).
 * Returns any other text unchanged.
 */
export function subscriberOf(address: string): string {
  const parsed = parseJudged(address)
  return parsed?.family === 6 ? `${(parsed.value >> 64n).toString(16)}/64` : withoutMapping(address)
}

/** Whether two texts name the same address (`::1` and `0:0:0:0:0:0:0:1`, `8.8.8.8` and `::ffff:8.8.8.8`). */
export function isSameAddress(left: string, right: string): boolean {
  const a = parseJudged(left)
  const b = parseJudged(right)
  return a !== null && b !== null && a.family === b.family && a.value === b.value
}
