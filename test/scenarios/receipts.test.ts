import { expect } from 'vitest'
import { buildHeader, UDHI } from '../../src/domain/text/concatenation.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { eventually } from '../support/service.ts'
import { type DeliverFields, ESME_ROK, receiptOf } from '../support/smsc.ts'
import {
  anomalies,
  metric,
  overOneSession,
  type Submitted,
  secondCarrier,
  shown,
  stage,
  submitted,
} from './stage.ts'

const own = stage({ app: { ambiguityWaitMs: 60_000 } })
const { scenario } = own

/** New ids that no message has. */
let strangers = 0
function stranger(): string {
  strangers += 1
  return `stranger-${strangers}`
}

/** The id as it came: under `auto` it is also kept in the spelling that it is looked up by. */
const OF_ID = 'coalesce(receipted_id, carrier_message_id) = $1'

async function isParked(id: string): Promise<boolean> {
  const { rows } = await own.service.db.query(`select 1 from parked_receipts where ${OF_ID}`, [id])
  return rows.length === 1
}

/** The receipt waits in the database; then this much time passes. */
async function parkedFor(id: string, interval: string): Promise<void> {
  expect(await isParked(id)).toBe(true)
  await own.service.db.query(
    `update parked_receipts set received_at = received_at - $2::interval where ${OF_ID}`,
    [id, interval],
  )
}

/** A new message, of which these receipts come one after the other; each is answered ESME_ROK. */
async function told(
  receipts: (message: Submitted) => readonly DeliverFields[],
  webhooks: readonly string[],
): Promise<Submitted> {
  const message = await submitted(own)
  for (const receipt of receipts(message)) expect(await own.smsc.deliver(receipt)).toBe(ESME_ROK)
  await own.service.untilWebhooks(message.msgId, webhooks)
  expect((await own.service.get(message.msgId)).body.status).toBe(webhooks.at(-1))
  return message
}

const states =
  (...words: readonly string[]) =>
  ({ id }: Submitted) =>
    words.map((word) => receiptOf(id, word))

/** The text of a receipt, the rest as usual. */
const textOf =
  (text: (id: string) => string) =>
  ({ id }: Submitted): DeliverFields[] => [{ ...receiptOf(id, ''), short_message: Buffer.from(text(id)) }]

scenario('B358', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    const id = stranger()
    const held = Promise.withResolvers<() => void>()
    smsc.on('submit_sm', (pdu, peer) => held.resolve(() => smsc.accept(pdu, peer, id)))
    const msgId = await service.sent()
    const accept = await held.promise
    expect(await smsc.receipt(id, 'DELIVRD')).toBe(ESME_ROK)
    await parkedFor(id, '61 seconds')
    expect((await service.get(msgId)).body.status).toBe('QUEUED')
    accept()
    await service.until(msgId, 'DELIVERED')
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    expect(await isParked(id)).toBe(false)
  }),
)

scenario('B361', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    const id = stranger()
    const before = await metric(own, 'aldis_receipts_parked')
    expect(await smsc.receipt(id, 'UNDELIV')).toBe(ESME_ROK)
    expect(await metric(own, 'aldis_receipts_parked')).toBe(before + 1)
    await parkedFor(id, '71 hours')
    smsc.on('submit_sm', (pdu, peer) => smsc.accept(pdu, peer, id))
    const msgId = await service.sent()
    expect((await service.until(msgId, 'FAILED')).errorCode).toBe('300')
    await service.untilWebhooks(msgId, ['SENT', 'FAILED'])
    expect(await isParked(id)).toBe(false)
    const hostile = Buffer.from(`id:${'9'.repeat(200)} stat:${"'; drop table messages; --"}`)
    expect(await smsc.deliver({ esm_class: 4, short_message: hostile })).toBe(ESME_ROK)
    // With another carrier the same id is another message, unknown here.
    await using second = await secondCarrier(own)
    smsc.behave()
    const known = await submitted(own)
    expect(await second.smsc.receipt(known.id, 'DELIVRD')).toBe(ESME_ROK)
    expect(await isParked(known.id)).toBe(true)
    expect((await service.get(known.msgId)).body.status).toBe('SENT')
  }),
)

scenario('M21', () =>
  overOneSession(own, async () => {
    await told(states('DELIVRD', 'DELIVRD', 'DELIVRD'), ['SENT', 'DELIVERED'])
    const { msgId, id } = await submitted(own)
    const answers = ['DELIVRD', 'DELIVRD', 'DELIVRD'].map((word) => own.smsc.receipt(id, word))
    expect(await Promise.all(answers)).toEqual([ESME_ROK, ESME_ROK, ESME_ROK])
    await own.service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  }),
)

scenario('M22', () =>
  overOneSession(own, async () => {
    await told(states('UNDELIV', 'DELIVRD'), ['SENT', 'FAILED'])
    await told(states('DELIVRD', 'UNDELIV'), ['SENT', 'DELIVERED'])
    await told(states('REJECTD', 'EXPIRED', 'DELIVRD'), ['SENT', 'FAILED'])
  }),
)

scenario('M23', () =>
  overOneSession(own, async () => {
    await told(states('ENROUTE', 'ACCEPTD', 'DELIVRD'), ['SENT', 'DELIVERED'])
    await told(states('DELIVRD', 'ENROUTE', 'ACCEPTD'), ['SENT', 'DELIVERED'])
    await told(states('ACCEPTD', 'SCHEDULED'), ['SENT'])
  }),
)

scenario('M24', () =>
  overOneSession(own, async () => {
    await told(states('UNKNOWN', 'UNKNOWN', 'DELIVRD'), ['SENT', 'UNKNOWN', 'DELIVERED'])
    const { msgId, id } = await submitted(own)
    const words = ['UNKNOWN', 'DELIVRD', 'UNDELIV', 'UNKNOWN']
    const answers = await Promise.all(words.map((word) => own.smsc.receipt(id, word)))
    expect(answers).toEqual(words.map(() => ESME_ROK))
    await own.service.untilWebhooks(msgId, ['SENT', 'UNKNOWN', 'DELIVERED'])
  }),
)

scenario('M25', () =>
  overOneSession(own, async () => {
    const unknown = ['SENT', 'UNKNOWN']
    const { msgId } = await told(states('FOOBAR'), unknown)
    expect((await shown(own, msgId)).carrierCode).toBe('FOOBAR 000')
    await told(states(''), unknown)
    await told(
      textOf((id) => `id:${id} sub:001 dlvrd:001 err:000`),
      unknown,
    )
    await told(({ id }) => [{ esm_class: 4, tlvs: { receipted_message_id: id, message_state: 99 } }], unknown)
  }),
)

scenario('M26', () =>
  overOneSession(own, async () => {
    for (const word of ['delivrd', 'Delivrd', 'DELIVR', 'DELIVERED', 'delivered', '"DELIVRD"', "'DELIVRD'"])
      await told(states(word), ['SENT', 'DELIVERED'])
    for (const word of ['undeliv', 'UNDEL', 'UNDELIVERABLE', '"UNDELIV"', 'EXPIR'])
      await told(states(word), ['SENT', 'FAILED'])
  }),
)

scenario('M27', () =>
  overOneSession(own, async () => {
    const tlvs = (message_state: number) => (message: Submitted) =>
      [4, 0, 0x20].map((esm_class) => ({
        esm_class,
        tlvs: { receipted_message_id: message.id, message_state },
      }))
    await told(tlvs(2), ['SENT', 'DELIVERED'])
    await told(tlvs(5), ['SENT', 'FAILED'])
    await told(tlvs(7), ['SENT', 'UNKNOWN'])
  }),
)

scenario('M28', () =>
  overOneSession(own, async () => {
    const contrary = (stat: string, message_state: number) => (message: Submitted) => [
      { ...receiptOf(message.id, stat), tlvs: { message_state } },
    ]
    await told(contrary('DELIVRD', 5), ['SENT', 'FAILED'])
    await told(contrary('UNDELIV', 2), ['SENT', 'DELIVERED'])
    const other = await submitted(own)
    await told(
      ({ id }) => [{ ...receiptOf(other.id, 'DELIVRD'), tlvs: { receipted_message_id: id } }],
      ['SENT', 'DELIVERED'],
    )
    expect((await own.service.get(other.msgId)).body.status).toBe('SENT')
  }),
)

scenario(
  'M29',
  () =>
    overOneSession(own, async () => {
      const counted = await anomalies(own, 'receipt_without_id')
      const texts = ['stat:DELIVRD err:000', 'id:   stat:DELIVRD', 'id: stat:', '', 'Hello there']
      for (const text of texts)
        expect(await own.smsc.deliver({ esm_class: 4, short_message: Buffer.from(text) })).toBe(ESME_ROK)
      expect(await own.smsc.deliver({ esm_class: 4, tlvs: { message_state: 2 } })).toBe(ESME_ROK)
      expect(await anomalies(own, 'receipt_without_id')).toBe(counted + texts.length + 1)
    }),
  /receipt without a message id/,
)

scenario('M30', () =>
  overOneSession(own, async () => {
    const text = (id: string) => receiptOf(id, 'DELIVRD').short_message!
    const delivered = ['SENT', 'DELIVERED']
    const ucs2 = (id: string) => Buffer.from(`${text(id)}`, 'utf16le').swap16()
    for (const data_coding of [8, 0])
      await told(({ id }) => [{ ...receiptOf(id, ''), data_coding, short_message: ucs2(id) }], delivered)
    for (const data_coding of [0, 3, 4, 8])
      await told(({ id }) => [{ ...receiptOf(id, 'DELIVRD'), data_coding }], delivered)
    await told(({ id }) => [{ esm_class: 4, tlvs: { message_payload: text(id) } }], delivered)
    await told(({ id }) => [{ esm_class: 4, tlvs: { message_payload: ucs2(id) } }], delivered)
    await told(({ id }) => [{ ...receiptOf(id, 'DELIVRD'), esm_class: 0x20 }], delivered)
    const header = buildHeader({ kind: 'udh8', reference: 9, total: 2, sequence: 1 })
    for (const [before, behind, esm_class] of [
      [header, Buffer.alloc(0), 4 | UDHI],
      [Buffer.alloc(0), Buffer.of(0), 4],
      [Buffer.alloc(0), Buffer.from('ff00fe1b', 'hex'), 4],
    ] as const)
      await told(
        ({ id }) => [{ esm_class, short_message: Buffer.concat([before, text(id), behind]) }],
        delivered,
      )
    for (const tlvs of [
      ({ id }: Submitted) => ({ receipted_message_id: id, message_state: 2 }),
      ({ id }: Submitted) => ({ message_payload: text(id) }),
    ]) {
      const message = await submitted(own)
      const answer = await own.smsc.request({ command: 'data_sm', esm_class: 4, tlvs: tlvs(message) })
      expect([answer.command, answer.status]).toEqual(['data_sm_resp', STATUSES.ESME_ROK])
      await own.service.untilWebhooks(message.msgId, delivered)
    }
  }),
)

scenario('M31', () =>
  overOneSession(own, async () => {
    for (const text of [
      (id: string) => `stat:DELIVRD err:000 id:${id} done date:2601010001 sub:001`,
      (id: string) => `Text:stat:UNDELIV id:nobody done date:2601010001 id:${id} stat:DELIVRD err:000`,
      (id: string) => `id:${id} sub:001 dlvrd:001 stat:DELIVRD err:000 text:stat:REJECTD id:nobody`,
      (id: string) => `id:${id}\r\nstat:DELIVRD\r\nerr:000\r\n`,
      (id: string) => `ID:${id} SUB:001 STAT:DELIVRD ERR:000 TEXT:`,
      (id: string) => `message_id=${id}; status=DELIVRD; error=0`,
    ])
      await told(textOf(text), ['SENT', 'DELIVERED'])
  }),
)

scenario('M34', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    const failed = async (code: number, errorCode: string) => {
      const { msgId, id } = await submitted(own)
      const network_error_code = Buffer.of(3, code >> 8, code & 0xff)
      expect(await smsc.receipt(id, 'UNDELIV', { tlvs: { network_error_code } })).toBe(ESME_ROK)
      expect((await service.until(msgId, 'FAILED')).errorCode).toBe(errorCode)
      await eventually(() => service.statuses(msgId).length === 2)
      const webhook = service.receiver.received.map(({ body }) => JSON.parse(body))
      expect(webhook.findLast((sent) => sent.msgId === msgId)).toMatchObject({ errorCode })
      expect((await shown(own, msgId)).carrierCode).toContain(String(code).padStart(3, '0'))
    }
    await failed(1, '302')
    await failed(27, '303')
    await failed(9_999, '300')
  }),
)
