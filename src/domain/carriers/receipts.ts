import { RECEIPT_STATES, type ReceiptState } from './statuses.ts'

/** Delivery receipts inside deliver_sm: the text form (SMPP 3.4 Appendix B) and the TLV form (§5.3.2.12, .27, .31). */

export type Receipt = {
  /** As the carrier wrote it: an id can be hexadecimal, decimal above 2^53 or a UUID, so it stays a string. */
  carrierMessageId: string | null
  state: ReceiptState
  /** The carrier's word for a state that is in none of our lists, as written; null when the state was read. */
  vendorState: string | null
  /** The carrier's raw code: `err:` as written, or network_error_code in decimal, 3 digits at least. */
  rawCode: string | null
  /** First octet of network_error_code when rawCode came from it (1 ANSI-136, 2 IS-95, 3 GSM, 7 SMPP), else null. */
  networkType: number | null
  /** 5 or 6 digits. */
  mccmnc: string | null
}

export type ReceiptTlvs = {
  receipted_message_id?: string | undefined
  message_state?: number | undefined
  network_error_code?: Buffer | undefined
}

/** A receipt built by its SMSC has at most some 300 characters; nothing beyond this limit is read. */
const MAX_TEXT_LENGTH = 4096
const MAX_VALUE_LENGTH = 64
const MAX_KEY_LENGTH = 20

const MESSAGE_TYPE_BITS = 0x3c
const DELIVERY_RECEIPT = 0x04
const INTERMEDIATE_NOTIFICATION = 0x20

const STATE_OF_VALUE = new Map<number, ReceiptState>()
for (const state of Object.keys(RECEIPT_STATES) as ReceiptState[])
  STATE_OF_VALUE.set(RECEIPT_STATES[state].value, state)

/** Spellings seen, each with the fewest letters that a truncated one must keep to be unmistakable. */
const SPELLINGS: ReadonlyArray<readonly [spelling: string, fewestLetters: number, state: ReceiptState]> = [
  ['DELIVRD', 6, 'DELIVRD'],
  ['DELIVERED', 7, 'DELIVRD'],
  ['DELIVERD', 8, 'DELIVRD'],
  ['UNDELIVRD', 5, 'UNDELIV'],
  ['UNDELIVERED', 5, 'UNDELIV'],
  ['UNDELIVERD', 10, 'UNDELIV'],
  ['UNDELIVD', 8, 'UNDELIV'],
  ['UNDELIVERABLE', 5, 'UNDELIV'],
  ['REJECTD', 6, 'REJECTD'],
  ['REJECTED', 6, 'REJECTD'],
  ['EXPIRED', 5, 'EXPIRED'],
  ['EXPIRD', 6, 'EXPIRED'],
  ['DELETED', 5, 'DELETED'],
  ['ACCEPTD', 6, 'ACCEPTD'],
  ['ACCEPTED', 6, 'ACCEPTD'],
  ['ENROUTE', 6, 'ENROUTE'],
  ['EN_ROUTE', 7, 'ENROUTE'],
  ['SKIPPED', 5, 'SKIPPED'],
  ['SCHEDULED', 5, 'SCHEDULED'],
  ['UNKNOWN', 7, 'UNKNOWN'],
]

const STATE_WORDS = new Map<string, ReceiptState>()
for (const [spelling, fewestLetters, state] of SPELLINGS) {
  for (let length = fewestLetters; length <= spelling.length; length += 1) {
    STATE_WORDS.set(spelling.slice(0, length), state)
  }
}

type Field = 'id' | 'sub' | 'dlvrd' | 'date' | 'stat' | 'err' | 'mccmnc' | 'mcc' | 'mnc' | 'text'

/** Keys in lower case without spaces, underscores and hyphens. */
const KEYS = new Map<string, Field>([
  ['id', 'id'],
  ['msgid', 'id'],
  ['messageid', 'id'],
  ['smsid', 'id'],
  ['receiptedmessageid', 'id'],
  ['sub', 'sub'],
  ['dlvrd', 'dlvrd'],
  ['submitdate', 'date'],
  ['submittime', 'date'],
  ['donedate', 'date'],
  ['donetime', 'date'],
  ['stat', 'stat'],
  ['status', 'stat'],
  ['state', 'stat'],
  ['messagestate', 'stat'],
  ['messagestatus', 'stat'],
  ['err', 'err'],
  ['error', 'err'],
  ['errcode', 'err'],
  ['errorcode', 'err'],
  ['networkerrorcode', 'err'],
  ['mccmnc', 'mccmnc'],
  ['network', 'mccmnc'],
  ['networkcode', 'mccmnc'],
  ['mcc', 'mcc'],
  ['mnc', 'mnc'],
  ['text', 'text'],
])

/** Second words of keys that are written as two. */
const SECOND_WORDS = new Set(['date', 'time', 'code'])

/**
 * Words as most carriers write them, by length. Comparing with a few is faster than looking up a text that was just cut
 * out.
 */
const WORDS = [...KEYS.keys(), ...SECOND_WORDS, 'submit', 'done']
const WORDS_BY_LENGTH = Array.from({ length: MAX_KEY_LENGTH + 1 }, (_, length) =>
  WORDS.filter((word) => word.length === length),
)

/** Whether a deliver_sm is a receipt: by the message type bits of esm_class (SMPP 3.4 §5.2.12), not by its text. */
export function isReceipt(esmClass: number): boolean {
  const type = esmClass & MESSAGE_TYPE_BITS
  return type !== 0 && (type & ~(DELIVERY_RECEIPT | INTERMEDIATE_NOTIFICATION)) === 0
}

/**
 * The text of a receipt from its octets. Its keys and values are ASCII (Appendix B). Its data_coding is no guide, because
 * carriers copy that of the message it is about. UTF-16 is recognised by its zero octets. The rest is read as Latin-1,
 * like ids elsewhere in SMPP: in the GSM alphabet `_` is 0x11, so an id with one would change. Never throws, no U+0000.
 */
export function receiptText(octets: Buffer): string {
  const order = byteOrder(octets)
  if (order === null) return octets.toString('latin1').replaceAll('\0', '').replaceAll('\x11', '_')
  const even = Buffer.from(octets.subarray(0, octets.length & ~1))
  return (order === 'be' ? even.swap16() : even).toString('utf16le').replaceAll('\0', '').toWellFormed()
}

/** Byte order of UTF-16, by its mark or its first two characters; null for octets that are not UTF-16. */
function byteOrder(octets: Buffer): 'be' | 'le' | null {
  const [first, second, third, fourth] = octets
  if (fourth === undefined) return null
  if ((first === 0xfe && second === 0xff) || (first === 0 && third === 0)) return 'be'
  return (first === 0xff && second === 0xfe) || (second === 0 && fourth === 0) ? 'le' : null
}

/**
 * Reads a receipt. TLVs win over the text where they are readable; a state that is missing or not in our lists is
 * UNKNOWN. Null when there is neither a message id nor a state. Linear in the text, never throws.
 */
export function parseReceipt(text: string, tlvs: ReceiptTlvs = {}): Receipt | null {
  const fields = readFields(text.slice(0, MAX_TEXT_LENGTH))
  const carrierMessageId = firstWord(tlvs.receipted_message_id) ?? firstWord(fields.id)
  const word = firstWord(fields.stat)
  if (carrierMessageId === null && word === null && tlvs.message_state === undefined) return null
  const network = readNetworkError(tlvs.network_error_code)
  const state = receiptState(word, tlvs.message_state)
  return {
    carrierMessageId,
    state: state ?? 'UNKNOWN',
    vendorState: state === undefined ? word : null,
    rawCode: network?.code ?? firstWord(fields.err),
    networkType: network?.type ?? null,
    mccmnc:
      fiveOrSixDigits(fields.mccmnc) ??
      (fields.mcc === undefined ? null : fiveOrSixDigits(`${firstWord(fields.mcc)}${firstWord(fields.mnc)}`)),
  }
}

/** message_state 0 is SCHEDULED in SMPP 5.0 but undefined in 3.4, where some send it for "not set": then the word wins. */
function receiptState(word: string | null, messageState: number | undefined): ReceiptState | undefined {
  const worded = word === null ? undefined : stateOf(word.toUpperCase())
  const coded = messageState === undefined ? undefined : STATE_OF_VALUE.get(messageState)
  if (messageState === 0 && worded !== undefined) return worded
  return coded ?? worded
}

/** Some carriers write more behind the word: `DELIVRD.`, `UNDELIV/ABSENT`. */
function stateOf(word: string): ReceiptState | undefined {
  return STATE_WORDS.get(word) ?? STATE_WORDS.get(/^[A-Z]*/.exec(word)![0])
}

/** Octet 1 is the network type, octets 2 and 3 the code (SMPP 3.4 §5.3.2.31). */
function readNetworkError(tlv: Buffer | undefined): { type: number; code: string } | null {
  if (tlv?.length !== 3) return null
  return { type: tlv.readUInt8(0), code: String(tlv.readUInt16BE(1)).padStart(3, '0') }
}

/**
 * Values by field. If a field occurs twice, the first counts. Everything after `text:` is the message's own words, which
 * may say `stat:` too. The rest is read, for missing fields, only when `text:` comes before the state, and then the last
 * value counts. An id there counts only if neither an id nor a state came before: a message's words must not make its
 * receipt that of another.
 */
function readFields(text: string): Partial<Record<Field, string>> {
  const marks = findMarks(text)
  const textAt = marks.findIndex((mark) => mark.field === 'text')
  const fields: Partial<Record<Field, string>> = {}
  for (const [index, { field }] of marks.entries()) {
    if (index === textAt) break
    fields[field] ??= valueAfter(marks, index, text)
  }
  if (textAt === -1 || fields.stat !== undefined) return fields
  const before = new Set([...Object.keys(fields), 'text'])
  for (const [index, { field }] of marks.entries())
    if (index > textAt && !before.has(field)) fields[field] = valueAfter(marks, index, text)
  return fields
}

function valueAfter(marks: readonly Mark[], index: number, text: string): string {
  return text.slice(marks[index]!.valueAt, marks[index + 1]?.keyAt ?? text.length)
}

type Mark = { field: Field; keyAt: number; valueAt: number }

/**
 * Known keys followed by a colon, an equals sign or the end of their tag, in order, as far as they count. Looks back a
 * bounded way from each sign.
 */
function findMarks(text: string): Mark[] {
  const marks: Mark[] = []
  for (let index = 0; index < text.length; index += 1) {
    if (!isSign(text.charCodeAt(index))) continue
    const mark = keyBefore(text, index)
    if (mark === null) continue
    marks.push(mark)
    // What follows is the message's own words, which are not read.
    if (mark.field === 'text' && marks.some(({ field }) => field === 'stat')) break
  }
  return marks
}

/** Colon, equals sign, the end of a tag. */
function isSign(unit: number): boolean {
  return unit === 0x3a || unit === 0x3d || unit === 0x3e
}

function keyBefore(text: string, signAt: number): Mark | null {
  const word = wordBefore(text, signAt)
  if (word === null) return null
  let { start } = word
  let name = word.name
  if (SECOND_WORDS.has(name)) {
    const first = wordBefore(text, start)
    if (first === null) return null
    start = first.start
    name = first.name + name
  }
  const field = KEYS.get(name)
  return field === undefined ? null : { field, keyAt: start, valueAt: signAt + 1 }
}

/**
 * The word that ends before `end`, allowing spaces and quotes between; null when there is none, or it is longer than any
 * key.
 */
function wordBefore(text: string, end: number): { name: string; start: number } | null {
  const floor = Math.max(0, end - 2 * MAX_KEY_LENGTH)
  let stop = end
  while (stop > floor && isGap(text.charCodeAt(stop - 1))) stop -= 1
  let start = stop
  while (start > floor && isWordUnit(text.charCodeAt(start - 1))) start -= 1
  if (start === stop || stop - start > MAX_KEY_LENGTH) return null
  for (const word of WORDS_BY_LENGTH[stop - start]!)
    if (text.startsWith(word, start)) return { name: word, start }
  return { name: text.slice(start, stop).toLowerCase().replaceAll('_', '').replaceAll('-', ''), start }
}

/** White space, control characters and both quotes. */
function isGap(unit: number): boolean {
  return unit <= 0x20 || unit === 0x22 || unit === 0x27
}

/** Letters, digits, underscore and hyphen. */
function isWordUnit(unit: number): boolean {
  if (unit >= 0x61) return unit <= 0x7a
  if (unit >= 0x41) return unit <= 0x5a || unit === 0x5f
  return (unit >= 0x30 && unit <= 0x39) || unit === 0x2d
}

/** Gaps, commas, semicolons, bars and brackets. */
function isPadding(unit: number): boolean {
  return isGap(unit) || IS_PADDING[unit] === 1
}

const IS_PADDING = new Uint8Array(0x80)
for (const character of ',;|<>()[]{}') IS_PADDING[character.charCodeAt(0)] = 1

/** Without padding at its ends and cut to 64 characters; null when nothing is left. */
function cleaned(value: string | undefined): string | null {
  if (value === undefined) return null
  let start = 0
  let end = value.length
  while (start < end && isPadding(value.charCodeAt(start))) start += 1
  while (end > start && isPadding(value.charCodeAt(end - 1))) end -= 1
  return start === end ? null : value.slice(start, Math.min(end, start + MAX_VALUE_LENGTH))
}

function firstWord(value: string | undefined): string | null {
  const whole = cleaned(value)
  if (whole === null) return null
  let end = 1
  while (end < whole.length && !isPadding(whole.charCodeAt(end))) end += 1
  return whole.slice(0, end)
}

function fiveOrSixDigits(value: string | undefined): string | null {
  const word = firstWord(value)
  return word !== null && /^\d{5,6}$/.test(word) ? word : null
}

/** A receipt as its carrier sent it, for the operator. */
export interface KeptReceipt {
  readonly text: string
  /** By name, or by number (`0x1403`) where SMPP 3.4 has no name. Octets are written in hexadecimal. */
  readonly tlvs: Readonly<Record<string, string>>
}

/** Characters kept of a receipt. A text that an SMSC builds has at most some 300. */
const MAX_KEPT = 1_024
/** Characters of these that TLVs may take, names included, so that they never squeeze out the text. */
const MAX_TLVS = 512
const HEX = /^0x([0-9a-f]*)$/

type TlvValue = string | number | boolean | Buffer

/** The part of a receipt that is kept. `tlvs` excludes the one that carried the text. Values that do not fit are left out. */
export function keptReceipt(text: string, tlvs: Iterable<readonly [string, TlvValue]>): KeptReceipt {
  const kept: Record<string, string> = {}
  let left = MAX_TLVS
  for (const [name, value] of tlvs) {
    const shown = shownValue(value)
    if (name.length + shown.length > left) continue
    left -= name.length + shown.length
    kept[name] = shown
  }
  return { text: storable(text.slice(0, MAX_KEPT - (MAX_TLVS - left))), tlvs: kept }
}

/** TLVs that can hold a text (SMPP 3.4 §5.3.2.32). */
const TEXT_TLVS = new Set(['message_payload'])

/**
 * A receipt of a message whose text is not kept. Carriers put the beginning of the text into it: behind `text:` (SMPP 3.4
 * Appendix B), but also under other names, or alone. So only the known fields before it are left, each with the first word of its
 * value, which is all that `parseReceipt` reads.
 */
export function withoutText({ text, tlvs }: KeptReceipt): KeptReceipt {
  const others = Object.entries(tlvs).filter(([name]) => !TEXT_TLVS.has(name))
  return { text: fieldsBeforeText(text), tlvs: Object.fromEntries(others) }
}

/** As the carrier wrote them, one space apart. If a field occurs twice, as in an XML end tag, the first counts. */
function fieldsBeforeText(text: string): string {
  const marks = findMarks(text)
  const fields = new Map<string, string>()
  for (const [index, { field, keyAt, valueAt }] of marks.entries()) {
    const key = text.slice(keyAt, valueAt)
    // There are two dates.
    const name = field === 'date' ? key : field
    const word = field === 'text' ? null : firstWord(valueAfter(marks, index, text))
    if (!fields.has(name)) fields.set(name, key + (word ?? ''))
    if (field === 'text') break
  }
  return [...fields.values()].join(' ')
}

/** The carrier's id and its own words for state and error, read from what was kept; null where the receipt has none. */
export function readKept({ text, tlvs }: KeptReceipt): {
  carrierMessageId: string | null
  carrierCode: string | null
} {
  const state = tlvs.message_state
  const network = HEX.exec(tlvs.network_error_code ?? '')?.[1]
  const receipt = parseReceipt(text, {
    receipted_message_id: tlvs.receipted_message_id,
    message_state: state === undefined ? undefined : Number(state),
    network_error_code: network === undefined ? undefined : Buffer.from(network, 'hex'),
  })
  if (receipt === null) return { carrierMessageId: null, carrierCode: null }
  return { carrierMessageId: receipt.carrierMessageId, carrierCode: carrierCodeOf(receipt) }
}

/** The carrier's own words for state and error, for the operator. */
export function carrierCodeOf({ vendorState, state, rawCode }: Receipt): string {
  const word = vendorState ?? state
  return rawCode === null ? word : `${word} ${rawCode}`
}

function shownValue(value: TlvValue): string {
  return Buffer.isBuffer(value) ? `0x${value.toString('hex')}` : storable(String(value))
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}
