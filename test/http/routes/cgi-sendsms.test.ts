import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anyText } from '../../support/any-text.ts'
import { headersToShow } from '../../support/attempt-headers.ts'
import { STRICT_CALLBACK_POLICY } from '../../support/callback-policy.ts'
import { eventually } from '../../support/eventually.ts'
import { type Service, startService } from '../../support/service.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts'

let service: Service
let receiver: WebhookReceiver
const USERS = {
  simple: { password: 'elpmis', defaultSender: 'Aldis' },
  complex: { password: '76ftY', forcedSender: 'Aldis', callingCode: '1' },
  bare: { password: 'bare' },
}

beforeAll(async () => {
  service = await startService({
    app: {
      cgiSendsms: true,
      callbackPolicy: { ...STRICT_CALLBACK_POLICY, allowCidrs: ['127.0.0.0/8'], allowHttp: true },
    },
  })
  receiver = await startWebhookReceiver()
  for (const [username, settings] of Object.entries(USERS)) await createUser(service, username, settings)
})
afterAll(async () => {
  await receiver?.close()
  await service?.[Symbol.asyncDispose]()
})

async function createUser({ admin, servicePlanId }: Service, username: string, settings: object) {
  await admin('POST', '/sendsms-users', { username, servicePlanId, ...settings })
}

async function ask(query: string, init: RequestInit = {}) {
  const url = `${service.app.url}/cgi-bin/sendsms${query === '' ? '' : `?${query}`}`
  const answer = await fetch(url, init)
  return {
    status: answer.status,
    type: answer.headers.get('content-type'),
    text: await answer.text(),
    headers: answer.headers,
  }
}

const SIMPLE = 'username=simple&password=elpmis'
const TO = `${SIMPLE}&to=15551230000`
const ACCEPTED = [202, '0: Accepted for delivery'] as const

async function messages(of: Service = service) {
  const { body } = await of.list({ fromDate: new Date(Date.now() - 3_600_000).toISOString(), limit: '100' })
  return body.items as { from: string; to: string; body: string; msgId: string; status: string }[]
}

/** The message with this text, once it is there. */
function messageWith(text: string) {
  return eventually(async () => (await messages()).find(({ body }) => body === text))
}

describe('answers that Kannel 1.4.5 gave to the same requests', () => {
  it.each([
    ['username=simple&password=elpmis&to=15551230000&text=Hello+world', ...ACCEPTED],
    ['user=simple&pass=elpmis&to=%2B15551230000&from=Aldis&text=Hello', ...ACCEPTED],
    [`${SIMPLE}&to=15551230000+15551230001&text=x`, ...ACCEPTED],
    ['', 403, 'Authorization failed for sendsms'],
    ['username=simple&password=bad&to=1', 403, 'Authorization failed for sendsms'],
    ['username=nobody&password=elpmis&to=1', 403, 'Authorization failed for sendsms'],
    [SIMPLE, 400, 'Missing receiver number, rejected'],
    [`${SIMPLE}&to=`, 400, 'Empty receiver number not allowed, rejected'],
    ['username=bare&password=bare&to=15551230000&text=x', 400, 'Sender missing and no global set, rejected'],
    [`${TO}&text=x&udh=%02%01`, 400, 'UDH field misformed, rejected'],
    [`${TO}&text=x&mclass=4`, 400, 'MClass field misformed, rejected'],
    [`${TO}&text=x&mclass=x`, ...ACCEPTED],
    [`${TO}&text=x&mwi=8`, 400, 'MWI field misformed, rejected'],
    [`${TO}&text=x&pid=256`, 400, 'PID field misformed, rejected'],
    [`${TO}&text=x&rpi=3`, 400, 'RPI field misformed, rejected'],
    [`${TO}&text=x&alt-dcs=2`, 400, 'Alt-DCS field misformed, rejected'],
    [`${TO}&text=x&coding=3`, 400, 'Coding field misformed, rejected'],
    [`${TO}&text=%00x&coding=2`, ...ACCEPTED],
    [`${TO}&text=x&compress=2`, 400, 'Compress field misformed, rejected'],
    [`${TO}&text=x&validity=-2`, 400, 'Validity field misformed, rejected'],
    [`${TO}&text=x&validity=10`, ...ACCEPTED],
    [`${TO}&text=x&deferred=-2`, 400, 'Deferred field misformed, rejected'],
    [`${TO}&text=x&deferred=0`, ...ACCEPTED],
    [`${TO}&text=x&priority=4`, 400, 'Priority field misformed, rejected'],
    [`${TO}&text=x&priority=3`, ...ACCEPTED],
    [`${TO}&text=x&dlr-mask=-2`, 400, 'DLR-Mask field misformed, rejected'],
    [`${TO}&text=x&dlr-mask=63`, ...ACCEPTED],
    [`${TO}&text=x&dlr-mask=3&dlr-url=x`, 400, 'DLR-URL field misformed, rejected'],
    [`${TO}&text=x&dlrurl=ftp://example.com`, 400, 'DLR-URL field misformed, rejected'],
    [`${TO}&text=x&charset=nosuch`, 400, 'Charset or body misformed, rejected'],
    [`${TO}&text=caf%E9&charset=iso-8859-1`, ...ACCEPTED],
    [`${TO}&text=x&account=%5B`, 400, 'Account field misformed or too long, rejected'],
    [`${TO}&text=x&account=ok&smsc=any&binfo=x&meta-data=x&flash=1`, ...ACCEPTED],
  ])('%s', async (query, status, text) => {
    expect(await ask(query)).toMatchObject({ status, text, type: 'text/html' })
  })

  const HEADERS = {
    'x-kannel-username': 'simple',
    'x-kannel-password': 'elpmis',
    'x-kannel-to': '15551230000',
  }
  it.each([
    ['text/plain', {}, ...ACCEPTED],
    ['text/plain; charset=ISO-8859-1', {}, ...ACCEPTED],
    ['application/octet-stream', { 'x-kannel-coding': '2' }, ...ACCEPTED],
    ['text/plain', { 'x-kannel-password': 'bad' }, 403, 'Authorization failed for sendsms'],
    ['text/html', {}, 415, 'Unsupported content-type, rejected'],
    [';', {}, 415, 'Unsupported content-type, rejected'],
    ['application/json', {}, 400, 'Invalid content-type'],
    ['application/x-www-form-urlencoded', {}, 400, 'Invalid content-type'],
  ])('POST %s %o', async (type, more, status, text) => {
    const headers = { ...HEADERS, 'content-type': type, ...more }
    expect(await ask('', { method: 'POST', headers, body: 'hi' })).toMatchObject({ status, text })
  })
})

describe('what differs from Kannel', () => {
  it.each([
    ['no text', TO, 400, 'Empty text not allowed, rejected'],
    ['a header of its own', `${TO}&text=x&udh=%02%01%02`, 400, 'UDH field not supported, rejected'],
    ['flash', `${TO}&text=x&mclass=0`, 400, 'MClass field not supported, rejected'],
    ['binary', `${TO}&text=x&coding=1`, 400, 'Coding field not supported, rejected'],
    ['later', `${TO}&text=x&deferred=5`, 400, 'Deferred field not supported, rejected'],
    ['one wrong number of two', `${TO}+abc&text=x`, 400, 'Receiver number 2 misformed, rejected'],
    ['a national number', `${SIMPLE}&to=05551230000&text=x`, 400, 'Receiver number 1 misformed, rejected'],
    ['another sender', `${TO}&from=Other&text=x`, 403, /^Not routable\. Do not try again\. ./],
  ])('%s', async (_, query, status, text) => {
    const before = (await messages()).length
    const answer = await ask(query)
    expect(answer.status).toBe(status)
    expect(answer.text).toMatch(text)
    expect((await messages()).length).toBe(before)
  })

  it('says that a message waits while no carrier of its route is bound; of several, Kannel does not know', async () => {
    await service.admin('POST', '/carriers', {
      name: 'away',
      host: '127.0.0.1',
      systemId: 'aldis',
      password: 'aldis',
      state: 'stopped',
    })
    await service.admin('POST', '/routes', { name: 'away', carriers: [{ carrier: 'away' }] })
    const waiting = await service.tenant({ plan: { route: 'away' } })
    await createUser(waiting, 'waiting', { password: 'waiting', defaultSender: 'Aldis' })
    const query = 'username=waiting&password=waiting&text=x&to=15551230000'
    const one = await ask(query)
    expect([one.status, one.text]).toEqual([202, '3: Queued for later delivery'])
    const two = await ask(`${query}+15551230001`)
    expect([two.status, two.text]).toEqual(ACCEPTED)
    await waiting[Symbol.asyncDispose]()
  })

  it('a HEAD sends nothing', async () => {
    expect((await ask(`${TO}&text=head`, { method: 'HEAD' })).status).toBe(405)
  })
})

it('sends what it was given: senders, numbers, encodings', async () => {
  const complex = 'username=complex&password=76ftY'
  await ask(`${complex}&from=1234&to=0555-123-0000+0015551230001++%2B15551230000&text=one`)
  const sent = await eventually(async () => {
    const ones = (await messages()).filter(({ body }) => body === 'one')
    return ones.length === 2 && ones
  })
  expect(sent.map(({ from, to }) => `${from} ${to}`).sort()).toEqual([
    'Aldis +15551230000',
    'Aldis +15551230001',
  ])
  await ask(`${TO}&charset=iso-8859-15&text=%A4uro`)
  await ask(`${TO}&coding=2&text=%04%20%04%43%00%31`)
  await ask(`${TO}&coding=2&charset=utf-8&text=%D0%A0%D1%83%32`)
  for (const text of ['€uro', 'Ру1', 'Ру2']) expect(await messageWith(text)).toMatchObject({ from: 'Aldis' })
})

describe('delivery reports', () => {
  const urlOf = (path: string) => encodeURIComponent(`${receiver.origin}${path}`)
  /** The reports that came at a path: requests for it. */
  const reportsAt = (path: string) => receiver.received.filter((each) => each.path.startsWith(`${path}?`))
  const reported = (path: string, count: number) =>
    eventually(() => reportsAt(path).length >= count && reportsAt(path))

  it.each([
    ['delivered', '0000', 31, ['8', '1']],
    ['only the end', '0000', 3, ['1']],
    ['only the beginning', '0000', 8, ['8']],
    ['undeliverable', '1001', 31, ['8', '2']],
    ['unknown', '1004', 31, ['8', '2']],
    ['refused', '1006', 31, ['16']],
  ])('%s', async (_, digits, mask, types) => {
    const path = `/${digits}-${mask}`
    const dlr = `dlr-mask=${mask}&dlr-url=${urlOf(`${path}?id=7&type=%d`)}`
    const { status } = await ask(`${SIMPLE}&to=1555123${digits}&text=${mask}&${dlr}`)
    expect(status).toBe(202)
    const got = await reported(path, types.length)
    expect(got.map((each) => `${each.method} ${each.path}`)).toEqual(
      types.map((type) => `GET ${path}?id=7&type=${type}`),
    )
    const { msgId } = got[0]!.eventId.match(/^(?<msgId>.{36})-/)!.groups!
    const { webhookEvents } = await eventually(async () => {
      const shown = await service.recorded(msgId!)
      const { webhookEvents: events } = shown as { webhookEvents: { state: string }[] }
      return events.every(({ state }) => state !== 'pending') && { webhookEvents: events }
    })
    const delivered = webhookEvents.filter(({ state }) => state === 'delivered')
    expect(delivered.length).toBe(types.length)
    expect(reportsAt(path).length).toBe(types.length)
    const { attemptRecords } = await service.admin('GET', `/webhook-events/${got[0]!.eventId}`)
    expect(attemptRecords).toMatchObject([{ requestHeaders: headersToShow(got[0]!) }])
    expect(attemptRecords[0].requestHeaders).not.toHaveProperty('content-type')
  })

  it('replaces the escapes', async () => {
    const letters = [...'dpPqQtTAabkiIFfnmMcCuBoODvVzLx']
    const pattern = `/all?${letters.map((letter) => `${letter}=%${letter}`).join('&')}&p1=%%&meta=%#smpp#x#&end=1%25`
    const query = `${SIMPLE}&from=Aldis&to=0015551230000&text=All&dlr-mask=1&dlr-url=${urlOf(pattern)}`
    expect((await ask(query)).status).toBe(202)
    const [report] = await reported('/all', 1)
    const { msgId } = await messageWith('All')
    const fields = new URLSearchParams(report!.path.split('?')[1])
    const text = new RegExp(
      `^id:${msgId} sub:001 dlvrd:001 submit date:\\d{10} done date:\\d{10} stat:DELIVRD err:000 text:$`,
    )
    for (const letter of 'Aab') expect(fields.get(letter)).toMatch(text)
    expect(fields.get('t')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    expect(Number(fields.get('T'))).toBeGreaterThan(1_700_000_000)
    const rest = Object.fromEntries([...fields].filter(([name]) => !'AabtT'.includes(name)))
    expect(rest).toEqual({
      ...Object.fromEntries([...'ifuBoDvV'].map((letter) => [letter, ''])),
      ...{ d: '1', p: '0015551230000', P: 'Aldis', q: '+15551230000', Q: 'Aldis', n: 'simple' },
      ...{ k: `id:${msgId}`, I: msgId, F: msgId, m: '-1', M: '-1', c: '-1', C: 'UTF-8', O: '00' },
      ...{ z: '%z', L: '%L', x: '%x', p1: '%', meta: '', end: '1%' },
    })
  })

  it('go to the URL of the user if the request asks for them without its own', async () => {
    const dlrUrl = `${receiver.origin}/usual?type=%d&to=%p`
    await createUser(service, 'usual', { password: 'usual', defaultSender: 'Aldis', dlrUrl })
    const query = 'username=usual&password=usual&to=15551230000&text=x'
    for (const dlr of ['', '&dlr-mask=1', '&dlr-mask=1&dlr-url=', `&dlr-mask=1&dlr-url=${urlOf('/own?%d')}`])
      expect((await ask(`${query}${dlr}`)).status).toBe(202)
    await reported('/own', 1)
    const got = await reported('/usual', 2)
    expect(got.map(({ path }) => path)).toEqual(Array(2).fill('/usual?type=1&to=15551230000'))
    await service.admin('PATCH', '/sendsms-users/usual', { dlrUrl: 'http://10.0.0.1/%d' })
    const { status, text } = await ask(`${query}&dlr-mask=1`)
    expect([status, text]).toEqual([400, expect.stringMatching(/^DLR-URL field misformed \(must /)])
  })

  it('without a URL they go where all others of the account go', async () => {
    await ask(`${TO}&text=usual&dlr-mask=31`)
    const { msgId } = await messageWith('usual')
    await service.untilWebhooks(msgId, ['SENT', 'DELIVERED'])
  })

  it('are retried, in order, with the credentials of the URL and the signature of the account', async () => {
    let failures = 1
    receiver.answerWith((exchange) => exchange.respond(failures-- > 0 ? 500 : 200), '/again')
    const url = encodeURIComponent(`${receiver.origin.replace('//', '//me:hush@')}/again?%d`)
    await ask(`${TO}&text=again&dlr-mask=31&dlr-url=${url}`)
    await reported('/again', 1)
    await service.makeDue()
    const got = await eventually(async () => {
      await service.makeDue()
      return reportsAt('/again').length >= 3 && reportsAt('/again')
    })
    expect(got.map(({ path }) => path.slice(-1))).toEqual(['8', '8', '1'])
    expect(got[0]!.headers.authorization).toBe(`Basic ${btoa('me:hush')}`)
    expect(got[0]!.headers['webhook-signature']).toMatch(/^v1,/)
    expect(got[0]!.headers['content-type']).toBeUndefined()
    const { rows } = await service.db.query(
      "select callback_url from messages where callback_url like '%hush%'",
    )
    expect(rows).toEqual([])
  })

  it('are none of what the mask leaves out, also when the URL is sealed', async () => {
    const url = encodeURIComponent(`${receiver.origin.replace('//', '//me:hush@')}/sealed?%d`)
    await ask(`${TO}&text=sealed&dlr-mask=1&dlr-url=${url}`)
    expect((await reported('/sealed', 1)).map(({ path }) => path)).toEqual(['/sealed?1'])
    const { msgId } = await messageWith('sealed')
    const { webhookEvents } = (await service.recorded(msgId)) as { webhookEvents: { state: string }[] }
    expect(webhookEvents.map(({ state }) => state)).toContain('kept')
  })

  it.each([
    'http://192.168.7.7/dlr?%d',
    'http://169.254.169.254/latest',
    'https://10.0.0.1/%d',
    'http://hooks.example.com/dlr',
    'http://%P/dlr',
    'https://[::1]/',
    `http://127.0.0.1/${'%A'.repeat(30)}`,
  ])('are refused to %s', async (url) => {
    const answer = await ask(`${TO}&text=x&dlr-mask=1&dlr-url=${encodeURIComponent(url)}`)
    expect(answer.status).toBe(400)
    expect(answer.text).toMatch(/^DLR-URL field misformed \(must .*\), rejected$/)
  })

  it('allow plain http to no other send', async () => {
    const { status, body } = await service.send({ callbackUrl: `${receiver.origin}/plain` })
    expect([status, body.errors?.[0].code]).toEqual([400, 'INVALID_SCHEME'])
  })
})

describe('users', () => {
  it('one sees and sends nothing of another plan', async () => {
    const other = await service.tenant()
    await createUser(other, 'other', { password: 'other', defaultSender: 'Aldis' })
    const before = (await messages()).length
    const query = 'username=other&password=other&to=15551230000&text=theirs'
    expect((await ask(`${query}&servicePlanId=${service.servicePlanId}`)).status).toBe(202)
    expect((await messages(other)).map(({ body }) => body)).toEqual(['theirs'])
    expect((await messages()).length).toBe(before)
    await other[Symbol.asyncDispose]()
  })

  it('a plan that has reached its cap may send again later', async () => {
    const capped = await service.tenant({ plan: { caps: { messagesPerDay: 1 } } })
    await createUser(capped, 'capped', { password: 'capped', defaultSender: 'Aldis' })
    const query = 'username=capped&password=capped&to=15551230000&text=x'
    expect((await ask(query)).status).toBe(202)
    const { status, text, headers } = await ask(query)
    expect([status, text]).toEqual([503, 'Temporal failure, try again later.'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    await capped[Symbol.asyncDispose]()
  })

  it('a plan that may not send to a country for a while may send again later', async () => {
    const pumpingGuard = { messagesPerPrefix: 1, pauseMinutes: 10 }
    const guarded = await service.tenant({ plan: { sandbox: true, route: undefined, pumpingGuard } })
    await createUser(guarded, 'guarded', { password: 'guarded', defaultSender: 'Aldis' })
    const refused = await eventually(async () => {
      const answer = await ask('username=guarded&password=guarded&to=15551230000&text=x')
      return answer.status !== 202 && answer
    })
    expect([refused.status, refused.text]).toEqual([503, 'Temporal failure, try again later.'])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    await guarded[Symbol.asyncDispose]()
  })

  it('more numbers than a burst of the plan are sent to, and the next request waits for them', async () => {
    const slow = await service.tenant({ plan: { rateLimit: { messagesPerSecond: 1, burst: 2 } } })
    await createUser(slow, 'slow', { password: 'slow', defaultSender: 'Aldis' })
    const query = 'username=slow&password=slow&text=x&to=15551230000'
    expect((await ask(`${query}+15551230001+15551230002`)).status).toBe(202)
    expect((await ask(query)).status).toBe(503)
    await slow[Symbol.asyncDispose]()
  })

  it('a password is changed, a user deleted, a plan made inactive: at once', async () => {
    await createUser(service, 'gone', { password: 'first', defaultSender: 'Aldis' })
    const status = async (password: string) =>
      (await ask(`username=gone&password=${password}&to=15551230000&text=x`)).status
    expect(await status('first')).toBe(202)
    expect(await status('first')).toBe(202)
    await service.admin('PATCH', '/sendsms-users/gone', { password: 'second' })
    expect([await status('first'), await status('second')]).toEqual([403, 202])
    await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { active: false })
    const { status: refused, text } = await ask(`${TO}&text=x`)
    expect([refused, text]).toEqual([403, expect.stringMatching(/^Not routable\. Do not try again\./)])
    await service.admin('PATCH', `/service-plans/${service.servicePlanId}`, { active: true })
    await service.admin('DELETE', '/sendsms-users/gone')
    expect(await status('second')).toBe(403)
  })

  it('a deleted user sends on no other node either', async () => {
    await createUser(service, 'brief', { password: 'brief', defaultSender: 'Aldis' })
    const node = await service.startNode({ nodeName: 'node-c' })
    const query = 'username=brief&password=brief&to=15551230000&text=x'
    const statusThere = async () => (await fetch(`${node.url}/cgi-bin/sendsms?${query}`)).status
    expect(await statusThere()).toBe(202)
    await service.admin('DELETE', '/sendsms-users/brief')
    await eventually(async () => (await statusThere()) === 403)
  })

  it('guesses at a password are limited, and the right one is not, once it was known', async () => {
    expect((await ask(`${TO}&text=x`)).status).toBe(202)
    const guess = (password: number) => ask(`username=simple&password=${password}&to=1&text=x`)
    let answer = await guess(0)
    expect(answer.status).toBe(403)
    // Ten at once, and one more every six seconds: a slow machine makes some more.
    for (let password = 1; answer.status === 403 && password < 60; password += 1)
      answer = await guess(password)
    const { status, text, headers } = answer
    expect(status).toBe(503)
    expect(text).toBe('Temporal failure, try again later.')
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await ask(`${TO}&text=x`)).status).toBe(202)
  })
})

it('no query is answered with a failure of ours', async () => {
  const names = 'to from text coding charset udh mclass validity dlr-mask dlr-url account priority'.split(' ')
  const value = fc.oneof(
    fc.string(),
    anyText(),
    fc.integer().map(String),
    fc.constantFrom('15551230000', 'utf-16', '%', '%00', '+', 'https://example.com/%d'),
  )
  const encode = (text: string) =>
    fc.constantFrom(text.toWellFormed(), encodeURIComponent(text.toWellFormed()))
  const parameter = fc
    .tuple(fc.constantFrom(...names), value.chain(encode))
    .map(([name, text]) => `${name}=${text.replace(/[^!-~]|[&#]/g, '')}`)
  await fc.assert(
    fc.asyncProperty(fc.array(parameter, { maxLength: 8 }), async (parts) => {
      const { status, type } = await ask(`${[SIMPLE, ...parts].join('&')}`)
      expect([202, 400, 403]).toContain(status)
      expect(type).toBe('text/html')
    }),
    { numRuns: 150 },
  )
})

it('without the setting there is no such path', async () => {
  const node = await service.startNode({ nodeName: 'node-b', cgiSendsms: false })
  expect((await fetch(`${node.url}/cgi-bin/sendsms?${TO}&text=x`)).status).toBe(404)
})

it('logs say who sent, and nothing of what', () => {
  expect(service.logs.join('')).not.toMatch(/elpmis|5551230|Hello/)
})
