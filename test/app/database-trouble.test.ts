import { describe, expect, test } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { withTransaction } from '../../src/store/database.ts'
import { killer } from '../support/database-outage.ts'
import { eventually, type Service } from '../support/service.ts'
import { startSmsc } from '../support/smsc.ts'
import { serviceOfFile } from '../support/tenant-per-test.ts'

interface Row {
  msg_id: string
  status: string
}

const { tenant } = serviceOfFile()

async function rowsByBody(service: Service): Promise<Map<string, Row[]>> {
  const { rows } = await service.db.query<Row & { body: string }>(
    'select msg_id, status, body from messages where plan_id = $1',
    [await service.planKey()],
  )
  return Map.groupBy(rows, ({ body }) => body)
}

describe('connections that go while messages are accepted', () => {
  test('each 202 is there once and delivered; each 500 is FAILED or absent, and never reached the carrier', async () => {
    const total = 200
    await using service = await tenant()
    await using outside = await killer(service)
    const answers = new Map<string, { status: number; msgId: string }>()
    let next = 0
    let killed = 0
    const client = async () => {
      while (next < total) {
        const body = `message ${next}`
        next += 1
        const { status, body: record } = await service.send({ body })
        answers.set(body, { status, msgId: record.msgId })
        if (answers.size % 20 !== 0) continue
        const count = await outside.kill()
        killed += count
      }
    }
    await Promise.all(Array.from({ length: 32 }, client))
    expect(killed).toBeGreaterThan(0)
    const accepted = [...answers].filter(([, { status }]) => status === 202)
    const refused = [...answers].filter(([, { status }]) => status !== 202)
    expect(accepted.length).toBeGreaterThan(total / 2)
    for (const [, { status }] of refused) expect(status).toBe(500)

    await eventually(async () => {
      const rows = await rowsByBody(service)
      return accepted.every(([body]) => rows.get(body)?.[0]?.status === 'DELIVERED')
    })
    const rows = await rowsByBody(service)
    for (const [body, { msgId }] of accepted) expect(rows.get(body)).toMatchObject([{ msg_id: msgId }])
    const submitted = new Set(service.simulator.submissions.map(({ payload }) => payload.toString('latin1')))
    for (const [body] of refused) {
      expect(
        (rows.get(body) ?? []).map(({ status }) => status).filter((status) => status !== 'FAILED'),
      ).toEqual([])
      expect(submitted.has(body)).toBe(false)
    }
    await eventually(async () => {
      const { rows: left } = await service.db.query(
        `select 1 from event_deliveries where plan_id = $1 union all
         select 1 from dispatches where plan_id = $1`,
        [await service.planKey()],
      )
      return left.length === 0
    })
    for (const [, { msgId }] of accepted) {
      // A webhook whose outcome could not be written is sent again; the order holds all the same.
      expect(service.statuses(msgId).filter((status, at, all) => status !== all[at - 1])).toEqual([
        'SENT',
        'DELIVERED',
      ])
    }
  })
})

describe('a database that is gone for a while', () => {
  test('sends are answered 500 meanwhile, and answers of the carrier are recorded afterwards', async () => {
    await using smsc = await startSmsc()
    await using service = await tenant({ smscPort: smsc.port })
    await using outside = await killer(service)
    const answers: (() => void)[] = []
    smsc.answerSubmits((pdu, link, index) => {
      answers.push(() => link.respond(pdu, STATUSES.ESME_ROK, { message_id: `late-${index}` }))
    })
    const ids = await Promise.all(Array.from({ length: 5 }, () => service.sent()))
    await eventually(() => answers.length === 5)
    await outside.without(async () => {
      for (const answer of answers) answer()
      const refused = await service.send({ body: 'refused' })
      expect(refused).toMatchObject({ status: 500, body: { status: 'FAILED', errorCode: '100' } })
      expect((await service.get(refused.body.msgId)).status).toBe(500)
      // A message in progress is read where it is.
      expect((await service.get(ids[0]!)).status).toBe(200)
    })
    for (const msgId of ids) await service.until(msgId, 'SENT')
    for (const msgId of ids) await service.untilWebhooks(msgId, ['SENT'])
    expect(smsc.submits).toHaveLength(5)
    for (let index = 0; index < 5; index += 1) expect(await smsc.receipt(`late-${index}`, 'DELIVRD')).toBe(0)
    for (const msgId of ids) await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  })

  test('a table that is locked for a moment delays, and loses nothing', async () => {
    await using service = await tenant()
    // While its rule is learned, receipts are matched in the records.
    await service.admin('PATCH', `/carriers/${service.carrier}`, { idRule: 'normalised' })
    // What waits for a lock fails after this long; on a busy machine nothing else should.
    await service.restart({ databaseStatementTimeoutMs: 1_000 })
    const msgId = await service.sent()
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    const withLocked = (table: string, work: () => Promise<void>) =>
      withTransaction(service.db, async (transaction) => {
        await transaction.query(`lock table ${table} in access exclusive mode`)
        await work()
      })
    await withLocked('journal', async () => {
      expect((await service.send({ body: 'locked out' })).status).toBe(500)
    })
    await service.untilWebhooks(await service.sent(), ['SENT', 'DELIVERED'])
    // Records are written later: nobody waits for them.
    await withLocked('messages', async () => {
      await service.untilWebhooks(await service.sent({ body: 'not held up' }), ['SENT', 'DELIVERED'])
    })
    await eventually(async () => (await rowsByBody(service)).has('not held up'))
    const rows = await rowsByBody(service)
    expect((rows.get('locked out') ?? []).every(({ status }) => status === 'FAILED')).toBe(true)
    await service.restart()
  })

  test('a node that is stopped meanwhile stops in time', async () => {
    await using service = await tenant()
    await service.restart({ drainTimeoutMs: 1_500 })
    await using outside = await killer(service)
    service.simulator.faults.holdReceipts = true
    const msgId = await service.sent()
    await service.until(msgId, 'SENT')
    await outside.without(async () => {
      service.simulator.faults.holdReceipts = false
      await eventually(() => service.simulator.stats.resent > 0)
      await service.app.stop()
    })
    await service.restart()
    await service.until(msgId, 'DELIVERED')
  })
})
