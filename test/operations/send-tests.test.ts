import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { verifyWebhook } from '../../client/src/index.ts'
import type { ServicePlan } from '../../src/domain/configuration/configuration.ts'
import type { EventType } from '../../src/domain/events.ts'
import { sealCallbackUrl } from '../../src/domain/webhooks/callback-url.ts'
import { formatWebhookSecret } from '../../src/domain/webhooks/requests.ts'
import { AppError } from '../../src/errors.ts'
import type { TestEvents } from '../../src/operations/send-tests.ts'
import { anAccount, aPlan } from '../support/directory.ts'
import { outboundNetwork } from '../support/outbound-network.ts'
import { testEventsOf } from '../support/test-events.ts'
import { answerStatus, type WebhookReceiver } from '../support/webhook-receiver.ts'

const network = await outboundNetwork()
const guard = network.guardOf()
const secretKey = Buffer.alloc(32, 5)
const secret = formatWebhookSecret(Buffer.alloc(32, 7))
let nowMs = Date.now()
const { testEvents, close } = testEventsOf({
  guard,
  secretKey,
  caPem: network.authority.certPem,
  clock: () => nowMs,
})
afterAll(close)

let receiver: WebhookReceiver
let url: string
beforeEach(async () => {
  nowMs += 10_000
  receiver = await network.receiver()
  url = network.urlAt(receiver.port)
})

function planWith(changes: Partial<ServicePlan> & { defaultDlrUrl?: string; id?: number } = {}): ServicePlan {
  const { defaultDlrUrl = null, ...rest } = changes
  const webhookHeaders = { 'X-Api-Key': 'key-of-the-account' }
  return aPlan({ account: anAccount({ webhookSecrets: [secret], webhookHeaders, defaultDlrUrl }), ...rest })
}

async function refusal(sent: Promise<unknown>): Promise<AppError> {
  const error = await sent.then(() => null).catch((thrown: unknown) => thrown)
  if (error instanceof AppError) return error
  throw new Error(`not refused: ${String(error)}`)
}

describe('where it goes', () => {
  it('to the URL that is given, with the account’s headers, signed', async () => {
    const answer = await testEvents.send(
      planWith({ defaultDlrUrl: 'https://elsewhere.example' }),
      'deliveryReceipt',
      url,
    )
    expect(answer).toEqual({
      eventId: expect.stringMatching(/^[0-9a-f-]{36}-2$/),
      url,
      delivered: true,
      responseStatus: 200,
      latencyMs: expect.any(Number),
      error: null,
      responseHead: '{"ok":true}',
    })
    const { headers, body } = await receiver.next()
    expect(headers).toMatchObject({ 'x-api-key': 'key-of-the-account', 'aldis-test': 'true' })
    expect(await verifyWebhook(headers, body, [secret])).toMatchObject({
      eventId: answer.eventId,
      type: 'deliveryReceipt',
    })
  })

  it.each<[EventType, string, (stored: string) => Parameters<typeof planWith>[0]]>([
    ['deliveryReceipt', 'account’s default', (stored) => ({ defaultDlrUrl: stored })],
    ['inboundMessage', 'plan’s inbound URL', (stored) => ({ inboundUrl: stored })],
  ])('%s: to the %s, and its credentials are not shown', async (type, _to, changes) => {
    const stored = `${url.replace('https://', 'https://me:secret@')}?token=secret`
    const sealed = sealCallbackUrl(secretKey, stored, () => Buffer.alloc(12, 1))
    const answer = await testEvents.send(planWith(changes(sealed)), type, null)
    expect(answer).toMatchObject({ url, delivered: true })
    const { path, headers, body } = await receiver.next()
    expect(path).toContain('?token=secret')
    expect(headers.authorization).toBe(`Basic ${Buffer.from('me:secret').toString('base64')}`)
    expect(await verifyWebhook(headers, body, [secret])).toMatchObject({ type })
    expect(JSON.stringify(answer)).not.toContain('secret')
  })

  it.each<[EventType, string]>([
    ['deliveryReceipt', 'the account has no default DLR URL; give the url to test'],
    ['inboundMessage', 'the service plan has no inbound URL; give the url to test'],
  ])('%s: CONFLICT where there is none', async (type, message) => {
    expect(await refusal(testEvents.send(planWith(), type, null))).toMatchObject({
      code: 'CONFLICT',
      message,
    })
  })

  it.each([
    ['http://receiver.example.com/', 'INVALID_SCHEME'],
    ['https://127.0.0.2/', 'FORBIDDEN_ADDRESS'],
    ['https://10.0.0.1/', 'FORBIDDEN_ADDRESS'],
    ['https://nowhere.example.com/', 'HOST_NOT_FOUND'],
    ['', 'INVALID_SCHEME'],
  ])('not to %s', async (bad, code) => {
    const error = await refusal(testEvents.send(planWith(), 'deliveryReceipt', bad))
    expect(error.errors).toMatchObject([{ field: 'url', code }])
  })
})

describe('what came of it', () => {
  it('a refusal, with the beginning of its answer, where no credentials are', async () => {
    receiver.answerWith((exchange) =>
      exchange.respond(401, {}, `bad key ${exchange.request.headers['x-api-key']}`),
    )
    expect(await testEvents.send(planWith(), 'inboundMessage', url)).toMatchObject({
      delivered: false,
      responseStatus: 401,
      error: 'HTTP_STATUS',
      responseHead: 'bad key ***',
    })
  })

  it('a redirect, which is not followed', async () => {
    receiver.answerWith(answerStatus(302, { location: url }))
    const answer = await testEvents.send(planWith(), 'deliveryReceipt', url)
    expect(answer).toMatchObject({
      delivered: false,
      responseStatus: 302,
      error: 'REDIRECT',
      responseHead: null,
    })
    expect(receiver.received).toHaveLength(1)
  })

  it('no connection', async () => {
    await receiver.close()
    expect(await testEvents.send(planWith(), 'deliveryReceipt', url)).toMatchObject({
      delivered: false,
      responseStatus: null,
      error: 'CONNECT_REFUSED',
    })
  })
})

describe('how many', () => {
  const account = (id: number) => planWith({ account: anAccount({ id, webhookSecrets: [secret] }) })
  const send = (to: TestEvents, id: number) => to.send(account(id), 'deliveryReceipt', url)

  it('one a second of an account', async () => {
    await send(testEvents, 1)
    const error = await refusal(send(testEvents, 1))
    expect(error).toMatchObject({ code: 'RATE_LIMITED', headers: { 'retry-after': '1' } })
    await send(testEvents, 2)
    nowMs += 1_000
    await send(testEvents, 1)
    expect(receiver.received).toHaveLength(3)
  })

  it('an account whose receivers hang keeps nobody else from it', async () => {
    const held: (() => void)[] = []
    receiver.answerWith((exchange) => held.push(() => exchange.respond(204)))
    const hanging: Promise<unknown>[] = []
    for (let n = 0; n < 4; n += 1) {
      hanging.push(send(testEvents, 1))
      await receiver.next()
      nowMs += 1_000
    }
    expect(await refusal(send(testEvents, 1))).toMatchObject({ code: 'RATE_LIMITED' })
    receiver.answerWith(answerStatus(204))
    expect(await send(testEvents, 2)).toMatchObject({ delivered: true })
    for (const answer of held) answer()
    await Promise.all(hanging)
    nowMs += 1_000
    expect(await send(testEvents, 1)).toMatchObject({ delivered: true })
  })

  it('eight at once', async () => {
    const held: (() => void)[] = []
    receiver.answerWith((exchange) => held.push(() => exchange.respond(204)))
    const eight = Array.from({ length: 8 }, (_, n) => send(testEvents, 100 + n))
    for (const _ of eight) await receiver.next()
    expect(await refusal(send(testEvents, 200))).toMatchObject({ code: 'RATE_LIMITED' })
    for (const answer of held) answer()
    expect((await Promise.all(eight)).every(({ delivered }) => delivered)).toBe(true)
    receiver.answerWith(answerStatus(204))
    expect(await send(testEvents, 200)).toMatchObject({ delivered: true })
  })
})
