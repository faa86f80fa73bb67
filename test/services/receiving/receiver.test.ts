import { describe, expect, test } from 'vitest'
import { STATUSES } from '../../../src/smpp/statuses.ts'
import { withTransaction } from '../../../src/store/database.ts'
import { eventually, type Service } from '../../support/service.ts'
import { accept, type Smsc } from '../../support/smsc.ts'
import { tenantPerTest } from '../../support/tenant-per-test.ts'

let smsc: Smsc
let service: Service

tenantPerTest({}, (...own) => {
  ;[service, smsc] = own
})

async function sentAs(id: string): Promise<string> {
  smsc.answerSubmits((pdu, link) => accept(pdu, link, id))
  const msgId = await service.sent()
  await service.until(msgId, 'SENT')
  return msgId
}

describe('ids that a carrier writes in two ways', () => {
  test.each([
    ['decimal-hex', '1F4', '500'],
    ['decimal-hex', '0000001f4', '0000000500'],
    ['hex-decimal', '500', '1F4'],
    ['normalised', '0000ABC', 'abc'],
    ['decimal-hex', 'ffffffffffffffff', '18446744073709551615'],
  ])('%s: %s in the answer is %s in the receipt', async (idRule, submitted, receipted) => {
    await service.admin('PATCH', `/carriers/${service.carrier}`, { idRule })
    const msgId = await sentAs(submitted)
    expect(await smsc.receipt(receipted, 'DELIVRD')).toBe(STATUSES.ESME_ROK)
    await service.until(msgId, 'DELIVERED')
  })
})

describe('id rule auto', () => {
  test('is learned from the first three receipts, shown to the operator, and set anew by hand', async () => {
    await service.admin('PATCH', `/carriers/${service.carrier}`, { idRule: 'auto' })
    for (const [submitted, receipted] of [
      ['1F4', '500'],
      ['1F5', '501'],
      ['1F6', '0000000502'],
    ] as const) {
      const msgId = await sentAs(submitted)
      expect(await smsc.receipt(receipted, 'DELIVRD')).toBe(STATUSES.ESME_ROK)
      await service.until(msgId, 'DELIVERED')
    }
    const carrier = await eventually(async () => {
      const shown = await service.admin('GET', `/carriers/${service.carrier}`)
      return shown.learnedIdRule !== null && shown
    })
    expect(carrier).toMatchObject({ idRule: 'auto', learnedIdRule: 'decimal-hex' })
    const msgId = await sentAs('10')
    expect(await smsc.receipt('16', 'DELIVRD')).toBe(STATUSES.ESME_ROK)
    await service.until(msgId, 'DELIVERED')
    const changed = (settings: object) => service.admin('PATCH', `/carriers/${service.carrier}`, settings)
    expect(await changed({ window: 5 })).toMatchObject({ learnedIdRule: 'decimal-hex' })
    expect(await changed({ idRule: 'auto' })).toMatchObject({ idRule: 'auto', learnedIdRule: null })
  })
})

describe('an id that a carrier gives again', () => {
  test.each([
    ['as it is', { source_addr: '15550001111', destination_addr: 'Aldis' }],
    ['with +', { source_addr: '+15550001111', destination_addr: 'Aldis' }],
    ['with 00', { source_addr: '0015550001111', destination_addr: 'Aldis' }],
    ['swapped', { source_addr: 'Aldis', destination_addr: '15550001111' }],
  ])('the receipt is of the message to its address, %s', async (_name, addresses) => {
    smsc.answerSubmits((pdu, link) => accept(pdu, link, 'again'))
    const older = await service.sent({ to: '+15550001111' })
    await service.until(older, 'SENT')
    const newer = await service.sent({ to: '+15550002222' })
    await service.until(newer, 'SENT')
    expect(await smsc.receipt('again', 'UNDELIV', addresses)).toBe(STATUSES.ESME_ROK)
    await service.until(older, 'FAILED')
    expect((await service.get(newer)).body.status).toBe('SENT')
  })
})

test('a receipt of the first segment before the second is accepted: FAILED once, with all that is known', async () => {
  await service.admin('PATCH', `/carriers/${service.carrier}`, { idRule: 'exact' })
  const last = Promise.withResolvers<() => void>()
  smsc.answerSubmits((pdu, link, index) => {
    if (index === 0) accept(pdu, link, 'part-0')
    else last.resolve(() => accept(pdu, link, 'part-1'))
  })
  const msgId = await service.sent({ body: 'x'.repeat(200) })
  const acceptLast = await last.promise
  expect(await smsc.receipt('part-0', 'UNDELIV')).toBe(STATUSES.ESME_ROK)
  const failed = await service.until(msgId, 'FAILED')
  expect(failed.sentAt).toBeNull()
  acceptLast()
  await eventually(async () => (await service.get(msgId)).body.sentAt !== null)
  expect(await smsc.receipt('part-1', 'DELIVRD')).toBe(STATUSES.ESME_ROK)
  const shown = await service.admin('GET', `/messages/${msgId}`)
  expect(shown).toMatchObject({ status: 'FAILED', carrier: service.carrier, segments: 2 })
  expect(shown.submissions.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
    'FAILED',
    'DELIVERED',
  ])
  await service.untilWebhooks(msgId, ['FAILED'])
})

test('receipts without an id: one warning, however many they are', async () => {
  for (let n = 0; n < 3; n += 1)
    expect(await smsc.deliver({ esm_class: 4, tlvs: { message_state: 2 } })).toBe(STATUSES.ESME_ROK)
  const lines = service.logs
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => /without a message id/.test(msg))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatchObject({ level: 40, carrier: expect.any(String) })
  expect(lines[0].msg).toContain('at most once a minute')
  expect(lines[0]).not.toHaveProperty('err')
})

/** Nothing is committed to the journal while `work` runs. */
async function whileJournalWaits<T>(work: () => Promise<T>): Promise<T> {
  return await withTransaction(service.db, async (tx) => {
    await tx.query('lock table journal in share mode')
    return await work()
  })
}

/** Of a node whose statements fail when they wait for a lock. */
const STATEMENT_TIMEOUT_MS = 1_000

const inbound = () => smsc.deliver({ short_message: Buffer.from('refused') })

test('receipts wait for a slow COMMIT, and inbound messages are refused', async () => {
  await service.admin('PATCH', `/carriers/${service.carrier}`, { idRule: 'exact' })
  const ids = [await sentAs('slow-1'), await sentAs('slow-2')]
  const receipts = await whileJournalWaits(async () => {
    const first = smsc.receipt('slow-1', 'DELIVRD')
    await eventually(async () => (await inbound()) === STATUSES.ESME_RX_T_APPN)
    return [first, smsc.receipt('slow-2', 'DELIVRD')]
  })
  expect(await Promise.all(receipts)).toEqual([STATUSES.ESME_ROK, STATUSES.ESME_ROK])
  for (const msgId of ids) await service.until(msgId, 'DELIVERED')
})

test('what is refused while the database takes nothing is counted, and told of in one line', async () => {
  await service.admin('PATCH', `/carriers/${service.carrier}`, { idRule: 'exact' })
  await service.restart({ databaseStatementTimeoutMs: STATEMENT_TIMEOUT_MS })
  const msgId = await sentAs('stalled')
  await whileJournalWaits(async () => {
    expect(await smsc.receipt('stalled', 'DELIVRD')).toBe(STATUSES.ESME_RX_T_APPN)
    await eventually(async () => {
      expect(await smsc.receipt('refused', 'DELIVRD')).toBe(STATUSES.ESME_RX_T_APPN)
      expect(await inbound()).toBe(STATUSES.ESME_RX_T_APPN)
      const metrics = await (await fetch(`${service.app.url}/metrics`)).text()
      return ['receipt', 'inbound'].every((kind) =>
        new RegExp(`^aldis_deliver_sm_refused_total{.*kind="${kind}",reason="stalled".*} [1-9]`, 'm').test(
          metrics,
        ),
      )
    })
  })
  await eventually(async () => (await smsc.receipt('stalled', 'DELIVRD')) === STATUSES.ESME_ROK)
  await service.until(msgId, 'DELIVERED')
  const { lines } = await eventually(async () => {
    const told = service.logs
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => /refused receipts/.test(msg))
    return told.length > 0 && { lines: told }
  })
  expect(lines).toMatchObject([{ level: 40, refused: expect.any(Object) }])
  // Later tests have this node, and on a busy machine their statements take longer than that.
  await service.restart()
})

describe('what comes in', () => {
  test('data_sm: a receipt and an inbound message', async () => {
    const msgId = await sentAs('data-1')
    const receipt = { esm_class: 4, tlvs: { receipted_message_id: 'data-1', message_state: 2 } }
    expect((await smsc.request({ command: 'data_sm', ...receipt })).status).toBe(0)
    await service.until(msgId, 'DELIVERED')
    const mo = {
      source_addr: '15550002222',
      source_addr_ton: 1,
      destination_addr: service.inboundNumber.slice(1),
      tlvs: { message_payload: Buffer.from('by data sm') },
    }
    expect((await smsc.request({ command: 'data_sm', ...mo })).status).toBe(0)
    const webhook = await service.receiver.next(({ path }) => path === '/mo')
    expect(JSON.parse(webhook.body).body).toBe('by data sm')
  })

  test('an intermediate notification that is not final changes nothing, the final receipt does', async () => {
    const msgId = await sentAs('way-1')
    for (const state of ['ENROUTE', 'ACCEPTD', 'SCHEDULED'])
      expect(await smsc.receipt('way-1', state, { esm_class: 0x20 })).toBe(STATUSES.ESME_ROK)
    expect(await smsc.receipt('way-1', 'DELIVRD')).toBe(STATUSES.ESME_ROK)
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    const story = await eventually(async () => {
      const shown = await service.admin('GET', `/messages/${msgId}`)
      return shown.receipts.length === 4 && shown
    })
    const words = ['ENROUTE 000', 'ACCEPTD 000', 'SCHEDULED 000', 'DELIVRD 000']
    expect(story.receipts.map(({ carrierCode }: { carrierCode: string }) => carrierCode)).toEqual(words)
    expect(story.receipts.map(({ outcome }: { outcome: string }) => outcome).slice(2)).toEqual([
      'SENT',
      'DELIVERED',
    ])
  })

  test('intermediate receipts without end: the first are kept, and the final one counts', async () => {
    await service.admin('PATCH', `/carriers/${service.carrier}`, { idRule: 'exact' })
    const msgId = await sentAs('repeated')
    for (let n = 0; n < 4; n += 1)
      await Promise.all(Array.from({ length: 20 }, () => smsc.receipt('repeated', 'ENROUTE')))
    expect(await smsc.receipt('repeated', 'DELIVRD')).toBe(STATUSES.ESME_ROK)
    await service.until(msgId, 'DELIVERED')
    const kept = async () =>
      (
        await service.db.query(
          `select count(*)::integer as count from receipts where msg_id = $1 and outcome = 'SENT'`,
          [msgId],
        )
      ).rows[0].count
    await eventually(async () => (await kept()) > 0)
    expect(await kept()).toBe(32)
  })

  test('network_error_code says why, and the operator sees it as it came', async () => {
    const msgId = await sentAs('gsm-1')
    const tlvs = { network_error_code: Buffer.from([3, 0, 27]) }
    expect(await smsc.receipt('gsm-1', 'UNDELIV', { tlvs })).toBe(STATUSES.ESME_ROK)
    expect((await service.until(msgId, 'FAILED')).errorCode).toBe('303')
    expect((await service.admin('GET', `/messages/${msgId}`)).carrierCode).toBe('UNDELIV 027')
  })

  test('a receipt by its TLV although esm_class does not say so', async () => {
    const msgId = await sentAs('tlv-1')
    const tlvs = { receipted_message_id: 'tlv-1', message_state: 2 }
    expect(await smsc.deliver({ esm_class: 0, tlvs })).toBe(0)
    await service.until(msgId, 'DELIVERED')
  })

  test('a text that looks like a receipt is an inbound message', async () => {
    const text = 'id:1 sub:001 dlvrd:001 stat:DELIVRD err:000 text:'
    const fields = {
      source_addr: '15550002222',
      source_addr_ton: 1,
      destination_addr: service.inboundNumber.slice(1),
    }
    expect(await smsc.deliver({ ...fields, short_message: Buffer.from(text) })).toBe(0)
    const webhook = await service.receiver.next(({ path }) => path === '/mo')
    expect(JSON.parse(webhook.body).body).toBe(text)
  })

  test('what crosses our unbind, and is offered again over the next session, is stored once', async () => {
    const deliver = () =>
      smsc.deliver({
        source_addr: '15550002222',
        destination_addr: service.inboundNumber.slice(1),
        short_message: Buffer.from('crosses'),
      })
    const former = await smsc.bound()
    const crossing = new Promise<number>((answered) => {
      smsc.on('unbind', async (pdu, peer) => {
        answered(await deliver())
        smsc.answer(pdu, peer)
      })
    })
    await service.admin('PATCH', `/carriers/${service.carrier}`, { systemType: 'anew' })
    expect(await crossing).toBe(STATUSES.ESME_RX_T_APPN)
    const metrics = await (await fetch(`${service.app.url}/metrics`)).text()
    expect(metrics).toMatch(/^aldis_deliver_sm_refused_total{.*kind="inbound",reason="unbinding".*} 1$/m)
    await eventually(() => smsc.bindsNow === 1 && smsc.boundNow[0] !== former)
    expect(await deliver()).toBe(STATUSES.ESME_ROK)
    const { rows } = await service.db.query('select body from inbound_messages where plan_id = $1', [
      await service.planKey(),
    ])
    expect(rows).toEqual([{ body: 'crosses' }])
  })

  test('a reference of four octets, as some write it, holds up no other, and its parts come together', async () => {
    const fields = { source_addr: '15550002222', destination_addr: service.inboundNumber.slice(1) }
    const part = (text: string, sequence: number) => {
      // sar_msg_ref_num, sar_total_segments, sar_segment_seqnum
      const tlvs = [[0x020c, 0xfffffffe, 4] as const, [0x020e, 2, 1] as const, [0x020f, sequence, 1] as const]
      const unknownTlvs = new Map(
        tlvs.map(([tag, value, octets]) => {
          const written = Buffer.alloc(octets)
          written.writeUIntBE(value, 0, octets)
          return [tag, written]
        }),
      )
      return smsc.deliver({ ...fields, short_message: Buffer.from(text), unknownTlvs })
    }
    const other = () => smsc.deliver({ ...fields, short_message: Buffer.from('other') })
    expect(await Promise.all([part('one ', 1), other(), part('two', 2)])).toEqual([0, 0, 0])
    const { rows } = await service.db.query(
      'select body from inbound_messages where plan_id = $1 order by body',
      [await service.planKey()],
    )
    expect(rows).toEqual([{ body: 'one two' }, { body: 'other' }])
  })

  test('what the database refuses is refused alone, however many come with it', async () => {
    await service.db.query(
      `alter table inbound_messages add constraint refused check (body not like 'refused%') not valid`,
    )
    const fields = { source_addr: '15550002222', destination_addr: service.inboundNumber.slice(1) }
    const texts = Array.from({ length: 50 }, (_, n) => (n % 20 === 7 ? `refused ${n}` : `kept ${n}`))
    const deliver = () =>
      Promise.all(texts.map((text) => smsc.deliver({ ...fields, short_message: Buffer.from(text) })))
    const answers = await deliver()
    await service.db.query('alter table inbound_messages drop constraint refused')
    expect(texts.filter((_, n) => answers[n] === STATUSES.ESME_RX_T_APPN)).toEqual([
      'refused 7',
      'refused 27',
      'refused 47',
    ])
    const again = await smsc.deliver({ ...fields, short_message: Buffer.from('refused 7') })
    expect(again).toBe(STATUSES.ESME_ROK)
    const { rows } = await service.db.query('select body from inbound_messages where plan_id = $1', [
      await service.planKey(),
    ])
    const kept = texts.filter((text) => text.startsWith('kept'))
    expect(rows.map(({ body }) => body).sort()).toEqual([...kept, 'refused 7'].sort())
  })

  test('200 at once are all answered, each stored once', async () => {
    const fields = {
      source_addr: '15550002222',
      source_addr_ton: 1,
      destination_addr: service.inboundNumber.slice(1),
    }
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        smsc.deliver({ ...fields, short_message: Buffer.from(`mo ${n}`) }),
      ),
    )
    expect(new Set(answers)).toEqual(new Set([0]))
    const { rows } = await service.db.query(
      'select count(distinct body)::integer as count from inbound_messages where plan_id = $1',
      [await service.planKey()],
    )
    expect(rows).toEqual([{ count: 200 }])
    await eventually(() => service.receiver.received.length === 200)
  })

  test('empty, or full of octets that mean nothing: answered', async () => {
    const fields = { source_addr: '', destination_addr: service.inboundNumber.slice(1) }
    expect(await smsc.deliver({ ...fields, short_message: Buffer.alloc(0) })).toBe(0)
    for (const data_coding of [0, 3, 4, 6, 7, 8, 10, 14, 0x15, 0x7f, 0xc0, 0xe3, 0xf5, 0xff]) {
      const short_message = Buffer.from(Array.from({ length: 200 }, (_, n) => (n * 37) & 0xff))
      expect(await smsc.deliver({ ...fields, data_coding, short_message })).toBe(0)
      expect(await smsc.deliver({ ...fields, data_coding, short_message, esm_class: 0x40 })).toBe(0)
      expect(await smsc.deliver({ ...fields, data_coding, short_message, esm_class: 4 })).toBe(0)
    }
  })
})
