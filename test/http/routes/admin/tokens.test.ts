import { expect, test } from 'vitest'
import { hashToken, isWellFormedToken } from '../../../../src/domain/tokens.ts'
import {
  adminServerOfFile,
  createAccount,
  createPlan,
  directoryService,
} from '../../../support/admin-server.ts'

const server = await adminServerOfFile()

test('201: a token, shown this once, stored as its hash', async () => {
  const accountId = await createAccount(server)
  const { status, body } = await server.request('POST', '/tokens', { accountId, name: 'backend' })
  expect(status).toBe(201)
  expect(isWellFormedToken(body.token)).toBe(true)
  expect(body).toMatchObject({ accountId, name: 'backend', servicePlanIds: null, revokedAt: null })

  const shown = await server.request('GET', `/tokens/${body.tokenId}`)
  const { token, ...rest } = body
  expect(shown.body).toEqual(rest)
  const list = await server.request('GET', `/tokens?accountId=${accountId}`)
  expect(list.body.items).toEqual([rest])
  expect(JSON.stringify(list.body)).not.toContain(token)

  const { rows } = await server.database.db.query('select t::text as text, hash from tokens t')
  expect(JSON.stringify(rows.map((row) => row.text))).not.toContain(token)
  expect(rows.map((row) => row.hash.toString('hex'))).toContain(hashToken(token))
  expect(server.directory.current().tokenByHash(hashToken(token))).toMatchObject({ planIds: null })
})

test('201: a token limited to plans of its account; 400 for a plan of another', async () => {
  const mine = await createPlan(server)
  const other = await createPlan(server)
  const { status, body } = await server.request('POST', '/tokens', {
    accountId: mine.accountId,
    name: 'alerts',
    servicePlanIds: [mine.servicePlanId.toUpperCase()],
  })
  expect(status).toBe(201)
  expect(body.servicePlanIds).toEqual([mine.servicePlanId])
  const directory = server.directory.current()
  const planId = directory.planByPublicId(mine.servicePlanId)!.id
  expect(directory.tokenByHash(hashToken(body.token))!.planIds).toEqual(new Set([planId]))

  const refused = await server.request('POST', '/tokens', {
    accountId: mine.accountId,
    name: 'alerts',
    servicePlanIds: [mine.servicePlanId, other.servicePlanId],
  })
  expect(refused.status).toBe(400)
  expect(refused.body.errors[0]).toMatchObject({ field: 'servicePlanIds', code: 'NOT_FOUND' })
  const unknown = await server.request('POST', '/tokens', { accountId: '0'.repeat(24), name: 'a' })
  expect(unknown.body.errors[0]).toMatchObject({ field: 'accountId', code: 'NOT_FOUND' })
})

test('204: a revoked token is refused here at once and by another node at its next poll', async () => {
  const accountId = await createAccount(server)
  const { body } = await server.request('POST', '/tokens', { accountId, name: 'backend' })
  const otherNode = directoryService(server.database, server.secretKey)
  await otherNode.runOnce()
  expect(otherNode.current().tokenByHash(hashToken(body.token))).toBeDefined()

  expect((await server.request('DELETE', `/tokens/${body.tokenId}`)).status).toBe(204)
  expect(server.directory.current().tokenByHash(hashToken(body.token))).toBeUndefined()
  expect((await server.request('GET', '/accounts', undefined, body.token)).status).toBe(401)
  await otherNode.runOnce()
  expect(otherNode.current().tokenByHash(hashToken(body.token))).toBeUndefined()
})

test('204 again for a revoked token, which keeps its time and stays in the list', async () => {
  const accountId = await createAccount(server)
  const { body } = await server.request('POST', '/tokens', { accountId, name: 'backend' })
  const path = `/tokens/${body.tokenId}`
  await server.request('DELETE', path)
  const first = (await server.request('GET', path)).body.revokedAt
  expect(first).toMatch(/^\d{4}-/)
  expect((await server.request('DELETE', path)).status).toBe(204)
  expect((await server.request('GET', path)).body.revokedAt).toBe(first)
  const { body: list } = await server.request('GET', `/tokens?accountId=${accountId}`)
  expect(list.items).toHaveLength(1)
})
