import { expect } from 'vitest'
import { buildHeader, type SegmentNumber, UDHI } from '../../src/domain/text/concatenation.ts'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { killer } from '../support/database-outage.ts'
import { startServe } from '../support/process.ts'
import { eventually, startService } from '../support/service.ts'
import { type DeliverFields, ESME_ROK } from '../support/smsc.ts'
import { moOf, somebody } from './handset.ts'
import {
  bodiesFrom,
  metric,
  overOneSession,
  scenario as plainScenario,
  stage,
  startOddSmsc,
  submitted,
  untilBodies,
} from './stage.ts'

const own = stage()
const { scenario } = own

const TEXTS = ['one ', 'two ', 'three']

async function mo(...fields: Parameters<typeof moOf>): Promise<void> {
  expect(await own.smsc.deliver(moOf(...fields))).toBe(ESME_ROK)
}

const partOf = (
  part: Omit<SegmentNumber, 'kind'> & { kind?: SegmentNumber['kind'] },
  text: string | Buffer,
) => Buffer.concat([buildHeader({ kind: 'udh8', ...part }), Buffer.from(text)])

/** One of three parts of the same text. */
function oneOf(from: string, sequence: number, text = TEXTS[sequence - 1]!): Promise<void> {
  return mo(from, partOf({ reference: 7, total: 3, sequence }, text), { esm_class: UDHI })
}

async function waitingParts(from: string): Promise<number> {
  const { rows } = await own.service.db.query(
    'select count(*)::integer as count from inbound_parts where sender = $1',
    [from],
  )
  return rows[0].count
}

/** Exactly this arrives, and no part is left. */
async function whole(from: string, text: string): Promise<void> {
  await untilBodies(own, from, [text])
  expect(await waitingParts(from)).toBe(0)
}

const ORDERS = [
  [1, 2, 3],
  [1, 3, 2],
  [2, 1, 3],
  [2, 3, 1],
  [3, 1, 2],
  [3, 2, 1],
]

scenario('B373', () =>
  overOneSession(own, async () => {
    for (const order of ORDERS) {
      const from = somebody()
      for (const sequence of order) await oneOf(from, sequence)
      await whole(from, 'one two three')
    }
    // All three in one go, and the parts of two senders in turns.
    const [anna, ben] = [somebody(), somebody()]
    const parts = [3, 1, 2].flatMap((sequence) => [oneOf(anna, sequence), oneOf(ben, sequence)])
    await Promise.all(parts)
    await whole(anna, 'one two three')
    await whole(ben, 'one two three')
    // As many parts as a reference can have.
    const longest = somebody()
    const texts = Array.from({ length: 255 }, (_, index) => `${index + 1}`.padEnd(153, '.'))
    const all = texts.map((text, index) =>
      mo(longest, partOf({ reference: 1, total: 255, sequence: index + 1 }, text), { esm_class: UDHI }),
    )
    await Promise.all(all.reverse())
    await whole(longest, texts.join(''))
  }),
)

scenario('M37', () =>
  overOneSession(own, async () => {
    const from = somebody()
    for (const sequence of [1, 1, 3, 3, 1, 3, 2]) await oneOf(from, sequence)
    await whole(from, 'one two three')
    const other = somebody()
    await Promise.all([1, 1, 1, 2, 2, 2, 3].map((sequence) => oneOf(other, sequence)))
    await whole(other, 'one two three')
  }),
)

scenario('B378', () =>
  overOneSession(own, async () => {
    const from = somebody()
    const part = (total: number, sequence: number, text: string) =>
      mo(from, partOf({ reference: 9, total, sequence }, text), { esm_class: UDHI })
    await part(3, 1, 'a')
    await part(2, 1, 'x')
    await part(2, 2, 'y')
    await untilBodies(own, from, ['xy'])
    await part(3, 2, 'b')
    await part(3, 3, 'c')
    await untilBodies(own, from, ['xy', 'abc'])
    // With the same total, once the first is whole.
    for (const word of ['one', 'two'])
      for (const sequence of [1, 2]) await part(2, sequence, `${word}${sequence} `)
    await untilBodies(own, from, ['xy', 'abc', 'one1 one2 ', 'two1 two2 '])
    expect(await waitingParts(from)).toBe(0)
  }),
)

scenario('M38', async () => {
  const from = somebody()
  await oneOf(from, 1)
  await oneOf(from, 3)
  await own.service.db.query(
    `update inbound_parts set received_at = received_at - interval '31 minutes' where sender = $1`,
    [from],
  )
  // A node that starts looks soon; later once a minute.
  await own.service.restart()
  await whole(from, 'one three')
})

scenario('B379', () =>
  overOneSession(own, async () => {
    const cases: readonly (readonly [header: string, expected: RegExp])[] = [
      ['050003070001', /^part$/],
      ['050003070200', /^part$/],
      ['050003070203', /^part$/],
      ['ff0003070201', /part$/],
      ['0500ff070201', /part$/],
      ['00', /^part$/],
      // A national table, under a data_coding that has none.
      ['03240101', /^part$/],
    ]
    for (const [header, expected] of cases) {
      const from = somebody()
      const octets = Buffer.concat([Buffer.from(header, 'hex'), Buffer.from('part')])
      await mo(from, octets, { esm_class: UDHI })
      await eventually(() => bodiesFrom(own, from).length === 1)
      expect(bodiesFrom(own, from)[0]).toMatch(expected)
      expect(await waitingParts(from)).toBe(0)
    }
    for (const [sar_total_segments, sar_segment_seqnum] of [
      [0, 1],
      [2, 0],
      [2, 3],
    ] as const) {
      const from = somebody()
      const tlvs = { sar_msg_ref_num: 1, sar_total_segments, sar_segment_seqnum }
      await mo(from, Buffer.from('part'), { tlvs })
      await whole(from, 'part')
    }
  }),
)

scenario('M39', () =>
  overOneSession(own, async () => {
    const wide = somebody()
    for (const sequence of [2, 3, 1]) {
      const octets = partOf({ reference: 0x1234, total: 3, sequence, kind: 'udh16' }, TEXTS[sequence - 1]!)
      await mo(wide, octets, { esm_class: UDHI })
    }
    await whole(wide, 'one two three')
    const sar = somebody()
    for (const sequence of [3, 1, 2]) {
      const tlvs = { sar_msg_ref_num: 300, sar_total_segments: 3, sar_segment_seqnum: sequence }
      await mo(sar, Buffer.from(TEXTS[sequence - 1]!), { tlvs })
    }
    await whole(sar, 'one two three')
    const payload = somebody()
    for (const sequence of [2, 1, 3]) {
      const message_payload = partOf({ reference: 8, total: 3, sequence }, TEXTS[sequence - 1]!)
      await mo(payload, Buffer.alloc(0), { esm_class: UDHI, tlvs: { message_payload } })
    }
    await whole(payload, 'one two three')
  }),
)

scenario('M40', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    // Its owner hears nothing of it: what is kept of a flood is counted, not announced.
    const { accountId } = service
    const plan = { accountId, name: 'Flooded', route: 'default' }
    const { servicePlanId } = await service.admin('POST', '/service-plans', plan)
    const number = '+15550001001'
    await service.admin('POST', '/inbound-numbers', { number, servicePlanId })
    const [flooder, other] = [somebody(), somebody()]
    const part = (reference: number) =>
      smsc.deliver(
        moOf(flooder, partOf({ reference, total: 2, sequence: 1, kind: 'udh16' }, `part of ${reference}`), {
          esm_class: UDHI,
          destination_addr: number.slice(1),
        }),
      )
    const flood = Array.from({ length: 10_000 }, (_, reference) => part(reference))
    const between = TEXTS.map((_, index) => oneOf(other, index + 1))
    await Promise.all(between)
    await whole(other, 'one two three')
    expect(new Set(await Promise.all(flood))).toEqual(new Set([ESME_ROK]))
    expect(await waitingParts(flooder)).toBeLessThanOrEqual(1_000)
    // Nothing is lost: what is not waiting is recorded as it stands.
    const { rows } = await service.db.query(
      'select count(*)::integer as count from inbound_messages where sender = $1',
      [flooder],
    )
    expect(rows[0].count + (await waitingParts(flooder))).toBe(10_000)
  }),
)

scenario('M41', () =>
  overOneSession(own, async () => {
    const [gsm, ucs2] = [somebody(), somebody()]
    const texts = [1_250, 7_500].map((words) => 'payload '.repeat(words))
    for (const text of texts) await mo(gsm, Buffer.alloc(0), { tlvs: { message_payload: Buffer.from(text) } })
    await untilBodies(own, gsm, texts)
    const message_payload = Buffer.from('\u0436'.repeat(5_000), 'utf16le').swap16()
    await mo(ucs2, Buffer.alloc(0), { data_coding: 8, tlvs: { message_payload } })
    await untilBodies(own, ucs2, ['\u0436'.repeat(5_000)])
  }),
)

scenario('M42', () =>
  overOneSession(own, async () => {
    const from = somebody()
    await mo(from, Buffer.alloc(0))
    await mo(from, partOf({ reference: 7, total: 1, sequence: 1 }, ''), { esm_class: UDHI })
    await untilBodies(own, from, ['', ''])
    await mo('', Buffer.from('from nobody'), { source_addr_ton: 0, source_addr: '' })
    await untilBodies(own, '', ['from nobody'])
    await mo('', Buffer.from('from a name'), { source_addr_ton: 5, source_addr: 'My Bank' })
    await untilBodies(own, 'My Bank', ['from a name'])
  }),
)

/** Hexadecimal octets under a data_coding, and the text they are. */
type Coded = readonly [dataCoding: number, octets: string, text: string]

async function decoded(cases: readonly Coded[]): Promise<void> {
  for (const [data_coding, octets, text] of cases) {
    const from = somebody()
    await mo(from, Buffer.from(octets, 'hex'), { data_coding })
    await eventually(() => bodiesFrom(own, from).length === 1)
    expect([data_coding, bodiesFrom(own, from)[0]!.trimEnd()]).toEqual([data_coding, text])
  }
}

scenario('B383', () =>
  overOneSession(own, () =>
    decoded([
      [0x00, '68691b', 'hi'],
      [0x00, '68691b65', 'hi€'],
      [0x00, '610062', 'a@b'],
      [0x03, '636166e9', 'café'],
      [0x03, '610062', 'ab'],
      [0x04, '00ff10', '00ff10'],
      [0x04, '7465787420', 'text'],
      [0x08, '041f0440d83ddea2', 'Пр🚢'],
      [0x08, 'd83d00000041', '\ufffdA'],
      [0x08, '0068006900', 'hi'],
      [0xf0, '6869', 'hi'],
      [0xff, '0102', '0102'],
      [0x0b, 'e9', 'é'],
      [0x85, 'e9', 'é'],
    ]),
  ),
)

scenario('M43', () =>
  overOneSession(own, () =>
    decoded([
      [0x10, '00', '@'],
      [0x11, '11', '_'],
      [0x18, '0436', 'ж'],
      [0x14, '00ff', '00ff'],
      [0xc0, '6869', 'hi'],
      [0xc8, '6869', 'hi'],
      [0xd8, '02', '$'],
      [0xe8, '0436', 'ж'],
      [0xf1, '02', '$'],
      [0xf3, '1b65', '€'],
      [0xf5, '00ff', '00ff'],
    ]),
  ),
)

scenario('M44', () =>
  overOneSession(own, async () => {
    const from = somebody()
    const codings: readonly Coded[] = [
      [0, '02', '$'],
      [8, '04360436', 'жж'],
      [3, 'e9', 'é'],
    ]
    for (const sequence of [2, 3, 1]) {
      const [data_coding, octets] = codings[sequence - 1]!
      const part = partOf({ reference: 4, total: 3, sequence }, Buffer.from(octets, 'hex'))
      await mo(from, part, { esm_class: UDHI, data_coding })
    }
    await whole(from, '$жжé')
    const split = somebody()
    const octets = Buffer.from('🚢', 'utf16le').swap16()
    for (const sequence of [2, 1]) {
      const half = octets.subarray(sequence * 2 - 2, sequence * 2)
      const part = partOf({ reference: 3, total: 2, sequence }, half)
      await mo(split, part, { esm_class: UDHI, data_coding: 8 })
    }
    await whole(split, '🚢')
  }),
)

scenario(
  'B384',
  () =>
    overOneSession(own, async () => {
      const { service } = own
      const counted = await metric(own, 'aldis_inbound_unowned_total')
      const [known, nobody] = [somebody(), somebody()]
      await mo(known, Buffer.from('anybody?'), { destination_addr: '15559999999' })
      await mo(nobody, Buffer.from('to no number'), { destination_addr: '' })
      const { items } = await service.admin('GET', '/unowned-inbound-messages')
      expect(items).toMatchObject([
        { from: nobody, to: '', body: 'to no number', carrier: 'main' },
        { from: known, to: '+15559999999', body: 'anybody?', carrier: 'main' },
      ])
      expect(await metric(own, 'aldis_inbound_unowned_total')).toBe(counted + 2)
      expect(service.logs.filter((line) => line.includes('nobody owns'))).toHaveLength(2)
      expect([...bodiesFrom(own, known), ...bodiesFrom(own, nobody)]).toEqual([])
    }),
  /nobody owns/,
)

scenario(
  'M45',
  () =>
    overOneSession(own, async () => {
      const { smsc, service } = own
      await using outside = await killer(service)
      const { msgId, id } = await submitted(own)
      const from = somebody()
      const message = moOf(from, Buffer.from('again'))
      const part = moOf(from, partOf({ reference: 1, total: 2, sequence: 1 }, 'a '), { esm_class: UDHI })
      await outside.without(async () => {
        for (let times = 0; times < 2; times += 1) {
          expect(await smsc.receipt(id, 'DELIVRD')).toBe(STATUSES.ESME_RX_T_APPN)
          expect(await smsc.deliver(message)).toBe(STATUSES.ESME_RX_T_APPN)
          expect(await smsc.deliver(part)).toBe(STATUSES.ESME_RX_T_APPN)
        }
      })
      for (const fields of [message, part])
        await eventually(async () => (await smsc.deliver(fields)) === ESME_ROK)
      await mo(from, partOf({ reference: 1, total: 2, sequence: 2 }, 'whole'), { esm_class: UDHI })
      await eventually(async () => (await smsc.receipt(id, 'DELIVRD')) === ESME_ROK)
      await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
      await untilBodies(own, from, ['again', 'a whole'])
    }),
  /./,
)

/** Offered over a session that is lost once `isThere`; resolves when the next session is bound. */
async function offeredAndLost(fields: DeliverFields, isThere: () => Promise<boolean>): Promise<void> {
  const { smsc } = own
  const peer = await smsc.bound()
  peer.write({ command: 'deliver_sm', sequence: 7, ...fields })
  await eventually(isThere)
  peer.socket.destroy()
  await eventually(() => !smsc.boundNow.includes(peer) && smsc.boundNow.length > 0)
}

scenario('M66', async () => {
  const from = somebody()
  const vote = moOf(from, Buffer.from('YES'))
  await offeredAndLost(vote, async () => bodiesFrom(own, from).length === 1)
  const idsOf = () =>
    own.service.receiver.received
      .map(({ body }) => JSON.parse(body))
      .filter((webhook) => webhook.from === from)
  const [{ msgId }] = idsOf()
  expect(await own.smsc.deliver(vote)).toBe(ESME_ROK)
  // Answered in order over a session that lives, the same words are sent by a person again, at once or later.
  expect(await Promise.all([own.smsc.deliver(vote), own.smsc.deliver(vote)])).toEqual([ESME_ROK, ESME_ROK])
  await untilBodies(own, from, ['YES', 'YES', 'YES'])
  expect(new Set(idsOf().map((webhook) => webhook.msgId)).size).toBe(3)
  const { rows } = await own.service.db.query('select msg_id from inbound_messages where sender = $1', [from])
  expect(rows).toHaveLength(3)
  expect(rows.map(({ msg_id }) => msg_id)).toContain(msgId)
})

scenario('M67', async () => {
  const from = somebody()
  const part = (sequence: number) =>
    moOf(from, partOf({ reference: 9, total: 2, sequence }, `${sequence} `), { esm_class: UDHI })
  await offeredAndLost(part(1), async () => (await waitingParts(from)) === 1)
  expect(await own.smsc.deliver(part(1))).toBe(ESME_ROK)
  await offeredAndLost(part(2), async () => bodiesFrom(own, from).length === 1)
  expect(await own.smsc.deliver(part(2))).toBe(ESME_ROK)
  await whole(from, '1 2 ')
})

const SECRET_KEY = '5e'.repeat(32)

plainScenario('B381', async () => {
  await using smsc = await startOddSmsc()
  await using service = await startService({
    smscPort: smsc.port,
    app: { secretKey: Buffer.from(SECRET_KEY, 'hex') },
  })
  const from = somebody()
  const part = (sequence: number) =>
    smsc.deliver(
      moOf(from, partOf({ reference: 5, total: 3, sequence }, TEXTS[sequence - 1]!), { esm_class: UDHI }),
    )
  await service.app.stop()
  {
    const settings = { DATABASE_URL: service.connectionString, NODE_ID: 'node-a', SECRET_KEY }
    await using served = await startServe(settings)
    await smsc.bound()
    expect(await part(1)).toBe(ESME_ROK)
    expect(await part(3)).toBe(ESME_ROK)
    served.running.killGroup()
    await served.running.exited
  }
  await eventually(() => smsc.boundNow.length === 0)
  await service.restart()
  await smsc.bound()
  expect(await part(2)).toBe(ESME_ROK)
  await eventually(() => service.receiver.received.length > 0)
  expect(service.receiver.received.map(({ body }) => JSON.parse(body).body)).toEqual(['one two three'])
})
