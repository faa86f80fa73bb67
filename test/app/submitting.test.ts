import { describe, expect, test } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { eventually, linkState, type Service } from '../support/service.ts'
import { accept, type Smsc, startSmsc } from '../support/smsc.ts'
import { insertMessages, newMessage } from '../support/stored-messages.ts'
import { tenantPerTest } from '../support/tenant-per-test.ts'

/** 3 segments of the GSM alphabet. */
const THREE_PARTS = 'part '.repeat(80)

let smsc: Smsc
let service: Service

tenantPerTest({}, (...own) => {
  ;[service, smsc] = own
})

/** A route of its own to this carrier. */
async function routeTo(carrier: string): Promise<string> {
  const name = `to-${carrier}`
  await service.admin('POST', '/routes', { name, carriers: [{ carrier }] })
  return name
}

/** A rule of the plan alone. */
function rule(prefix: string, route: string): Promise<{ ruleId: string }> {
  const { servicePlanId } = service
  return service.admin('POST', '/routing-rules', { servicePlanId, prefix, route })
}

/** A route whose only carrier is stopped. */
async function routeThatIsDown(): Promise<string> {
  return routeTo(await service.anotherCarrier(1, { state: 'stopped' }, false))
}

async function dispatch(msgId: string) {
  const { rows } = await service.db.query(
    `select failed_attempts, ambiguous, accepted_pdu_bits::integer as segments from dispatches where msg_id = $1`,
    [msgId],
  )
  return rows[0]
}

async function waits(msgId: string): Promise<boolean> {
  return (await dispatch(msgId)) !== undefined
}

async function attempts(msgId: string) {
  await service.recorded(msgId)
  const { rows } = await service.db.query(
    `select outcome, command_status::integer as status, resubmission from submit_attempts
     where msg_id = $1 order by attempted_at`,
    [msgId],
  )
  return rows
}

const bodies = (): string[] => smsc.submits.map(({ short_message }) => short_message.toString())

describe('a rate for each sender', () => {
  test('those of one sender keep their order and hold up nobody else', async () => {
    await service.admin('PATCH', `/carriers/${service.carrier}`, { senderMessagesPerSecond: 1 })
    const plan = await service.planKey()
    const due = Date.now() - 1_000
    const many = [0, 1, 2, 3, 4, 5].map((n) => ({ sender: 'Aldis', body: `many ${n}` }))
    const rows = [...many, { sender: 'Other', body: 'other' }].map((row, index) =>
      newMessage(plan, { ...row, callback_url: null, created_ms: due + index }),
    )
    // One read takes them all: sent in one request each, they might come as slowly as the rate lets them go.
    await insertMessages(service.db, rows)
    for (const { msg_id } of rows) await service.until(msg_id, 'SENT')
    // Two may wait in memory; the rest waits in the database.
    expect(bodies()).toEqual(['many 0', 'other', 'many 1', 'many 2', 'many 3', 'many 4', 'many 5'])
  })
})

describe('ESME_RMSGQFUL', () => {
  test('holds up that destination only, until it takes a message again', async () => {
    const full = '+15551230001'
    let isFull = true
    smsc.answerSubmits((pdu, link, index) => {
      if (isFull && pdu.destination_addr === full.slice(1)) link.respond(pdu, STATUSES.ESME_RMSGQFUL)
      else accept(pdu, link, `m-${index}`)
    })
    const first = await service.sent({ to: full, body: 'first' })
    await eventually(() => waits(first))
    const second = await service.sent({ to: full, body: 'second' })
    await eventually(() => waits(second))
    await service.until(await service.sent({ body: 'elsewhere' }), 'SENT')
    expect(bodies()).toEqual(['first', 'elsewhere'])
    expect((await dispatch(second)).failed_attempts).toBe(0)
    isFull = false
    await service.db.query('update dispatches set due_at = now() where msg_id = $1', [first])
    await service.until(first, 'SENT')
    await service.makeDue()
    await service.until(second, 'SENT')
    expect(bodies()).toEqual(['first', 'elsewhere', 'first', 'second'])
  })
})

describe('routes', () => {
  test('a rule decides, and why is written down', async () => {
    await using other = await startSmsc()
    const carrier = await service.anotherCarrier(other.port)
    const route = await routeTo(carrier)
    await rule('+4479', route)
    const [here, there] = [await service.sent(), await service.sent({ to: '+447911123456' })]
    await service.until(here, 'SENT')
    await service.until(there, 'SENT')
    expect([smsc.submits.length, other.submits.length]).toEqual([1, 1])
    await service.recorded(there)
    const { rows } = await service.db.query(
      `select m.route_reason as reason, r.name as route from messages m join routes r on r.id = m.route_id
       where msg_id = $1`,
      [there],
    )
    expect(rows).toEqual([{ route, reason: expect.stringContaining('+4479') }])
  })

  test('what waits for a carrier goes to another of its route when an operator drains it', async () => {
    await using other = await startSmsc()
    const carrier = await service.anotherCarrier(other.port)
    await service.admin('PATCH', `/routes/${service.route}`, {
      carriers: [{ carrier: service.carrier }, { carrier, priority: 1 }],
    })
    await service.admin('PATCH', `/carriers/${service.carrier}`, { window: 1 })
    await eventually(() => smsc.binds.length === 2)
    const held = Promise.withResolvers<() => void>()
    smsc.answerSubmits((pdu, link) => held.resolve(() => accept(pdu, link, 'first')))
    const ids = await Promise.all(Array.from({ length: 5 }, () => service.sent()))
    const answer = await held.promise
    await service.admin('PATCH', `/carriers/${service.carrier}`, { state: 'draining' })
    await eventually(() => other.submits.length === 4)
    answer()
    for (const msgId of ids) await service.until(msgId, 'SENT')
    expect(smsc.submits).toHaveLength(1)
  })

  test('what waits for a route whose carriers are down is left alone, and goes when the plan gets another', async () => {
    const route = await routeThatIsDown()
    await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { route })
    const { ruleId } = await rule('+4479', service.route)
    const stuck = await service.sent()
    await service.until(await service.sent({ to: '+447911123456' }), 'SENT')
    await eventually(() => waits(stuck))
    await service.admin('DELETE', `/routing-rules/${ruleId}`)
    await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { route: service.route })
    await service.until(stuck, 'SENT')
  })
})

test('a rule that goes lets go of what waited by it, though another still uses its route', async () => {
  const route = await routeThatIsDown()
  const { ruleId } = await rule('+4479', route)
  await rule('+4478', route)
  const stuck = await service.sent({ to: '+447911123456' })
  await service.until(await service.sent(), 'SENT')
  await eventually(() => waits(stuck))
  await service.admin('DELETE', `/routing-rules/${ruleId}`)
  await service.until(stuck, 'SENT')
})

describe('attempts', () => {
  test('a first one that was taken is not written; refused, retried and repeated ones are', async () => {
    const plain = await service.sent()
    await service.until(plain, 'SENT')
    expect(await attempts(plain)).toEqual([])
    const answers = [STATUSES.ESME_RSYSERR, STATUSES.ESME_RTHROTTLED, STATUSES.ESME_RINVDSTADR]
    smsc.answerSubmits((pdu, link) => link.respond(pdu, answers.shift()!))
    const msgId = await service.sent()
    await eventually(() => waits(msgId))
    await service.makeDue()
    await service.until(msgId, 'FAILED')
    expect(await attempts(msgId)).toEqual([
      { outcome: 'retry', status: STATUSES.ESME_RSYSERR, resubmission: false },
      { outcome: 'refused', status: STATUSES.ESME_RINVDSTADR, resubmission: false },
    ])
  })

  test("the carrier's own table of outcomes is asked first", async () => {
    await service.admin('PATCH', `/carriers/${service.carrier}`, {
      submitOutcomes: { '0x0b': 'retry', '0x08': 'permanent' },
    })
    smsc.answerSubmits((pdu, link) => link.respond(pdu, STATUSES.ESME_RINVDSTADR))
    const retried = await service.sent()
    await eventually(() => waits(retried))
    smsc.answerSubmits((pdu, link) => link.respond(pdu, STATUSES.ESME_RSYSERR))
    await service.until(await service.sent(), 'FAILED')
  })
})

describe('messages of several segments', () => {
  test('one PDU for all of them: each is recorded under its id, and charged', async () => {
    await service.admin('PATCH', `/carriers/${service.carrier}`, { longMessages: 'payload' })
    await service.admin('POST', '/rates', { country: 'US', price: '0.0075', ptf: '0.003', currency: 'USD' })
    smsc.answerSubmits((pdu, link) => accept(pdu, link, 'whole'))
    const msgId = await service.sent({ body: THREE_PARTS })
    const record = await service.until(msgId, 'SENT')
    expect(record).toMatchObject({ segments: 3, price: 0.0225, ptf: 0.009, currency: 'USD' })
    expect(smsc.submits).toHaveLength(1)
    await service.recorded(msgId)
    const { rows } = await service.db.query(
      'select segment, carrier_message_id as id from submissions where msg_id = $1 order by segment',
      [msgId],
    )
    expect(rows).toEqual([0, 1, 2].map((segment) => ({ segment, id: 'whole' })))
    expect(await smsc.receipt('whole', 'DELIVRD')).toBe(0)
    await service.until(msgId, 'DELIVERED')
  })

  test('only the part that was refused for now is sent again', async () => {
    smsc.answerSubmits((pdu, link, index) => {
      if (index === 1) link.respond(pdu, STATUSES.ESME_RMSGQFUL)
      else accept(pdu, link, `m-${index}`)
    })
    const msgId = await service.sent({ body: THREE_PARTS })
    await eventually(() => waits(msgId))
    await service.makeDue()
    await service.until(msgId, 'SENT')
    expect(smsc.submits.map(({ short_message }) => short_message[5])).toEqual([1, 2, 3, 2])
    for (const index of [0, 2, 3]) expect(await smsc.receipt(`m-${index}`, 'DELIVRD')).toBe(0)
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  })

  test('divided otherwise than before, it starts over, and that is flagged', async () => {
    smsc.answerSubmits((pdu, link, index) => {
      if (index === 1) link.respond(pdu, STATUSES.ESME_RSYSERR)
      else accept(pdu, link, `m-${index}`)
    })
    const msgId = await service.sent({ body: THREE_PARTS })
    await eventually(() => waits(msgId))
    await service.admin('PATCH', `/carriers/${service.carrier}`, { longMessages: 'payload' })
    await service.makeDue()
    await service.until(msgId, 'SENT')
    expect(smsc.submits).toHaveLength(4)
    expect((await attempts(msgId)).at(-1)).toMatchObject({ outcome: 'accepted', resubmission: true })
  })

  test('the rest goes to the carrier that has the parts, also when another comes first', async () => {
    await using other = await startSmsc()
    const first = smsc.submits.length
    smsc.answerSubmits((pdu, link, index) => {
      if (index - first === 1) link.respond(pdu, STATUSES.ESME_RSYSERR)
      else accept(pdu, link, `m-${index}`)
    })
    const msgId = await service.sent({ body: THREE_PARTS })
    await eventually(() => waits(msgId))
    const carrier = await service.anotherCarrier(other.port)
    await service.admin('PATCH', `/routes/${service.route}`, {
      carriers: [{ carrier: service.carrier, priority: 1 }, { carrier }],
    })
    await service.makeDue()
    await service.until(msgId, 'SENT')
    expect(smsc.submits.map(({ short_message }) => short_message[5])).toEqual([1, 2, 3, 2])
    expect(other.submits).toEqual([])
  })
})

// The last of the file: thousands of its messages are left.
describe('plans share a carrier', () => {
  test('a plan with a huge backlog does not hold up the next message of another', async () => {
    const { accountId } = service
    const other = await service.admin('POST', '/service-plans', {
      accountId,
      name: 'other',
      route: service.route,
    })
    await service.admin('PUT', `/service-plans/${other.servicePlanId}/senders/Other`, {
      status: 'approved',
    })
    await service.admin('PATCH', `/carriers/${service.carrier}`, { window: 20, messagesPerSecond: 10 })
    await eventually(
      async () => smsc.binds.length === 2 && (await linkState(service, service.carrier)).startsWith('BOUND'),
    )
    const plan = await service.planKey()
    for (let batch = 0; batch < 12; batch += 1) {
      const rows = Array.from({ length: 1_000 }, () =>
        newMessage(plan, {
          callback_url: null,
          body: 'backlog',
          created_ms: Date.now() - 1_000,
        }),
      )
      await insertMessages(service.db, rows)
    }
    // It has as many in memory as its webhooks have room for (3,750), and thousands wait behind them.
    await eventually(async () => {
      const { rows } = await service.db.query(
        'select count(*)::integer as held from messages where plan_id = $1 and lane is not null',
        [plan],
      )
      return rows[0].held > 3_500
    })
    for (let count = 0; count < 5; count += 1) {
      const body = `urgent ${count}`
      await service.sent({ servicePlanId: other.servicePlanId, from: 'Other', body })
      // It was queued before it was answered. Of the other plan one was on its way, one had begun, and one has its turn: the
      // window has room for 20, and the rate for one.
      const before = smsc.submits.length
      await eventually(() => bodies().includes(body))
      expect(bodies().indexOf(body)).toBeLessThanOrEqual(before + 3)
    }
  })
})
