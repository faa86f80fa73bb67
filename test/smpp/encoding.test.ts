import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodePdu } from '../../src/smpp/decoding.ts'
import { encodedLengthBound, encodePdu } from '../../src/smpp/encoding.ts'
import type { PduInput } from '../../src/smpp/pdu.ts'
import { anyPdu, COMMAND_NAMES } from './pdu-arbitrary.ts'

describe('round trip', () => {
  test.each(COMMAND_NAMES)('%s: decoding gives back what was encoded', (name) => {
    fc.assert(
      fc.property(anyPdu(name), (pdu) => {
        const bytes = encodePdu(pdu)
        expect(bytes.readUInt32BE(0)).toBe(bytes.length)
        expect(bytes.length).toBeLessThanOrEqual(encodedLengthBound(pdu))
        const commandId = bytes.readUInt32BE(4)
        expect(decodePdu(bytes)).toEqual({ ...pdu, commandId, tlvsTruncated: false, overlong: null })
      }),
    )
  })
})

const HEX: [string, PduInput, string][] = [
  ['enquire_link', { command: 'enquire_link', sequence: 1 }, '00000010 00000015 00000000 00000001'],
  [
    'bind_transceiver',
    { command: 'bind_transceiver', sequence: 1, system_id: 'me', password: 'pw', interface_version: 0x34 },
    '0000001b 00000009 00000000 00000001 6d6500 707700 00 34 00 00 00',
  ],
  [
    'submit_sm',
    {
      command: 'submit_sm',
      sequence: 2,
      source_addr_ton: 5,
      source_addr: 'A',
      dest_addr_ton: 1,
      dest_addr_npi: 1,
      destination_addr: '44',
      registered_delivery: 1,
      short_message: Buffer.from('hi'),
      tlvs: { user_message_reference: 0x0102, receipted_message_id: 'x', alert_on_message_delivery: true },
      unknownTlvs: new Map([[0x1403, Buffer.from('23415')]]),
    },
    `0000004d 00000004 00000000 00000002 00 05 00 4100 01 01 343400 00 00 00 00 00 01 00 00 00 02 6869
     0204 0002 0102 001e 0002 7800 130c 0000 1403 0005 3233343135`,
  ],
  [
    'submit_sm_resp',
    { command: 'submit_sm_resp', message_id: '7' },
    '00000012 80000004 00000000 00000000 3700',
  ],
]

test.each(HEX)('%s has the octets of the specification', (_name, pdu, hex) => {
  const expected = Buffer.from(hex.replaceAll(/\s/g, ''), 'hex')
  expected.writeUInt32BE(expected.length, 0)
  expect(encodePdu(pdu).toString('hex')).toBe(expected.toString('hex'))
})

test('an error response with nothing to say is its header alone (§4.4.2)', () => {
  expect(encodePdu({ command: 'submit_sm_resp', status: 0x58 })).toHaveLength(16)
  expect(encodePdu({ command: 'submit_sm_resp', status: 0 })).toHaveLength(17)
  expect(encodePdu({ command: 'submit_sm', status: 0x58 }).length).toBeGreaterThan(16)
})

const REFUSED: [string, PduInput][] = [
  ['source_addr', { command: 'submit_sm', source_addr: '1'.repeat(21) }],
  ['service_type', { command: 'submit_sm', service_type: '123456' }],
  ['destination_addr', { command: 'submit_sm', destination_addr: '1\x002' }],
  ['source_addr', { command: 'submit_sm', source_addr: '\u20ac' }],
  ['short_message', { command: 'submit_sm', short_message: Buffer.alloc(255) }],
  ['esm_class', { command: 'submit_sm', esm_class: 256 }],
  ['data_coding', { command: 'submit_sm', data_coding: -1 }],
  ['priority_flag', { command: 'submit_sm', priority_flag: 0.5 }],
  ['message_payload', { command: 'data_sm', tlvs: { message_payload: Buffer.alloc(65_536) } }],
  ['receipted_message_id', { command: 'data_sm', tlvs: { receipted_message_id: 'x'.repeat(65) } }],
  ['network_error_code', { command: 'data_sm', tlvs: { network_error_code: Buffer.alloc(4) } }],
  ['message_state', { command: 'data_sm', tlvs: { message_state: 256 } }],
  ['0x1400', { command: 'data_sm', unknownTlvs: new Map([[0x1400, Buffer.alloc(65_536)]]) }],
  ['tag', { command: 'data_sm', unknownTlvs: new Map([[0x1_0000, Buffer.alloc(1)]]) }],
]

test.each(REFUSED)('a %s that does not fit is refused by name, never cut', (field, pdu) => {
  expect(() => encodePdu(pdu)).toThrow(new RegExp(`^${field}: `))
})

test('what is no command or parameter is refused', () => {
  expect(() => encodePdu({ command: 'constructor' } as unknown as PduInput)).toThrow(RangeError)
  expect(() => encodePdu({ command: 'data_sm', tlvs: { toString: 1 } } as unknown as PduInput)).toThrow(
    RangeError,
  )
})
