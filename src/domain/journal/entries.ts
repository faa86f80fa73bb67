import type { KeptReceipt } from '../carriers/receipts.ts'
import { type DispatchState, MESSAGE_STATUSES, type MessageState } from '../messages/messages.ts'
import type { Charge } from '../routing/rates.ts'
import { decompress, FrameWriter } from './compression.ts'
import type { Accepted, Evidence, JournalFact } from './message-facts.ts'
import { Reader, Writer } from './octets.ts'

/**
 * A journal entry: the facts of one group commit, as octets. A format octet; then, for each fact, its kind, its message's id
 * and its fields in the order of FIELDS. Small numbers take one octet; a settled message takes some 60, a receipt some 45.
 */

type AnyFact = JournalFact['fact']
type Kind = AnyFact['kind']
type FactOf<K extends Kind> = Extract<AnyFact, { kind: K }>

interface Field<T> {
  write(to: Writer, value: T): void
  read(from: Reader): T
}

/**
 * Gets a new number when a field is added or changes: a node of an older version refuses the entry instead of misreading
 * it.
 */
const UNCOMPRESSED = 1
const COMPRESSED = 2
/** Octets of the format and of the frame's length. */
const HEAD_OCTETS = 5
/** The facts of a group are alike: with 16 messages, 600 octets each become 85. Shorter entries are not worth it. */
const COMPRESSED_FROM = 1_024
const MOST_OCTETS = 64 * 2 ** 20

const whole: Field<number> = { write: (to, value) => to.whole(value), read: (from) => from.whole() }
const flag: Field<boolean> = {
  write: (to, value) => to.whole(value ? 1 : 0),
  read: (from) => from.whole() === 1,
}
const bits: Field<bigint> = { write: (to, value) => to.bits(value), read: (from) => from.bits() }
const text: Field<string> = { write: (to, value) => to.text(value), read: (from) => from.text() }
const charge: Field<Charge> = {
  write(to, { price, ptf, currency }) {
    for (const part of [price, ptf, currency]) to.text(part)
  },
  read: (from) => ({ price: from.text(), ptf: from.text(), currency: from.text() }),
}

function optional<T>(field: Field<T>): Field<T | null> {
  return {
    write(to, value) {
      flag.write(to, value !== null)
      if (value !== null) field.write(to, value)
    },
    read: (from) => (flag.read(from) ? field.read(from) : null),
  }
}

function oneOf<const T extends string>(...values: readonly T[]): Field<T> {
  return {
    write: (to, value) => to.whole(values.indexOf(value)),
    read(from) {
      const value = values[from.whole()]
      if (value === undefined) throw new RangeError('a journal entry has a value that is not known')
      return value
    },
  }
}

const keptReceipt: Field<KeptReceipt> = {
  write(to, value) {
    to.text(value.text)
    const tlvs = Object.entries(value.tlvs)
    to.whole(tlvs.length)
    for (const part of tlvs.flat()) to.text(part)
  },
  read(from) {
    const kept = from.text()
    const tlvs: Record<string, string> = {}
    for (let left = from.whole(); left > 0; left -= 1) tlvs[from.text()] = from.text()
    return { text: kept, tlvs }
  },
}
const receiptOutcome = oneOf('DELIVERED', 'FAILED', 'UNKNOWN', 'SENT')
/** Without `matchedAtMs`: a receipt that was parked is never journaled, because only messages at rest are matched with it. */
const evidence: Field<Evidence> = {
  write(to, { carrierId, carrierMessageId, receivedAt, outcome, errorCode, kept }) {
    to.whole(carrierId)
    for (const part of [carrierMessageId, receivedAt, errorCode]) to.text(part)
    receiptOutcome.write(to, outcome)
    optional(keptReceipt).write(to, kept)
  },
  read(from) {
    const carrierId = from.whole()
    const [carrierMessageId, receivedAt, errorCode] = [from.text(), from.text(), from.text()]
    return {
      carrierId,
      carrierMessageId,
      receivedAt,
      matchedAtMs: null,
      outcome: receiptOutcome.read(from),
      errorCode,
      kept: optional(keptReceipt).read(from),
    }
  },
}

type Fields<T> = { readonly [F in keyof T]-?: Field<T[F]> }

/** The fields of an object, in the order given. A missing one does not compile. */
function all<T extends object>(fields: Fields<T>): Field<T> {
  const each = Object.entries(fields) as [string, Field<unknown>][]
  return {
    write(to, value) {
      for (const [name, field] of each) field.write(to, (value as Record<string, unknown>)[name])
    },
    read: (from) => Object.fromEntries(each.map(([name, field]) => [name, field.read(from)])) as T,
  }
}

const accepted: Fields<Omit<Accepted, 'kind'>> = {
  planId: whole,
  sender: text,
  recipient: text,
  body: text,
  segments: whole,
  country: optional(text),
  callbackUrl: optional(text),
  optedOut: flag,
  discardsText: flag,
  begun: flag,
  routeId: whole,
  expiresAtMs: whole,
}
const dispatch = all<DispatchState>({
  attempt: whole,
  carrierId: optional(whole),
  acceptedPduBits: bits,
  segmentation: optional(text),
  startedOver: flag,
  ambiguous: flag,
  begun: flag,
  dueAtMs: whole,
  routeId: whole,
  chosenCarrierId: whole,
})
const state = all<MessageState>({
  status: oneOf(...MESSAGE_STATUSES),
  sequence: whole,
  changedAtMs: whole,
  sentAtMs: optional(whole),
  errorCode: text,
  carrierCode: optional(text),
  carrierId: optional(whole),
  routeId: optional(whole),
  routeReason: optional(text),
  segments: whole,
  segmentation: optional(text),
  deliveredBits: bits,
  unknownBits: bits,
  mccmnc: optional(text),
  charge: optional(charge),
  dispatch: optional(dispatch),
})

/** Kinds and fields are numbered by their order here. */
const FIELDS: { readonly [K in Kind]: Fields<Omit<FactOf<K>, 'kind'>> } = {
  accepted,
  loaded: { accepted: all(accepted), state, hasWaitingEvents: flag },
  begun: { atMs: whole },
  'pdus-accepted': { atMs: whole, pduBits: bits, segmentation: text },
  'started-over': { atMs: whole, segmentation: text },
  postponed: {
    atMs: whole,
    dueAtMs: whole,
    attempt: whole,
    carrierId: optional(whole),
    acceptedPduBits: bits,
    segmentation: optional(text),
    startedOver: flag,
    ambiguous: flag,
    routeId: optional(whole),
    chosenCarrierId: whole,
  },
  orphaned: { atMs: whole, ambiguityWaitMs: whole },
  settled: {
    atMs: whole,
    status: oneOf('SENT', 'FAILED', 'UNKNOWN'),
    errorCode: text,
    carrierCode: optional(text),
    carrierId: optional(whole),
    routeId: optional(whole),
    routeReason: optional(text),
    segments: optional(whole),
    segmentation: optional(text),
    mccmnc: optional(text),
    charge: optional(charge),
  },
  receipt: {
    atMs: whole,
    outcome: oneOf('DELIVERED', 'FAILED', 'UNKNOWN'),
    segmentBits: bits,
    segmentation: optional(text),
    errorCode: text,
    carrierCode: optional(text),
    mccmnc: optional(text),
    segmentCharge: optional(charge),
    evidence,
  },
  overdue: { atMs: whole, errorCode: text },
  submitted: {
    atMs: whole,
    latencyMs: whole,
    carrierId: whole,
    carrierMessageId: text,
    segment: whole,
    segmentation: optional(text),
  },
  attempted: {
    atMs: whole,
    tookMs: whole,
    carrierId: optional(whole),
    outcome: oneOf('accepted', 'refused', 'retry', 'no-answer'),
    commandStatus: optional(whole),
    segment: optional(whole),
    resubmission: flag,
    reason: optional(text),
  },
  noted: { evidence },
  'event-taken': {
    sequence: whole,
    attemptedAtMs: whole,
    latencyMs: whole,
    responseStatus: optional(whole),
    responseHead: optional(text),
    destination: optional(text),
  },
}

const KINDS = Object.keys(FIELDS) as Kind[]
/** The same without its types, which the loops below cannot follow. */
const FIELDS_OF = KINDS.map((kind) => Object.entries(FIELDS[kind]) as [string, Field<unknown>][])
const NUMBER_OF = new Map(KINDS.map((kind, number) => [kind, number]))

/** @throws RangeError for a number that is negative, or not whole. */
export function encodeEntry(facts: readonly JournalFact[]): Buffer {
  const to = new Writer()
  to.whole(UNCOMPRESSED)
  to.whole(facts.length)
  for (const { msgId, fact } of facts) {
    const number = NUMBER_OF.get(fact.kind)!
    to.whole(number)
    to.uuid(msgId)
    for (const [name, field] of FIELDS_OF[number]!)
      field.write(to, (fact as unknown as Record<string, unknown>)[name])
  }
  const { written } = to
  return written.length < COMPRESSED_FROM ? written : compressed(written)
}

/** @throws RangeError for data that `encodeEntry` of this version has not written. */
export function decodeEntry(data: Buffer): JournalFact[] {
  const from = new Reader(data[0] === COMPRESSED ? decompressed(data) : data)
  const format = from.whole()
  if (format !== UNCOMPRESSED)
    throw new RangeError(`a journal entry has format ${format}, which is not known`)
  const facts = Array.from({ length: from.whole() }, () => {
    const number = from.whole()
    const fields = FIELDS_OF[number]
    if (fields === undefined) throw new RangeError(`a journal entry has a fact of kind ${number}`)
    const msgId = from.uuid()
    const fact: Record<string, unknown> = { kind: KINDS[number] }
    for (const [name, field] of fields) fact[name] = field.read(from)
    return { msgId, fact: fact as unknown as AnyFact }
  })
  if (!from.isAtEnd) throw new RangeError('a journal entry has octets behind its last fact')
  return facts
}

const frames = new FrameWriter()

function compressed(plain: Buffer): Buffer {
  const frame = frames.compress(plain)
  const head = Buffer.alloc(HEAD_OCTETS)
  head[0] = COMPRESSED
  head.writeUInt32BE(frame.length, 1)
  return Buffer.concat([head, frame])
}

function decompressed(data: Buffer): Buffer {
  const frame = data.subarray(HEAD_OCTETS)
  if (data.length < HEAD_OCTETS || data.readUInt32BE(1) !== frame.length)
    throw new RangeError('a journal entry is cut short, or longer than it says')
  try {
    return decompress(frame, MOST_OCTETS)
  } catch (cause) {
    throw new RangeError('a journal entry cannot be decompressed', { cause })
  }
}
