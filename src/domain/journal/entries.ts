import { decompress, FrameWriter } from './compression.ts'
import { FACTS, type JournalFact } from './message-facts.ts'
import { type Field, Reader, Writer } from './octets.ts'

/**
 * A journal entry: the facts of one group commit, as octets. A format octet; then, for each fact, its kind, its message's id
 * and its fields in the order of FACTS. Small numbers take one octet; a settled message takes some 60, a receipt some 45.
 */

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

const KINDS = Object.keys(FACTS)
/** Without their types, which the loops below cannot follow. */
const FIELDS_OF = Object.values(FACTS).map((fields) => Object.entries(fields) as [string, Field<unknown>][])
const NUMBER_OF = new Map(KINDS.map((kind, number) => [kind, number]))

/** Used again, because each entry would leave three times its octets of larger and larger buffers. */
const to = new Writer()

/** @throws RangeError for a number that is negative, or not whole. */
export function encodeEntry(facts: readonly JournalFact[]): Buffer {
  to.begin()
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
  return written.length < COMPRESSED_FROM ? Buffer.from(written) : compressed(written)
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
    return { msgId, fact: fact as unknown as JournalFact['fact'] }
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
