import type { SenderKind } from './addresses.ts'
import type {
  AmbiguousSubmits,
  BindMode,
  LongMessages,
  OperatingState,
  ValidityFormat,
} from './configuration.ts'
import { parseIpAddress } from './ip-addresses.ts'
import type { SubmitOutcome } from './submit-outcomes.ts'

/** Values an operator may choose among, and the rules of settings that a schema cannot express. */

export const SENDER_KINDS = ['short-code', 'e164', 'alphanumeric'] as const satisfies readonly SenderKind[]
export const AMBIGUOUS_SUBMITS = ['resubmit', 'unknown'] as const satisfies readonly AmbiguousSubmits[]
export const BIND_MODES = [
  'transceiver',
  'transmitter',
  'receiver',
  'transmitter+receiver',
] as const satisfies readonly BindMode[]
export const OPERATING_STATES = [
  'started',
  'draining',
  'stopped',
] as const satisfies readonly OperatingState[]
export const LONG_MESSAGES = ['udh', 'udh16', 'sar', 'payload'] as const satisfies readonly LongMessages[]
export const VALIDITY_FORMATS = ['relative', 'absolute', 'none'] as const satisfies readonly ValidityFormat[]
/** Receipts are awaited until 48 h after the longest validity; then submissions are kept for another 72 h. */
export const VALIDITY_SECONDS = { least: 60, most: 86_400 } as const
/** What a command_status other than 0 may be made to mean for a carrier. */
export const REFUSED_OUTCOMES = [
  'throttled',
  'retry',
  'limited-retry',
  'rebind',
  'permanent',
] as const satisfies readonly SubmitOutcome[]
export type RefusedOutcome = (typeof REFUSED_OUTCOMES)[number]
export const MAX_BINDS = 32
export const MAX_SUBMIT_OUTCOMES = 256

/** Names of carriers and routes stand in paths beside numeric ids, so they begin with a letter. */
export const LINK_NAME = /^[A-Za-z][A-Za-z0-9._-]{0,62}$/
/** A number that messages are sent to: E.164, or a short code. */
export const INBOUND_NUMBER = /^(?:\+[1-9][0-9]{6,14}|[0-9]{3,8})$/
/** Who an inbound message is from: carriers have short codes, names, national numbers and forms of their own. */
export const INBOUND_SENDER = /^(?=.{1,64}$)[^\s\p{Cc}](?:[^\p{Cc}]*[^\s\p{Cc}])?$/u
/** Beginning of E.164 numbers, the calling code at least. */
export const NUMBER_PREFIX = /^\+[1-9][0-9]{0,14}$/
/** Mobile country code and network code (ITU-T E.212): 3 digits, then 2 or 3. */
export const MCCMNC = /^[0-9]{5,6}$/
/** One word, because it is matched against the first token of a message. No controls (PostgreSQL has no U+0000). */
export const KEYWORD = /^[^\s\p{Cc}\p{Cs}]{1,32}$/u

const HOST_LABEL = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$/
const MAX_HOST_CHARACTERS = 253

/** A host name or an IP literal without brackets: where a carrier's SMSC is dialled. */
export function isCarrierHost(host: string): boolean {
  if (parseIpAddress(host) !== null) return true
  const labels = host.split('.')
  // A host of digits and dots only is an address that did not parse, and resolvers would read it as one.
  if (host.length > MAX_HOST_CHARACTERS || /^[0-9.]+$/.test(host)) return false
  return labels.every((label) => HOST_LABEL.test(label))
}

/** The first keyword that equals an earlier one apart from case, or null. */
export function repeatedKeyword(keywords: readonly string[]): string | null {
  const seen = new Set<string>()
  for (const keyword of keywords) {
    const folded = keyword.normalize('NFC').toLowerCase()
    if (seen.has(folded)) return keyword
    seen.add(folded)
  }
  return null
}

/** The first value that occurs twice, or null. */
export function repeatedValue(values: readonly string[]): string | null {
  return values.find((value, position) => values.indexOf(value) !== position) ?? null
}

/** A command_status (SMPP 3.4 §5.1.3) as `0x45` or `69`; null when it is neither. */
export function parseCommandStatus(text: string): number | null {
  if (!/^(?:0[xX][0-9a-fA-F]{1,8}|[0-9]{1,10})$/.test(text)) return null
  const status = Number(text)
  return status <= 0xffff_ffff ? status : null
}

/** `0x00000045` */
export function formatCommandStatus(status: number): string {
  return `0x${status.toString(16).padStart(8, '0')}`
}

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[A-Za-z0-9+/=\s]+-----END \1-----/g

/** The certificates of a PEM text, one block each; null when it has none, or anything else between BEGIN and END. */
export function pemCertificates(text: string): readonly string[] | null {
  const blocks = [...text.matchAll(PEM_BLOCK)]
  const complete = blocks.length === (text.match(/-----BEGIN /g) ?? []).length
  if (!complete || blocks.length === 0 || blocks.some(([, label]) => label !== 'CERTIFICATE')) return null
  return blocks.map(([block]) => block)
}
