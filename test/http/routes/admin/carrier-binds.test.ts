import { expect, test } from 'vitest'
import { learnIdRule } from '../../../../src/store/carriers.ts'
import { publishReport } from '../../../../src/store/node-reports.ts'
import { registerNode } from '../../../../src/store/nodes.ts'
import { adminServerOfFile, CARRIER } from '../../../support/admin-server.ts'
import { aBindReport, aCarrierReport, aNodeReport, SINCE } from '../../../support/node-reports.ts'

const server = await adminServerOfFile()
const { db } = server.database
const create = async (fields: object) =>
  (await server.request('POST', '/carriers', { ...CARRIER, ...fields })).body

test('200: each bind with its node, and the traffic of each node; no password', async () => {
  const { carrierId } = await create({ binds: 2, idRule: 'auto' })
  await learnIdRule(db, carrierId, 'hex-decimal')
  const error = { at: SINCE, error: 'bind_rejected', status: 'ESME_RINVPASWD', detail: null, count: 3 }
  const bind = aBindReport({ number: 1, state: 'backing-off', retryAt: SINCE, errors: [error] })
  const traffic = {
    condition: 'throttled',
    queued: 4,
    sentLastSecond: 9,
    configuredRate: 12.5,
    measuredRate: 9,
  }
  const report = aNodeReport({
    carriers: { [carrierId]: aCarrierReport({ ...traffic, condition: 'throttled', binds: [bind] }) },
  })
  const nodeId = await registerNode(db, 'node-a')
  await registerNode(db, 'node-b')
  await publishReport(db, nodeId, JSON.stringify(report))
  for (const key of ['acme', carrierId]) {
    const { status, body } = await server.request('GET', `/carriers/${key}/binds`)
    expect(status).toBe(200)
    expect(body).toEqual({
      ...{ carrier: 'acme', state: 'started', host: CARRIER.host, port: 2775, systemId: 'aldis' },
      ...{ bindMode: 'transceiver', idRule: 'auto', learnedIdRule: 'hex-decimal' },
      nodes: [{ node: 'node-a', ...traffic, reportAgeMs: expect.any(Number) }],
      binds: [
        {
          ...{ number: 0, type: 'transceiver', node: null, state: 'unassigned', window: 10 },
          ...{ since: null, retryAt: null, unanswered: null, errors: [] },
        },
        { ...bind, node: 'node-a' },
      ],
    })
    expect(JSON.stringify(body)).not.toContain(CARRIER.password)
  }
  const { status, body } = await server.request('GET', '/carriers')
  expect(status).toBe(200)
  expect(body.items).toMatchObject([
    { name: 'acme', bindStates: [{ state: 'unassigned' }, { ...bind, node: 'node-a' }] },
  ])
})

test('200: a stopped carrier', async () => {
  await create({ name: 'off', state: 'stopped' })
  const { body } = await server.request('GET', '/carriers/off/binds')
  expect(body).toMatchObject({ state: 'stopped', nodes: [], binds: [{ state: 'stopped', node: null }] })
})

test('200: a draining carrier is draining, not unbound, while its bind is up', async () => {
  const { carrierId } = await create({ name: 'leaving', state: 'draining' })
  const bind = aBindReport({ state: 'bound' })
  const carriers = { [carrierId]: aCarrierReport({ condition: 'unbound', binds: [bind] }) }
  const nodeId = await registerNode(db, 'node-c')
  await publishReport(db, nodeId, JSON.stringify(aNodeReport({ carriers })))
  const { body } = await server.request('GET', '/carriers/leaving/binds')
  expect(body).toMatchObject({ nodes: [{ condition: 'draining' }], binds: [{ state: 'bound' }] })
})

test('400: not a name or a number', async () => {
  const { status, body } = await server.request('GET', '/carriers/a%20b/binds')
  expect(`${status} ${body.errorCode}`).toBe('400 VALIDATION_ERROR')
})

test('404: no such carrier', async () => {
  const { status, body } = await server.request('GET', '/carriers/nobody/binds')
  expect(`${status} ${body.errorCode}`).toBe('404 NOT_FOUND')
})
