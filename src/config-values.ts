/** The forms of values of the configuration: each reads a text. */
import { readFileSync } from 'node:fs'
import { databaseAddresses, EMBEDDED_DATABASE } from './database-url.ts'
import { hashToken } from './domain/credentials.ts'
import { parseCidr, parseIpAddress } from './domain/ip-addresses.ts'
import { NODE_ROLES } from './domain/nodes.ts'
import { judgeCallbackUrl, operatorPolicy } from './domain/webhooks/callback-url.ts'
import { parseWebhookSecret } from './domain/webhooks/requests.ts'

/** A value, or what is wrong with the text, worded to follow the variable's name; it must not hold the text itself. */
export type Parsed<T> = { readonly value: T } | { readonly fault: string }

export function integer(minimum: number, maximum: number) {
  return (text: string): Parsed<number> => {
    const value = Number(text)
    const fits = /^\d{1,15}$/.test(text) && value >= minimum && value <= maximum
    return fits ? { value } : { fault: `must be a whole number from ${minimum} to ${maximum}` }
  }
}

export function onOff(text: string): Parsed<boolean> {
  if (['on', 'true', '1', 'yes'].includes(text.toLowerCase())) return { value: true }
  if (['off', 'false', '0', 'no'].includes(text.toLowerCase())) return { value: false }
  return { fault: 'must be on or off' }
}

export function oneOf<const T extends string>(choices: readonly T[]) {
  return (text: string): Parsed<T> => {
    const value = choices.find((choice) => choice === text)
    return value === undefined ? { fault: `must be one of ${choices.join(', ')}` } : { value }
  }
}

export const nodeRole = oneOf(NODE_ROLES)

export function matching(pattern: RegExp, fault: string) {
  return (text: string): Parsed<string> => (pattern.test(text) ? { value: text } : { fault })
}

/** Longest list, far above any sensible one. */
const MAX_ITEMS = 1_000

/** Items separated by commas, without repetition; the fault counts from 1 which item it means. */
export function list<T>(parse: (text: string) => Parsed<T>, minimum = 0) {
  return (text: string): Parsed<readonly T[]> => {
    const items = [...new Set(text.split(',').map((item) => item.trim()))].filter((item) => item !== '')
    if (items.length < minimum || items.length > MAX_ITEMS) {
      return { fault: `must have ${minimum} to ${MAX_ITEMS} items` }
    }
    const values: T[] = []
    for (const [index, item] of items.entries()) {
      const result = parse(item)
      if ('fault' in result) return { fault: `item ${index + 1} ${result.fault}` }
      values.push(result.value)
    }
    return { value: Object.freeze(values) }
  }
}

export function databaseUrl(text: string): Parsed<string> {
  if (text === EMBEDDED_DATABASE) return { value: text }
  const parsed = databaseAddresses(text)
  return 'fault' in parsed ? { fault: `${parsed.fault}, or be ${EMBEDDED_DATABASE}` } : { value: text }
}

/** One server: a read waits until a server has caught up, and must then run on that one. */
export function replicaUrl(text: string): Parsed<string> {
  const parsed = databaseAddresses(text)
  if ('fault' in parsed) return parsed
  return parsed.addresses.length === 1 ? { value: text } : { fault: 'must name one server' }
}

/** Kept without its last slash, so that paths can be put behind it. */
export function baseUrl(text: string): Parsed<string> {
  const url = URL.parse(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    return { fault: 'must be an address that begins with https:// or http://' }
  }
  if (url.username || url.password || url.search || url.hash) {
    return { fault: 'must have no user, query or fragment' }
  }
  return { value: url.href.replace(/\/+$/, '') }
}

const SECRET_KEY_BYTES = 32

export function secretKey(text: string): Parsed<Buffer> {
  const fault = `must be ${SECRET_KEY_BYTES} bytes, as 64 hex digits or base64`
  if (/^[0-9a-fA-F]{64}$/.test(text)) return { value: Buffer.from(text, 'hex') }
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return { fault }
  const value = Buffer.from(text, 'base64')
  return value.length === SECRET_KEY_BYTES ? { value } : { fault }
}

export function alarmUrl(text: string): Parsed<string> {
  if (!URL.canParse(text)) return { fault: 'must be a URL' }
  const judged = judgeCallbackUrl(text, operatorPolicy(text))
  return judged.ok ? { value: text } : { fault: judged.message }
}

export function webhookSecret(text: string): Parsed<string> {
  const isSecret = parseWebhookSecret(text) !== null
  return isSecret ? { value: text } : { fault: 'must be whsec_ and the base64 of 24 to 64 bytes' }
}

const MIN_OPERATOR_TOKEN_CHARACTERS = 32

/** Only the SHA-256 of a token is kept, as for any other token. */
export function operatorTokens(text: string): Parsed<readonly string[]> {
  return list((token) => {
    if (token.length < MIN_OPERATOR_TOKEN_CHARACTERS) {
      return { fault: `must have at least ${MIN_OPERATOR_TOKEN_CHARACTERS} characters` }
    }
    if (!/^[\x21-\x7e]+$/.test(token)) return { fault: 'must be printable ASCII without spaces' }
    return { value: hashToken(token) }
  }, 1)(text)
}

export function share(text: string): Parsed<number> {
  const value = Number(text)
  return /^[01]?(\.\d{1,9})?$/.test(text) && value <= 1
    ? { value }
    : { fault: 'must be a number from 0 to 1' }
}

/** A token (RFC 9110), and printable ASCII as W3C Baggage encodes it. */
const HEADER = /^([!#$%&'*+.^_`|~\w-]{1,100})=((?:[ -$&-~]|%[2-6][\da-f]|%7[\da-e]){0,4000})$/i

export function header(text: string): Parsed<readonly [name: string, value: string]> {
  const [, name, value] = HEADER.exec(text) ?? []
  if (name === undefined) return { fault: 'must be name=value, percent-encoded' }
  return { value: [name, decodeURIComponent(value!)] }
}

export function cidr(text: string): Parsed<string> {
  return parseCidr(text) === null ? { fault: 'must be an address range like 10.0.0.0/8' } : { value: text }
}

export function dnsServer(text: string): Parsed<string> {
  const withPort = /^\[(.+)\]:(\d{1,5})$/.exec(text) ?? /^([^:]+):(\d{1,5})$/.exec(text)
  const address = withPort?.[1] ?? text
  const port = Number(withPort?.[2] ?? 53)
  const valid = parseIpAddress(address) !== null && port >= 1 && port <= 65_535
  return valid ? { value: text } : { fault: 'must be an IP address, or one with a port' }
}

export function pemFile(path: string): Parsed<string> {
  let pem: string
  try {
    pem = readFileSync(path, 'utf8')
  } catch (error) {
    return { fault: `names a file that cannot be read (${(error as NodeJS.ErrnoException).code})` }
  }
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) return { fault: 'names a file without a PEM certificate' }
  return { value: pem }
}
