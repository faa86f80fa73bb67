import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { STATUSES } from '../../src/smpp/statuses.ts'
import { eventually, INBOUND_NUMBER, RECIPIENT, type Service, startService } from '../support/service.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'

const REPLIES = { stopReply: 'You are out', startReply: 'You are in', helpReply: 'Write to us' }

let smsc: Smsc
let service: Service
let planPath: string

beforeAll(async () => {
  smsc = await startSmsc()
  service = await startService({ smscPort: smsc.port })
  planPath = `/service-plans/${service.servicePlanId}`
  await service.admin('PUT', `${planPath}/senders/${encodeURIComponent(INBOUND_NUMBER)}`, {
    status: 'approved',
  })
})

beforeEach(async () => {
  await service.admin('PATCH', planPath, { optOut: { stopReply: null, startReply: null, helpReply: null } })
  await service.db.query('delete from opt_outs')
  await service.db.query('delete from idempotency_keys')
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await smsc[Symbol.asyncDispose]()
})

/** What a person writes to our number. Returns the command_status of the answer. */
function delivered(text: string, person: string): Promise<number> {
  return smsc.deliver({
    source_addr_ton: 1,
    source_addr: person.slice(1),
    dest_addr_ton: 1,
    destination_addr: INBOUND_NUMBER.slice(1),
    short_message: Buffer.from(text),
  })
}

/** Recorded when this returns. */
async function writes(text: string, person = RECIPIENT): Promise<void> {
  expect(await delivered(text, person)).toBe(STATUSES.ESME_ROK)
}

const sentTexts = () => smsc.submits.map(({ short_message }) => short_message.toString())
const fromNumber = (fields = {}) => service.sent({ from: INBOUND_NUMBER, ...fields })

test('STOP over SMPP: a send of that sender fails with 307 and never reaches the carrier, until START', async () => {
  await writes('Stop!')
  const answer = await service.send({ from: INBOUND_NUMBER, body: 'unwanted' })
  expect(answer).toMatchObject({ status: 202, body: { status: 'QUEUED', errorCode: '000' } })
  const { msgId } = answer.body
  expect(await service.until(msgId, 'FAILED')).toMatchObject({
    errorCode: '307',
    errorMessage: 'Recipient has opted out',
  })
  await service.untilWebhooks(msgId, ['FAILED'])
  const other = await service.sent({ body: 'from another sender' })
  await service.until(other, 'SENT')
  await service.until(await fromNumber({ to: '+15551239999', body: 'to another person' }), 'SENT')
  await writes('start')
  await service.until(await fromNumber({ body: 'wanted again' }), 'SENT')
  expect(sentTexts()).toEqual(['from another sender', 'to another person', 'wanted again'])
})

test('the message itself goes to the webhook like any other', async () => {
  const before = service.receiver.received.length
  await writes('STOP')
  await eventually(() => service.receiver.received.length > before)
  expect(JSON.parse(service.receiver.received.at(-1)!.body)).toMatchObject({
    direction: 'MO',
    from: RECIPIENT,
    to: INBOUND_NUMBER,
    body: 'STOP',
    keyword: 'STOP',
  })
})

test('answers to STOP and HELP go out, once in an hour; later sends do not', async () => {
  await service.admin('PATCH', planPath, { optOut: REPLIES })
  const before = smsc.submits.length
  await writes('STOP')
  await eventually(() => smsc.submits.length > before)
  expect(smsc.submits.at(-1)).toMatchObject({
    source_addr: INBOUND_NUMBER.slice(1),
    destination_addr: RECIPIENT.slice(1),
    short_message: Buffer.from('You are out'),
  })
  await writes('STOP')
  await writes('HELP')
  await eventually(() => smsc.submits.length > before + 1)
  await service.until(await fromNumber(), 'FAILED')
  await writes('START')
  await eventually(() => smsc.submits.length > before + 2)
  expect(sentTexts().slice(before)).toEqual(['You are out', 'Write to us', 'You are in'])
})

test('two machines that answer each other: one answer of a kind', async () => {
  await service.admin('PATCH', planPath, { optOut: { helpReply: 'HELP' } })
  const before = smsc.submits.length
  for (let round = 0; round < 5; round += 1) await writes('HELP', '+15551230007')
  await writes('HELP', '+15551230008')
  await eventually(() => smsc.submits.length >= before + 2)
  const to = smsc.submits.slice(before).map(({ destination_addr }) => destination_addr)
  expect(to.sort()).toEqual(['15551230007', '15551230008'])
})

test('a message that waited while its recipient opted out fails as well; an Idempotency-Key is answered as before', async () => {
  await service.admin('PATCH', '/carriers/main', { state: 'stopped' })
  const waiting = await fromNumber({ body: 'waits' })
  const before = smsc.submits.length
  await service.admin('POST', '/opt-outs', {
    servicePlanId: service.servicePlanId,
    from: INBOUND_NUMBER,
    to: RECIPIENT,
  })
  await service.admin('PATCH', '/carriers/main', { state: 'started' })
  await smsc.bound()
  await eventually(async () => {
    await service.makeDue()
    return (await service.get(waiting)).body.status === 'FAILED'
  })
  expect((await service.get(waiting)).body.errorCode).toBe('307')
  const key = { 'idempotency-key': 'while-opted-out' }
  const first = await service.send({ from: INBOUND_NUMBER }, key)
  await service.until(first.body.msgId, 'FAILED')
  const again = await service.send({ from: INBOUND_NUMBER }, key)
  expect([again.status, again.body]).toEqual([202, first.body])
  expect(smsc.submits.length).toBe(before)
})

test('a plan without opt-outs hears nothing in STOP, and another plan is not concerned', async () => {
  await writes('STOP')
  await service.admin('PATCH', planPath, { optOut: null })
  await service.until(await fromNumber({ body: 'off' }), 'SENT')
  await service.db.query('delete from opt_outs')
  await writes('STOP')
  await service.admin('PATCH', planPath, { optOut: {} })
  await service.until(await fromNumber({ body: 'on again' }), 'SENT')
  await writes('STOP')
  const other = await service.admin('POST', '/service-plans', {
    accountId: service.accountId,
    name: 'other',
    route: 'default',
    optOut: {},
  })
  const { servicePlanId } = other
  await service.admin(
    'PUT',
    `/service-plans/${servicePlanId}/senders/${encodeURIComponent(INBOUND_NUMBER)}`,
    {
      status: 'approved',
    },
  )
  const answer = await service.send({ servicePlanId, from: INBOUND_NUMBER, body: 'of another plan' })
  expect(answer.status).toBe(202)
  await eventually(() => sentTexts().includes('of another plan'))
})

test('a STOP that another transaction answers for too long is refused alone', async () => {
  await service.admin('PATCH', planPath, { optOut: REPLIES })
  const key = createHash('sha256').update(`opt-out reply stop ${INBOUND_NUMBER} ${RECIPIENT}`).digest('hex')
  const other = await service.db.connect()
  await other.query('select pg_advisory_lock(hashtextextended($1, 0))', [`${await service.planKey()}:${key}`])
  const answers = await Promise.all(
    ['Hello', 'STOP', 'Hello again'].map((text, n) => delivered(text, n === 1 ? RECIPIENT : '+15550007777')),
  )
  other.release(true)
  expect(answers).toEqual([STATUSES.ESME_ROK, STATUSES.ESME_RX_T_APPN, STATUSES.ESME_ROK])
  await writes('STOP')
})
