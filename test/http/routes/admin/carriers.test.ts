import { expect, test } from 'vitest'
import { adminServerOfFile, CARRIER } from '../../../support/admin-server.ts'
import { createTestAuthority } from '../../../support/certificates.ts'

const SINCE = '2026-01-01T00:00:00.000Z'
const LINK = {
  state: 'BOUND_TRX',
  since: SINCE,
  lastError: null,
  unanswered: 3,
  links: [
    {
      number: 0,
      bind: 'bind_transceiver',
      state: 'BOUND_TRX',
      boundSince: SINCE,
      lastClose: null,
      unanswered: 3,
    },
  ],
}
const server = await adminServerOfFile({
  linkSummary: (carrierId) => (carrierId === 1 ? LINK : null),
  carrierAnomalies: () => ({ overlong_string: 250 }),
})

test('201: a carrier with defaults and the state of its link, its password only sealed', async () => {
  const { status, body } = await server.request('POST', '/carriers', CARRIER)
  expect(status).toBe(201)
  expect(body).toEqual({
    carrierId: 1,
    name: 'acme',
    host: 'smpp.example.net',
    systemId: 'aldis',
    state: 'started',
    port: 2775,
    tls: false,
    tlsCa: null,
    tlsServerName: null,
    bindMode: 'transceiver',
    binds: 1,
    systemType: '',
    window: 10,
    messagesPerSecond: null,
    senderMessagesPerSecond: null,
    longMessages: 'udh',
    validitySeconds: null,
    validityFormat: 'relative',
    submitOutcomes: {},
    idRule: 'auto',
    learnedIdRule: null,
    leases: [],
    link: LINK,
    anomalies: { overlong_string: 250 },
    createdAt: expect.any(String),
  })
  expect((await server.request('GET', '/carriers/acme')).body).toEqual(body)
  expect((await server.request('GET', '/carriers/1')).body).toEqual(body)
  expect(server.directory.current().carrierById(1)).toMatchObject({ password: CARRIER.password, window: 10 })
  const { rows } = await server.database.db.query('select c::text as text from carriers c')
  expect(JSON.stringify(rows)).not.toContain(CARRIER.password)
})

test('201: every setting, as the links and the submitter read it', async () => {
  const { certPem } = await createTestAuthority()
  const second = (await createTestAuthority('another')).certPem
  const settings = {
    state: 'draining',
    tls: true,
    tlsServerName: 'smsc.example.net',
    bindMode: 'transmitter+receiver',
    binds: 4,
    senderMessagesPerSecond: 2,
    longMessages: 'sar',
    validitySeconds: 3_600,
    validityFormat: 'absolute',
    idRule: 'auto',
  }
  const { status, body } = await server.request('POST', '/carriers', {
    ...CARRIER,
    ...settings,
    name: 'whole',
    tlsCa: `subject=/CN=first\n${certPem}\n${second}\n`,
    submitOutcomes: { '0x45': 'permanent', 1025: 'throttled' },
  })
  expect(status).toBe(201)
  expect(body).toMatchObject({
    ...settings,
    submitOutcomes: { '0x00000045': 'permanent', '0x00000401': 'throttled' },
    learnedIdRule: null,
  })
  expect(body.tlsCa).toBe(`${certPem.trim()}\n${second.trim()}`)
  const carrier = server.directory.current().carrierById(body.carrierId)!
  expect(carrier).toMatchObject({ ...settings, tlsCa: body.tlsCa })
  expect([...carrier.submitOutcomes]).toEqual([
    [0x45, 'permanent'],
    [0x401, 'throttled'],
  ])
  const { body: changed } = await server.request('PATCH', '/carriers/whole', {
    tlsCa: null,
    tlsServerName: null,
    senderMessagesPerSecond: null,
    submitOutcomes: {},
    state: 'stopped',
  })
  expect(changed).toMatchObject({
    tlsCa: null,
    tlsServerName: null,
    senderMessagesPerSecond: null,
    submitOutcomes: {},
    state: 'stopped',
    binds: 4,
  })
})

test('409 when the name is taken, by a new carrier and by a change', async () => {
  expect((await server.request('POST', '/carriers', CARRIER)).status).toBe(409)
  await server.request('POST', '/carriers', { ...CARRIER, name: 'backup' })
  const { status, body } = await server.request('PATCH', '/carriers/backup', { name: 'acme' })
  expect(`${status} ${body.errorMessage}`).toBe('409 carrier acme exists already')
})

test.each([
  ['host', { host: 'http://smpp.example.net' }],
  ['password', { password: 'x'.repeat(65) }],
  ['validitySeconds', { validitySeconds: 59 }],
  ['validitySeconds', { validitySeconds: 86_401 }],
  ['validityFormat', { validityFormat: 'epoch' }],
  ['systemId', { systemId: 'sixteencharacter' }],
  ['port', { port: 0 }],
  ['name', { name: '7' }],
  ['window', { window: 1.5 }],
  ['messagesPerSecond', { messagesPerSecond: -1 }],
  ['senderMessagesPerSecond', { senderMessagesPerSecond: 0 }],
  ['state', { state: 'paused' }],
  ['binds', { binds: 33 }],
  ['longMessages', { longMessages: 'split' }],
  ['tlsServerName', { tlsServerName: 'not a name' }],
  ['tlsCa', { tlsCa: 'no certificate' }],
  ['tlsCa', { tlsCa: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' }],
  ['tlsCa', { tlsCa: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----' }],
  ['submitOutcomes.0x45', { submitOutcomes: { '0x45': 'accepted' } }],
  ['submitOutcomes.0x0', { submitOutcomes: { '0x0': 'retry' } }],
  ['submitOutcomes.busy', { submitOutcomes: { busy: 'retry' } }],
  ['submitOutcomes.4294967296', { submitOutcomes: { 4294967296: 'retry' } }],
  ['submitOutcomes.0x45', { submitOutcomes: { 69: 'retry', '0x45': 'retry' } }],
  [
    'submitOutcomes',
    { submitOutcomes: Object.fromEntries(Array.from({ length: 257 }, (_, n) => [`${n + 1}`, 'retry'])) },
  ],
  ['learnedIdRule', { learnedIdRule: 'exact' }],
])('400 names %s for %j', async (field, fields) => {
  const { status, body } = await server.request('POST', '/carriers', { ...CARRIER, name: 'other', ...fields })
  expect(status).toBe(400)
  expect(body.errors.map((fault: { field: string }) => fault.field)).toEqual([field])
})

test('200: a change keeps the password, unless it brings one', async () => {
  const { body: created } = await server.request('POST', '/carriers', { ...CARRIER, name: 'changing' })
  const inDirectory = () => server.directory.current().carrierById(created.carrierId)!
  const { status, body } = await server.request('PATCH', '/carriers/changing', {
    window: 50,
    messagesPerSecond: 200,
  })
  expect(status).toBe(200)
  expect(body).toMatchObject({ window: 50, messagesPerSecond: 200, host: CARRIER.host })
  expect(inDirectory().password).toBe(CARRIER.password)
  await server.request('PATCH', '/carriers/changing', {
    password: 'another',
    messagesPerSecond: null,
    name: 'changed',
  })
  expect(inDirectory()).toMatchObject({ password: 'another', messagesPerSecond: null, name: 'changed' })
  expect((await server.request('GET', '/carriers/changing')).status).toBe(404)
})

test('204: a carrier goes; 409 while a route uses it', async () => {
  await server.request('POST', '/carriers', { ...CARRIER, name: 'routed' })
  await server.request('POST', '/routes', { name: 'via', carriers: [{ carrier: 'routed' }] })
  expect((await server.request('DELETE', '/carriers/routed')).status).toBe(409)
  await server.request('DELETE', '/routes/via')
  expect((await server.request('DELETE', '/carriers/routed')).status).toBe(204)
  expect((await server.request('DELETE', '/carriers/routed')).status).toBe(404)
})

test('200: the list, by name', async () => {
  const { body } = await server.request('GET', '/carriers')
  const names = body.items.map((carrier: { name: string }) => carrier.name)
  expect(names).toEqual([...names].sort())
  expect(JSON.stringify(body)).not.toContain('password')
})
