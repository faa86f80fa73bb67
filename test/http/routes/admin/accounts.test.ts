import { expect, test } from 'vitest'
import { openSecret } from '../../../../src/domain/secrets.ts'
import { parseWebhookSecret } from '../../../../src/domain/webhooks/requests.ts'
import { adminServerOfFile, createAccount, createPlan } from '../../../support/admin-server.ts'

const server = await adminServerOfFile()

test('201: an account, with its webhook secret shown this once', async () => {
  const { status, body, headers } = await server.request('POST', '/accounts', {
    name: 'Example Ltd',
    defaultDlrUrl: 'https://example.com/dlr',
    rateLimit: { messagesPerSecond: 50 },
  })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    accountId: expect.stringMatching(/^[0-9a-f]{24}$/),
    name: 'Example Ltd',
    defaultDlrUrl: 'https://example.com/dlr',
    rateLimit: { messagesPerSecond: 50, burst: 50 },
    previousWebhookSecretLive: false,
  })
  expect(parseWebhookSecret(body.webhookSecret)).toHaveLength(32)
  expect(headers.get('location')).toBe(`/admin/v1/accounts/${body.accountId}`)

  const shown = await server.request('GET', `/accounts/${body.accountId.toUpperCase()}`)
  expect(shown.status).toBe(200)
  const { webhookSecret, ...rest } = body
  expect(shown.body).toEqual(rest)
})

test('201 with an accountId of ones own, kept in lower case; 409 when it is taken', async () => {
  const accountId = 'ABCDEF0123456789ABCDEF01'
  const { body } = await server.request('POST', '/accounts', { name: 'A', accountId })
  expect(body.accountId).toBe(accountId.toLowerCase())
  const again = await server.request('POST', '/accounts', { name: 'B', accountId })
  expect(`${again.status} ${again.body.errorCode}`).toBe('409 CONFLICT')
})

test('400 for a default DLR URL that the callback guard refuses', async () => {
  const { status, body } = await server.request('POST', '/accounts', {
    name: 'A',
    defaultDlrUrl: 'https://10.0.0.1/dlr',
  })
  expect(status).toBe(400)
  expect(body.errors).toEqual([
    { field: 'defaultDlrUrl', code: 'FORBIDDEN_ADDRESS', message: expect.any(String) },
  ])
})

test('200: a change keeps what it does not name, and null clears', async () => {
  const { body: created } = await server.request('POST', '/accounts', {
    name: 'A',
    defaultDlrUrl: 'https://example.com/dlr',
    rateLimit: { messagesPerSecond: 5, burst: 9 },
  })
  const path = `/accounts/${created.accountId}`
  const renamed = await server.request('PATCH', path, { name: 'B' })
  expect(renamed.status).toBe(200)
  expect(renamed.body).toMatchObject({
    name: 'B',
    defaultDlrUrl: 'https://example.com/dlr',
    rateLimit: { messagesPerSecond: 5, burst: 9 },
  })
  const cleared = await server.request('PATCH', path, { defaultDlrUrl: null, rateLimit: null })
  expect(cleared.body).toMatchObject({ name: 'B', defaultDlrUrl: null, rateLimit: null })
})

test('400 for an empty change, and for a limit out of range', async () => {
  const path = `/accounts/${await createAccount(server)}`
  expect((await server.request('PATCH', path, {})).status).toBe(400)
  const { body } = await server.request('PATCH', path, { rateLimit: { messagesPerSecond: 0, burst: '9' } })
  expect(body.errors.map((fault: { field: string }) => fault.field)).toEqual([
    'rateLimit.messagesPerSecond',
    'rateLimit.burst',
  ])
})

test('204: an account without plans and tokens goes; 409 while it has any', async () => {
  const { accountId } = await createPlan(server)
  const refused = await server.request('DELETE', `/accounts/${accountId}`)
  expect(`${refused.status} ${refused.body.errorCode}`).toBe('409 CONFLICT')

  const path = `/accounts/${await createAccount(server)}`
  const { body } = await server.request('POST', '/tokens', { accountId: path.split('/')[2], name: 'backend' })
  expect((await server.request('DELETE', path)).status).toBe(409)
  await server.request('DELETE', `/tokens/${body.tokenId}`)
  expect((await server.request('DELETE', path)).status).toBe(204)
  expect((await server.request('GET', path)).status).toBe(404)
})

test('200: a rotation keeps the previous webhook secret until it is removed; 409 for another before that', async () => {
  const { body: created } = await server.request('POST', '/accounts', { name: 'A' })
  const path = `/accounts/${created.accountId}`
  const secrets = () =>
    server.directory.current().contents.accounts.find((each) => each.accountId === created.accountId)!
      .webhookSecrets
  expect(secrets()).toEqual([created.webhookSecret])

  const rotated = await server.request('POST', `${path}/webhook-secret/rotate`)
  expect(rotated.status).toBe(200)
  expect(rotated.body.webhookSecret).not.toBe(created.webhookSecret)
  expect(secrets()).toEqual([rotated.body.webhookSecret, created.webhookSecret])
  expect((await server.request('GET', path)).body.previousWebhookSecretLive).toBe(true)
  expect((await server.request('POST', `${path}/webhook-secret/rotate`)).status).toBe(409)

  expect((await server.request('DELETE', `${path}/webhook-secret/previous`)).status).toBe(204)
  expect((await server.request('DELETE', `${path}/webhook-secret/previous`)).status).toBe(204)
  expect(secrets()).toEqual([rotated.body.webhookSecret])
})

test('webhook secrets and URLs with credentials are sealed at rest, and credentials are not shown', async () => {
  const { body } = await server.request('POST', '/accounts', {
    name: 'Sealed',
    defaultDlrUrl: 'https://user:opensesame@example.com/dlr',
  })
  expect(body.defaultDlrUrl).toBe('https://example.com/dlr')
  const { rows } = await server.database.db.query('select * from accounts where account_id = $1', [
    body.accountId,
  ])
  const stored = JSON.stringify(rows)
  expect(stored).not.toContain('opensesame')
  expect(stored).not.toContain(body.webhookSecret.slice('whsec_'.length, -4))
  const opened = openSecret(server.secretKey, rows[0].webhook_secret, `account ${body.accountId}`)
  expect(opened).toBe(body.webhookSecret)
})

test('webhook headers and credentials are sealed at rest, sent as given, and only their names are shown', async () => {
  const { status, body } = await server.request('POST', '/accounts', {
    name: 'Guarded',
    webhookHeaders: [
      { name: 'X-Api-Key', value: 'opensesame 1' },
      { name: '__proto__', value: 'opensesame 2' },
    ],
    webhookCredentials: { username: 'aldis', password: 'opensesame 3' },
  })
  expect(status).toBe(201)
  expect(body).toMatchObject({ webhookHeaderNames: ['X-Api-Key', '__proto__'], webhookCredentialsSet: true })
  const shown = await server.request('GET', `/accounts/${body.accountId}`)
  const listed = await server.request('GET', '/accounts?limit=1000')
  expect(listed.body.items).toContainEqual(shown.body)
  expect(JSON.stringify([body, shown.body, listed.body])).not.toContain('opensesame')
  const { rows } = await server.database.db.query(
    'select webhook_headers from accounts where account_id = $1',
    [body.accountId],
  )
  expect(rows[0].webhook_headers).toMatch(/^v1\.[0-9a-f]{8}\.[\w-]+$/)
  expect(Object.entries(sentBy(body.accountId))).toEqual([
    ['X-Api-Key', 'opensesame 1'],
    ['__proto__', 'opensesame 2'],
    ['authorization', `Basic ${Buffer.from('aldis:opensesame 3').toString('base64')}`],
  ])
})

test('200: webhook headers and credentials are changed each on its own; null and an empty list remove them', async () => {
  const { body } = await server.request('POST', '/accounts', {
    name: 'A',
    webhookHeaders: [{ name: 'X-Key', value: 'one' }],
    webhookCredentials: { username: '', password: 'x' },
  })
  expect(body).not.toHaveProperty('webhookHeaders')
  const path = `/accounts/${body.accountId}`
  await server.request('PATCH', path, { name: 'B' })
  expect(sentBy(body.accountId)).toEqual({ 'X-Key': 'one', authorization: 'Basic Ong=' })
  await server.request('PATCH', path, { webhookHeaders: [{ name: 'x-key', value: 'two' }] })
  expect(sentBy(body.accountId)).toEqual({ 'x-key': 'two', authorization: 'Basic Ong=' })
  await server.request('PATCH', path, { webhookCredentials: null })
  expect(sentBy(body.accountId)).toEqual({ 'x-key': 'two' })
  const removed = await server.request('PATCH', path, { webhookHeaders: [] })
  expect(removed.body).toMatchObject({ webhookHeaderNames: [], webhookCredentialsSet: false })
  await server.request('PATCH', path, { webhookHeaders: [{ name: 'Authorization', value: 'Bearer t' }] })
  expect(sentBy(body.accountId)).toEqual({ authorization: 'Bearer t' })
  await server.request('PATCH', path, { webhookHeaders: null })
  const { rows } = await server.database.db.query(
    'select webhook_headers from accounts where account_id = $1',
    [body.accountId],
  )
  expect(rows).toEqual([{ webhook_headers: null }])
})

test('400 for webhook headers and credentials that cannot be sent; what there was stays', async () => {
  const { body: created } = await server.request('POST', '/accounts', {
    name: 'A',
    webhookCredentials: { username: 'u', password: 'p' },
  })
  const faultsOf = async (change: object) => {
    const { status, body } = await server.request('PATCH', `/accounts/${created.accountId}`, change)
    expect(status).toBe(400)
    expect(JSON.stringify(body)).not.toContain('opensesame')
    return body.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`)
  }
  const value = 'opensesame'
  const headers = (...names: string[]) => ({ webhookHeaders: names.map((name) => ({ name, value })) })
  expect(await faultsOf(headers('X-A', 'Webhook-Id', 'x-a', 'authorization'))).toEqual([
    'webhookHeaders.1.name NOT_ALLOWED',
    'webhookHeaders.2.name REPEATED',
    'webhookHeaders.3.name NOT_ALLOWED',
  ])
  expect(
    await faultsOf({ webhookHeaders: [{ name: 'opensesame: x', value: 'opensesame\r\nb: c' }] }),
  ).toEqual(['webhookHeaders.0.name INVALID_FORMAT', 'webhookHeaders.0.value INVALID_FORMAT'])
  expect(await faultsOf({ webhookHeaders: { 'X-Key': value } })).toEqual(['webhookHeaders WRONG_TYPE'])
  expect(await faultsOf({ webhookHeaders: [{ name: 'X-Key' }] })).toEqual(['webhookHeaders.0.value REQUIRED'])
  expect(await faultsOf({ webhookHeaders: [{ name: 'X', value: 'x', 'X-Key': value }] })).toEqual([
    'webhookHeaders.0.X-Key UNKNOWN_FIELD',
  ])
  expect(await faultsOf(headers(...'abcdefghijk'))).toEqual(['webhookHeaders TOO_LONG'])
  expect(await faultsOf({ webhookCredentials: { username: 'opensesame:x', password: 'a\n' } })).toEqual([
    'webhookCredentials.username INVALID_FORMAT',
    'webhookCredentials.password INVALID_FORMAT',
  ])
  expect(await faultsOf({ webhookCredentials: 'u:opensesame' })).toEqual(['webhookCredentials WRONG_TYPE'])
  expect(sentBy(created.accountId)).toEqual({ authorization: 'Basic dTpw' })
  const { body: refused } = await server.request('POST', '/accounts', {
    name: 'B',
    ...headers('Authorization'),
    webhookCredentials: { username: 'u', password: 'p' },
  })
  expect(refused.errors).toMatchObject([{ field: 'webhookCredentials', code: 'NOT_ALLOWED' }])
})

/** What the account's webhooks carry, as every node knows it. */
function sentBy(accountId: string): Readonly<Record<string, string>> {
  return server.directory.current().contents.accounts.find((each) => each.accountId === accountId)!
    .webhookHeaders
}

test('200: the list of names that begin so; 400 for no name', async () => {
  const { body } = await server.request('POST', '/accounts', { name: 'Zymurgy Ltd' })
  const found = await server.request('GET', '/accounts?search=zYM')
  expect(found.body).toMatchObject({ items: [{ accountId: body.accountId }], nextAfter: null })
  expect((await server.request('GET', '/accounts?search=ymurgy')).body.items).toEqual([])
  expect((await server.request('GET', '/accounts?search=')).status).toBe(400)
})

test('200: lists go on behind the last item until there is none', async () => {
  for (let count = 0; count < 5; count++) await createAccount(server, `Listed ${count}`)
  const seen: string[] = []
  let after = ''
  for (;;) {
    const { status, body } = await server.request('GET', `/accounts?limit=2${after}`)
    expect(status).toBe(200)
    seen.push(...body.items.map((item: { accountId: string }) => item.accountId))
    if (body.nextAfter === null) break
    after = `&after=${body.nextAfter}`
  }
  const { body } = await server.request('GET', '/accounts?limit=1000')
  expect(seen).toEqual(body.items.map((item: { accountId: string }) => item.accountId))
  expect(new Set(seen).size).toBe(seen.length)
})
