import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodePdu } from '../../src/smpp/encoding.ts'
import { Outbox } from '../../src/smpp/outbox.ts'
import { anyPduAtAll } from './pdu-arbitrary.ts'

test('PDUs added together leave as one piece', () => {
  const outbox = new Outbox()
  for (let sequence = 1; sequence <= 50; sequence++) outbox.add({ command: 'enquire_link' }, sequence, 0)
  expect(outbox.isEmpty).toBe(false)
  expect(outbox.take().map((piece) => piece.length)).toEqual([800])
  expect(outbox.isEmpty).toBe(true)
  expect(outbox.take()).toEqual([])
})

test('what is taken is what encodePdu gives, in order, and is never written again', () => {
  const batches = fc.array(fc.array(anyPduAtAll, { maxLength: 8 }), { maxLength: 8 })
  fc.assert(
    fc.property(batches, (batch) => {
      const outbox = new Outbox()
      const taken: Buffer[] = []
      for (const pdus of batch) {
        for (const pdu of pdus) outbox.add(pdu, pdu.sequence ?? 0, pdu.status ?? 0)
        taken.push(...outbox.take())
      }
      const expected = Buffer.concat(batch.flat().map(encodePdu))
      expect(Buffer.concat(taken).equals(expected)).toBe(true)
    }),
  )
})

test('a message longer than a block gets room of its own', () => {
  const outbox = new Outbox()
  const message_payload = Buffer.alloc(65_535, 1)
  outbox.add({ command: 'enquire_link' }, 1, 0)
  outbox.add({ command: 'data_sm', tlvs: { message_payload } }, 2, 0)
  outbox.add({ command: 'enquire_link' }, 3, 0)
  expect(Buffer.concat(outbox.take()).length).toBe(
    32 + encodePdu({ command: 'data_sm', tlvs: { message_payload } }).length,
  )
})

test('a PDU that does not fit leaves the outbox as it was', () => {
  const outbox = new Outbox()
  outbox.add({ command: 'enquire_link' }, 1, 0)
  expect(() => outbox.add({ command: 'submit_sm', source_addr: '1'.repeat(30) }, 2, 0)).toThrow(RangeError)
  outbox.add({ command: 'enquire_link' }, 3, 0)
  const bytes = Buffer.concat(outbox.take())
  expect([bytes.readUInt32BE(12), bytes.readUInt32BE(28), bytes.length]).toEqual([1, 3, 32])
})
