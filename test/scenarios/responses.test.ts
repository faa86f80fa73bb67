import { expect } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { eventually } from '../support/service.ts'
import { ESME_ROK, type SubmitPdu } from '../support/smsc.ts'
import { frame } from './octets.ts'
import { becomesOverdue } from './overdue.ts'
import { anomalies, overOneSession, shown, stage, submitted } from './stage.ts'

const own = stage({ app: { ambiguityWaitMs: 60_000, linkTimings: { responseTimeoutMs: 400 } } })
const { scenario } = own

const SUBMIT_SM_RESP = 0x80000004

/** A submit_sm_resp of these octets. */
const answering = (octets: Buffer) => (pdu: SubmitPdu, peer: { write(octets: Buffer): void }) =>
  peer.write(frame(SUBMIT_SM_RESP, octets, { sequence: pdu.sequence }))

scenario('B341', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    const counted = await anomalies(own, 'unmatched_response')
    const peer = await smsc.bound()
    peer.write(
      { command: 'submit_sm_resp', sequence: 0x7ffffff0, message_id: 'nothing' },
      { command: 'generic_nack', sequence: 0, status: STATUSES.ESME_RINVCMDLEN },
    )
    smsc.on('submit_sm', (pdu, to) => {
      const { sequence } = pdu
      to.write(
        { command: 'data_sm_resp', sequence, message_id: 'other' },
        { command: 'submit_sm_resp', sequence: sequence + 1_000, message_id: 'nothing' },
      )
      smsc.accept(pdu, to)
    })
    const { msgId } = await submitted(own)
    await service.untilWebhooks(msgId, ['SENT'])
    expect(await anomalies(own, 'unmatched_response')).toBe(counted + 4)
    expect((await shown(own, msgId)).submissions).toHaveLength(1)
  }),
)

scenario('B342', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    const first = smsc.submits.length
    smsc.on('submit_sm', (pdu, peer) => {
      smsc.accept(pdu, peer)
      smsc.accept(pdu, peer, 'second')
      peer.respond(pdu, STATUSES.ESME_RINVDSTADR)
    })
    const ids = await Promise.all(Array.from({ length: 20 }, () => service.sent()))
    for (const msgId of ids) {
      await service.until(msgId, 'SENT')
      await service.untilWebhooks(msgId, ['SENT'])
      const { submissions } = await shown(own, msgId)
      expect(submissions).toHaveLength(1)
      expect(submissions[0].carrierMessageId).not.toBe('second')
    }
    expect(smsc.submits.length).toBe(first + 20)
  }),
)

/** Two messages whose acceptance has no id: SENT both, nothing matches them, and they end as UNKNOWN. */
async function withoutId(octets: Buffer): Promise<void> {
  const { smsc, service } = own
  smsc.on('submit_sm', answering(octets))
  const ids = [await service.sent(), await service.sent()]
  for (const msgId of ids) {
    await service.until(msgId, 'SENT')
    expect((await shown(own, msgId)).submissions).toEqual([])
  }
  expect(await smsc.receipt('', 'DELIVRD')).toBe(ESME_ROK)
  for (const msgId of ids) expect((await service.get(msgId)).body.status).toBe('SENT')
  for (const msgId of ids) await becomesOverdue(service, msgId)
}

const WITHOUT_ID = /receipt without a message id/

scenario('B344', () => overOneSession(own, () => withoutId(Buffer.alloc(0))), WITHOUT_ID)

scenario('M06', () => overOneSession(own, () => withoutId(Buffer.of(0))), WITHOUT_ID)

/** A window of submits, held until all of it is there. */
async function window(answer: (held: (readonly [SubmitPdu, () => void])[]) => void): Promise<string[]> {
  const { smsc, service } = own
  const held: (readonly [SubmitPdu, () => void])[] = []
  smsc.on('submit_sm', (pdu, peer, times) => {
    held.push([pdu, () => smsc.accept(pdu, peer, `${pdu.short_message}`)])
    if (times === 9) answer(held)
  })
  const run = smsc.submits.length
  const bodies = Array.from({ length: 10 }, (_, index) => `order-${run}-${index}`)
  const ids: string[] = []
  for (const body of bodies) ids.push(await service.sent({ body }))
  for (const [index, msgId] of ids.entries()) {
    await eventually(async () => (await service.get(msgId)).body.status !== 'QUEUED')
    expect((await shown(own, msgId)).submissions).toMatchObject([{ carrierMessageId: bodies[index] }])
  }
  return ids
}

/** 7 is prime to 10: every place once. */
const shuffled = <T>(items: readonly T[]) => items.map((_, index) => items[(index * 7 + 3) % items.length]!)

scenario('B348', () =>
  overOneSession(own, async () => {
    const ids = await window((held) => {
      for (const [, accept] of shuffled(held)) accept()
    })
    for (const msgId of ids) await own.service.untilWebhooks(msgId, ['SENT'])
  }),
)

scenario('M58', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    const receipts: Promise<number>[] = []
    const ids = await window((held) => {
      for (const [{ short_message }, accept] of held.toReversed()) {
        receipts.push(smsc.receipt(`${short_message}`, 'DELIVRD'))
        accept()
      }
    })
    expect(new Set(await Promise.all(receipts))).toEqual(new Set([ESME_ROK]))
    for (const msgId of ids) {
      await service.until(msgId, 'DELIVERED')
      await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    }
  }),
)

/** The octets of the response, and the id in its receipt. */
async function acceptedAs(octets: Buffer, id: string): Promise<void> {
  const { smsc, service } = own
  smsc.on('submit_sm', answering(octets))
  const { msgId } = await submitted(own)
  expect(await smsc.receipt(id, 'DELIVRD')).toBe(ESME_ROK)
  await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
}

scenario(
  'M07',
  () =>
    overOneSession(own, async () => {
      const idOf = (length: number) => `${length}-`.padEnd(length, 'x')
      for (const length of [64, 65, 66, 255, 1_000])
        await acceptedAs(Buffer.from(`${idOf(length)}\0`), idOf(length))
      own.smsc.on('submit_sm', answering(Buffer.from(`${idOf(60_000)}\0`)))
      const { msgId } = await submitted(own)
      await own.service.recorded(msgId)
      const { rows } = await own.service.db.query(
        'select max(length(carrier_message_id)) as longest from submissions',
      )
      expect(rows[0].longest).toBe(64)
    }),
  /strings longer than SMPP 3.4 allows/,
)

scenario('M08', () =>
  overOneSession(own, async () => {
    await acceptedAs(Buffer.from('open-ended'), 'open-ended')
    await acceptedAs(Buffer.from(' spaced \0'), 'spaced')
    await acceptedAs(Buffer.from('\xc4\xd6\xdc-\xff\0', 'latin1'), '\xc4\xd6\xdc-\xff')
    own.smsc.on('submit_sm', answering(Buffer.from('a\x01\x07\x1b\x7f\r\nb\0')))
    const { msgId } = await submitted(own)
    expect(await own.smsc.receipt('a\x01\x07\x1b\x7f\r\nb', 'DELIVRD')).toBe(ESME_ROK)
    expect((await own.service.get(msgId)).body.status).toBe('SENT')
  }),
)

scenario('M09', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    const first = smsc.submits.length
    const counted = await anomalies(own, 'late_response')
    const held = Promise.withResolvers<() => void>()
    smsc.on('submit_sm', (pdu, peer) => held.resolve(() => smsc.accept(pdu, peer, 'late')))
    const msgId = await service.sent()
    await eventually(async () => (await shown(own, msgId)).attempts[0]?.outcome === 'no-answer')
    expect((await service.get(msgId)).body.status).toBe('QUEUED')
    const answer = await held.promise
    answer()
    await service.until(msgId, 'SENT')
    await service.makeDue()
    expect(await smsc.receipt('late', 'DELIVRD')).toBe(ESME_ROK)
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    expect(smsc.submits.length).toBe(first + 1)
    expect(await anomalies(own, 'late_response')).toBe(counted + 1)
    const { rows } = await service.db.query('select 1 from dispatches where msg_id = $1', [msgId])
    expect(rows).toEqual([])
  }),
)

scenario('M10', () =>
  overOneSession(own, async () => {
    const { smsc, service } = own
    const nackFirst = (status: number) =>
      smsc.on('submit_sm', (pdu, peer, times) => {
        if (times > 0) smsc.accept(pdu, peer)
        else peer.write({ command: 'generic_nack', sequence: pdu.sequence, status })
      })
    for (const status of [0, STATUSES.ESME_RSYSERR]) {
      nackFirst(status)
      const msgId = await service.sent()
      await eventually(async () => (await shown(own, msgId)).attempts[0]?.outcome === 'retry')
      await eventually(async () => {
        await service.makeDue()
        return (await service.get(msgId)).body.status === 'SENT'
      })
      await service.untilWebhooks(msgId, ['SENT'])
    }
    nackFirst(STATUSES.ESME_RINVCMDID)
    const msgId = await service.sent()
    await service.until(msgId, 'FAILED')
    await service.untilWebhooks(msgId, ['FAILED'])
    expect((await shown(own, msgId)).carrierCode).toBe('0x00000003')
  }),
)
