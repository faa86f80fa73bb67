import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { COMMANDS, COMMANDS_BY_NAME, type CommandName } from '../../src/smpp/commands.ts'
import { decodePdu } from '../../src/smpp/decoding.ts'
import { encodePdu } from '../../src/smpp/encoding.ts'
import type { KnownPdu, MalformedPdu } from '../../src/smpp/pdu.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { anyPduAtAll, COMMAND_NAMES } from './pdu-arbitrary.ts'

/** A frame of this command with the body given in hexadecimal. */
function frame(name: CommandName, bodyHex: string, status = 0): Buffer {
  const body = Buffer.from(bodyHex.replaceAll(' ', ''), 'hex')
  const bytes = Buffer.alloc(16 + body.length)
  bytes.writeUInt32BE(bytes.length, 0)
  bytes.writeUInt32BE(COMMANDS[name].id, 4)
  bytes.writeUInt32BE(status, 8)
  bytes.writeUInt32BE(9, 12)
  body.copy(bytes, 16)
  return bytes
}

describe('hostile input', () => {
  test('any octets give a value', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        expect(typeof decodePdu(Buffer.from(bytes)).command).toBe('string')
      }),
      { numRuns: 1_000 },
    )
  })

  test('any octets below a known command id give a value', () => {
    fc.assert(
      fc.property(fc.constantFrom(...COMMAND_NAMES), fc.uint8Array({ maxLength: 400 }), (name, body) => {
        const pdu = decodePdu(frame(name, Buffer.from(body).toString('hex')))
        expect([name, 'malformed']).toContain(pdu.command)
      }),
      { numRuns: 2_000 },
    )
  })

  test('a PDU cut short or with one octet changed gives a value', () => {
    fc.assert(
      fc.property(anyPduAtAll, fc.nat(), fc.nat({ max: 255 }), (pdu, at, octet) => {
        const bytes = Buffer.from(encodePdu(pdu))
        expect(typeof decodePdu(bytes, 0, at % (bytes.length + 1)).command).toBe('string')
        bytes[at % bytes.length] = octet
        expect(typeof decodePdu(bytes).command).toBe('string')
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('responses without a body', () => {
  const responses = COMMAND_NAMES.filter((name) => COMMANDS_BY_NAME.get(name)!.isResponse)
  test.each(responses)('B344 %s of 16 octets, ESME_ROK or not, is read with empty fields', (name) => {
    for (const status of [0, 0x58]) {
      expect(decodePdu(frame(name, '', status))).toMatchObject({ command: name, status, sequence: 9 })
    }
  })

  test('B344 submit_sm_resp ESME_ROK without body: message_id is empty', () => {
    expect(decodePdu(frame('submit_sm_resp', ''))).toMatchObject({
      command: 'submit_sm_resp',
      message_id: '',
    })
  })

  test('a message_id without its NUL, or longer than 64, is taken as it is', () => {
    expect(decodePdu(frame('submit_sm_resp', '3132'))).toMatchObject({ message_id: '12' })
    expect(decodePdu(frame('submit_sm_resp', `${'31'.repeat(80)}00`))).toMatchObject({
      message_id: '1'.repeat(80),
    })
  })
})

const MALFORMED: [string, CommandName, string, MalformedPdu['fault'], string, number][] = [
  ['no body', 'submit_sm', '', 'truncated', 'service_type', STATUSES.ESME_RINVCMDLEN],
  ['ends before an integer', 'submit_sm', '00', 'truncated', 'source_addr_ton', STATUSES.ESME_RINVCMDLEN],
  [
    'string without NUL',
    'submit_sm',
    '00 00 00 3132',
    'unterminated',
    'source_addr',
    STATUSES.ESME_RINVSRCADR,
  ],
  [
    'sm_length past the end',
    'deliver_sm',
    '00 000000 000000 000000 00 00 00000000 05 31',
    'too_long',
    'short_message',
    STATUSES.ESME_RINVMSGLEN,
  ],
]

test.each(MALFORMED)('malformed, %s: %s names its fault', (_case, name, body, fault, field, answer) => {
  const pdu = decodePdu(frame(name, body))
  expect(pdu).toMatchObject({ command: 'malformed', of: name, sequence: 9, fault, field, answer })
})

const OVERLONG: [CommandName, string, string][] = [
  ['deliver_sm', `${'41'.repeat(6)} 00 000000 000000 00 00 00000000000000 00 00`, 'service_type'],
  ['deliver_sm', `00 0101 ${'31'.repeat(21)} 00 000000 00 00 00000000000000 00 00`, 'source_addr'],
  ['deliver_sm', `00 000000 0101 ${'31'.repeat(500)} 00 00 00 00000000000000 00 00`, 'destination_addr'],
  [
    'deliver_sm',
    `00 000000 000000 00 00 00 ${'31'.repeat(17)}00 00 00000000 00 00`,
    'schedule_delivery_time',
  ],
  ['data_sm', `00 0101 ${'31'.repeat(65)} 00 000000 00 00 00`, 'source_addr'],
  ['data_sm', `00 000000 000000 00 00 00 001e 0042 ${'31'.repeat(65)} 00`, 'receipted_message_id'],
  ['alert_notification', `0101 ${'31'.repeat(65)} 00 0000 00`, 'source_addr'],
  ['bind_transceiver_resp', `${'41'.repeat(16)} 00`, 'system_id'],
  ['submit_sm_resp', `${'41'.repeat(65)} 00`, 'message_id'],
  ['bind_transmitter', `${'41'.repeat(16)} 00 00 00 34 00 00 00`, 'system_id'],
]

test.each(OVERLONG)(
  '%s with a string longer than SMPP allows is read whole and named: %#',
  (name, body, field) => {
    const pdu = decodePdu(frame(name, body)) as KnownPdu
    expect(pdu).toMatchObject({ command: name, overlong: field })
    const values = { ...pdu, ...pdu.tlvs } as unknown as Record<string, string>
    expect(values[field]).toMatch(/^(A+|1+)$/)
    expect(body).toContain(Buffer.from(values[field]!).toString('hex'))
  },
)

test('a string of exactly the length that SMPP allows is not overlong', () => {
  const body = `${'41'.repeat(5)} 00 0101 ${'31'.repeat(20)} 00 000000 00 00 00000000000000 00 00`
  expect(decodePdu(frame('deliver_sm', body))).toMatchObject({ command: 'deliver_sm', overlong: null })
})

test('a short_message of 255 octets (SMPP 5.0) is understood from a peer', () => {
  const pdu = decodePdu(frame('deliver_sm', `00 000000 000000 000000 00 00 00000000 ff ${'31'.repeat(255)}`))
  expect(pdu).toMatchObject({ command: 'deliver_sm', short_message: Buffer.alloc(255, 0x31) })
})

test('less than a header is malformed, a command id outside the table is unknown', () => {
  expect(decodePdu(Buffer.alloc(15))).toMatchObject({ command: 'malformed', of: null, field: 'header' })
  const bytes = frame('unbind', '0102')
  bytes.writeUInt32BE(0x110, 4)
  expect(decodePdu(bytes)).toEqual({
    command: 'unknown',
    commandId: 0x110,
    status: 0,
    sequence: 9,
    body: Buffer.from([1, 2]),
  })
})

describe('optional parameters', () => {
  const DATA_SM = '00 000000 000000 00 00 00'
  const tlvsOf = (hex: string) => decodePdu(frame('data_sm', DATA_SM + hex)) as KnownPdu

  test('B355 duplicate TLV: the first wins', () => {
    expect(tlvsOf('0427 0001 02 0427 0001 05').tlvs).toEqual({ message_state: 2 })
    expect(tlvsOf('1403 0001 02 1403 0001 05').unknownTlvs).toEqual(new Map([[0x1403, Buffer.from([2])]]))
    const misfit = tlvsOf('0427 0000 0427 0001 05')
    expect([misfit.tlvs, misfit.unknownTlvs]).toEqual([{}, new Map([[0x427, Buffer.alloc(0)]])])
  })

  test.each(['04 27', '0427 00', '0427 0001', '0427 0004 02', 'ff'])(
    'B353 TLV truncated (%s): what came before is kept, the flag is set',
    (rest) => {
      const pdu = tlvsOf(`001e 0002 3700 ${rest}`)
      expect(pdu).toMatchObject({ tlvs: { receipted_message_id: '7' }, tlvsTruncated: true })
    },
  )

  test('an integer in more or fewer octets than its kind is still read', () => {
    expect(tlvsOf('0427 0002 0002 0204 0001 07').tlvs).toEqual({
      message_state: 2,
      user_message_reference: 7,
    })
  })

  test('a string without its NUL, an empty one, and one with octets after the NUL', () => {
    expect(tlvsOf('001e 0002 3738').tlvs).toEqual({ receipted_message_id: '78' })
    expect(tlvsOf('001e 0000').tlvs).toEqual({ receipted_message_id: '' })
    expect(tlvsOf('001e 0004 37003838').tlvs).toEqual({ receipted_message_id: '7' })
  })
})
