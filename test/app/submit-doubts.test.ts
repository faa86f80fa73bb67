/** Submits whose outcome is in doubt, and what must not become of them. */
import { describe, expect, test } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { eventually, type Service } from '../support/service.ts'
import { accept, type Smsc } from '../support/smsc.ts'
import { storeMessage } from '../support/stored-messages.ts'
import { tenantPerTest } from '../support/tenant-per-test.ts'

const TWO_PARTS = 'long '.repeat(50)
const THREE_PARTS = 'long '.repeat(80)

let smsc: Smsc
let service: Service

tenantPerTest({ app: { ambiguityWaitMs: 60_000, linkTimings: { responseTimeoutMs: 300 } } }, (...own) => {
  ;[service, smsc] = own
})

async function dispatch(msgId: string) {
  const { rows } = await service.db.query(
    `select failed_attempts, ambiguous, accepted_pdu_bits::integer as segments, extract(epoch from due_at - now())::integer as wait_s
     from dispatches where msg_id = $1`,
    [msgId],
  )
  return rows[0]
}

/** Waits for a time-out of its submit. */
const inDoubt = (msgId: string) => eventually(async () => (await dispatch(msgId))?.ambiguous)

async function attempts(msgId: string) {
  await service.recorded(msgId)
  const { rows } = await service.db.query(
    'select outcome, resubmission from submit_attempts where msg_id = $1 order by attempted_at',
    [msgId],
  )
  return rows
}

/** A message that waits in the database as it would after an attempt. */
async function waiting(columns: string, message = ''): Promise<string> {
  const due = Date.now() + 60_000
  const msgId = await storeMessage(service.db, await service.planKey(), {
    callback_url: null,
    created_ms: due,
  })
  if (message !== '') await service.db.query(`update messages set ${message} where msg_id = $1`, [msgId])
  await service.db.query(`update dispatches set due_at = now(), ${columns} where msg_id = $1`, [msgId])
  return msgId
}

async function isSettled(msgId: string): Promise<boolean> {
  const { rows } = await service.db.query('select from dispatches where msg_id = $1', [msgId])
  return rows.length === 0
}

test('accepted late while it is under way again: SENT at once, whatever the second answer is', async () => {
  const answers: ((status: number) => void)[] = []
  smsc.answerSubmits((pdu, link, index) =>
    answers.push((status) =>
      link.respond(pdu, status, status === 0 ? { message_id: `late-${index}` } : undefined),
    ),
  )
  const msgId = await service.sent()
  await inDoubt(msgId)
  await service.makeDue()
  await eventually(() => answers.length === 2)
  answers[0]!(STATUSES.ESME_ROK)
  answers[1]!(STATUSES.ESME_RINVDSTADR)
  await service.until(msgId, 'SENT')
  await smsc.receipt('late-0', 'DELIVRD')
  await service.until(msgId, 'DELIVERED')
  expect(await isSettled(msgId)).toBe(true)
})

test('an answer after the time-out that is no acceptance changes nothing', async () => {
  const held = Promise.withResolvers<() => void>()
  smsc.answerSubmits((pdu, link) => held.resolve(() => link.respond(pdu, STATUSES.ESME_RINVDSTADR)))
  const msgId = await service.sent()
  await inDoubt(msgId)
  const refuse = await held.promise
  refuse()
  smsc.answerSubmits((pdu, link) => accept(pdu, link, 'second'))
  await service.makeDue()
  await service.until(msgId, 'SENT')
  expect(smsc.submits).toHaveLength(2)
})

test('a part that is taken after the time-out is not sent again', async () => {
  const late = Promise.withResolvers<() => void>()
  smsc.answerSubmits((pdu, link, index) => {
    if (index === 1) late.resolve(() => accept(pdu, link, 'late'))
    if (index === 2) accept(pdu, link, 'third')
  })
  const msgId = await service.sent({ body: THREE_PARTS })
  await inDoubt(msgId)
  expect((await dispatch(msgId)).segments).toBe(0b100)
  const answer = await late.promise
  answer()
  await eventually(async () => (await dispatch(msgId)).segments === 0b110)
  smsc.answerSubmits((pdu, link) => accept(pdu, link, 'first'))
  await service.makeDue()
  await service.until(msgId, 'SENT')
  expect(smsc.submits.map(({ short_message }) => short_message[5])).toEqual([1, 2, 3, 1])
})

test.each([
  ['DELIVERED', 'DELIVERED'],
  ['UNKNOWN', 'UNKNOWN'],
  ['FAILED', 'FAILED'],
])('a message that a receipt has made %s is not sent again', async (status, left) => {
  const msgId = await waiting('ambiguous = true', `status = '${status}', event_sequence = 1`)
  await eventually(() => isSettled(msgId))
  expect((await service.get(msgId)).body.status).toBe(left)
  expect(smsc.submits).toEqual([])
})

test('all its segments delivered, though nobody has settled it: not sent again', async () => {
  const msgId = await waiting('ambiguous = true', `segments = 2, delivered_bits = 3, body = '${TWO_PARTS}'`)
  await service.until(msgId, 'DELIVERED')
  expect(smsc.submits).toEqual([])
})

describe('never answered', () => {
  test('then accepted: the second attempt is flagged', async () => {
    smsc.answerSubmits(() => undefined)
    const msgId = await service.sent()
    await inDoubt(msgId)
    smsc.answerSubmits((pdu, link) => accept(pdu, link, 'second'))
    await service.makeDue()
    await service.until(msgId, 'SENT')
    expect(await attempts(msgId)).toEqual([
      { outcome: 'no-answer', resubmission: false },
      { outcome: 'accepted', resubmission: true },
    ])
  })

  test('sent again ever more seldom', async () => {
    smsc.answerSubmits(() => {})
    const msgId = await service.sent()
    const waits: number[] = []
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      waits.push(
        (
          await eventually(
            async () => (await dispatch(msgId))?.failed_attempts === attempt && dispatch(msgId),
          )
        ).wait_s,
      )
      await service.makeDue()
    }
    expect(waits.map((wait) => Math.ceil(wait / 60))).toEqual([1, 2, 4])
    await eventually(async () => (await attempts(msgId)).length === 4)
    expect(await attempts(msgId)).toEqual(
      [false, true, true, true].map((resubmission) => ({ outcome: 'no-answer', resubmission })),
    )
  })

  test.each([
    ['refused', STATUSES.ESME_RINVDSTADR, 0],
    ['refused for the third time', STATUSES.ESME_RSUBMITFAIL, 2],
  ])('and %s afterwards: the first may have come through', async (_name, status, attempt) => {
    smsc.answerSubmits((pdu, link) => link.respond(pdu, status))
    const msgId = await waiting(`ambiguous = true, failed_attempts = ${attempt}`)
    expect(await service.until(msgId, 'UNKNOWN')).toMatchObject({ errorCode: '103' })
    expect(smsc.submits).toHaveLength(1)
    expect(await attempts(msgId)).toEqual([{ outcome: 'refused', resubmission: true }])
  })

  test('and the recipient opts out afterwards: the first may have come through', async () => {
    await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { optOut: {} })
    await service.db.query(
      `insert into opt_outs (plan_id, sender, recipient) values ($1, 'Aldis', '+15551230000')`,
      [await service.planKey()],
    )
    const msgId = await waiting('ambiguous = true')
    expect(await service.until(msgId, 'UNKNOWN')).toMatchObject({ errorCode: '103' })
    expect(smsc.submits).toEqual([])
  })
})

/** A message of two parts, of which the carrier has accepted the first as m-0, and will accept all others. */
async function halfAccepted(): Promise<string> {
  smsc.answerSubmits((pdu, link, index) => {
    if (index === 1) link.respond(pdu, STATUSES.ESME_RMSGQFUL)
    else accept(pdu, link, `m-${index}`)
  })
  const msgId = await service.sent({ body: TWO_PARTS })
  await eventually(async () => (await dispatch(msgId))?.failed_attempts === 1)
  return msgId
}

test('a carrier that takes long messages otherwise than before gets all of the message anew', async () => {
  const msgId = await halfAccepted()
  await service.admin('PATCH', `/carriers/${service.carrier}`, { longMessages: 'sar' })
  await service.makeDue()
  await service.until(msgId, 'SENT')
  const sar = smsc.submits.slice(2).map(({ tlvs }) => tlvs.sar_segment_seqnum)
  expect(sar).toEqual([1, 2])
  expect(await attempts(msgId)).toEqual([
    { outcome: 'retry', resubmission: false },
    { outcome: 'accepted', resubmission: true },
  ])
})

test('receipts of a part that was divided otherwise say nothing of the message that was sent anew', async () => {
  const msgId = await halfAccepted()
  await smsc.receipt('m-0', 'DELIVRD')
  await service.admin('PATCH', `/carriers/${service.carrier}`, { longMessages: 'sar' })
  await service.makeDue()
  await service.until(msgId, 'SENT')
  const statusAfter = async (id: string, state: string) => {
    expect(await smsc.receipt(id, state)).toBe(STATUSES.ESME_ROK)
    return (await service.get(msgId)).body.status
  }
  expect(await statusAfter('m-0', 'UNDELIV')).toBe('SENT')
  expect(await statusAfter('m-3', 'DELIVRD')).toBe('SENT')
  expect(await statusAfter('m-0', 'DELIVRD')).toBe('SENT')
  expect(await statusAfter('m-2', 'DELIVRD')).toBe('DELIVERED')
})
