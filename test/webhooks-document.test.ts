import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatWebhookSecret } from '../src/domain/webhooks/requests.ts'
import { blocksOf, Shell, sectionOf, textsOf } from './support/document-commands.ts'
import { ROOT, scratchFolder } from './support/process.ts'
import { eventually, type Service, startService } from './support/service.ts'
import { acknowledge, answerStatus, type ReceivedWebhook } from './support/webhook-receiver.ts'

/** What docs/webhooks.md tells to type, typed. */

const DOCUMENT = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8')

const folder = scratchFolder()
let service: Service
let shell: Shell

beforeAll(async () => {
  service = await startService()
  const { servicePlanId, token } = service
  expect(SETTING).toMatch(/^export ALDIS_URL=\S+ ALDIS_TOKEN=\S+ ALDIS_PLAN=\S+\n$/)
  const env = { ALDIS_URL: service.app.url, ALDIS_TOKEN: token, ALDIS_PLAN: servicePlanId }
  shell = new Shell({ cwd: folder.path, env })
})
afterAll(async () => {
  await shell?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

/** The answer to a command. The receiver stands in for the one of the document. */
// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
async function curl(block: string | undefined, setting = ''): Promise<any> {
  const text = block!.replaceAll('https://hooks.example.com', service.receiver.origin)
  return JSON.parse(await shell.type(`${setting}\n${text}`))
}

const LOOKING = sectionOf(DOCUMENT, '## Looking into it')
const [SETTING, LIST, SHOW, DESTINATIONS, PAUSE, RESUME, REDELIVER, REDELIVER_ALL, TEST] = textsOf(
  LOOKING,
  'sh',
)
const FEED = sectionOf(DOCUMENT, '## The feed')

/** A message whose own URL wants none of its events: the first has failed; gives its id. */
async function failedEvent(): Promise<string> {
  service.receiver.answerWith(answerStatus(410))
  const msgId = await service.sent({ callbackUrl: `${service.receiver.origin}/own` })
  await service.until(msgId, 'DELIVERED')
  const failed = (sequence: number) =>
    `select 1 from event_deliveries where msg_id = $1 and sequence = ${sequence} and state = 'failed'`
  for (const sequence of [1, 2])
    await eventually(async () => (await service.db.query(failed(sequence), [msgId])).rowCount === 1)
  service.receiver.answerWith(acknowledge)
  return `${msgId}-1`
}

/** The webhook of this id that was answered 2xx. */
function arrivalOf(eventId: string, attempt: string): Promise<ReceivedWebhook> {
  return service.receiver.next(
    ({ headers }) => headers['webhook-id'] === eventId && headers['aldis-attempt'] === attempt,
  )
}

describe('looking into it', () => {
  it('lists and shows an event that failed, and redelivers it', async () => {
    const eventId = await failedEvent()
    const setting = `EVENT_ID=${eventId}`
    const listed = await curl(LIST)
    expect(listed.items.map((item: { eventId: string }) => item.eventId)).toContain(eventId)
    const shown = await curl(SHOW, setting)
    expect(shown).toMatchObject({ state: 'failed', destination: service.receiver.origin })
    expect(shown.attemptRecords).toMatchObject([{ attempt: 1, responseStatus: 410, error: 'HTTP_STATUS' }])
    expect(await curl(REDELIVER, setting)).toMatchObject({ eventId, state: 'pending' })
    await arrivalOf(eventId, '2')
    await eventually(async () => (await curl(SHOW, setting)).state === 'delivered')
  })

  it('redelivers all that failed', async () => {
    const eventId = await failedEvent()
    const { redelivered, nextAfter } = await curl(REDELIVER_ALL)
    expect(redelivered).toBeGreaterThanOrEqual(2)
    expect(nextAfter).toBeNull()
    await arrivalOf(eventId, '2')
    await arrivalOf(eventId.replace(/1$/, '2'), '2')
  })

  it('pauses and resumes a destination', async () => {
    const destination = service.receiver.origin
    expect(await curl(PAUSE)).toMatchObject({ destination, state: 'paused', pausedBy: 'customer' })
    // The node learns of it within a second.
    const msgId = await eventually(async () => {
      const sent = await service.sent()
      await service.until(sent, 'DELIVERED')
      return (await curl(DESTINATIONS)).items[0].parked > 0 && sent
    })
    expect(await curl(RESUME)).toMatchObject({ destination, state: 'recovering' })
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  })
})

it('tries a receiver, and its verification is of our signatures', async () => {
  const { eventId, delivered } = await curl(TEST)
  expect(delivered).toBe(true)
  const { headers, body } = await service.receiver.next(
    (received) => received.headers['webhook-id'] === eventId,
  )
  expect(headers['aldis-test']).toBe('true')
  const file = join(folder.path, 'verify.mjs')
  const guide = blocksOf(readFileSync(join(ROOT, 'docs/guides/verify-webhooks.md'), 'utf8'))
  writeFileSync(file, guide.find(({ tag }) => tag === 'file=verify.mjs')!.text)
  const { isOurs } = await import(/* @vite-ignore */ pathToFileURL(file).href)
  const raw = Buffer.from(body)
  const other = formatWebhookSecret(Buffer.alloc(32, 1))
  expect(isOurs(headers, raw, [service.webhookSecret])).toBe(true)
  expect(isOurs(headers, raw, [other, service.webhookSecret])).toBe(true)
  const first = headers['webhook-signature']
  expect(isOurs({ ...headers, 'webhook-signature': `v1,AAAA ${first}` }, raw, [service.webhookSecret])).toBe(
    true,
  )
  for (const [changed, bytes, secrets] of [
    [{}, raw, [other]],
    [{}, Buffer.from(`${body} `), [service.webhookSecret]],
    [{ 'webhook-id': 'another' }, raw, [service.webhookSecret]],
    [{ 'webhook-timestamp': '1700000000' }, raw, [service.webhookSecret]],
    [{ 'webhook-timestamp': 'x' }, raw, [service.webhookSecret]],
    [{ 'webhook-signature': undefined }, raw, [service.webhookSecret]],
  ] as const) {
    expect(isOurs({ ...headers, ...changed }, bytes, secrets)).toBe(false)
  }
})

it('catches up by the feed, and goes on where it stopped', async () => {
  expect(await curl(textsOf(FEED, 'sh')[0])).toMatchObject({
    hasMore: true,
    gap: false,
    items: [{ sequence: 1 }, {}],
  })
  writeFileSync(join(folder.path, 'catch-up.mjs'), textsOf(FEED, 'js')[0]!)
  const read = async () => (await shell.type('node catch-up.mjs')).split('\n').filter(Boolean)
  const told = async () => (await service.db.query('select 1 from events')).rows.length
  const seen: string[] = []
  const readAll = () =>
    eventually(async () => {
      seen.push(...(await read()))
      return seen.length >= (await told())
    })
  await readAll()
  expect(new Set(seen).size).toBe(await told())
  const before = seen.length
  const msgId = await service.sent()
  await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  await readAll()
  expect(seen.slice(before)).toEqual([
    `deliveryReceipt ${msgId}-1 SENT`,
    `deliveryReceipt ${msgId}-2 DELIVERED`,
  ])
  expect(await read()).toEqual([])
})
