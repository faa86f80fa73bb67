import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { adminServerOfFile, createPlan } from '../support/admin-server.ts'
import { type HttpAnswer, nextAnswer, openSocket, requestBytes } from '../support/raw-http.ts'

let pausedMs = 0
const server = await adminServerOfFile({
  directory: { clock: () => performance.now() + pausedMs, freshWaitMs: 200 },
})
const { accountId, servicePlanId } = await createPlan(server)
const issued = (name: string) =>
  server.request('POST', '/tokens', { accountId, name }).then(({ body }) => body as Record<string, string>)
const token = await issued('kept')
const issuedToOperator = (name: string) =>
  server
    .request('POST', '/operator-tokens', { name, role: 'admin' })
    .then(({ body }) => body as Record<string, string>)
const operator = await issuedToOperator('Jane')
const listAccounts = (bearer: string) => server.request('GET', '/accounts', undefined, bearer)

function list(bearer: string) {
  return fetch(`${server.baseUrl}/v1/messages/sms?servicePlanId=${servicePlanId}&to=%2B15551230001`, {
    headers: { authorization: `Bearer ${bearer}` },
  })
}

function sendOver(socket: Socket): Promise<HttpAnswer> {
  const answer = nextAnswer(socket)
  const headers = {
    authorization: `Bearer ${token.token}`,
    'content-type': 'application/json',
    connection: 'keep-alive',
  }
  socket.write(requestBytes({ method: 'POST', path: '/v1/sendsms', headers, body: '{}' }))
  return answer
}

test('after a pause of the process requests are answered by what the configuration is then', async () => {
  const revoked = await issued('revoked')
  expect((await list(revoked.token!)).status).toBe(200)
  await server.database.db.query('update tokens set revoked_at = now() where id = $1', [revoked.tokenId])
  pausedMs += 60_000
  const answers = await Promise.all([list(token.token!), list(revoked.token!), list(token.token!)])
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 200])
})

test('so are those of operators', async () => {
  const revoked = await issuedToOperator('revoked')
  expect((await listAccounts(revoked.token!)).status).toBe(200)
  await server.database.db.query('update operator_tokens set revoked_at = now() where id = $1', [
    revoked.operatorTokenId,
  ])
  pausedMs += 60_000
  const answers = await Promise.all([operator, revoked].map((issued) => listAccounts(issued.token!)))
  expect(answers.map(({ status }) => status)).toEqual([200, 401])
})

test('503 with Retry-After while the database does not answer, and 401 at once without a token', async () => {
  // The second send of a connection takes the shorter way.
  const socket = await openSocket(Number(new URL(server.baseUrl).port))
  expect((await sendOver(socket)).status).toBe(400)
  const lock = await server.database.db.connect()
  await lock.query('begin')
  await lock.query('lock table directory_version in access exclusive mode')
  pausedMs += 60_000
  const [refused, anonymous, kept, named, environment] = await Promise.all([
    list(token.token!),
    list(''),
    sendOver(socket),
    listAccounts(operator.token!),
    listAccounts(server.operatorToken),
  ])
  expect(anonymous.status).toBe(401)
  expect([refused.status, kept.status, named.status]).toEqual([503, 503, 503])
  expect(environment.status).toBe(200)
  expect(refused.headers.get('retry-after')).toBe('2')
  expect(await refused.json()).toMatchObject({ errorCode: 'SERVICE_UNAVAILABLE' })
  await lock.query('rollback')
  lock.release()
  socket.destroy()
  expect((await list(token.token!)).status).toBe(200)
})
