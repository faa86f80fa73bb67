import { createHmac, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { verifyWebhook, type WebhookHeaders } from '../../client/src/index.ts'
import { formatWebhookSecret, signWebhook } from '../../src/domain/webhooks/requests.ts'

const NOW_MS = Date.parse('2026-11-21T12:00:00.400Z')
const SECRET = formatWebhookSecret(randomBytes(32))
const OTHER = formatWebhookSecret(randomBytes(24))
const MSG_ID = '01a1fbf8-b10c-7f19-92b9-534f86494a01'
const ID = `${MSG_ID}-1`
const BODY = JSON.stringify({ msgId: MSG_ID, status: 'DELIVERED', body: 'Grüße 😀' })

/** Headers as Node gives them, signed by the service's own code. */
function signed(body = BODY, secrets: readonly string[] = [SECRET], timestampMs = NOW_MS) {
  return { ...signWebhook({ id: ID, timestampMs, body }, secrets) }
}

function verify(
  headers: WebhookHeaders,
  body: Parameters<typeof verifyWebhook>[1] = BODY,
  secrets: string | readonly string[] = SECRET,
) {
  return verifyWebhook(headers, body, secrets, { nowMs: NOW_MS })
}

const refused = (code: string) => ({ name: 'WebhookVerificationError', code })

describe('the event', () => {
  it('of a receipt', async () => {
    const headers = { ...signed(), 'aldis-attempt': '3', 'aldis-sequence': '2' }
    expect(await verify(headers)).toEqual({
      type: 'deliveryReceipt',
      eventId: ID,
      attemptedAt: '2026-11-21T12:00:00.000Z',
      attempt: 3,
      sequence: 2,
      test: false,
      data: JSON.parse(BODY),
    })
  })

  it('that is a test', async () => {
    expect(await verify({ ...signed(), 'aldis-test': 'true' })).toMatchObject({ test: true, eventId: ID })
    expect(await verify({ ...signed(), 'aldis-test': 'false' })).toMatchObject({ test: false })
  })

  it('of an inbound message', async () => {
    const body = JSON.stringify({ msgId: MSG_ID, direction: 'MO', body: 'Hello' })
    expect(await verify(signed(body), body)).toMatchObject({
      type: 'inboundMessage',
      data: { body: 'Hello' },
    })
  })

  it('of a limit', async () => {
    const body = JSON.stringify({ type: 'capReached', percent: 80, text: '80 % of 100 messages a day' })
    expect(await verify(signed(body), body)).toMatchObject({ type: 'limitReached', data: { percent: 80 } })
  })

  it.each(['{"of":"later"}', '{"type":"later"}', '[]', '{"msgId":7,"status":8}'])(
    'of a kind that is not known: %s',
    async (body) => {
      expect(await verify(signed(body), body)).toMatchObject({ type: 'unknown', data: JSON.parse(body) })
    },
  )

  it.each([undefined, '', '-1', '1.5', 'x', '1, 2'])(
    'without a number where the header is %j',
    async (text) => {
      const headers = { ...signed(), 'aldis-attempt': text, 'aldis-sequence': text }
      expect(await verify(headers)).toMatchObject({ attempt: null, sequence: null })
    },
  )

  it('survives JSON', async () => {
    const event = await verify(signed())
    expect(JSON.parse(JSON.stringify(event))).toEqual(event)
  })
})

describe('what it is given', () => {
  const upperCase = (headers: object) =>
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value] as const)

  it.each<[string, WebhookHeaders]>([
    ['Headers', new Headers(signed())],
    ['a Map', new Map(upperCase(signed()))],
    ['pairs', upperCase(signed())],
    ['an object', Object.fromEntries(upperCase(signed()))],
    ['lists of values', Object.fromEntries(upperCase(signed()).map(([name, value]) => [name, [value]]))],
    ['other headers too', { ...signed(), 'set-cookie': ['a', 'b'], host: undefined }],
  ])('headers as %s', async (_form, headers) => {
    expect(await verify(headers)).toMatchObject({ eventId: ID })
  })

  const bytes = Buffer.from(`--${BODY}--`)
  it.each<[string, Parameters<typeof verifyWebhook>[1]]>([
    ['text', BODY],
    ['a Buffer', Buffer.from(BODY)],
    ['part of a buffer', new Uint8Array(bytes.buffer, bytes.byteOffset + 2, bytes.length - 4)],
    ['an ArrayBuffer', Uint8Array.from(Buffer.from(BODY)).buffer],
    ['a DataView', new DataView(Uint8Array.from(Buffer.from(BODY)).buffer)],
  ])('the body as %s', async (_form, body) => {
    expect(await verify(signed(), body)).toMatchObject({ data: { body: 'Grüße 😀' } })
  })

  it('several secrets and several signatures, any of which fit', async () => {
    expect(await verify(signed(BODY, [OTHER, SECRET]))).toMatchObject({ eventId: ID })
    expect(await verify(signed(BODY, [SECRET, OTHER]))).toMatchObject({ eventId: ID })
    expect(await verify(signed(), BODY, [OTHER, SECRET])).toMatchObject({ eventId: ID })
    await expect(verify(signed(BODY, [OTHER]))).rejects.toMatchObject(refused('WRONG_SIGNATURE'))
  })

  it('signatures of other versions beside ours', async () => {
    const headers = signed()
    headers['webhook-signature'] = `v1a,c2ln v2,eA== ${headers['webhook-signature']} v1`
    expect(await verify(headers)).toMatchObject({ eventId: ID })
  })
})

describe('the reference implementation', () => {
  it('signs what is verified here', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 24, maxLength: 64 }),
        fc.dictionary(fc.string(), fc.string({ unit: 'grapheme' })),
        async (key, body) => {
          const raw = JSON.stringify(body)
          const secret = formatWebhookSecret(key)
          const headers = {
            'webhook-id': ID,
            'webhook-timestamp': String(Math.floor(NOW_MS / 1_000)),
            'webhook-signature': new Webhook(secret).sign(ID, new Date(NOW_MS), raw),
          }
          expect(await verify(headers, raw, secret)).toMatchObject({ eventId: ID })
          await expect(verify(headers, `${raw} `, secret)).rejects.toMatchObject(refused('WRONG_SIGNATURE'))
        },
      ),
    )
  })
})

describe('what is refused', () => {
  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('without %s', async (name) => {
    await expect(verify({ ...signed(), [name]: undefined })).rejects.toMatchObject(refused('MISSING_HEADER'))
    await expect(verify({ ...signed(), [name]: '' })).rejects.toMatchObject(refused('MISSING_HEADER'))
    await expect(verify({ ...signed(), [name]: [] })).rejects.toMatchObject(refused('MISSING_HEADER'))
  })

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const)('%s twice', async (name) => {
    const once = signed()
    const twice = refused('INVALID_HEADER')
    await expect(verify({ ...once, [name]: [once[name], once[name]] })).rejects.toMatchObject(twice)
    await expect(verify({ ...once, [name.toUpperCase()]: once[name] })).rejects.toMatchObject(twice)
  })

  it.each(['soon', '1e9', '-5', '1.5', ' 1', '0x1', '9999999999999', '2026-11-21T12:00:00Z'])(
    'a timestamp %j',
    async (text) => {
      const code = refused('INVALID_HEADER')
      await expect(verify({ ...signed(), 'webhook-timestamp': text })).rejects.toMatchObject(code)
    },
  )

  it('a timestamp of more than five minutes, before and after', async () => {
    const at = (seconds: number) => verify(signed(BODY, [SECRET], NOW_MS + seconds * 1_000))
    expect(await at(-300)).toMatchObject({ attemptedAt: '2026-11-21T11:55:00.000Z' })
    expect(await at(300)).toMatchObject({ attemptedAt: '2026-11-21T12:05:00.000Z' })
    await expect(at(-301)).rejects.toMatchObject(refused('TOO_OLD'))
    await expect(at(301)).rejects.toMatchObject(refused('TOO_NEW'))
  })

  it.each(['', 'v1', 'v1,', 'v2,', 'garbage', 'v1,AAAA', `v1,${'A'.repeat(43)}=`])(
    'a signature %j',
    async (text) => {
      const { 'webhook-signature': right } = signed()
      const code = refused(text === '' ? 'MISSING_HEADER' : 'WRONG_SIGNATURE')
      await expect(verify({ ...signed(), 'webhook-signature': text })).rejects.toMatchObject(code)
      const unversioned = { ...signed(), 'webhook-signature': right.slice(3) }
      await expect(verify(unversioned)).rejects.toMatchObject(refused('WRONG_SIGNATURE'))
    },
  )

  it('anything changed after it was signed', async () => {
    const right = signed()
    const changed: [WebhookHeaders, string][] = [
      [right, BODY.replace('DELIVERED', 'FAILED')],
      [right, ''],
      [{ ...right, 'webhook-id': `${MSG_ID}-2` }, BODY],
      [{ ...right, 'webhook-timestamp': String(Number(right['webhook-timestamp']) + 1) }, BODY],
    ]
    for (const [headers, body] of changed) {
      await expect(verify(headers, body)).rejects.toMatchObject(refused('WRONG_SIGNATURE'))
    }
  })

  it.each(['', 'no json', '"text"', '7', 'null', '{'])('the body %j, though it is signed', async (body) => {
    await expect(verify(signed(body), body)).rejects.toMatchObject(refused('INVALID_BODY'))
  })

  it('a body that is no UTF-8, though it is signed', async () => {
    const body = Buffer.from('{"text":"\xff"}', 'latin1')
    const right = signed()
    const mac = createHmac('sha256', Buffer.from(SECRET.slice('whsec_'.length), 'base64'))
      .update(`${ID}.${right['webhook-timestamp']}.`)
      .update(body)
      .digest('base64')
    const headers = { ...right, 'webhook-signature': `v1,${mac}` }
    await expect(verify(headers, body)).rejects.toMatchObject(refused('INVALID_BODY'))
  })

  it('a body that somebody has parsed already', async () => {
    const parsed = JSON.parse(BODY) as string
    await expect(verify(signed(), parsed)).rejects.toMatchObject(refused('INVALID_BODY'))
  })

  it.each([
    [],
    '',
    SECRET.slice('whsec_'.length),
    'whsec_',
    'whsec_!!!!',
    `${SECRET} `,
    SECRET.slice(0, -1),
    `whsec_${randomBytes(23).toString('base64')}`,
    `whsec_${randomBytes(65).toString('base64')}`,
  ])('secrets %j, without a word of them', async (secrets) => {
    const error = await verify(signed(), BODY, secrets).catch((caught: Error) => caught)
    expect(error).toMatchObject(refused('INVALID_SECRET'))
    expect((error as Error).message).not.toContain(SECRET.slice(6, 20))
  })

  it('with a damaged secret beside a good one: it would go unseen until the rotation ends', async () => {
    await expect(verify(signed(), BODY, [SECRET, 'whsec_x'])).rejects.toMatchObject(refused('INVALID_SECRET'))
  })
})
