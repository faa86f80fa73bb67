import assert from 'node:assert/strict'
import { parseReceipt, receiptText } from '../../src/domain/carriers/receipts.ts'
import { parseUserData } from '../../src/domain/text/concatenation.ts'
import { decodeInbound } from '../../src/domain/text/inbound-text.ts'
import { decodePdu } from '../../src/smpp/decoding.ts'
import { Framer } from '../../src/smpp/framer.ts'
import { HEADER_LENGTH } from '../../src/smpp/pdu.ts'

/** Invariants of the parsers and of the framer, for any input. */

/** The frame limit the sessions have by default: a payload of 64 KiB and a header. */
export const FRAME_LIMIT = 65_552

/** Passes one frame to every parser of carriers' PDUs. @throws what a parser threw, or AssertionError. */
export function checkParsers(frame: Buffer): void {
  const pdu = decodePdu(frame)
  // A missing value must be refused, or empty.
  for (const value of Object.values(pdu)) assert(value !== undefined, 'a field without a value')
  const isMessage = pdu.command === 'submit_sm' || pdu.command === 'deliver_sm' || pdu.command === 'data_sm'
  const { payload, part } = parseUserData({
    // If a PDU is no message, all its octets are taken as one, so that these parsers see the wildest input too.
    esmClass: isMessage ? pdu.esm_class : frame[frame.length - 1]!,
    shortMessage: isMessage ? (pdu.command === 'data_sm' ? NOTHING : pdu.short_message) : frame.subarray(16),
    tlvs: isMessage ? pdu.tlvs : {},
  })
  if (part !== null) assert(part.sequence >= 1 && part.sequence <= part.total && part.total <= 255)
  checkText(decodeInbound(payload, isMessage ? pdu.data_coding : frame[7]!))
  const text = receiptText(payload)
  checkText(text)
  const receipt = parseReceipt(text, isMessage ? pdu.tlvs : {})
  if (receipt === null) return
  checkText(receipt.carrierMessageId ?? '')
  assert(receipt.mccmnc === null || /^\d{5,6}$/.test(receipt.mccmnc), 'mccmnc of a receipt')
}

/** PostgreSQL's text type accepts neither. */
function checkText(text: string): void {
  assert(text.isWellFormed(), 'lone surrogate in a text')
  assert(!text.includes('\0'), 'U+0000 in a text')
}

/** The framer must cut the stream as `walk` does, wherever the chunks end. @throws AssertionError */
export function checkFramer(stream: Buffer, chunks: readonly Buffer[]): void {
  const expected = walk(stream)
  const framer = new Framer()
  let frames = 0
  for (const chunk of chunks) {
    framer.push(chunk)
    while (framer.next()) {
      const start = expected.starts[frames++]
      assert(start !== undefined, 'a frame too many')
      assert.equal(
        framer.buffer.compare(stream, start, start + framer.end - framer.start, framer.start, framer.end),
        0,
      )
    }
    assert(framer.held <= FRAME_LIMIT, 'more than one frame held')
  }
  assert.equal(frames, expected.starts.length, 'frames')
  assert.equal(framer.fault !== null, expected.isFaulty, 'fault')
}

const NOTHING = Buffer.alloc(0)

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
