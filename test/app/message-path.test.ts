import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dashboardQueries, namesIn, readAlertRules } from '../../scripts/deploy-files.ts'
import { recoverLanes } from '../../src/operations/recover-lanes.ts'
import { withTransaction } from '../../src/store/database.ts'
import { quietLog } from '../support/log.ts'
import { CARRIER, eventually, RECIPIENT, ROUTE, type Service, startService } from '../support/service.ts'
import { call } from '../support/tenant.ts'
import { acknowledge, type WebhookExchange } from '../support/webhook-receiver.ts'

let service: Service

beforeAll(async () => {
  service = await startService()
})

afterAll(() => service[Symbol.asyncDispose]())

/** Runs `during` while the journal takes nothing, not even that the first webhook of a message was taken. Gives its id. */
async function whileTakenWaits(path: string, during: (msgId: string) => Promise<unknown>): Promise<string> {
  const held: WebhookExchange[] = []
  service.receiver.answerWith((exchange) => held.push(exchange), path)
  const msgId = await service.sent({ callbackUrl: `${service.receiver.origin}${path}` })
  await service.until(msgId, 'DELIVERED')
  await eventually(() => held.length === 1)
  await withTransaction(service.db, async (transaction) => {
    await transaction.query('lock table journal in share mode')
    acknowledge(held[0]!)
    await eventually(async () => {
      const { rows } = await service.db.query(
        `select 1 from pg_locks where relation = 'journal'::regclass and not granted`,
      )
      return rows.length > 0
    })
    service.receiver.answerWith(acknowledge, path)
    await during(msgId)
  })
  return msgId
}

describe('a message that is delivered', () => {
  test('QUEUED, SENT, DELIVERED: a webhook for each change, in order, signed, equal to the record', async () => {
    const accepted = await service.send({ body: 'path' })
    expect(accepted.status).toBe(202)
    const { msgId } = accepted.body
    expect(accepted.headers.get('location')).toBe(`/v1/messages/${msgId}`)
    expect(accepted.body).toMatchObject({
      accountId: service.accountId,
      servicePlanId: service.servicePlanId,
      channel: 'SMS',
      direction: 'MT',
      from: 'Aldis',
      to: RECIPIENT,
      body: 'path',
      status: 'QUEUED',
      errorCode: '000',
      segments: 1,
      country: 'US',
      mccmnc: null,
      price: null,
      ptf: null,
      sentAt: null,
    })
    const record = await service.until(msgId, 'DELIVERED')
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    const [sent, delivered] = service.receiver.received.filter(({ body }) => body.includes(msgId))
    expect(JSON.parse(delivered!.body)).toEqual(record)
    expect(record).toMatchObject({ errorCode: '000', mccmnc: '310260' })
    expect(JSON.parse(sent!.body)).toEqual({
      ...record,
      status: 'SENT',
      mccmnc: null,
      errorMessage: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect(Date.parse(record.sentAt)).toBeGreaterThanOrEqual(Date.parse(record.createdAt))
    expect(Date.parse(record.updatedAt)).toBeGreaterThanOrEqual(Date.parse(record.sentAt))
    const reference = new Webhook(service.webhookSecret)
    for (const webhook of [sent!, delivered!]) {
      expect(webhook).toMatchObject({ method: 'POST', path: '/dlr' })
      expect(webhook.headers['content-type']).toBe('application/json')
      expect(reference.verify(webhook.body, webhook.headers as Record<string, string>)).toEqual(
        JSON.parse(webhook.body),
      )
    }
    expect(sent!.headers['webhook-id']).not.toBe(delivered!.headers['webhook-id'])
  })

  test('its story has the id and the receipt of the carrier as they came, and the answers to its webhooks', async () => {
    const msgId = await service.sent({ body: 'story' })
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    const story = await eventually(async () => {
      const shown = await service.admin('GET', `/messages/${msgId}`)
      return shown.webhookAttempts.length === 2 && shown
    })
    const { carrierMessageId, sentAt, answeredAt } = story.submissions[0]
    const times = [story.createdAt, sentAt, answeredAt]
    expect(times).toEqual(times.toSorted())
    expect(story.attempts).toMatchObject([{ attemptedAt: sentAt, endedAt: story.sentAt }])
    expect(story.receipts).toEqual([
      {
        receivedAt: expect.any(String),
        matchedAt: null,
        carrier: story.carrier,
        carrierMessageId,
        outcome: 'DELIVERED',
        errorCode: '000',
        carrierCode: 'DELIVRD 000',
        text: expect.stringContaining(`id:${carrierMessageId}`),
        tlvs: expect.objectContaining({ receipted_message_id: carrierMessageId, message_state: '2' }),
      },
    ])
    const told = story.timeline.map(
      ({ what, detail }: { what: string; detail: string }) => `${what}: ${detail}`,
    )
    expect(told).toContainEqual(expect.stringMatching(`accepted, id ${carrierMessageId}[, ]`))
    expect(told).toContainEqual(
      expect.stringContaining(`receipt: id ${carrierMessageId}: DELIVERED, carrier: `),
    )
    expect(story.webhookAttempts).toMatchObject([
      { event: 1, responseStatus: 200, error: null, responseHead: '{"ok":true}' },
      { event: 2, responseStatus: 200, error: null, responseHead: '{"ok":true}' },
    ])
  })

  test('a callbackUrl of its own takes the place of the account\u2019s', async () => {
    const msgId = await service.sent({ callbackUrl: `${service.receiver.origin}/own?x=1` })
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    const paths = service.receiver.received.filter(({ body }) => body.includes(msgId)).map(({ path }) => path)
    expect(paths).toEqual(['/own?x=1', '/own?x=1'])
  })

  test('credentials of a callbackUrl are sealed in the database and sent as Basic', async () => {
    const url = service.receiver.origin.replace('https://', 'https://user:s3cret@')
    const msgId = await service.sent({ callbackUrl: `${url}/basic` })
    await service.recorded(msgId)
    const { rows } = await service.db.query('select callback_url from messages where msg_id = $1', [msgId])
    expect(rows[0].callback_url).not.toContain('s3cret')
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    const [webhook] = service.receiver.received.filter(({ body }) => body.includes(msgId))
    expect(webhook!.headers.authorization).toBe(`Basic ${Buffer.from('user:s3cret').toString('base64')}`)
    expect(service.logs.join()).not.toContain('s3cret')
  })

  test('the webhook of a change waits until that of the one before is known for good: none is seen again behind it', async () => {
    // While its rule is learned, messages are in the records at once.
    await service.admin('PATCH', `/carriers/${CARRIER}`, { idRule: 'normalised' })
    const msgId = await whileTakenWaits('/held', async (msgId) => {
      // Longer than a webhook takes.
      for (let times = 0; times < 50; times += 1) await service.get(msgId)
      expect(service.statuses(msgId)).toEqual(['SENT'])
    })
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  })

  test('nor is the next one sent where the lane is lost meanwhile: its new owner tells both, in their order', async () => {
    const msgId = await whileTakenWaits('/lost', () =>
      service.db.query('update lanes set epoch = epoch + 1, node_id = 0'),
    )
    await recoverLanes(service.db, { nodeId: 0, ambiguityWaitMs: 1_000, delivers: () => true, log: quietLog })
    await service.untilWebhooks(msgId, ['SENT', 'SENT', 'DELIVERED'])
  })

  test('the queue is empty afterwards', async () => {
    const msgId = await service.sent()
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    const { rows } = await service.db.query('select count(*)::integer as count from dispatches')
    expect(rows[0].count).toBe(0)
  })
})

describe('each outcome of the carrier', () => {
  test.each([
    ['1001', 'FAILED', '303', ['SENT', 'FAILED']],
    ['1002', 'FAILED', '500', ['SENT', 'FAILED']],
    ['1003', 'FAILED', '304', ['SENT', 'FAILED']],
    ['1004', 'UNKNOWN', '600', ['SENT', 'UNKNOWN']],
    ['1005', 'SENT', '000', ['SENT']],
    ['1006', 'FAILED', '301', ['FAILED']],
    ['1007', 'DELIVERED', '000', ['SENT', 'DELIVERED']],
    ['B358 1008', 'DELIVERED', '000', ['SENT', 'DELIVERED']],
    ['1009', 'DELIVERED', '000', ['SENT', 'DELIVERED']],
    ['1010', 'DELIVERED', '000', ['SENT', 'DELIVERED']],
  ])('%s: %s with errorCode %s', async (name, status, errorCode, webhooks) => {
    const msgId = await service.sent({ to: `+1555123${name.slice(-4)}` })
    const record = await service.until(msgId, status)
    expect(record.errorCode).toBe(errorCode)
    expect(record.errorMessage).not.toBe('')
    expect(record.sentAt === null).toBe(name === '1006')
    await service.untilWebhooks(msgId, webhooks)
  })
})

describe('long messages', () => {
  const gsm = `${'Aldis signals by lamp. '.repeat(20)}{€}`
  const ucs2 = 'Привет, мир 🚢 '.repeat(12)

  test.each([
    ['GSM', gsm, 4],
    ['UCS-2', ucs2, 3],
  ])('%s: one record, all segments submitted, DELIVERED once', async (_name, body, segments) => {
    const before = service.simulator.submissions.length
    const msgId = await service.sent({ body })
    const record = await service.until(msgId, 'DELIVERED')
    expect(record).toMatchObject({ segments, body })
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    const submitted = service.simulator.submissions.slice(before)
    expect(submitted.map(({ payload }) => payload[5])).toEqual(
      Array.from({ length: segments }, (_, index) => index + 1),
    )
    expect(new Set(submitted.map(({ payload }) => payload[3])).size).toBe(1)
    await service.recorded(msgId)
    const { rows } = await service.db.query('select delivered_bits from messages where msg_id = $1', [msgId])
    expect(Number(rows[0].delivered_bits)).toBe(2 ** segments - 1)
  })

  test('SENT while one segment is not delivered', async () => {
    service.simulator.faults.holdReceipts = true
    const msgId = await service.sent({ body: gsm })
    await service.until(msgId, 'SENT')
    await service.untilWebhooks(msgId, ['SENT'])
    service.simulator.faults.holdReceipts = false
    await service.until(msgId, 'DELIVERED')
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  })
})

describe('Idempotency-Key', () => {
  test('50 requests at once with one key are one message', async () => {
    const before = service.simulator.submissions.length
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => service.send({ body: 'once' }, { 'idempotency-key': 'at-once' })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    const ids = new Set(answers.map(({ body }) => body.msgId))
    expect(ids.size).toBe(1)
    const first = answers.find(({ headers }) => headers.get('idempotent-replayed') === null)!
    for (const { body } of answers) expect(body).toEqual(first.body)
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(49)
    const [msgId] = ids
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    expect(service.simulator.submissions.length).toBe(before + 1)

    const replay = await service.send({ body: 'once' }, { 'idempotency-key': 'at-once' })
    expect(replay).toMatchObject({ status: 202, body: first.body })
    const other = await service.send({ body: 'twice' }, { 'idempotency-key': 'at-once' })
    expect(other).toMatchObject({ status: 422, body: { errorCode: 'IDEMPOTENCY_KEY_REUSED' } })
  })
})

describe('the list', () => {
  test('shows messages newest first, filtered and in pages', async () => {
    const to = '+15551239999'
    const ids: string[] = []
    for (let count = 0; count < 5; count += 1) ids.push(await service.sent({ to, body: `page ${count}` }))
    for (const msgId of ids) await service.until(msgId, 'DELIVERED')
    const shown: string[] = []
    let query: Record<string, string> = { to, limit: '2' }
    for (;;) {
      const { status, body } = await service.list(query)
      expect(status).toBe(200)
      shown.push(...body.items.map((item: { msgId: string }) => item.msgId))
      if (!body.pagination.hasMore) break
      query = { cursor: body.pagination.nextCursor }
    }
    expect(shown).toEqual(ids.toReversed())
    const count = async (filters: Record<string, string>) =>
      (await service.list({ to, ...filters })).body.items.length
    expect(await count({ status: 'DELIVERED' })).toBe(5)
    expect(await count({ status: 'FAILED' })).toBe(0)
    expect(await count({ mccmnc: '310260' })).toBe(5)
    expect(await count({ country: 'DE' })).toBe(0)
    const { body } = await service.list({ to, limit: '1' })
    expect(body.items[0]).toEqual((await service.get(ids.at(-1)!)).body)
  })
})

describe('a plan of an account without URLs', () => {
  test('no webhook, no outbox row', async () => {
    await using silent = await service.tenant({ webhooks: false })
    const msgId = await silent.sent()
    await silent.until(msgId, 'DELIVERED')
    const { rows } = await silent.db.query(
      'select count(*)::integer as count from event_deliveries where plan_id = $1',
      [await silent.planKey()],
    )
    expect(rows[0].count).toBe(0)
    expect(silent.receiver.connections).toHaveLength(0)
    await eventually(() => silent.simulator.stats.kept === 0)
  })
})

describe('what the metrics say', () => {
  const scrape = async () => (await fetch(`${service.app.url}/metrics`)).text()

  test('messages that wait for a carrier that is stopped: where, why, and for how long', async () => {
    await service.admin('PATCH', `/carriers/${CARRIER}`, { state: 'stopped' })
    const msgId = await service.sent()
    const queue = await eventually(async () => {
      const answer = await service.admin('GET', '/queue')
      return answer.messages.length > 0 && answer
    })
    expect(queue.messages).toEqual([
      {
        place: 'database',
        route: ROUTE,
        carrier: null,
        cause: 'carrier-stopped',
        count: 1,
        oldestAt: expect.any(String),
      },
    ])
    const { waiting } = await service.admin('GET', `/messages/${msgId}`)
    expect(waiting).toEqual({ cause: 'carrier-stopped', node: null, nextAttemptAt: null })
    const url = `${service.app.url}/v1/messages/sms/${msgId}/wait?servicePlanId=${service.servicePlanId}`
    const { body } = await call(url, service.token)
    expect(body).toMatchObject({ status: 'QUEUED', waiting: true, cause: 'carrier-unavailable' })
    const text = await scrape()
    expect(text).toContain(`aldis_messages_waiting{route="${ROUTE}",carrier="",cause="carrier-stopped"} 1`)
    expect(text).toMatch(/aldis_messages_oldest_seconds\{place="database",route="default"\} [0-9.]+/)
    await service.admin('PATCH', `/carriers/${CARRIER}`, { state: 'started' })
  })

  test('each has the form that Prometheus asks for', async () => {
    const lines = (await scrape()).trimEnd().split('\n')
    const typeOf = new Map(
      lines.flatMap((line) =>
        [/^# TYPE (\S+) (\S+)$/.exec(line) ?? []].map(([, name, type]) => [name, type]),
      ),
    )
    const helped = new Set(lines.flatMap((line) => /^# HELP (\S+) \S/.exec(line)?.[1] ?? []))
    for (const [name, type] of typeOf) {
      if (name === undefined) continue
      expect(name).toMatch(/^[a-z][a-z0-9_]*$/)
      expect(helped.has(name), name).toBe(true)
      expect(name.endsWith('_total'), name).toBe(type === 'counter')
      expect(name).not.toMatch(/_(ms|milliseconds|minutes|kb|count|sum|bucket|gauge|counter|histogram)$/)
    }
    const series = lines
      .filter((line) => !line.startsWith('#') && line !== '')
      .map((line) => line.slice(0, line.lastIndexOf(' ')))
    expect(new Set(series).size).toBe(series.length)
  })

  test('what the dashboard and the alerts in deploy/ name is there, and no label grows with tenants or messages', async () => {
    const text = await scrape()
    const names = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
    const queries = [...dashboardQueries(), ...readAlertRules()].flatMap(({ expr }) => namesIn(expr).metrics)
    const wanted = queries
      .filter((name) => name !== 'up')
      .map((name) => name.replace(/_(bucket|sum|count)$/, ''))
    expect([...new Set(wanted)].filter((name) => !names.has(name))).toEqual([])
    const labels = new Set([...text.matchAll(/[{,]([a-z_]+)="/g)].map(([, name]) => name!))
    const CLOSED = [
      'version',
      'node',
      'method',
      'route',
      'status',
      'code',
      'carrier',
      'cause',
      'kind',
      'outcome',
      'result',
    ]
    const OWN = [
      'place',
      'what',
      'state',
      'pool',
      'statement',
      'batch',
      'le',
      'type',
      'space',
      'major',
      'minor',
      'patch',
    ]
    expect([...labels].filter((name) => ![...CLOSED, ...OWN].includes(name))).toEqual([])
    const statements = [...text.matchAll(/statement="([^"]*)"/g)].map(([, name]) => name!)
    expect(statements).toContain('append_entry')
    for (const statement of statements) expect(statement).toMatch(/^[a-z_]+$/)
    const numbers = Array.from({ length: 20 }, (_, n) => `+15559870${100 + n}`)
    await Promise.all(numbers.map((to) => service.sent({ to })))
    await using tenant = await service.tenant()
    await tenant.sent()
    const after = await scrape()
    const { accountId, servicePlanId } = service
    for (const told of [...numbers, accountId, servicePlanId, tenant.accountId, tenant.servicePlanId])
      expect(after).not.toContain(told)
  })
})
