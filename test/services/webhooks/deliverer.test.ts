import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { IN_FLIGHT_LIMITS } from '../../../src/domain/webhooks/delivery-scheduler.ts'
import { eventually, RECIPIENT, type Service } from '../../support/service.ts'
import { announced, deliveriesOf } from '../../support/stored-messages.ts'
import { serviceOfFile } from '../../support/tenant-per-test.ts'
import { acknowledge, answerStatus } from '../../support/webhook-receiver.ts'

const { tenant } = serviceOfFile()
let service: Service

beforeEach(async () => {
  service = await tenant()
})

afterEach(() => service[Symbol.asyncDispose]())

async function errorsOf(msgId: string): Promise<(string | null)[]> {
  const { rows } = await service.db.query(
    'select error from webhook_attempts where msg_id = $1 order by sequence, attempt',
    [msgId],
  )
  return rows.map(({ error }) => error)
}

/** SENT has failed once and waits, DELIVERED behind it. */
async function waiting(): Promise<string> {
  service.receiver.answerWith(answerStatus(500))
  const msgId = await service.sent()
  await service.until(msgId, 'DELIVERED')
  await eventually(async () => (await errorsOf(msgId)).length === 1)
  service.receiver.answerWith(acknowledge)
  return msgId
}

describe('where an event goes is settled when it is sent', () => {
  test('to the URL that the account has now', async () => {
    const msgId = await waiting()
    await service.admin('PATCH', `/accounts/${service.accountId}`, {
      defaultDlrUrl: `${service.receiver.origin}/new`,
    })
    await service.makeDue()
    await service.untilWebhooks(msgId, ['SENT', 'SENT', 'DELIVERED'])
    const paths = service.receiver.received.map(({ path }) => path)
    expect(paths).toEqual(['/dlr', '/new', '/new'])
  })

  test('nowhere, when the account has none any more: kept', async () => {
    const msgId = await waiting()
    await service.admin('PATCH', `/accounts/${service.accountId}`, { defaultDlrUrl: null })
    await service.makeDue()
    await eventually(async () => (await deliveriesOf(service.db, msgId)) === 0)
    expect(await announced(service.db, msgId)).toEqual(['SENT', 'DELIVERED'])
    expect(await errorsOf(msgId)).toEqual(['HTTP_STATUS'])
    expect(service.statuses(msgId)).toEqual(['SENT'])
  })
})

describe('signatures', () => {
  test('by the present secret and the previous one', async () => {
    const rotated = await service.admin('POST', `/accounts/${service.accountId}/webhook-secret/rotate`)
    const msgId = await service.sent()
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    const { body, headers } = service.receiver.received[0]!
    for (const secret of [rotated.webhookSecret, service.webhookSecret]) {
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body))
    }
    await service.admin('DELETE', `/accounts/${service.accountId}/webhook-secret/previous`)
    const next = await service.sent()
    await service.untilWebhooks(next, ['SENT', 'DELIVERED'])
    const last = service.receiver.received.at(-1)!
    expect(() =>
      new Webhook(service.webhookSecret).verify(last.body, last.headers as Record<string, string>),
    ).toThrow()
  })
})

describe('a secret that cannot be decrypted', () => {
  const read = async (path: string) => (await fetch(`${service.app.url}${path}`)).text()

  test('holds the webhooks of its account, and nobody else is affected', async () => {
    const { rows } = await service.db.query('select id, webhook_secret from accounts where account_id = $1', [
      service.accountId,
    ])
    const [{ id, webhook_secret: secret }] = rows
    const set = (value: string) =>
      service.db.query('update accounts set webhook_secret = $1 where id = $2', [value, id])
    await using other = await tenant()
    await set('v1.00000000.AAAA')
    await eventually(async () => (await read('/metrics')).includes('aldis_secrets_unreadable 1'))
    expect(JSON.parse(await read('/readyz'))).toMatchObject({
      ok: true,
      checks: { secrets: 'cannot be decrypted: 1' },
    })
    const shown = await service.admin('GET', `/accounts/${service.accountId}`)
    expect(shown).toMatchObject({ accountId: service.accountId })
    const [held, delivered] = [await service.sent(), await other.sent()]
    await other.untilWebhooks(delivered, ['SENT', 'DELIVERED'])
    await service.until(held, 'DELIVERED')
    const waiting = async () => {
      const { rows } = await service.db.query(
        'select from event_deliveries where msg_id = $1 and holder is null and failed_attempts = 0',
        [held],
      )
      return rows.length
    }
    await eventually(async () => (await waiting()) === 2)
    expect(service.receiver.received).toEqual([])
    await set(secret)
    await eventually(async () => (await read('/metrics')).includes('aldis_secrets_unreadable 0'))
    await service.makeDue()
    await service.untilWebhooks(held, ['SENT', 'DELIVERED'])
  })

  test('as the default DLR URL and the inbound URL: it is counted, and what goes there waits', async () => {
    const urls = async (dlr: string, inbound: string, unreadable: number) => {
      const own = [service.accountId, dlr, inbound]
      await service.db.query(
        'update accounts set default_dlr_url = $2 where account_id = $1',
        own.slice(0, 2),
      )
      await service.db.query('update service_plans set inbound_url = $2 where id = $1', [
        await service.planKey(),
        inbound,
      ])
      await eventually(async () =>
        (await read('/metrics')).includes(`aldis_secrets_unreadable ${unreadable}`),
      )
    }
    await urls('v1.00000000.AAAA', 'v1.00000000.AAAA', 2)
    const msgId = await service.sent()
    await service.until(msgId, 'DELIVERED')
    await service.simulator.sendInbound({ from: RECIPIENT, to: service.inboundNumber, body: 'inbound' })
    const held = async () => {
      const { rows } = await service.db.query(
        `select from event_deliveries where plan_id = $1 and holder is null and state = 'waiting'`,
        [await service.planKey()],
      )
      return rows.length
    }
    await eventually(async () => (await held()) === 3)
    expect(service.receiver.received).toEqual([])
    const { origin } = service.receiver
    await urls(`${origin}/dlr`, `${origin}/mo`, 0)
    await service.makeDue()
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    await service.receiver.next(({ path }) => path === '/mo')
  })
})

describe('many events', () => {
  test('200 messages: 400 webhooks, each once, in order', async () => {
    const ids = await Promise.all(Array.from({ length: 200 }, () => service.sent()))
    await eventually(() => service.receiver.received.length >= 400)
    const plan = await service.planKey()
    const left = () => service.db.query('select 1 from event_deliveries where plan_id = $1', [plan])
    await eventually(async () => (await left()).rows.length === 0)
    expect(service.receiver.received).toHaveLength(400)
    const statuses = Map.groupBy(
      service.receiver.received.map(({ body }) => JSON.parse(body)),
      ({ msgId }) => msgId,
    )
    for (const msgId of ids)
      expect(statuses.get(msgId)!.map(({ status }) => status)).toEqual(['SENT', 'DELIVERED'])
    expect(service.receiver.connections.length).toBeLessThanOrEqual(IN_FLIGHT_LIMITS.perDestination)
  })

  test('an event whose URL cannot be decrypted waits until it can be, others go on', async () => {
    const url = service.receiver.origin.replace('https://', 'https://user:pass@')
    service.receiver.answerWith(answerStatus(500))
    const broken = await service.sent({ callbackUrl: `${url}/secret` })
    await service.until(broken, 'DELIVERED')
    await eventually(async () => (await errorsOf(broken)).length === 1)
    service.receiver.answerWith(acknowledge)
    const { rows } = await service.db.query('select callback_url from messages where msg_id = $1', [broken])
    const seal = (url: string) =>
      service.db.query('update messages set callback_url = $2 where msg_id = $1', [broken, url])
    // As another node sealed it, with a key that this one does not have.
    await seal('v1.00000000.AAAA')
    await service.makeDue()
    await eventually(async () => {
      const { rows } = await service.db.query(
        `select due_at > now() + interval '5 minutes' as "isPutOff" from event_deliveries where msg_id = $1 order by sequence`,
        [broken],
      )
      expect(rows).toHaveLength(2)
      return rows[0].isPutOff
    })
    expect(await errorsOf(broken)).toEqual(['HTTP_STATUS'])
    const msgId = await service.sent()
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
    await seal(rows[0].callback_url)
    await service.makeDue()
    await service.untilWebhooks(broken, ['SENT', 'SENT', 'DELIVERED'])
  })
})
