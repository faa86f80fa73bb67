import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { messageId } from '../../../src/domain/identifiers.ts'
import { webhookTraceparent } from '../../../src/domain/trace-context.ts'
import { shownHeaders } from '../../../src/domain/webhooks/attempt-headers.ts'
import { sealCallbackUrl } from '../../../src/domain/webhooks/callback-url.ts'
import { storedDlrUrl } from '../../../src/domain/webhooks/dlr-urls.ts'
import { anAccount, aPlan } from '../../support/directory.ts'

const secretKey = randomBytes(32)
const msgId = messageId(Date.UTC(2026, 3, 20), randomBytes(9), 1)
const attempt = { attempt: 3, attemptedAt: '2026-04-20T13:55:09.999Z' }
const account = anAccount({ webhookHeaders: { 'X-Api-Key': 'k3y' } })
const seal = (url: string) => sealCallbackUrl(secretKey, url, () => randomBytes(12))
const COMMON = {
  'user-agent': 'Aldis',
  'accept-encoding': 'identity',
  'webhook-timestamp': '1776693309',
  'webhook-signature': '***',
  'aldis-attempt': '3',
}

function shown({ sequence = 2, callbackUrl = null as string | null, plan = aPlan({ account }), share = 0 }) {
  const event = { msgId, sequence, callbackUrl, plan }
  return shownHeaders(event, attempt, { secretKey, tracedShare: share })
}

test('those of a webhook, the account’s own by their names', () => {
  expect(shown({})).toEqual({
    ...COMMON,
    'X-Api-Key': '***',
    'content-type': 'application/json',
    'webhook-id': `${msgId}-2`,
    'aldis-sequence': '2',
  })
})

test('a URL with credentials has Authorization, of a message or configured', () => {
  const url = 'https://me:hush@hooks.example.com/x'
  const plan = aPlan({ account: anAccount({ defaultDlrUrl: seal(url) }), inboundUrl: seal(url) })
  for (const headers of [shown({ callbackUrl: seal(url) }), shown({ plan }), shown({ plan, sequence: 0 })])
    expect(headers).toMatchObject({ authorization: '***', 'content-type': 'application/json' })
  const own = shown({ callbackUrl: 'https://hooks.example.com/x@y', plan })
  expect(own).not.toHaveProperty('authorization')
})

test('the GET of a dlr-url has no content-type', () => {
  const context = { to: '+15551230000', from: 'Aldis', username: 'usual' }
  const callbackUrl = seal(storedDlrUrl('https://me:hush@hooks.example.com/x?d=%d', 31, context))
  expect(shown({ callbackUrl })).toEqual({
    ...COMMON,
    'X-Api-Key': '***',
    authorization: '***',
    'webhook-id': `${msgId}-2`,
    'aldis-sequence': '2',
  })
})

test('a traced message has the span of the attempt', () => {
  const webhook = { eventId: `${msgId}-2`, attempt: 3, isTest: false }
  expect(shown({ share: 1 })).toMatchObject({ traceparent: webhookTraceparent(webhook, 1) })
})

test('null where what they follow from cannot be decrypted', () => {
  const foreign = sealCallbackUrl(randomBytes(32), 'https://me:hush@hooks.example.com', () => randomBytes(12))
  expect(shown({ callbackUrl: foreign })).toBeNull()
  expect(shown({ plan: aPlan({ account: anAccount({ webhookSecrets: null }) }) })).toBeNull()
})
