import { expect, test } from 'vitest'
import { WEBHOOK_HEADER_NAME, WEBHOOK_HEADER_VALUE } from '../../src/domain/webhooks/requests.ts'
import { type DeliveryOutcome, postWebhook } from '../../src/outbound/webhook-post.ts'
import { ENDLESS, outboundNetwork } from '../support/outbound-network.ts'

/** Headers that an operator gave an account: sent with each of its webhooks, kept nowhere of the answer. */

const { sockets, receiver, urlAt } = await outboundNetwork()

const HEADERS = { 'content-type': 'application/json', 'webhook-id': 'evt_1', 'webhook-signature': 'v1,ours' }

function post(url: string, accountHeaders: Record<string, string>): Promise<DeliveryOutcome> {
  return postWebhook(sockets(), { url, body: '{}', headers: HEADERS, accountHeaders, lease: ENDLESS })
}

/** Of the header fields as they came. */
function namesIn(head: string): string[] {
  const [, ...lines] = head.split('\r\n')
  return lines.map((line) => line.slice(0, line.indexOf(':')))
}

test('they are sent under the names they were given', async () => {
  const to = await receiver()
  const sent = { 'X-API-Key': 'one', ['__proto__']: 'two', Cookie: 'a=b', authorization: 'Bearer token' }
  expect(await post(urlAt(to.port), sent)).toMatchObject({ ok: true })
  const { headers, head } = await to.next()
  expect(namesIn(head)).toEqual(expect.arrayContaining(['X-API-Key', '__proto__', 'Cookie']))
  expect(headers).toMatchObject({ 'x-api-key': 'one', cookie: 'a=b', authorization: 'Bearer token' })
  expect(headers).toMatchObject(HEADERS)
})

test('all that the form of names and values allows can be sent', async () => {
  const to = await receiver()
  const name = "!#$%&'*+-.^_`|~09Az"
  const value = `!${Array.from({ length: 95 }, (_, index) => String.fromCharCode(0x20 + index)).join('')}\t~`
  expect(name).toMatch(WEBHOOK_HEADER_NAME)
  expect(value).toMatch(WEBHOOK_HEADER_VALUE)
  expect(await post(urlAt(to.port), { [name]: value })).toMatchObject({ ok: true })
  expect((await to.next()).headers[name.toLowerCase()]).toBe(value)
})

test('user info of the URL takes the place of their Authorization', async () => {
  const to = await receiver()
  const url = urlAt(to.port).replace('https://', 'https://own:secret@')
  await post(url, { 'x-api-key': 'one', authorization: 'Bearer token' })
  const { headers, head } = await to.next()
  expect(headers).toMatchObject({
    'x-api-key': 'one',
    authorization: `Basic ${Buffer.from('own:secret').toString('base64')}`,
  })
  expect(namesIn(head).filter((name) => /^authorization$/i.test(name))).toHaveLength(1)
})

test('they take the place of none of ours', async () => {
  const to = await receiver()
  await post(urlAt(to.port), {
    'content-type': 'text/plain',
    'webhook-signature': 'v1,theirs',
    'user-agent': 'theirs',
    'accept-encoding': 'gzip',
  })
  expect((await to.next()).headers).toMatchObject({
    ...HEADERS,
    'user-agent': 'Aldis',
    'accept-encoding': 'identity',
  })
})

test('a receiver that shows what it was sent: the values are masked in what is kept, whole and cut', async () => {
  const key = 'k3y-of-the-account'
  for (const filler of [0, 960, 1_000]) {
    const to = await receiver({
      answer: (exchange) => {
        const { headers } = exchange.request
        const lines = [headers['x-api-key'], headers.authorization, 'secret', '.'.repeat(2_000)]
        exchange.respond(500, {}, `${'-'.repeat(filler)} ${lines.join('\n')}`)
      },
    })
    const url = urlAt(to.port).replace('https://', 'https://own:secret@')
    const { responseHead, error } = await post(url, { 'X-Api-Key': key, authorization: 'Bearer token' })
    expect(error).toBe('HTTP_STATUS')
    expect((await to.next()).headers['x-api-key']).toBe(key)
    expect(responseHead).toContain('***')
    expect(responseHead).not.toMatch(/k3y-|b3du|secr/)
  }
})
