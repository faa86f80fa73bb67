/** Receipts of messages whose submit was not answered: matched by their addresses, if only one message has them. */
import { expect, test } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { otherNodes } from '../support/other-nodes.ts'
import { eventually, type Service } from '../support/service.ts'
import { accept, type Smsc } from '../support/smsc.ts'
import { tenantPerTest } from '../support/tenant-per-test.ts'

const TIMEOUT_MS = 300
const TWO_PARTS = 'long '.repeat(50)

let smsc: Smsc
let service: Service

tenantPerTest(
  {
    app: { ambiguityWaitMs: 60_000, linkTimings: { responseTimeoutMs: TIMEOUT_MS } },
    carrier: { idRule: 'normalised' },
  },
  (...own) => {
    ;[service, smsc] = own
  },
)

const others = otherNodes(() => service)

async function count(
  table: 'parked_receipts' | 'dispatches' | 'unanswered_submits',
  where: string,
): Promise<number> {
  const { rows } = await service.db.query(`select count(*)::integer as count from ${table} where ${where}`)
  return rows[0].count
}

const inDoubt = (msgId: string, submits = 1) =>
  eventually(async () => (await count('unanswered_submits', `msg_id = '${msgId}'`)) === submits)

/** A message that the carrier has taken without an answer. */
async function unanswered(fields: Record<string, unknown> = {}): Promise<string> {
  smsc.answerSubmits(() => undefined)
  const msgId = await service.sent(fields)
  await inDoubt(msgId)
  return msgId
}

const isParked = (id: string) => count('parked_receipts', `carrier_message_id = '${id}'`)

/** Looks have been taken at every receipt of before: a message in doubt of its own is settled by a later one. */
async function looked(): Promise<void> {
  const to = `+1555${Math.floor(1_000_000 + 8_000_000 * Math.random())}`
  const msgId = await unanswered({ to })
  await smsc.receipt(`later-${msgId}`, 'DELIVRD', { source_addr: to.slice(1) })
  await service.until(msgId, 'DELIVERED')
}

async function timeline(msgId: string): Promise<string[]> {
  const { timeline: entries } = await service.admin('GET', `/messages/${msgId}`)
  return entries.map(({ what, detail }: { what: string; detail: string }) => `${what}: ${detail}`)
}

test.each([
  ['as SMPP has them', { source_addr: '15551230000', destination_addr: 'Aldis' }],
  ['as they were submitted', { source_addr: 'Aldis', destination_addr: '+15551230000' }],
])('delivered, its addresses %s: settled, and not sent again', async (_name, addresses) => {
  const msgId = await unanswered()
  expect(await smsc.receipt('nobody-knows', 'DELIVRD', addresses)).toBe(STATUSES.ESME_ROK)
  await service.until(msgId, 'DELIVERED')
  await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  expect(await count('dispatches', `msg_id = '${msgId}'`)).toBe(0)
  expect(await isParked('nobody-knows')).toBe(0)
  expect(smsc.submits).toHaveLength(1)
  const entries = await timeline(msgId)
  expect(entries).toContainEqual(
    expect.stringMatching(
      /^attempt: .*: accepted, id nobody-knows \(not answered; matched with a receipt by its addresses\)$/,
    ),
  )
  expect(entries).toContainEqual(expect.stringMatching(/^receipt: id nobody-knows: DELIVERED/))
  // From now on its id is known.
  await smsc.receipt('nobody-knows', 'DELIVRD', addresses)
  await eventually(async () => (await service.admin('GET', `/messages/${msgId}`)).receipts.length === 2)
  expect(await isParked('nobody-knows')).toBe(0)
})

test('failed: FAILED, and not sent again', async () => {
  const msgId = await unanswered()
  await smsc.receipt('nobody-knows', 'UNDELIV')
  await service.until(msgId, 'FAILED')
  expect(await count('dispatches', `msg_id = '${msgId}'`)).toBe(0)
})

test('two messages in doubt have its addresses: it stays parked', async () => {
  const [one, other] = [await unanswered(), await unanswered()]
  await smsc.receipt('either', 'DELIVRD')
  await looked()
  expect(await isParked('either')).toBe(1)
  for (const msgId of [one, other]) expect((await service.get(msgId)).body.status).toBe('QUEUED')
})

test('another sender, another recipient, another carrier: it stays parked', async () => {
  const msgId = await unanswered()
  await smsc.receipt('of-another', 'DELIVRD', { destination_addr: 'Other' })
  await smsc.receipt('to-another', 'DELIVRD', { source_addr: '15551239999' })
  await smsc.receipt('sender-only', 'DELIVRD', { source_addr: '' })
  await service.db.query('update unanswered_submits set carrier_id = 999 where msg_id = $1', [msgId])
  await smsc.receipt('over-another', 'DELIVRD')
  await looked()
  expect(await count('parked_receipts', `carrier_message_id ~ 'another|only'`)).toBe(4)
  expect((await service.get(msgId)).body.status).toBe('QUEUED')
})

test('a receipt from before it was submitted is not of it', async () => {
  await smsc.receipt('earlier', 'DELIVRD')
  await service.db.query(`update parked_receipts set received_at = now() - interval '10 minutes'`)
  const msgId = await unanswered()
  await looked()
  expect(await isParked('earlier')).toBe(1)
  expect((await service.get(msgId)).body.status).toBe('QUEUED')
})

test('a receipt that overtakes the answer to its own submit is not taken for that of another in doubt', async () => {
  const waiting = await unanswered()
  const answers: (() => void)[] = []
  smsc.answerSubmits((pdu, link) => answers.push(() => accept(pdu, link, 'early')))
  const msgId = await service.sent()
  await eventually(() => answers.length === 1)
  await smsc.receipt('early', 'DELIVRD')
  answers[0]!()
  await service.until(msgId, 'DELIVERED')
  await looked()
  expect((await service.get(waiting)).body.status).toBe('QUEUED')
})

test('sent twice without an answer: a failed copy says nothing of the other, a delivered one settles it', async () => {
  const msgId = await unanswered()
  await service.makeDue()
  await inDoubt(msgId, 2)
  await smsc.receipt('duplicate', 'REJECTD')
  await looked()
  expect((await service.get(msgId)).body.status).toBe('QUEUED')
  await smsc.receipt('copy', 'DELIVRD')
  await service.until(msgId, 'DELIVERED')
  expect(await isParked('duplicate')).toBe(1)
})

test('sent again and answered: the receipt of the first copy says nothing of the second', async () => {
  const msgId = await unanswered()
  smsc.answerSubmits((pdu, link) => accept(pdu, link, 'second'))
  await service.makeDue()
  await service.until(msgId, 'SENT')
  // Its record is written for this. Until then nothing to its recipient is matched.
  await timeline(msgId)
  await smsc.receipt('first', 'UNDELIV')
  await looked()
  expect((await service.get(msgId)).body.status).toBe('SENT')
  await smsc.receipt('second', 'DELIVRD')
  await service.until(msgId, 'DELIVERED')
})

test('of two segments one was not answered: its receipt is of that one', async () => {
  smsc.answerSubmits((pdu, link, index) => {
    if (index === 0) accept(pdu, link, 'first')
  })
  const msgId = await service.sent({ body: TWO_PARTS })
  await inDoubt(msgId)
  await smsc.receipt('second', 'DELIVRD')
  await service.until(msgId, 'SENT')
  await smsc.receipt('first', 'DELIVRD')
  await service.until(msgId, 'DELIVERED')
  expect(smsc.submits).toHaveLength(2)
  expect(await timeline(msgId)).toContainEqual(expect.stringMatching(/^receipt: segment 2 of 2, id second/))
})

test('of two segments one was not answered, the other refused: a receipt may be of that, and is of no other message', async () => {
  const waiting = await unanswered()
  smsc.answerSubmits((pdu, link, index) => {
    if (index === 2) link.respond(pdu, STATUSES.ESME_RINVDSTADR)
  })
  const msgId = await service.sent({ body: TWO_PARTS })
  await service.until(msgId, 'FAILED')
  await smsc.receipt('first-part', 'DELIVRD')
  await looked()
  expect(await isParked('first-part')).toBe(1)
  expect((await service.get(waiting)).body.status).toBe('QUEUED')
  expect(await timeline(msgId)).toContainEqual(expect.stringMatching(/^attempt: .*refused/))
})

test('none of two segments was answered: a receipt may be of either, and stays parked', async () => {
  const msgId = await unanswered({ body: TWO_PARTS })
  await smsc.receipt('any-part', 'DELIVRD')
  await looked()
  expect(await isParked('any-part')).toBe(1)
  expect((await service.get(msgId)).body.status).toBe('QUEUED')
})

test('a plan that does not submit twice: UNKNOWN, then DELIVERED', async () => {
  await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { ambiguousSubmits: 'unknown' })
  const msgId = await unanswered()
  await service.makeDue()
  await service.until(msgId, 'UNKNOWN')
  await smsc.receipt('nobody-knows', 'DELIVRD')
  const { sentAt } = await service.until(msgId, 'DELIVERED')
  expect(sentAt).not.toBeNull()
  await service.untilWebhooks(msgId, ['UNKNOWN', 'DELIVERED'])
})

test('its node is gone, nobody knows its carrier, and the receipt comes over another node', async () => {
  const heartbeatMs = 100
  await service.restart({ heartbeatMs, linkTimings: { backoffMs: 20, responseTimeoutMs: 3_600_000 } })
  await eventually(() => smsc.bindsNow === 1)
  smsc.answerSubmits(() => undefined)
  const msgId = await service.sent()
  await eventually(() => smsc.submits.length === 1)
  await others.start({ heartbeatMs, linkTimings: { backoffMs: 20, responseTimeoutMs: TIMEOUT_MS } })
  await others.silence('node-a')
  await inDoubt(msgId)
  const { rows } = await service.db.query('select carrier_id from unanswered_submits where msg_id = $1', [
    msgId,
  ])
  expect(rows).toEqual([{ carrier_id: null }])
  await smsc.receipt('nobody-knows', 'DELIVRD')
  await eventually(async () => {
    const { rows: found } = await service.db.query('select status from messages where msg_id = $1', [msgId])
    return found[0]?.status === 'DELIVERED'
  })
})
