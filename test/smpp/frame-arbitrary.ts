import fc from 'fast-check'
import { segmentText } from '../../src/domain/text/segments.ts'
import { inboundMessageFields } from '../../src/simulator/inbound-messages.ts'
import { encodePdu } from '../../src/smpp/encoding.ts'
import { HEADER_LENGTH, type PduInput } from '../../src/smpp/pdu.ts'
import { FRAME_LIMIT } from './fuzz-oracles.ts'
import { anyPdu, COMMAND_NAMES } from './pdu-arbitrary.ts'

/** What a hostile peer writes: frames made from real PDUs, now and then with a wrong length, in any pieces. */

/** With longer ones, copying alone would determine the speed. */
const MAX_OCTETS = 4_096
const LONG_GSM = 'Sixteen words of {text} that do not fit one message, with [extension] characters. '.repeat(
  4,
)
const LONG_UCS2 = 'Ваш код підтвердження 482913 🙂 нікому його не кажіть. '.repeat(4)
const FROM = '+15551230002'
const TO = '12345'

function submits(): PduInput[] {
  return ['Your code is 482913', LONG_GSM, 'Код 482913', LONG_UCS2].flatMap((body) => {
    const { pdus, dataCoding } = segmentText(body, 7)
    return pdus.map(
      ({ esmClass, shortMessage }): PduInput => ({
        command: 'submit_sm',
        source_addr: 'Aldis',
        source_addr_ton: 5,
        destination_addr: FROM.slice(1),
        esm_class: esmClass,
        registered_delivery: 1,
        data_coding: dataCoding,
        short_message: shortMessage,
      }),
    )
  })
}

function inbound(): PduInput[] {
  const forms = ['udh8', 'udh16', 'sar', 'payload'] as const
  const messages = ['STOP', LONG_GSM, LONG_UCS2].flatMap((body) => forms.map((form) => ({ body, form })))
  return [...messages, { body: LONG_GSM.repeat(20), form: 'payload' as const }].flatMap((message) =>
    inboundMessageFields({ from: FROM, to: TO, ...message }, 201).flatMap((fields): PduInput[] => {
      const { source_addr: source = '', tlvs = {} } = fields
      const data = { command: 'data_sm', source_addr: source, destination_addr: TO, tlvs } as const
      return [{ command: 'deliver_sm', ...fields }, ...(message.form === 'payload' ? [data] : [])]
    }),
  )
}

const RECEIPT_TEXT =
  'id:1234567890 sub:001 dlvrd:001 submit date:2611210345 done date:2611210346 stat:DELIVRD err:000 text:Your code'

function receipts(): PduInput[] {
  const common = {
    command: 'deliver_sm',
    esm_class: 4,
    source_addr: FROM.slice(1),
    destination_addr: 'Aldis',
  } as const
  const tlvs = {
    receipted_message_id: '1234567890',
    message_state: 2,
    network_error_code: Buffer.from([3, 0, 27]),
  }
  const failed = Buffer.from(RECEIPT_TEXT.replace('DELIVRD', 'UNDELIV'))
  const utf16 = Buffer.from(RECEIPT_TEXT, 'utf16le').swap16()
  return [
    { ...common, short_message: Buffer.from(RECEIPT_TEXT) },
    { ...common, short_message: Buffer.from(RECEIPT_TEXT), tlvs },
    { ...common, short_message: failed, tlvs: { message_state: 5 } },
    { ...common, tlvs },
    { ...common, data_coding: 8, tlvs: { message_payload: utf16 } },
  ]
}

/** Some PDUs of every command but unbind, after which nothing is read. They are drawn once: drawing costs the most. */
function everyCommand(): PduInput[] {
  const names = COMMAND_NAMES.filter((name) => name !== 'unbind')
  return names.flatMap((name) => fc.sample(anyPdu(name), { seed: 34, numRuns: 10 }))
}

const realFrame = fc.constantFrom(
  ...[...submits(), ...inbound(), ...receipts(), ...everyCommand()].map((pdu, index) =>
    encodePdu({ sequence: index + 1, ...pdu }),
  ),
)
const unbind = encodePdu({ command: 'unbind', sequence: 1 })

/** A place in octets, which `% length` makes one of them. */
const place = fc.nat(0xffff)
const edge = fc.constantFrom(0x00, 0x01, 0x1b, 0x40, 0x7f, 0x80, 0xfe, 0xff)
const few = (max: number) => fc.integer({ min: 1, max })
const some = <T>(value: fc.Arbitrary<T>, maxLength: number) => fc.array(value, { minLength: 1, maxLength })

type Mutation = (octets: Buffer) => Buffer

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  // Some octets changed: bits flipped, or values at the edge of a range.
  some(fc.tuple(place, fc.nat(7)), 6).map((flips) =>
    changing((octets) => {
      for (const [at, bit] of flips) octets[at % octets.length]! ^= 1 << bit
    }),
  ),
  some(fc.tuple(place, edge), 3).map((values) =>
    changing((octets) => {
      for (const [at, value] of values) octets[at % octets.length] = value
    }),
  ),
  // Some inserted, removed, doubled; the rest cut off, or that of another PDU.
  fc.tuple(place, some(fc.nat(0xff), 8)).map(([at, octets]) => inserting(at, Buffer.from(octets))),
  fc.tuple(place, few(300), edge).map(([at, length, value]) => inserting(at, Buffer.alloc(length, value))),
  fc.tuple(place, few(12)).map(
    ([at, count]): Mutation =>
      (octets) => {
        const start = at % octets.length
        return Buffer.concat([octets.subarray(0, start), octets.subarray(start + count)])
      },
  ),
  fc.tuple(place, few(64)).map(
    ([at, count]): Mutation =>
      (octets) => {
        const start = at % octets.length
        return inserting(at, octets.subarray(start, start + count))(octets)
      },
  ),
  place.map(
    (at): Mutation =>
      (octets) =>
        octets.subarray(0, 1 + (at % octets.length)),
  ),
  fc.tuple(place, realFrame, place).map(
    ([at, other, from]): Mutation =>
      (octets) =>
        Buffer.concat([octets.subarray(0, 1 + (at % octets.length)), other.subarray(from % other.length)]),
  ),
)

function changing(change: (octets: Buffer) => void): Mutation {
  return (octets) => {
    const changed = Buffer.from(octets)
    change(changed)
    return changed
  }
}

function inserting(at: number, inserted: Buffer): Mutation {
  return (octets) => {
    const start = at % (octets.length + 1)
    return Buffer.concat([octets.subarray(0, start), inserted, octets.subarray(start)])
  }
}

/** A frame of the right length, made by up to four mutations. */
const mutatedFrame = fc.tuple(realFrame, fc.array(mutation, { maxLength: 4 })).map(([real, mutations]) => {
  let octets = Buffer.from(real)
  for (const mutate of mutations) octets = Buffer.from(mutate(octets.length > 0 ? octets : Buffer.alloc(1)))
  const length = Math.min(Math.max(octets.length, HEADER_LENGTH), MAX_OCTETS)
  const frame = Buffer.alloc(length)
  octets.copy(frame)
  frame.writeUInt32BE(length, 0)
  return frame
})

/** A command_length that is not the frame's: a little off, impossible, or of a frame that takes long to come. */
const wrongLength = fc.oneof(
  fc.integer({ min: -17, max: 17 }).map((off) => (length: number) => Math.max(0, length + off)),
  ...[
    fc.nat(HEADER_LENGTH - 1),
    fc.integer({ min: HEADER_LENGTH, max: FRAME_LIMIT }),
    fc.integer({ min: FRAME_LIMIT + 1, max: FRAME_LIMIT + 1_000 }),
    fc.nat(0xffffffff),
    fc.constant(0xffffffff),
  ].map((lengths) => lengths.map((length) => () => length)),
)

/** What ends a session: little behind it is ever read. */
const ending = fc.oneof(
  fc
    .tuple(mutatedFrame, wrongLength)
    .map(([frame, wrong]) => changing((octets) => octets.writeUInt32BE(wrong(frame.length), 0))(frame)),
  fc.constant(unbind),
)

/** What a peer writes in one session, frame by frame. */
export const hostileFrames = fc
  .tuple(
    fc.array(mutatedFrame, { minLength: 1, maxLength: 200, size: 'max' }),
    fc.option(fc.tuple(ending, fc.array(mutatedFrame, { maxLength: 8 })), { freq: 4 }),
  )
  .map(([frames, end]) => (end === null ? frames : [...frames, end[0], ...end[1]]))

/** Where a stream is cut into pieces, by their lengths; the rest is one piece. Each is a write of its own. */
export const cuts = fc.oneof(
  fc.constant<number[]>([]),
  ...[7, 64, 1_500, 20_000].map((most) => fc.array(few(most), { maxLength: 40, size: 'max' })),
)

export function pieces(stream: Buffer, lengths: readonly number[]): Buffer[] {
  const cut: Buffer[] = []
  let at = 0
  for (const length of [...lengths, stream.length]) {
    if (at < stream.length) cut.push(stream.subarray(at, at + length))
    at += length
  }
  return cut
}
