import { expect, test } from 'vitest'
import { decodePdu } from '../../src/smpp/decoding.ts'
import { encodePdu } from '../../src/smpp/encoding.ts'
import { messageOctets, type PduOf } from '../../src/smpp/pdu.ts'

const short = Buffer.from('short')
const payload = Buffer.from('payload')

test.each([
  ['short_message alone', short, undefined, 'short'],
  ['message_payload alone', undefined, payload, 'payload'],
  ['both', short, payload, 'short'],
  ['neither', undefined, undefined, ''],
])(
  'B356 %s: message_payload counts iff sm_length is 0',
  (_case, short_message, message_payload, expected) => {
    const bytes = encodePdu({
      command: 'deliver_sm',
      ...(short_message && { short_message }),
      ...(message_payload && { tlvs: { message_payload } }),
    })
    expect(messageOctets(decodePdu(bytes) as PduOf<'deliver_sm'>).toString()).toBe(expected)
  },
)

test('the message of a data_sm is its message_payload', () => {
  const bytes = encodePdu({ command: 'data_sm', tlvs: { message_payload: payload } })
  expect(messageOctets(decodePdu(bytes) as PduOf<'data_sm'>).toString()).toBe('payload')
})

test('decoded PDUs of one command share no values', () => {
  const first = decodePdu(encodePdu({ command: 'submit_sm', source_addr: 'A', tlvs: { message_state: 1 } }))
  const second = decodePdu(encodePdu({ command: 'submit_sm', destination_addr: 'B' }))
  expect(first).toMatchObject({ source_addr: 'A', destination_addr: '', tlvs: { message_state: 1 } })
  expect(second).toMatchObject({ source_addr: '', destination_addr: 'B', tlvs: {} })
})
