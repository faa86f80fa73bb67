import { expect } from 'vitest'
import { encodePdu } from '../../src/smpp/encoding.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { INBOUND_NUMBER } from '../support/service.ts'
import { type DeliverFields, ESME_ROK, receiptOf } from '../support/smsc.ts'
import { moOf, somebody } from './handset.ts'
import { spoiltDeliver, tlv } from './octets.ts'
import { anomalies, overOneSession, type Submitted, stage, submitted, untilBodies } from './stage.ts'

const own = stage()
const { scenario } = own

const RECEIPTED_MESSAGE_ID = 0x001e
const MESSAGE_STATE = 0x0427
const NETWORK_ERROR_CODE = 0x0423
const MESSAGE_PAYLOAD = 0x0424
const SAR_TOTAL_SEGMENTS = 0x020e
const DELIVERED = Buffer.of(2)
const UNDELIVERABLE = Buffer.of(5)

/** Sends this deliver_sm with octets behind it; gives the status of its answer. */
async function withBehind(fields: DeliverFields, ...behind: Buffer[]): Promise<number> {
  const octets = spoiltDeliver(fields, (whole) => Buffer.concat([whole, ...behind]))
  return (await own.smsc.requestOctets(octets, await own.smsc.bound())).status
}

/** Sends a receipt of these TLVs alone for a new message, and tells what becomes of it. */
async function receiptOfTlvs(
  tlvs: (message: Submitted) => Buffer[],
  webhooks: readonly string[],
  fields: (message: Submitted) => DeliverFields = () => ({ esm_class: 4 }),
): Promise<string> {
  const message = await submitted(own)
  expect(await withBehind(fields(message), ...tlvs(message))).toBe(ESME_ROK)
  await own.service.untilWebhooks(message.msgId, webhooks)
  return message.msgId
}

const ofMessage = ({ id }: Submitted) => tlv(RECEIPTED_MESSAGE_ID, Buffer.from(`${id}\0`))

scenario('B353', () =>
  overOneSession(own, async () => {
    const counted = await anomalies(own, 'truncated_tlv')
    await receiptOfTlvs(
      (message) => [ofMessage(message), tlv(MESSAGE_STATE, DELIVERED), Buffer.from('042300', 'hex')],
      ['SENT', 'DELIVERED'],
    )
    const from = somebody()
    expect(await withBehind(moOf(from, Buffer.from('cut')), Buffer.from('020c00', 'hex'))).toBe(ESME_ROK)
    await untilBodies(own, from, ['cut'])
    expect(await anomalies(own, 'truncated_tlv')).toBe(counted + 2)
  }),
)

scenario('M13', () =>
  overOneSession(own, async () => {
    for (const length of [2, 0x100, 0xffff]) {
      await receiptOfTlvs(
        (message) => [ofMessage(message), tlv(MESSAGE_STATE, DELIVERED), tlv(0x1400, Buffer.of(1), length)],
        ['SENT', 'DELIVERED'],
      )
    }
    // The state itself does not fit: what is left says which message, and the text what became of it.
    await receiptOfTlvs(
      (message) => [ofMessage(message), tlv(MESSAGE_STATE, DELIVERED, 200)],
      ['SENT', 'FAILED'],
      () => receiptOf('nobody', 'UNDELIV'),
    )
  }),
)

scenario('B355', () =>
  overOneSession(own, async () => {
    const other = await submitted(own)
    await receiptOfTlvs(
      (message) => [
        ofMessage(message),
        ofMessage(other),
        tlv(MESSAGE_STATE, DELIVERED),
        tlv(MESSAGE_STATE, UNDELIVERABLE),
      ],
      ['SENT', 'DELIVERED'],
    )
    expect((await own.service.get(other.msgId)).body.status).toBe('SENT')
  }),
)

scenario('B356', () =>
  overOneSession(own, async () => {
    const payload = { message_payload: Buffer.from('payload') }
    const [both, alone] = [somebody(), somebody()]
    expect(await own.smsc.deliver(moOf(both, Buffer.from('short'), { tlvs: payload }))).toBe(ESME_ROK)
    expect(await own.smsc.deliver(moOf(alone, Buffer.alloc(0), { tlvs: payload }))).toBe(ESME_ROK)
    await untilBodies(own, both, ['short'])
    await untilBodies(own, alone, ['payload'])
    const { msgId, id } = await submitted(own)
    const text = { message_payload: receiptOf(id, 'UNDELIV').short_message! }
    expect(await own.smsc.receipt(id, 'DELIVRD', { tlvs: text })).toBe(ESME_ROK)
    await own.service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  }),
)

/** Where sm_length stands in a deliver_sm of these fields, whose text is the last of it. */
const lengthAt = (whole: Buffer, text: Buffer) => whole.length - text.length - 1

scenario(
  'M11',
  () =>
    overOneSession(own, async () => {
      const { smsc } = own
      const counted = await anomalies(own, 'malformed_pdu')
      const text = Buffer.from('short')
      const from = somebody()
      for (const length of [6, 200, 255]) {
        const octets = spoiltDeliver(moOf(from, text), (whole) => {
          whole[lengthAt(whole, text)] = length
          return whole
        })
        const answer = await smsc.requestOctets(octets, await smsc.bound())
        expect([answer.command, answer.status]).toEqual(['deliver_sm_resp', STATUSES.ESME_RINVMSGLEN])
      }
      expect(await anomalies(own, 'malformed_pdu')).toBe(counted + 3)
      // Answers come in order, so nothing of it can still be under way.
      expect(await smsc.deliver(moOf(from, Buffer.from('after')))).toBe(ESME_ROK)
      await untilBodies(own, from, ['after'])
    }),
  /ESME_RINVMSGLEN.*refused a PDU of the carrier/,
)

scenario('M12', () =>
  overOneSession(own, async () => {
    for (const behind of ['00', '1b1b', 'ffffff', 'ffffffffffff', '00'.repeat(9)]) {
      const from = somebody()
      expect(await withBehind(moOf(from, Buffer.from('hi')), Buffer.from(behind, 'hex'))).toBe(ESME_ROK)
      await untilBodies(own, from, ['hi'])
      await receiptOfTlvs(
        () => [Buffer.from(behind, 'hex')],
        ['SENT', 'DELIVERED'],
        ({ id }) => receiptOf(id, 'DELIVRD'),
      )
    }
  }),
)

scenario('M14', () =>
  overOneSession(own, async () => {
    const strange = [0x0000, 0x1400, 0x1403, 0x3fff, 0x4000, 0xffff].flatMap((tag) => [
      tlv(tag, Buffer.from('310260')),
      tlv(tag, Buffer.alloc(0)),
    ])
    await receiptOfTlvs(
      (message) => [...strange, ofMessage(message), ...strange, tlv(MESSAGE_STATE, DELIVERED), ...strange],
      ['SENT', 'DELIVERED'],
    )
    const from = somebody()
    expect(await withBehind(moOf(from, Buffer.from('vendor')), ...strange)).toBe(ESME_ROK)
    await untilBodies(own, from, ['vendor'])
  }),
)

scenario('M15', () =>
  overOneSession(own, async () => {
    const empty = [RECEIPTED_MESSAGE_ID, MESSAGE_STATE, NETWORK_ERROR_CODE, MESSAGE_PAYLOAD].map((tag) =>
      tlv(tag, Buffer.alloc(0)),
    )
    await receiptOfTlvs(
      () => empty,
      ['SENT', 'DELIVERED'],
      ({ id }) => receiptOf(id, 'DELIVRD'),
    )
    const from = somebody()
    const sar = [0x020c, SAR_TOTAL_SEGMENTS, 0x020f].map((tag) => tlv(tag, Buffer.alloc(0)))
    const more = [...sar, tlv(MESSAGE_PAYLOAD, Buffer.alloc(0))]
    expect(await withBehind(moOf(from, Buffer.from('whole')), ...more)).toBe(ESME_ROK)
    await untilBodies(own, from, ['whole'])
  }),
)

/** A deliver_sm body with these strings, which may be longer than any PDU of ours can be. */
function oversized({ serviceType = '', source = '', destination = '', text = '', esmClass = 0 }): Buffer {
  const cstring = (value: string) => Buffer.from(`${value}\0`, 'latin1')
  const octets = Buffer.concat([
    encodePdu({ command: 'deliver_sm' }).subarray(0, 16),
    cstring(serviceType),
    Buffer.of(1, 1),
    cstring(source),
    Buffer.of(1, 1),
    cstring(destination),
    Buffer.of(esmClass, 0, 0, 0, 0, 0, 0, 0, 0),
    Buffer.of(text.length),
    Buffer.from(text, 'latin1'),
  ])
  octets.writeUInt32BE(octets.length, 0)
  return octets
}

scenario(
  'M16',
  () =>
    overOneSession(own, async () => {
      const { smsc } = own
      const statusOf = async (fields: Parameters<typeof oversized>[0]) =>
        (await smsc.requestOctets(oversized(fields), await smsc.bound())).status
      const destination = INBOUND_NUMBER.slice(1)
      const [from, longest] = [somebody(), '5'.repeat(20)]
      const text = 'x'.repeat(255)
      expect(await statusOf({ source: from.slice(1), destination, text, serviceType: '12345' })).toBe(
        ESME_ROK,
      )
      await untilBodies(own, from, [text])
      expect(await statusOf({ source: longest, destination, text: 'limit' })).toBe(ESME_ROK)
      await untilBodies(own, longest, ['limit'])
      const counted = await anomalies(own, 'overlong_string')
      const [beyond, endless] = ['5'.repeat(21), '5'.repeat(5_000)]
      const vendor = { destination, serviceType: 'smscsim', text: 'beyond' }
      expect(await statusOf({ ...vendor, source: beyond })).toBe(ESME_ROK)
      await untilBodies(own, beyond, ['beyond'])
      expect(await statusOf({ ...vendor, source: endless })).toBe(ESME_ROK)
      await untilBodies(own, endless.slice(0, 64), ['beyond'])
      expect(await statusOf({ destination: endless })).toBe(ESME_ROK)
      expect(await anomalies(own, 'overlong_string')).toBe(counted + 3)
      expect((await own.service.admin('GET', '/carriers/main')).anomalies.overlong_string).toBe(3)
      const said = own.service.logs.filter((line) => line.includes('longer than SMPP'))
      expect(said.map((line) => JSON.parse(line))).toMatchObject([
        { level: 40, carrier: 'main', command: 'deliver_sm', field: 'service_type' },
      ])
    }),
  /longer than SMPP|nobody owns/,
)

scenario(
  'M65',
  () =>
    overOneSession(own, async () => {
      const { smsc } = own
      const { msgId, id } = await submitted(own)
      const octets = oversized({
        esmClass: 4,
        serviceType: 'smscsim',
        source: '1'.repeat(30),
        destination: 'A'.repeat(40),
        text: receiptOf(id, 'DELIVRD').short_message!.toString('latin1'),
      })
      expect((await smsc.requestOctets(octets, await smsc.bound())).status).toBe(ESME_ROK)
      await own.service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    }),
  /longer than SMPP/,
)
