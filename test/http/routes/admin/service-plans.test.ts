import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { messageId } from '../../../../src/domain/identifiers.ts'
import { DEFAULT_OPT_OUT } from '../../../../src/domain/opt-outs.ts'
import { adminServerOfFile, createAccount, createPlan } from '../../../support/admin-server.ts'

const server = await adminServerOfFile()
await server.request('POST', '/routes', { name: 'default', carriers: [] })

test('201: a plan with defaults, at once in the directory', async () => {
  const accountId = await createAccount(server)
  const { status, body, headers } = await server.request('POST', '/service-plans', {
    accountId,
    name: 'alerts',
  })
  expect(status).toBe(201)
  expect(body).toEqual({
    servicePlanId: expect.stringMatching(/^[0-9a-f]{24}$/),
    accountId,
    name: 'alerts',
    active: true,
    sandbox: false,
    complete: false,
    route: null,
    inboundUrl: null,
    rateLimit: null,
    senderTypes: ['short-code', 'e164', 'alphanumeric'],
    ambiguousSubmits: 'resubmit',
    validitySeconds: 86_400,
    maxValiditySeconds: 86_400,
    allowedCountries: [],
    texts: 'keep',
    caps: null,
    limitEvents: false,
    pumpingGuard: null,
    smartEncoding: false,
    nationalLanguages: [],
    optOut: null,
    createdAt: expect.any(String),
  })
  expect(headers.get('location')).toBe(`/admin/v1/service-plans/${body.servicePlanId}`)
  const plan = server.directory.current().planByPublicId(body.servicePlanId)
  expect(plan).toMatchObject({ active: true, route: null, account: { accountId } })
})

test('201 with every setting', async () => {
  const settings = {
    servicePlanId: 'FFEEddccbbaa998877665544',
    name: 'everything',
    active: false,
    route: 'default',
    inboundUrl: 'https://example.com/mo',
    rateLimit: { messagesPerSecond: 10, burst: 20 },
    senderTypes: ['alphanumeric'],
    ambiguousSubmits: 'unknown',
    validitySeconds: 300,
    maxValiditySeconds: 600,
    allowedCountries: ['SE', 'NO'],
    texts: 'discard',
    smartEncoding: true,
    nationalLanguages: ['urdu', 'turkish'],
  }
  const accountId = await createAccount(server)
  const { status, body } = await server.request('POST', '/service-plans', { accountId, ...settings })
  expect(status).toBe(201)
  expect(body).toMatchObject({ ...settings, servicePlanId: 'ffeeddccbbaa998877665544', complete: true })
  const plan = server.directory.current().planByPublicId(settings.servicePlanId)!
  expect(plan).toMatchObject({
    active: false,
    route: { name: 'default' },
    rateLimit: { perSecond: 10, burst: 20 },
    ambiguousSubmits: 'unknown',
    validitySeconds: 300,
    smartEncoding: true,
    nationalLanguages: [13, 1],
    maxValiditySeconds: 600,
    allowedCountries: new Set(['SE', 'NO']),
    texts: 'discard',
  })
  expect([...plan.senderTypes]).toEqual(['alphanumeric'])
  const again = await server.request('POST', '/service-plans', { accountId, ...settings })
  expect(`${again.status} ${again.body.errorCode}`).toBe('409 CONFLICT')
})

test.each([
  ['accountId', { accountId: '0'.repeat(24) }, 'NOT_FOUND'],
  ['route', { route: 'nowhere' }, 'NOT_FOUND'],
  ['inboundUrl', { inboundUrl: 'http://example.com/' }, 'INVALID_SCHEME'],
  ['senderTypes', { senderTypes: [] }, 'TOO_SHORT'],
  ['senderTypes.0', { senderTypes: ['pigeon'] }, 'NOT_ALLOWED'],
  ['smartEncoding', { smartEncoding: 'yes' }, 'WRONG_TYPE'],
  ['nationalLanguages.0', { nationalLanguages: ['french'] }, 'NOT_ALLOWED'],
  ['nationalLanguages', { nationalLanguages: ['urdu', 'urdu'] }, 'REPEATED'],
  ['allowedCountries.1', { allowedCountries: ['SE', 'XX'] }, 'NOT_FOUND'],
  ['caps', { caps: {} }, 'REQUIRED'],
  ['pumpingGuard', { pumpingGuard: { pauseMinutes: 5 } }, 'REQUIRED'],
  ['caps.currency', { caps: { costPerDay: 5 } }, 'REQUIRED'],
  ['servicePlanId', { servicePlanId: 'xyz' }, 'INVALID_FORMAT'],
  ['active', { active: 'yes' }, 'WRONG_TYPE'],
  ['name', { name: ' a' }, 'INVALID_FORMAT'],
])('400 names %s for %j', async (field, settings, code) => {
  const accountId = await createAccount(server)
  const { status, body } = await server.request('POST', '/service-plans', {
    accountId,
    name: 'a',
    ...settings,
  })
  expect(status).toBe(400)
  expect(body.errors).toEqual([{ field, code, message: expect.any(String) }])
})

test('200: a change keeps what it does not name, null clears', async () => {
  const { servicePlanId } = await createPlan(server, {
    route: 'default',
    inboundUrl: 'https://example.com/mo',
  })
  const path = `/service-plans/${servicePlanId}`
  const inactive = await server.request('PATCH', path, { active: false })
  expect(inactive.body).toMatchObject({
    active: false,
    route: 'default',
    inboundUrl: 'https://example.com/mo',
  })
  expect(server.directory.current().planByPublicId(servicePlanId)?.active).toBe(false)
  const languages = ['hindi', 'spanish']
  const texts = await server.request('PATCH', path, { smartEncoding: true, nationalLanguages: languages })
  expect(texts.body).toMatchObject({ active: false, smartEncoding: true, nationalLanguages: languages })
  const fewer = await server.request('PATCH', path, { nationalLanguages: [] })
  expect(fewer.body).toMatchObject({ smartEncoding: true, nationalLanguages: [] })
  const cleared = await server.request('PATCH', path, { route: null, inboundUrl: null })
  expect(cleared.body).toMatchObject({ active: false, route: null, inboundUrl: null, complete: false })
  expect((await server.request('PATCH', path, { route: 'nowhere' })).status).toBe(400)
  expect((await server.request('PATCH', path, { accountId: '0'.repeat(24) })).status).toBe(400)
})

test('204: an unused plan goes; 409 while senders, numbers, tokens or messages need it', async () => {
  const { accountId, servicePlanId } = await createPlan(server)
  const path = `/service-plans/${servicePlanId}`
  const refused = async () => (await server.request('DELETE', path)).body.errorMessage

  await server.request('PUT', `${path}/senders/Example`, { status: 'approved' })
  expect(await refused()).toContain('senders')
  await server.request('DELETE', `${path}/senders/Example`)

  const { body } = await server.request('POST', '/tokens', {
    accountId,
    name: 'a',
    servicePlanIds: [servicePlanId],
  })
  expect(await refused()).toContain('live tokens')
  await server.request('DELETE', `/tokens/${body.tokenId}`)

  expect((await server.request('DELETE', path)).status).toBe(204)
  expect((await server.request('GET', path)).status).toBe(404)
  expect(server.directory.current().planByPublicId(servicePlanId)).toBeUndefined()
})

test('409: a plan with messages stays, so that their records keep their owner', async () => {
  const { servicePlanId } = await createPlan(server)
  const { db } = server.database
  await db.query('create table messages_all partition of messages default')
  await db.query(
    `insert into messages (plan_id, msg_id, segments, updated_at, sender, recipient, body)
     select id, $2, 1, now(), 'Example', '+46701234567', 'hej' from service_plans where service_plan_id = $1`,
    [servicePlanId, messageId(Date.now(), randomBytes(9), 0)],
  )
  const { status, body } = await server.request('DELETE', `/service-plans/${servicePlanId}`)
  expect(status).toBe(409)
  expect(body.errorMessage).toContain('messages')
})

test('200: the list of one account', async () => {
  const { accountId, servicePlanId } = await createPlan(server)
  const { status, body } = await server.request('GET', `/service-plans?accountId=${accountId}`)
  expect(status).toBe(200)
  expect(body.items.map((plan: { servicePlanId: string }) => plan.servicePlanId)).toEqual([servicePlanId])
  expect(body.nextAfter).toBeNull()
})

test('200: the list of one route, and of names that begin so; 400 for no name', async () => {
  const idsOf = async (query: string) =>
    (await server.request('GET', `/service-plans?${query}`)).body.items.map(
      (plan: { servicePlanId: string }) => plan.servicePlanId,
    )
  await server.request('POST', '/routes', { name: 'listed', carriers: [] })
  const { servicePlanId } = await createPlan(server, { route: 'listed', name: 'Ärende 100% _x' })
  const { servicePlanId: other } = await createPlan(server, { name: 'ärenden' })
  expect(await idsOf('route=listed')).toEqual([servicePlanId])
  expect(await idsOf(`search=${encodeURIComponent('äRENDE')}`)).toEqual([servicePlanId, other].sort())
  // Nothing of what is searched for is a pattern.
  expect(await idsOf(`search=${encodeURIComponent('ärende 100%')}`)).toEqual([servicePlanId])
  expect(await idsOf('search=%25')).toEqual([])
  for (const query of ['route=a%20b', 'search=', 'search=%00'])
    expect((await server.request('GET', `/service-plans?${query}`)).status).toBe(400)
})

test('opt-outs: off, on with the words of the field, changed in part, off again', async () => {
  const { servicePlanId } = await createPlan(server)
  const path = `/service-plans/${servicePlanId}`
  const change = async (optOut: unknown) => (await server.request('PATCH', path, { optOut })).body.optOut
  expect(await change({})).toEqual(DEFAULT_OPT_OUT)
  expect(server.directory.current().planByPublicId(servicePlanId)!.optOut).toEqual(DEFAULT_OPT_OUT)
  const mine = { stopWords: ['ARRÊT', 'stop all'], stopReply: 'Bye' }
  expect(await change(mine)).toEqual({ ...DEFAULT_OPT_OUT, ...mine })
  expect(await change({ helpReply: 'Write to us' })).toEqual({
    ...DEFAULT_OPT_OUT,
    ...mine,
    helpReply: 'Write to us',
  })
  expect(await change({ stopReply: null })).toMatchObject({ stopReply: null, helpReply: 'Write to us' })
  expect((await server.request('PATCH', path, { name: 'other' })).body.optOut).toMatchObject({
    helpReply: 'Write to us',
  })
  expect(await change(null)).toBeNull()
})

test.each([
  ['optOut', true],
  ['optOut.words', { words: ['STOP'] }],
  ['optOut.stopWords', { stopWords: [] }],
  ['optOut.stopWords', { stopWords: Array.from({ length: 51 }, (_, n) => `w${n}`) }],
  ['optOut.stopWords.1', { stopWords: ['STOP', 'x'.repeat(33)] }],
  ['optOut.stopWords.1', { stopWords: ['STOP', '!!'] }],
  ['optOut.stopWords.0', { stopWords: ['STOP\u0000'] }],
  ['optOut.stopWords.1', { stopWords: ['opt out', 'OPT-OUT'] }],
  ['optOut.helpWords.0', { helpWords: ['Stop'] }],
  ['optOut.stopReply', { stopReply: '' }],
  ['optOut.stopReply', { stopReply: 'x'.repeat(1601) }],
  ['optOut.helpReply', { helpReply: 'a\u0000' }],
  ['optOut.helpReply', { helpReply: '\ud800' }],
])('400 names %s for %j', async (field, optOut) => {
  const accountId = await createAccount(server)
  const request = { accountId, name: 'alerts', optOut }
  const { status, body } = await server.request('POST', '/service-plans', request)
  expect({ status, field: body.errors[0].field }).toEqual({ status: 400, field })
})
