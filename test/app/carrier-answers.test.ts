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

describe('messages of several segments', () => {
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
    'select attempt, ambiguous from dispatches where msg_id = $1',
    [msgId],
  )
  return rows[0]
}

describe('a submit', () => {
  test('no answer in time: it waits as ambiguous, then it is sent again', async () => {
    smsc.answerSubmits(() => undefined)
    const msgId = await service.sent()
    await eventually(async () => (await postponed(msgId))?.ambiguous)
    smsc.answerSubmits((pdu, link) => accept(pdu, link, `${run}-second`))
    await service.makeDue()
    await service.until(msgId, 'SENT')
    await service.untilWebhooks(msgId, ['SENT'])
  })
})
