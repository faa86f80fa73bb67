import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { eventually, type Service, startService } from '../support/service.ts'
import { accept, type Smsc, startSmsc } from '../support/smsc.ts'

/** 3 segments of the GSM alphabet. */
const THREE_PARTS = 'part '.repeat(80)

let smsc: Smsc
let service: Service
/** Ids differ from test to test. */
let run = 0

beforeAll(async () => {
  smsc = await startSmsc()
  service = await startService({
    smscPort: smsc.port,
    app: { ambiguityWaitMs: 60_000, linkTimings: { backoffMs: 20, responseTimeoutMs: 300 } },
  })
  await smsc.bound()
})

beforeEach(() => {
  run += 1
  const first = smsc.submits.length
  smsc.answerSubmits((pdu, link, index) => accept(pdu, link, `${run}-${index - first}`))
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await smsc[Symbol.asyncDispose]()
})

async function parkedReceipts(id: string): Promise<number> {
  const { rows } = await service.db.query(
    'select count(*)::integer as count from parked_receipts where carrier_message_id = $1',
    [id],
  )
  return rows[0].count
}

describe('receipts', () => {
  test('B358 a receipt before the submit_sm_resp is parked and applied after it', async () => {
    smsc.answerSubmits(async (pdu, link) => {
      expect(await smsc.receipt(`${run}-early`, 'DELIVRD')).toBe(STATUSES.ESME_ROK)
      expect(await parkedReceipts(`${run}-early`)).toBe(1)
      accept(pdu, link, `${run}-early`)
    })
    const msgId = await service.sent()
    await service.until(msgId, 'DELIVERED')
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    expect(await parkedReceipts(`${run}-early`)).toBe(0)
  })

  test.each(['18446744073709551615', '4062581461565934000241', 'f47ac10b-58cc-4372-a567-0e02b2c3d479'])(
    'B360 an id beyond 2^53 is matched: %s',
    async (id) => {
      smsc.answerSubmits((pdu, link) => accept(pdu, link, id))
      const msgId = await service.sent()
      await service.until(msgId, 'SENT')
      expect(await smsc.receipt(id, 'DELIVRD')).toBe(STATUSES.ESME_ROK)
      await service.until(msgId, 'DELIVERED')
    },
  )

  test('B361 an unknown id is answered ESME_ROK, kept, and matched when its submission is known', async () => {
    const id = `${run}-later`
    expect(await smsc.receipt(id, 'UNDELIV')).toBe(STATUSES.ESME_ROK)
    expect(await parkedReceipts(id)).toBe(1)
    smsc.answerSubmits((pdu, link) => accept(pdu, link, id))
    const msgId = await service.sent()
    const record = await service.until(msgId, 'FAILED')
    expect(record.errorCode).toBe('300')
    expect(await parkedReceipts(id)).toBe(0)
  })

  test.each([
    ['the first final wins', ['DELIVRD', 'UNDELIV', 'DELIVRD'], 'DELIVERED', ['SENT', 'DELIVERED']],
    ['also when it failed', ['REJECTD', 'DELIVRD'], 'FAILED', ['SENT', 'FAILED']],
    ['UNKNOWN gives way', ['UNKNOWN', 'UNKNOWN', 'DELIVRD'], 'DELIVERED', ['SENT', 'UNKNOWN', 'DELIVERED']],
    ['a vendor state is UNKNOWN', ['BUFFERED'], 'UNKNOWN', ['SENT', 'UNKNOWN']],
    [
      'on its way is SENT',
      ['ENROUTE', 'ACCEPTD', 'SCHEDULED', 'DELIVRD'],
      'DELIVERED',
      ['SENT', 'DELIVERED'],
    ],
  ])('%s: %j', async (_name, states, status, webhooks) => {
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    for (const state of states) expect(await smsc.receipt(`${run}-0`, state)).toBe(STATUSES.ESME_ROK)
    await service.until(msgId, status)
    await service.untilWebhooks(msgId, webhooks)
  })

  test('receipts sent in one go are answered and give one webhook for each change', async () => {
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    const states = ['UNKNOWN', 'DELIVRD', 'UNDELIV', 'UNKNOWN', 'DELIVRD']
    const answers = await Promise.all(states.map((state) => smsc.receipt(`${run}-0`, state)))
    expect(answers).toEqual(states.map(() => STATUSES.ESME_ROK))
    await service.until(msgId, 'DELIVERED')
    await service.untilWebhooks(msgId, ['SENT', 'UNKNOWN', 'DELIVERED'])
  })

  test('TLVs win over the text', async () => {
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    const tlvs = {
      receipted_message_id: `${run}-0`,
      message_state: 5,
      network_error_code: Buffer.from([3, 0, 1]),
    }
    expect(await smsc.receipt('nonsense', 'DELIVRD', { tlvs })).toBe(STATUSES.ESME_ROK)
    const record = await service.until(msgId, 'FAILED')
    expect(record.errorCode).toBe('302')
  })

  test('a receipt without any id is answered and forgotten', async () => {
    expect(await smsc.deliver({ esm_class: 4, short_message: Buffer.from('stat:DELIVRD') })).toBe(0)
  })
})

describe('messages of several segments', () => {
  test('B371 part 2 of 3 rejected: FAILED once, the other parts recorded', async () => {
    const first = smsc.submits.length
    smsc.answerSubmits((pdu, link, index) => {
      if (index - first === 1) link.respond(pdu, STATUSES.ESME_RINVDSTADR)
      else accept(pdu, link, `${run}-${index - first}`)
    })
    const msgId = await service.sent({ body: THREE_PARTS })
    const record = await service.until(msgId, 'FAILED')
    expect(record).toMatchObject({ segments: 3, errorCode: '301' })
    const { submissions } = await service.admin('GET', `/messages/${msgId}`)
    expect(submissions.map(({ segment }: { segment: number }) => segment).sort()).toEqual([0, 2])
    for (const part of [0, 2]) expect(await smsc.receipt(`${run}-${part}`, 'DELIVRD')).toBe(0)
    await service.untilWebhooks(msgId, ['FAILED'])
    expect((await service.get(msgId)).body.status).toBe('FAILED')
    expect(smsc.submits.length).toBe(first + 3)
  })

  test('B372 DELIVRD, DELIVRD, UNDELIV: FAILED', async () => {
    const msgId = await service.sent({ body: THREE_PARTS })
    await service.until(msgId, 'SENT')
    expect(await smsc.receipt(`${run}-0`, 'DELIVRD')).toBe(0)
    expect(await smsc.receipt(`${run}-1`, 'DELIVRD')).toBe(0)
    expect((await service.get(msgId)).body.status).toBe('SENT')
    expect(await smsc.receipt(`${run}-2`, 'UNDELIV')).toBe(0)
    await service.until(msgId, 'FAILED')
    await service.untilWebhooks(msgId, ['SENT', 'FAILED'])
  })

  test('the same receipt thrice does not stand for the other parts', async () => {
    const msgId = await service.sent({ body: THREE_PARTS })
    await service.until(msgId, 'SENT')
    for (let times = 0; times < 3; times += 1) expect(await smsc.receipt(`${run}-0`, 'DELIVRD')).toBe(0)
    expect((await service.get(msgId)).body.status).toBe('SENT')
    expect(await smsc.receipt(`${run}-2`, 'DELIVRD')).toBe(0)
    expect(await smsc.receipt(`${run}-1`, 'DELIVRD')).toBe(0)
    await service.until(msgId, 'DELIVERED')
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  })

  test('only the part that was refused for now is sent again', async () => {
    const first = smsc.submits.length
    smsc.answerSubmits((pdu, link, index) => {
      if (index - first === 1) link.respond(pdu, STATUSES.ESME_RMSGQFUL)
      else accept(pdu, link, `${run}-${index - first}`)
    })
    const msgId = await service.sent({ body: THREE_PARTS })
    await eventually(() => postponed(msgId))
    await service.makeDue()
    await service.until(msgId, 'SENT')
    const parts = smsc.submits.slice(first).map((pdu) => pdu.short_message[5])
    expect(parts).toEqual([1, 2, 3, 2])
    for (const part of [0, 2, 3]) expect(await smsc.receipt(`${run}-${part}`, 'DELIVRD')).toBe(0)
    await service.until(msgId, 'DELIVERED')
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  })
})

interface Waiting {
  attempt: number
  ambiguous: boolean
}

/** The dispatch row, once it waits in the database. */
async function postponed(msgId: string): Promise<Waiting | undefined> {
  const { rows } = await service.db.query<Waiting>(
    'select attempt, ambiguous from dispatches where msg_id = $1 and holder is null',
    [msgId],
  )
  return rows[0]
}

describe('refusals', () => {
  test.each([
    ['ESME_RMSGQFUL', STATUSES.ESME_RMSGQFUL],
    ['ESME_RSYSERR', STATUSES.ESME_RSYSERR],
    ['ESME_RX_T_APPN', STATUSES.ESME_RX_T_APPN],
  ])('%s is tried again, as often as it takes', async (_name, status) => {
    smsc.answerSubmits((pdu, link) => link.respond(pdu, status))
    const msgId = await service.sent()
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      await eventually(async () => (await postponed(msgId))?.attempt === attempt)
      if (attempt === 4) smsc.answerSubmits((pdu, link) => accept(pdu, link, `${run}-at-last`))
      await service.makeDue()
    }
    await service.until(msgId, 'SENT')
    await service.untilWebhooks(msgId, ['SENT'])
  })

  test.each([
    ['ESME_RSUBMITFAIL', STATUSES.ESME_RSUBMITFAIL],
    ['ESME_RUNKNOWNERR', STATUSES.ESME_RUNKNOWNERR],
    ['of the vendor', 0x0400],
  ])('%s is tried three times', async (_name, status) => {
    const first = smsc.submits.length
    smsc.answerSubmits((pdu, link) => link.respond(pdu, status))
    const msgId = await service.sent()
    for (const attempt of [1, 2]) {
      await eventually(async () => (await postponed(msgId))?.attempt === attempt)
      await service.makeDue()
    }
    const record = await service.until(msgId, 'FAILED')
    expect(record.errorCode).toBe('200')
    expect(smsc.submits.length - first).toBe(3)
    const { carrierCode } = await service.admin('GET', `/messages/${msgId}`)
    expect(Number(carrierCode)).toBe(status)
    await service.untilWebhooks(msgId, ['FAILED'])
  })

  test('ESME_RINVBNDSTS: a new bind, then the message, no attempt consumed', async () => {
    const binds = smsc.binds.length
    const first = smsc.submits.length
    smsc.answerSubmits((pdu, link, index) => {
      if (index === first) link.respond(pdu, STATUSES.ESME_RINVBNDSTS)
      else accept(pdu, link, `${run}-again`)
    })
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    expect(smsc.binds.length).toBe(binds + 1)
    expect(smsc.submits.length).toBe(first + 2)
  })

  test('no answer in time: it waits as ambiguous, then it is sent again', async () => {
    smsc.answerSubmits(() => undefined)
    const msgId = await service.sent()
    await eventually(async () => (await postponed(msgId))?.ambiguous)
    smsc.answerSubmits((pdu, link) => accept(pdu, link, `${run}-second`))
    await service.makeDue()
    await service.until(msgId, 'SENT')
    await service.untilWebhooks(msgId, ['SENT'])
  })

  test('an answer after the time-out: SENT, and not sent again', async () => {
    const first = smsc.submits.length
    const held = Promise.withResolvers<() => void>()
    smsc.answerSubmits((pdu, link) => held.resolve(() => accept(pdu, link, `${run}-late`)))
    const msgId = await service.sent()
    await eventually(async () => (await postponed(msgId))?.ambiguous)
    const answer = await held.promise
    answer()
    await service.until(msgId, 'SENT')
    await service.makeDue()
    expect(await smsc.receipt(`${run}-late`, 'DELIVRD')).toBe(0)
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    expect(smsc.submits.length).toBe(first + 1)
    const { rows } = await service.db.query('select 1 from dispatches where msg_id = $1', [msgId])
    expect(rows).toHaveLength(0)
  })

  test('validity over before a carrier took it: FAILED 501', async () => {
    smsc.answerSubmits((pdu, link) => link.respond(pdu, STATUSES.ESME_RMSGQFUL))
    const msgId = await service.sent()
    await eventually(() => postponed(msgId))
    await service.db.query('update dispatches set expires_at = now() where msg_id = $1', [msgId])
    await service.makeDue()
    const record = await service.until(msgId, 'FAILED')
    expect(record.errorCode).toBe('501')
    await service.untilWebhooks(msgId, ['FAILED'])
  })

  test('throttled: slower, never failed', async () => {
    const first = smsc.submits.length
    smsc.answerSubmits((pdu, link, index) => {
      if (index - first < 5) link.respond(pdu, STATUSES.ESME_RTHROTTLED)
      else accept(pdu, link, `${run}-${index - first}`)
    })
    const ids = await Promise.all(Array.from({ length: 5 }, () => service.sent()))
    for (const msgId of ids) await service.until(msgId, 'SENT')
    expect(smsc.submits.length - first).toBe(10)
  })
})
