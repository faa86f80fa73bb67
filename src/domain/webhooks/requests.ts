import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { type Fault, fault } from '../../errors.ts'
import { accountHeadersContext, type SecretKeys, sealSecret } from '../secrets.ts'

/**
 * What the requests of webhooks have besides their body: signatures, the headers of Aldis, and those that an account adds,
 * whose values are masked wherever a receiver repeats them.
 */

export interface WebhookContents {
  /** The same at each attempt. */
  readonly eventId: string
  /** From 1. */
  readonly attempt: number
  /** Of the event within its message. */
  readonly sequence: number
  /** JSON text, sent as it is; '': the URL is fetched. */
  readonly body: string
  /** Of this attempt, Unix milliseconds. */
  readonly timestampMs: number
  /** It never happened: `aldis-test` says so. */
  readonly isTest: boolean
}

/** One attempt, before it is signed. */
export interface Webhook extends WebhookContents {
  readonly url: string
}

/** Headers of one attempt, signed with each secret. */
export function webhookHeaders(
  { eventId: id, attempt, sequence, body, timestampMs, isTest }: WebhookContents,
  secrets: readonly string[],
): Record<string, string> {
  return {
    ...(body !== '' && { 'content-type': 'application/json' }),
    ...signWebhook({ id, timestampMs, body }, secrets),
    'aldis-attempt': String(attempt),
    'aldis-sequence': String(sequence),
    ...(isTest && { 'aldis-test': 'true' }),
  }
}

/** Headers of all requests of an account to a URL, but for those of the connection. `own`: the account's, and those of the URL. */
export function commonHeaders(own: Readonly<Record<string, string>>): Record<string, string> {
  const sent = Object.entries(own).filter(([name]) => !isReservedHeader(name.toLowerCase()))
  return {
    'user-agent': 'Aldis',
    // The body of the answer is not inflated, so it should not come compressed.
    'accept-encoding': 'identity',
    ...Object.fromEntries(sent),
  }
}

/** Standard Webhooks headers, under the names the specification gives them. */
interface WebhookSignatureHeaders {
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

const SECRET_PREFIX = 'whsec_'
/** Key sizes the Standard Webhooks specification allows, in bytes. */
const MIN_KEY_BYTES = 24
const MAX_KEY_BYTES = 64

/** Writes 24 to 64 random bytes as a secret, `whsec_` and base64. Throws RangeError on any other size. */
export function formatWebhookSecret(key: Uint8Array): string {
  if (key.length < MIN_KEY_BYTES || key.length > MAX_KEY_BYTES) {
    throw new RangeError(`a webhook key has ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes`)
  }
  return SECRET_PREFIX + Buffer.from(key).toString('base64')
}

/** The key of a `whsec_` secret, or null when it is not one. */
export function parseWebhookSecret(secret: string): Buffer | null {
  if (!secret.startsWith(SECRET_PREFIX)) return null
  const encoded = secret.slice(SECRET_PREFIX.length)
  const key = Buffer.from(encoded, 'base64')
  // Buffer skips characters outside the alphabet; a secret that does not come back the same is damaged.
  if (key.toString('base64') !== encoded) return null
  return key.length < MIN_KEY_BYTES || key.length > MAX_KEY_BYTES ? null : key
}

/** The keys of an account's secrets, prepared once each time its secrets are read. */
const keysBySecrets = new WeakMap<readonly string[], readonly KeyObject[]>()

function keysOf(secrets: readonly string[]): readonly KeyObject[] {
  let keys = keysBySecrets.get(secrets)
  if (keys === undefined) {
    keys = secrets.map((secret) => {
      const key = parseWebhookSecret(secret)
      if (key === null) throw new TypeError('not a webhook secret')
      return createSecretKey(key)
    })
    keysBySecrets.set(secrets, keys)
  }
  return keys
}

/**
 * Signs one delivery: `v1,` and base64 HMAC-SHA256 of `id.timestamp.body`, one signature per secret, separated by
 * spaces, so that a receiver may rotate. `timestampMs` is the time of the attempt; the header carries whole seconds.
 *
 * The `standardwebhooks` package computes the same bytes with SHA-256 in JavaScript, at 12.7 µs per call; this is 2.0 µs
 * for a 600-byte body. The tests verify with that package.
 * Throws TypeError on a damaged secret: secrets are checked when they are stored.
 */
export function signWebhook(
  delivery: { id: string; timestampMs: number; body: string },
  secrets: readonly string[],
): WebhookSignatureHeaders {
  const timestamp = String(Math.floor(delivery.timestampMs / 1_000))
  const signed = `${delivery.id}.${timestamp}.${delivery.body}`
  const signatures = keysOf(secrets).map(
    (key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
  )
  return {
    'webhook-id': delivery.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}

/** Headers that the webhooks of an account carry in addition to those of Aldis, so that its receivers let them in. */
export interface WebhookHeaderSettings {
  /** Sent as given, in this order. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  /** Sent as Basic credentials (RFC 7617). */
  readonly credentials: { readonly username: string; readonly password: string } | null
}

/** As an operator gives it: an absent value changes nothing, null removes. */
export interface WebhookHeaderChange {
  readonly webhookHeaders?: WebhookHeaderSettings['headers'] | null
  readonly webhookCredentials?: WebhookHeaderSettings['credentials']
}

export const NO_WEBHOOK_HEADERS: WebhookHeaderSettings = { headers: [], credentials: null }

export const MAX_WEBHOOK_HEADERS = 10
/** Token of RFC 9110 §5.6.2. */
export const WEBHOOK_HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
/** Field value of RFC 9110 §5.5 in ASCII. */
export const WEBHOOK_HEADER_VALUE = /^(?=.{1,1000}$)[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/
/** RFC 7617 §2: the first colon ends the user name, and neither part has controls. */
export const BASIC_USERNAME = /^[^:\p{Cc}\p{Cs}]{0,255}$/u
export const BASIC_PASSWORD = /^[^\p{Cc}\p{Cs}]{0,255}$/u

/** Names and values together; many servers refuse a head of more than 8 KiB. */
const MAX_CHARACTERS = 4_096
const AUTHORIZATION = 'authorization'
/** Headers that describe the body, the connection or the event. These are ours, or the HTTP client's. */
const RESERVED_NAMES = new Set([
  'host',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'user-agent',
  'accept-encoding',
  'traceparent',
  'tracestate',
])
const RESERVED_PREFIXES = ['content-', 'proxy-', 'webhook-', 'aldis-']

/** The settings after the change. */
export function changedWebhookHeaders(
  settings: WebhookHeaderSettings,
  { webhookHeaders, webhookCredentials }: WebhookHeaderChange,
): WebhookHeaderSettings {
  return {
    headers: webhookHeaders === undefined ? settings.headers : (webhookHeaders ?? []),
    credentials: webhookCredentials === undefined ? settings.credentials : webhookCredentials,
  }
}

/** Faults of the changed settings that the forms of names and values do not show. Faults quote no value. */
export function judgeWebhookHeaders(settings: WebhookHeaderSettings, change: WebhookHeaderChange): Fault[] {
  const faults: Fault[] = []
  const names = new Set<string>()
  for (const [index, header] of settings.headers.entries()) {
    const name = header.name.toLowerCase()
    const reason = whyRefused(name, names, settings, change)
    if (reason !== null) faults.push(fault(`webhookHeaders.${index}.name`, ...reason))
    names.add(name)
  }
  if (names.has(AUTHORIZATION) && change.webhookCredentials != null) {
    faults.push(
      fault(
        'webhookCredentials',
        'NOT_ALLOWED',
        'must not be given together with a webhook header Authorization',
      ),
    )
  }
  const characters = Object.entries(sentWebhookHeaders(settings)).reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    0,
  )
  if (characters > MAX_CHARACTERS) {
    const field = change.webhookHeaders === undefined ? 'webhookCredentials' : 'webhookHeaders'
    const message = `must not bring the names and values of all headers above ${MAX_CHARACTERS} characters`
    faults.push(fault(field, 'TOO_LONG', message))
  }
  return faults
}

function whyRefused(
  name: string,
  before: ReadonlySet<string>,
  { credentials }: WebhookHeaderSettings,
  { webhookCredentials }: WebhookHeaderChange,
): [code: string, message: string] | null {
  if (isReservedHeader(name)) return ['NOT_ALLOWED', 'must not be a header that Aldis or the connection sets']
  if (before.has(name)) return ['REPEATED', 'must not be given twice']
  if (name !== AUTHORIZATION || credentials === null || webhookCredentials != null) return null
  return ['NOT_ALLOWED', 'must not be Authorization while there are webhookCredentials']
}

/** `name`: in lower case. */
function isReservedHeader(name: string): boolean {
  return RESERVED_NAMES.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix))
}

/**
 * Names and values as they are sent. Authorization is in lower case, so that one made of a URL's user info replaces it. A
 * name that was reserved after it was stored is left out.
 */
export function sentWebhookHeaders({ headers, credentials }: WebhookHeaderSettings): Record<string, string> {
  const sent: [string, string][] = []
  for (const { name, value } of headers) {
    const folded = name.toLowerCase()
    if (!isReservedHeader(folded)) sent.push([folded === AUTHORIZATION ? folded : name, value])
  }
  if (credentials !== null) {
    const pair = Buffer.from(`${credentials.username}:${credentials.password}`)
    sent.push([AUTHORIZATION, `Basic ${pair.toString('base64')}`])
  }
  return Object.fromEntries(sent)
}

/** The stored form; null when there is nothing to store. `iv`: 12 fresh random bytes. */
export function sealWebhookHeaders(
  key: SecretKeys,
  settings: WebhookHeaderSettings,
  iv: Uint8Array,
  accountId: string,
): string | null {
  if (settings.headers.length === 0 && settings.credentials === null) return null
  return sealSecret(key, JSON.stringify(settings), iv, accountHeadersContext(accountId))
}

/** `open` opens a sealed secret of a context, as `openSecret` does, and throws what it throws. */
export function openWebhookHeaders(
  open: (sealed: string, context: string) => string,
  stored: string | null,
  accountId: string,
): WebhookHeaderSettings {
  if (stored === null) return NO_WEBHOOK_HEADERS
  return JSON.parse(open(stored, accountHeadersContext(accountId)))
}

/** Shorter values occur in ordinary text, and would be no secret. */
const MIN_CHARACTERS = 4
const MASK = '***'
/** Characters of a value that JSON escapes. */
const ESCAPED = /["\\\t]/

/**
 * The beginning of an answer, without the values of these headers. Receivers that show what they were sent (error pages,
 * echo services) would otherwise put a customer's credentials into what we keep of it. Basic credentials are masked
 * decoded too, and each value also as JSON writes it. The text may end inside a value: it was cut there, or the
 * connection broke.
 */
export function maskEchoes(text: string, headers: Readonly<Record<string, string>>): string {
  if (text === '') return text
  const secrets = Object.entries(headers).flatMap(([name, value]) => formsOf(name, value))
  // Longest first: one may contain another.
  const forms = secrets.filter(({ length }) => length >= MIN_CHARACTERS).sort((a, b) => b.length - a.length)
  let masked = text
  for (const form of forms) masked = masked.replaceAll(form, MASK)
  return withoutBeginning(masked, forms)
}

function formsOf(name: string, value: string): string[] {
  const forms = [value]
  if (name.toLowerCase() === 'authorization') {
    const [scheme, credentials] = value.split(/ +/, 2)
    if (credentials !== undefined) forms.push(credentials)
    if (credentials !== undefined && scheme?.toLowerCase() === 'basic') {
      const pair = Buffer.from(credentials, 'base64').toString('utf8')
      forms.push(pair, pair.slice(pair.indexOf(':') + 1))
    }
  }
  return forms.flatMap((form) => (ESCAPED.test(form) ? [form, JSON.stringify(form).slice(1, -1)] : [form]))
}

/** The text without a beginning of one of these forms at its end. */
function withoutBeginning(text: string, forms: readonly string[]): string {
  for (const form of forms) {
    for (let length = Math.min(form.length - 1, text.length); length >= MIN_CHARACTERS; length -= 1) {
      if (text.endsWith(form.slice(0, length))) return text.slice(0, -length) + MASK
    }
  }
  return text
}
