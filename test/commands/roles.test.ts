import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { requestAdmin } from '../../src/commands/admin/client.ts'
import type { NodeRole } from '../../src/domain/nodes.ts'
import { createServerCertificate, createTestAuthority } from '../support/certificates.ts'
import { databaseOfFile } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import {
  lookUp,
  provision,
  type Ready,
  type Scratch,
  SERVE_SECRETS,
  type Served,
  scratchFolder,
  send,
  startServe,
} from '../support/process.ts'
import { type Smsc, startSmsc } from '../support/smsc.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

const database = await databaseOfFile({ state: 'started' })
const ROLES = ['api', 'carrier', 'webhook'] as const
const INBOUND_NUMBER = '+15550001000'

let smsc: Smsc
let receiver: WebhookReceiver
let folder: Scratch
let access: Ready
const nodes = new Map<NodeRole, Served>()

async function start(role: NodeRole): Promise<void> {
  nodes.set(
    role,
    await startServe({
      DATABASE_URL: database.connectionString,
      NODE_ROLE: role,
      NODE_ID: `the-${role}`,
      WEBHOOK_ALLOW_CIDRS: '127.0.0.1/32',
      WEBHOOK_EXTRA_CA: join(folder.path, 'authority.pem'),
      LOG_LEVEL: 'info',
    }),
  )
  if (role === 'api' && access !== undefined) access = { ...access, baseUrl: urlOf('api') }
}

async function kill(role: NodeRole): Promise<void> {
  nodes.get(role)!.running.kill('SIGKILL')
  await nodes.get(role)!.running.exited
}

function urlOf(role: NodeRole): string {
  return nodes.get(role)!.baseUrl
}

async function admin(method: string, path: string, body?: object, role: NodeRole = 'api'): Promise<unknown> {
  return await requestAdmin(
    { url: urlOf(role), operatorToken: SERVE_SECRETS.OPERATOR_TOKEN },
    method,
    path,
    body,
  )
}

async function readiness(role: NodeRole): Promise<{ status: number; roles: string | undefined }> {
  const response = await fetch(`${urlOf(role)}/readyz`)
  const { checks } = (await response.json()) as { checks: Record<string, string> }
  return { status: response.status, roles: checks.roles }
}

async function sent(): Promise<string> {
  const { status, json } = await send(access, { callbackUrl: `${receiver.origin}/dlr` })
  expect(status).toBe(202)
  return json.msgId
}

async function untilStatus(msgId: string, status: string): Promise<void> {
  await eventually(async () => (await lookUp(access, msgId)).json.status === status)
}

async function told(msgId: string): Promise<string | null> {
  return (await receiver.next((received) => received.msgId === msgId)).status
}

beforeAll(async () => {
  folder = scratchFolder()
  const authority = await createTestAuthority()
  writeFileSync(join(folder.path, 'authority.pem'), authority.certPem)
  receiver = await startWebhookReceiver({
    certificate: await createServerCertificate(authority, ['127.0.0.1']),
  })
  smsc = await startSmsc()
})

afterAll(async () => {
  for (const node of nodes.values()) await node[Symbol.asyncDispose]()
  await smsc?.[Symbol.asyncDispose]()
  await receiver?.close()
  folder?.[Symbol.dispose]()
})

describe('a node of each role', () => {
  test('the first alone says what nobody does, and stays ready', async () => {
    await start('api')
    const { status, roles } = await readiness('api')
    expect(status).toBe(200)
    expect(roles).toContain('no living node binds to carriers')
    expect(roles).toContain('no living node delivers webhooks')
    expect(roles).not.toContain('/v1')
  })

  test('what is accepted before there is a carrier node is sent when it comes', async () => {
    access = await provision(
      { baseUrl: urlOf('api'), operatorToken: SERVE_SECRETS.OPERATOR_TOKEN },
      smsc.port,
    )
    await admin('PATCH', `/service-plans/${access.servicePlanId}`, { inboundUrl: `${receiver.origin}/mo` })
    await admin('POST', '/inbound-numbers', { number: INBOUND_NUMBER, servicePlanId: access.servicePlanId })
    const msgId = await sent()
    expect(smsc.binds).toEqual([])
    await start('carrier')
    await untilStatus(msgId, 'SENT')
    await start('webhook')
    expect(await told(msgId)).toBe('SENT')
    for (const role of ROLES) await eventually(async () => (await readiness(role)).roles === undefined)
  })

  test('each does what its role says, and any answers operators', async () => {
    const items = async (role: NodeRole) =>
      ((await admin('GET', '/nodes', undefined, role)) as { items: Record<string, unknown>[] }).items
    for (const role of ROLES) {
      const seen = await eventually(async () => {
        const found = await items(role)
        return found.every(({ host }) => host !== null) && found
      })
      expect(seen).toMatchObject([
        { name: 'the-api', role: 'api', buckets: 0, binds: 0 },
        { name: 'the-carrier', role: 'carrier', buckets: 0, binds: 1 },
        { name: 'the-webhook', role: 'webhook', buckets: 256, binds: 0 },
      ])
      const { status } = await fetch(`${urlOf(role)}/v1/events?servicePlanId=${access.servicePlanId}`, {
        headers: { authorization: `Bearer ${access.token}` },
      })
      expect([role, status]).toEqual([role, role === 'api' ? 200 : 404])
    }
  })

  test('a message, its receipt, its webhooks and a reply go through all three', async () => {
    const msgId = await sent()
    await untilStatus(msgId, 'SENT')
    expect(await smsc.receipt(smsc.ids.at(-1)!, 'DELIVRD')).toBe(0)
    expect([await told(msgId), await told(msgId)]).toEqual(['SENT', 'DELIVERED'])
    await untilStatus(msgId, 'DELIVERED')
    const reply = { source_addr: '15551230001', destination_addr: INBOUND_NUMBER.slice(1) }
    expect(await smsc.deliver({ ...reply, short_message: Buffer.from('Hi') })).toBe(0)
    expect((await receiver.next(({ path }) => path === '/mo')).body).toContain('"body":"Hi"')
  })

  test('a message of a sandbox plan stays on the api node, and is announced by the webhook node', async () => {
    const fields = { accountId: access.accountId, name: 'Tests', sandbox: true }
    const { servicePlanId } = (await admin('POST', '/service-plans', fields)) as Ready
    await admin('PUT', `/service-plans/${servicePlanId}/senders/${access.sender}`, { status: 'approved' })
    const own = { ...access, servicePlanId }
    const { msgId } = (await send(own, { callbackUrl: `${receiver.origin}/dlr` })).json
    expect([await told(msgId), await told(msgId)]).toEqual(['SENT', 'DELIVERED'])
  })
})

describe('each killed and started again', () => {
  test('carrier: what is accepted meanwhile is sent, and a receipt still finds its message', async () => {
    const before = await sent()
    await untilStatus(before, 'SENT')
    const idBefore = smsc.ids.at(-1)!
    await kill('carrier')
    const meanwhile = await sent()
    await start('carrier')
    await untilStatus(meanwhile, 'SENT')
    expect(await smsc.receipt(idBefore, 'DELIVRD')).toBe(0)
    expect([await told(before), await told(before), await told(meanwhile)]).toEqual([
      'SENT',
      'DELIVERED',
      'SENT',
    ])
  })

  test('webhook: what happens meanwhile is told in order', async () => {
    await kill('webhook')
    const msgId = await sent()
    await untilStatus(msgId, 'SENT')
    expect(await smsc.receipt(smsc.ids.at(-1)!, 'DELIVRD')).toBe(0)
    await untilStatus(msgId, 'DELIVERED')
    await start('webhook')
    expect([await told(msgId), await told(msgId)]).toEqual(['SENT', 'DELIVERED'])
  })

  test('api: receipts and webhooks go on without it', async () => {
    const msgId = await sent()
    await untilStatus(msgId, 'SENT')
    await kill('api')
    expect(await smsc.receipt(smsc.ids.at(-1)!, 'UNDELIV')).toBe(0)
    expect([await told(msgId), await told(msgId)]).toEqual(['SENT', 'FAILED'])
    await start('api')
    await untilStatus(msgId, 'FAILED')
  })
})
