import { HEADER_LENGTH } from '../../src/smpp/pdu.ts'
import { randomOctets, type SeededRandom } from '../seeded-random.ts'

/** Makes invalid PDUs from real ones, and says how a stream of them must be cut. */

/** The frame limit the sessions have by default: a payload of 64 KiB and a header. */
export const FRAME_LIMIT = 65_552
export const UNBIND = 0x06

/** Frames between two with a wrong command_length, and between two unbinds: both end a session. */
const LIE_EVERY = 600
const UNBIND_EVERY = 4_000
/** With longer ones, copying alone would determine the speed. */
const MAX_OCTETS = 4_096
const EDGE_OCTETS = [0x00, 0x01, 0x1b, 0x40, 0x7f, 0x80, 0xfe, 0xff]

type Mutation = (octets: Buffer, random: SeededRandom, corpus: readonly Buffer[]) => Buffer

const MUTATIONS: readonly Mutation[] = [flipBits, setOctets, insert, remove, splice, truncate, duplicate]

export interface Batch {
  readonly frames: readonly Buffer[]
  /** Whether a frame has a wrong command_length. */
  readonly lies: boolean
}

/** Up to `count` mutated PDUs; fewer when one has a wrong length, since little after it is ever read. */
export function fuzzBatch(random: SeededRandom, corpus: readonly Buffer[], count: number): Batch {
  const frames: Buffer[] = []
  let left = count
  let lies = false
  for (; left > 0; left--) {
    const frame = mutated(random, corpus)
    frames.push(frame)
    if (lies || !random.once(LIE_EVERY)) continue
    lies = true
    lieAboutLength(frame, random)
    left = Math.min(left, 1 + random.below(8))
  }
  return { frames, lies }
}

function mutated(random: SeededRandom, corpus: readonly Buffer[]): Buffer {
  let octets = Buffer.from(random.pick(corpus))
  for (let steps = random.below(5); steps > 0; steps--)
    octets = Buffer.from(random.pick(MUTATIONS)(octets, random, corpus))
  if (octets.length < HEADER_LENGTH)
    octets = Buffer.concat([octets, randomOctets(random, HEADER_LENGTH - octets.length)])
  if (octets.readUInt32BE(4) === UNBIND && !random.once(UNBIND_EVERY / corpus.length)) octets[7] = 0x15
  octets.writeUInt32BE(octets.length, 0)
  return octets
}

function flipBits(octets: Buffer, random: SeededRandom): Buffer {
  for (let flips = 1 + random.below(6); flips > 0; flips--)
    octets[random.below(octets.length)]! ^= 1 << random.below(8)
  return octets
}

function setOctets(octets: Buffer, random: SeededRandom): Buffer {
  for (let times = 1 + random.below(3); times > 0; times--)
    octets[random.below(octets.length)] = random.pick(EDGE_OCTETS)
  return octets
}

function insert(octets: Buffer, random: SeededRandom): Buffer {
  const at = random.below(octets.length + 1)
  const inserted = random.once(2)
    ? randomOctets(random, 1 + random.below(8))
    : Buffer.alloc(1 + random.below(300), random.pick(EDGE_OCTETS))
  return Buffer.concat([octets.subarray(0, at), inserted, octets.subarray(at)]).subarray(0, MAX_OCTETS)
}

function remove(octets: Buffer, random: SeededRandom): Buffer {
  const at = random.below(octets.length)
  return atLeastOne(Buffer.concat([octets.subarray(0, at), octets.subarray(at + 1 + random.below(12))]))
}

function splice(octets: Buffer, random: SeededRandom, corpus: readonly Buffer[]): Buffer {
  const other = random.pick(corpus)
  const head = octets.subarray(0, 1 + random.below(octets.length))
  return Buffer.concat([head, other.subarray(random.below(other.length))]).subarray(0, MAX_OCTETS)
}

function truncate(octets: Buffer, random: SeededRandom): Buffer {
  return octets.subarray(0, 1 + random.below(octets.length))
}

function duplicate(octets: Buffer, random: SeededRandom): Buffer {
  const at = random.below(octets.length)
  const piece = octets.subarray(at, at + 1 + random.below(64))
  return Buffer.concat([octets.subarray(0, at), piece, octets.subarray(at)]).subarray(0, MAX_OCTETS)
}

function atLeastOne(octets: Buffer): Buffer {
  return octets.length > 0 ? octets : Buffer.alloc(1)
}

function lieAboutLength(frame: Buffer, random: SeededRandom): void {
  const lies = [
    frame.length + 1 + random.below(16),
    Math.max(0, frame.length - 1 - random.below(16)),
    random.below(HEADER_LENGTH),
    HEADER_LENGTH + random.below(FRAME_LIMIT - HEADER_LENGTH),
    FRAME_LIMIT + 1 + random.below(1_000),
    random.next(),
    0xffffffff,
  ]
  frame.writeUInt32BE(random.pick(lies), 0)
}

interface Walk {
  /** Start of each whole frame. */
  readonly starts: readonly number[]
  /** An impossible command_length, at which its reader stops. */
  readonly isFaulty: boolean
  /** Octets missing from the last frame, or from its length field; 0 at the end of a frame. */
  readonly missing: number
}

/** How a stream is to be cut by command_length (SMPP 3.4 §3.2): independent of the framer, for comparison. */
export function walk(stream: Buffer): Walk {
  const starts: number[] = []
  let at = 0
  while (stream.length - at >= 4) {
    const length = stream.readUInt32BE(at)
    if (length < HEADER_LENGTH || length > FRAME_LIMIT) return { starts, isFaulty: true, missing: 0 }
    if (at + length > stream.length) return { starts, isFaulty: false, missing: at + length - stream.length }
    starts.push(at)
    at += length
  }
  return { starts, isFaulty: false, missing: at === stream.length ? 0 : 4 - (stream.length - at) }
}

/** The stream, padded with zeros until its last frame is complete, or faulty. */
export function completed(stream: Buffer): Buffer {
  let whole = stream
  for (;;) {
    const { isFaulty, missing } = walk(whole)
    if (isFaulty || missing === 0) return whole
    whole = Buffer.concat([whole, Buffer.alloc(missing)])
  }
}

/** The stream, cut at random places; in half of the cases not cut. */
export function pieces(stream: Buffer, random: SeededRandom): Buffer[] {
  if (random.once(2)) return [stream]
  const cut: Buffer[] = []
  const most = random.pick([7, 64, 1_500, 20_000])
  // Small pieces only at the beginning: each is a write of its own.
  for (let at = 0; at < stream.length; ) {
    const end = cut.length > 40 ? stream.length : at + 1 + random.below(most)
    cut.push(stream.subarray(at, end))
    at = end
  }
  return cut
}
