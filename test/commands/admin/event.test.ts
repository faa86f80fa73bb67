import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, createPlan, startAdminServer } from '../../support/admin-server.ts'
import { runAldis } from '../../support/cli.ts'
import { eventually } from '../../support/eventually.ts'
import { newId } from '../../support/installation.ts'
import { DESTINATION, storeEvent } from '../../support/stored-events.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts'

const AT = Date.now() - 60_000
const ids = [0, 1, 2, 3].map((n) => newId(AT + n * 1_000))
const iso = (ms: number) => new Date(ms).toISOString()

let server: AdminServer
let receiver: WebhookReceiver
let env: Record<string, string>
let servicePlanId: string
beforeAll(async () => {
  server = await startAdminServer({ state: 'started' })
  receiver = await startWebhookReceiver()
  env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
  servicePlanId = (await createPlan(server)).servicePlanId
  const { db } = server.database
  const planId = server.directory.current().planByPublicId(servicePlanId)!.id
  const at = (n: number) => ({ planId, msgId: ids[n]!, occurredAt: new Date(AT + n * 1_000) })
  await storeEvent(db, { ...at(0), state: 'delivered' })
  await storeEvent(db, { ...at(1), state: 'failed', attempts: 2 })
  await storeEvent(db, { ...at(2), state: 'failed', attempts: 1 })
  await storeEvent(db, { ...at(3), sequence: 0, state: 'kept' })
})
afterAll(async () => {
  await receiver.close()
  await server[Symbol.asyncDispose]()
})

async function printed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runAldis(args, { env })
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
  return stdout
}

async function json(...args: string[]) {
  return JSON.parse(await printed(...args, '--json'))
}

async function refused(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runAldis(args, { env })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^error: .+\n$/)
  return stderr
}

/** Columns of what was printed: they are two spaces apart. */
function cells(text: string): string[][] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/))
}

test('a list of a plan, newest first', async () => {
  const [delivered, failed] = [iso(AT), iso(AT + 1_000)]
  const [head, ...rows] = cells(await printed('event', 'list', '--plan', servicePlanId))
  const names = [
    ...['OCCURRED AT', 'EVENT ID', 'MESSAGE STATUS', 'STATE', 'ATTEMPTS', 'NEXT ATTEMPT AT'],
    ...['RESPONSE STATUS', 'ERROR', 'DESTINATION'],
  ]
  expect(head).toEqual(names)
  expect(rows).toHaveLength(4)
  expect(rows[0]!.slice(1, 4)).toEqual([`${ids[3]}-0`, '-', 'kept'])
  expect(rows.slice(2)).toEqual([
    [failed, `${ids[1]}-1`, 'SENT', 'failed', '2', '-', '503', '-', DESTINATION],
    [delivered, `${ids[0]}-1`, 'SENT', 'delivered', '1', '-', '200', '-', DESTINATION],
  ])
})

test('filtered, and page by page', async () => {
  const list = async (...args: string[]) => {
    const { items } = await json('event', 'list', '--plan', servicePlanId, ...args)
    return items.map(({ msgId }: { msgId: string }) => ids.indexOf(msgId))
  }
  expect(await list('--state', 'failed')).toEqual([2, 1])
  expect(await list('--msg-id', ids[3]!)).toEqual([3])
  expect(await list('--destination', DESTINATION, '--state', 'delivered')).toEqual([0])
  expect(await list('--from-date', iso(AT + 1_000), '--to-date', iso(AT + 2_000))).toEqual([2, 1])
  expect(await list('--after', `${ids[1]}-1`)).toEqual([0])
  const { stderr } = await runAldis(['event', 'list', '--plan', servicePlanId, '--limit', '1'], { env })
  expect(stderr).toBe(`more: --after '${ids[3]}-0', or --all\n`)
  expect(await refused('event', 'list', '--plan', servicePlanId, '--from-date', 'yesterday')).toContain(
    'RFC 3339',
  )
  expect(await refused('event', 'list')).toContain('--plan')
})

test('one of them, with its attempts', async () => {
  const text = await printed('event', 'show', `${ids[1]}-1`)
  expect(text).toMatch(/^state +failed$/m)
  expect(text).not.toContain('attemptRecords')
  const [, table] = text.split('\n\n')
  expect(cells(table!)).toEqual([
    ['ATTEMPTED AT', 'ATTEMPT', 'LATENCY MS', 'RESPONSE STATUS', 'ERROR', 'RESPONSE HEAD'],
    [iso(AT + 2_000), '1', '1', '503', '-', 'busy'],
    [iso(AT + 3_000), '2', '2', '503', '-', 'busy'],
  ])
  expect(await printed('event', 'show', `${ids[3]}-0`)).not.toContain('ATTEMPT')
  expect((await json('event', 'show', `${ids[1]}-1`)).attemptRecords).toHaveLength(2)
  expect(await refused('event', 'show', `${ids[1]}-2`)).toBe('error: No such event\n')
})

test('redelivered: one, those that failed, those that were kept', async () => {
  expect(await printed('event', 'redeliver', `${ids[0]}-1`)).toMatch(/^state +pending$/m)
  expect(await json('event', 'redeliver', `${ids[0]}-1`)).toMatchObject({ state: 'pending', attempts: 1 })
  const to = iso(AT + 1_500)
  expect(await printed('event', 'redeliver-failed', '--plan', servicePlanId, '--to-date', to)).toBe(
    '1 to be delivered again\n',
  )
  expect(await json('event', 'redeliver-failed', '--plan', servicePlanId)).toEqual({ redelivered: 1 })
  const kept = ['event', 'redeliver-failed', '--plan', servicePlanId, '--state', 'kept']
  expect(await json(...kept)).toEqual({ redelivered: 0 })
  expect(await refused('event', 'redeliver', `${ids[3]}-0`)).toContain('no URL')
  expect(await refused(...kept, '--destination', DESTINATION)).toContain('destination must be omitted')
})

test('a great many are redelivered by one request after the other', async () => {
  const { db } = server.database
  const { accountId, servicePlanId } = await createPlan(server)
  await server.request('PATCH', `/accounts/${accountId}`, { defaultDlrUrl: 'https://example.com/dlr' })
  const planId = server.directory.current().planByPublicId(servicePlanId)!.id
  await db.query(
    `insert into events (plan_id, msg_id, sequence, position, status, occurred_at)
     select $1, id, 1, 1, 'SENT', now() from unnest($2::uuid[]) id`,
    [planId, Array.from({ length: 20_500 }, (_, n) => newId(AT + n))],
  )
  await db.query(
    `insert into event_deliveries (plan_id, msg_id, sequence, bucket, due_at, began_at, state)
     select plan_id, msg_id, sequence, 7, 'infinity', now(), 'failed' from events where plan_id = $1`,
    [planId],
  )
  const { stdout, stderr } = await runAldis(['event', 'redeliver-failed', '--plan', servicePlanId], { env })
  expect(stdout).toBe('20500 to be delivered again\n')
  expect(stderr).toMatch(/^20000 to be delivered again; continues with --after [0-9a-f-]{36}-1\n$/)
})

test('a test event, and what came of it', async () => {
  const args = ['event', 'test', '--plan', servicePlanId, '--to', `${receiver.origin}/dlr`]
  const text = await printed(...args, '--type', 'inboundMessage')
  expect(text).toMatch(/^delivered +yes$/m)
  expect(JSON.parse((await receiver.next()).body)).toMatchObject({ servicePlanId, direction: 'MO' })
  expect(await refused('event', 'test', '--plan', servicePlanId, '--type', 'status')).toContain(
    'deliveryReceipt',
  )
})

test('a test event that is not delivered: what came of it, and exit code 1', async () => {
  receiver.answerWith((exchange) => exchange.respond(500, {}, 'oh'))
  const args = ['event', 'test', '--plan', servicePlanId, '--to', receiver.origin, '--json']
  // One a second of an account, and the test before sent one.
  const { code, stdout, stderr } = await eventually(async () => {
    const ran = await runAldis(args, { env })
    return ran.stdout === '' ? undefined : ran
  })
  expect([code, stderr]).toEqual([1, ''])
  expect(JSON.parse(stdout)).toMatchObject({ delivered: false, responseStatus: 500, responseHead: 'oh' })
})

test('destinations are listed, paused and resumed', async () => {
  const at = ['--plan', servicePlanId, '--destination', 'https://a.example.com:8443']
  expect(await printed('destination', 'pause', ...at)).toMatch(/^state +paused$/m)
  const [head, paused] = cells(await printed('destination', 'list', '--plan', servicePlanId))
  expect(head).toEqual(['DESTINATION', 'STATE', 'SINCE', 'PAUSED BY', 'ERROR', 'WAITING', 'PARKED', 'FAILED'])
  const counts = ['0', '0', '0']
  expect(paused).toEqual([at[3], 'paused', expect.any(String), 'operator', '-', ...counts])
  expect(await json('destination', 'resume', ...at)).toMatchObject({ state: 'recovering', pausedBy: null })
  expect(
    await refused('destination', 'pause', '--plan', servicePlanId, '--destination', 'a.example.com'),
  ).toContain('destination')
  expect(await refused('destination', 'resume', '--plan', servicePlanId)).toContain('--destination')
})
