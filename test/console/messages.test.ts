import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { messageId } from '../../src/domain/identifiers.ts'
import { type ConsolePage, openConsole, PHONE } from '../support/console-page.ts'
import { CARRIER, ROUTE, type Service, startService } from '../support/service.ts'
import { acknowledge, answerStatus } from '../support/webhook-receiver.ts'

const ABSENT = '+15551231001'

let service: Service
let delivered: string
let failed: string

beforeAll(async () => {
  service = await startService()
  delivered = await service.sent({ body: '=SUM(1,2)' })
  failed = await service.sent({ to: ABSENT })
  await service.untilWebhooks(delivered, ['SENT', 'DELIVERED'])
  await service.untilWebhooks(failed, ['SENT', 'FAILED'])
})
afterAll(() => service[Symbol.asyncDispose]())

const asCustomer = (of: Service = service) => openConsole(of.app.url, { tokens: [of.token] })
const asOperator = () => openConsole(service.app.url, { tokens: [service.operatorToken] })

/** Stores so many messages of the tenant. Returns their ids, the newest first. */
async function stored(tenant: Service, count: number): Promise<string[]> {
  const now = Date.now()
  const ids = Array.from({ length: count }, (_, index) => messageId(now - index, randomBytes(9), 7))
  await service.db.query(
    `insert into messages (plan_id, msg_id, sender, recipient, status, country, segments, updated_at, body)
     select $1, unnest($2::uuid[]), 'Aldis', '+15551230000', 'SENT', 'US', 1, now(), 'text'`,
    [await tenant.planKey(), ids],
  )
  return ids
}

/** Recipients in the order of the rows. */
async function rows({ page }: ConsolePage): Promise<string[]> {
  return await page
    .getByRole('region', { name: 'Messages' })
    .locator('tbody tr td:first-child')
    .allInnerTexts()
}
const story = ({ page }: ConsolePage) => page.getByRole('list', { name: 'What happened, in order' })
const search = ({ page }: ConsolePage) => Object.fromEntries(new URL(page.url()).searchParams)

describe('the log', () => {
  it('has its filters in the address, counts what matches, and each can be taken away', async () => {
    await using opened = await asCustomer()
    const { page } = opened
    await opened.goto('/messages?country=US')
    const counts = page.getByRole('region', { name: 'Statuses' })
    await counts.getByRole('link', { name: 'FAILED' }).click()
    await expect.poll(() => rows(opened)).toEqual([ABSENT])
    expect(search(opened)).toEqual({ country: 'US', status: 'FAILED' })
    expect(await counts.getByRole('link', { name: /DELIVERED/ }).innerText()).toMatch(/DELIVERED\s*1/)
    await page.reload()
    await opened.settled()
    expect(await rows(opened)).toEqual([ABSENT])
    await page.getByRole('link', { name: 'Remove the filter Status: FAILED' }).click()
    await expect.poll(async () => (await rows(opened)).length).toBe(2)
    await page.getByRole('link', { name: '24 h' }).click()
    await page.waitForURL(/span=24h/)
    expect(await opened.problems()).toEqual([])
  })

  it('names the plan of a message where there are more plans than the API lists at once', async () => {
    const { rows: added } = await service.db.query<{ id: number }>(`
      insert into service_plans (service_plan_id, account_id, name)
      select lpad(to_hex(n), 24, '0'), (select min(id) from accounts), 'Plan ' || n from generate_series(1, 1000) n
      returning id`)
    await using opened = await asOperator()
    await opened.goto('/admin/messages')
    const row = opened.page.getByRole('region', { name: 'Messages' }).getByRole('row', { name: ABSENT })
    await row.getByText('Example', { exact: true }).waitFor()
    await opened.goto(`/admin/webhooks?servicePlanId=${service.servicePlanId}`)
    const field = opened.page.getByLabel('Service plan')
    await expect.poll(() => field.inputValue()).toBe(`Example · ${service.servicePlanId}`)
    await opened.goto('/admin/numbers')
    await opened.page.getByRole('link', { name: 'Example', exact: true }).waitFor()
    await service.db.query('delete from service_plans where id = any ($1)', [added.map(({ id }) => id)])
    expect(opened.faults).toEqual([])
  })

  it('takes the other filters from a form', async () => {
    await using opened = await asOperator()
    const { page } = opened
    await opened.goto('/admin/messages')
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByLabel('Error code').fill('303')
    await page.getByLabel('Carrier', { exact: true }).fill(CARRIER)
    expect(await opened.violations()).toEqual([])
    await page.getByRole('button', { name: 'Apply' }).click()
    await expect.poll(() => rows(opened)).toEqual([ABSENT])
    expect(opened.faults).toEqual([])
  })

  it('keeps new messages behind a bar, and shows new states in place', async () => {
    await using tenant = await service.tenant()
    await tenant.sent({ to: '+15550000001' })
    tenant.simulator.faults.holdReceipts = true
    const held = await tenant.sent({ to: '+15550000002' })
    await tenant.until(held, 'SENT')
    await using opened = await asCustomer(tenant)
    const { page } = opened
    await opened.goto('/messages')
    const shown = ['+15550000002', '+15550000001']
    expect(await rows(opened)).toEqual(shown)
    const first = page.locator('tbody tr').first()
    expect(await first.innerText()).toContain('SENT')
    await tenant.sent({ to: '+15550000003' })
    const bar = page.getByRole('button', { name: '1 new' })
    await bar.waitFor()
    expect(await rows(opened)).toEqual(shown)
    tenant.simulator.faults.holdReceipts = false
    await first.getByText('DELIVERED').waitFor()
    expect(await rows(opened)).toEqual(shown)
    await bar.click()
    await expect.poll(() => rows(opened)).toEqual(['+15550000003', ...shown])
    expect(opened.faults).toEqual([])
  })

  it('exports what matches as CSV in which nothing is a formula', async () => {
    await using opened = await asCustomer()
    const { page } = opened
    await opened.goto('/messages?status=DELIVERED')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ])
    const [head, line, ...rest] = (await readFile(await file.path(), 'utf8')).split('\r\n')
    expect(head).toBe(
      '\uFEFFmsgId,createdAt,status,from,to,body,segments,price,ptf,currency,country,mccmnc,errorCode,errorMessage,sentAt,updatedAt',
    )
    expect(line).toContain(`${delivered},`)
    expect(line).toContain(`,DELIVERED,Aldis,+15551230000,"'=SUM(1,2)",1,`)
    expect(rest).toEqual([''])
    await page.getByText('Exported 1 message').waitFor()
    expect(await opened.problems()).toEqual([])
  })

  it('exports every page of the list, each message once, in its order', async () => {
    await using tenant = await service.tenant()
    const ids = await stored(tenant, 2_345)
    await using opened = await asCustomer(tenant)
    const { page } = opened
    await opened.goto('/messages')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ])
    const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n')
    expect(lines.slice(1).map((line) => line.slice(0, line.indexOf(',')))).toEqual(ids)
    await page.getByText('Exported 2,345 messages').waitFor()
    expect(opened.faults).toEqual([])
  })

  it('ends an export that is cancelled, without a file', async () => {
    await using tenant = await service.tenant()
    await stored(tenant, 101)
    await using opened = await asCustomer(tenant)
    const { page } = opened
    await opened.goto('/messages')
    const files: unknown[] = []
    page.on('download', (file) => files.push(file))
    // The second page of the export does not come.
    const second = Promise.withResolvers<Request>()
    await page.route(/[?&]cursor=/, (route) => second.resolve(route.request()))
    await page.getByRole('button', { name: 'Export CSV' }).click()
    await page.getByText('Exporting: 100 so far').waitFor()
    const request = await second.promise
    const ended = page.waitForEvent('requestfailed', (failed) => failed === request)
    await page.getByRole('button', { name: 'Cancel the export' }).click()
    await ended
    await page.getByRole('button', { name: 'Export CSV' }).waitFor()
    expect(await page.getByText('Export', { exact: false }).allInnerTexts()).toEqual(['Export CSV'])
    expect(files).toEqual([])
    await page.unroute(/[?&]cursor=/)
    expect(opened.faults).toEqual([])
  })

  it('finds a message by its id, by that of the carrier, and by the number', async () => {
    await using opened = await asOperator()
    const { page } = opened
    const { submissions } = await service.admin('GET', `/messages/${failed}`)
    const field = page.getByLabel('Look up')
    await opened.goto('/admin/messages')
    await field.fill(submissions[0].carrierMessageId)
    await page.getByRole('button', { name: "Carrier's message id" }).click()
    await expect.poll(() => rows(opened)).toEqual([ABSENT])
    expect(await opened.violations()).toEqual([])
    await field.fill(failed)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/console/admin/messages/${failed}`)
    expect(opened.faults).toEqual([])
  })

  it('tells a customer without messages how to send one', async () => {
    await using tenant = await service.tenant()
    await using opened = await asCustomer(tenant)
    await opened.goto('/messages')
    const command = opened.page.getByRole('region', { name: 'Command that sends a message' })
    expect(await command.innerText()).toContain(`"servicePlanId":"${tenant.servicePlanId}"`)
    expect(await opened.problems()).toEqual([])
    await tenant.sent()
    // By itself.
    await expect.poll(async () => (await rows(opened)).length).toBe(1)
  })
})

describe('an open message', () => {
  it('stands beside the log; all by keyboard', async () => {
    await using opened = await asCustomer()
    const { page } = opened
    await opened.goto('/messages')
    const row = page.getByRole('link', { name: ABSENT })
    await row.focus()
    await page.keyboard.press('Enter')
    const panel = page.getByRole('complementary', { name: `Message to ${ABSENT}` })
    await panel.getByText('Subscriber absent or handset off').first().waitFor()
    expect(search(opened)).toEqual({ open: failed })
    await story(opened).waitFor()
    expect(await opened.problems(PHONE)).toEqual([])
    await panel.focus()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    expect(search(opened)).toEqual({})
    await expect.poll(() => page.locator(':focus').innerText()).toBe(ABSENT)
  })

  it('is told to a customer without the names of carriers', async () => {
    await using opened = await asCustomer()
    await opened.goto(`/messages/${delivered}`)
    const told = story(opened)
    for (const each of ['Accepted', 'Taken by the carrier', 'SENT → HTTP 200', 'Delivered to the handset'])
      await told.getByText(each).waitFor()
    const { page } = opened
    const events = page.getByRole('link', { name: 'Its events' })
    expect(await events.getAttribute('href')).toBe(`/console/webhooks?msgId=${delivered}`)
    await told.getByText('DELIVERED → HTTP 200').click()
    expect(await told.innerText()).toContain('{"ok":true}')
    expect(await opened.page.locator('main').innerText()).not.toContain(CARRIER)
    expect(opened.faults).toEqual([])
  })

  it('is told to an operator with each submit and each receipt', async () => {
    await using opened = await asOperator()
    await opened.goto(`/admin/messages/${failed}`)
    const told = story(opened)
    await told.getByText(`Accepted by ${CARRIER}`).waitFor()
    await told.getByText('Receipt: FAILED').first().click()
    expect(await told.innerText()).toContain('stat:UNDELIV')
    await told.getByText('FAILED → HTTP 200').waitFor()
    const hrefOf = (name: string) =>
      opened.page.getByRole('main').getByRole('link', { name, exact: true }).getAttribute('href')
    expect(await hrefOf(CARRIER)).toBe(`/console/admin/carriers/${CARRIER}`)
    expect(await hrefOf(ROUTE)).toBe(`/console/admin/routes?open=${ROUTE}`)
    expect(await hrefOf('Example')).toBe(`/console/admin/plans?open=${service.servicePlanId}`)
    expect(await opened.problems(PHONE)).toEqual([])
  })

  it('says why it waits', async () => {
    await using tenant = await service.tenant({ smscPort: 1, bound: false })
    const msgId = await tenant.sent()
    await using opened = await openConsole(tenant.app.url, {
      tokens: [tenant.token, tenant.operatorToken],
    })
    await opened.goto(`/messages/${msgId}`)
    await story(opened).getByText('waiting for a carrier: none takes messages now').waitFor()
    expect(await opened.problems()).toEqual([])
    await opened.goto(`/admin/messages/${msgId}`)
    await story(opened).getByText('waiting for a carrier that is not bound').waitFor()
    expect(opened.faults).toEqual([])
  })

  it('is composed again with the same fields, and its text is in no address', async () => {
    await using opened = await asCustomer()
    const { page } = opened
    await opened.goto(`/messages/${delivered}`)
    const text = await page.locator('blockquote').innerText()
    // No sandbox, no phone.
    expect(await page.getByRole('main').getByRole('link', { name: 'Phone' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Compose again' }).click()
    await page.waitForURL('**/compose?**')
    expect(await page.getByLabel('Text').inputValue()).toBe(text)
    expect(await page.getByLabel('From').inputValue()).toBe('Aldis')
    expect([...new URL(page.url()).searchParams.keys()].sort()).toEqual(['from', 'to'])
    expect(opened.faults).toEqual([])
  })

  it('is copied as a command that sends it again, and as JSON', async () => {
    await using opened = await asCustomer()
    const { page } = opened
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await opened.goto(`/messages/${delivered}`)
    const copied = async (name: string) => {
      await page.getByRole('button', { name }).click()
      return (await page.evaluate('navigator.clipboard.readText()')) as string
    }
    expect(JSON.parse(await copied('Copy as JSON'))).toMatchObject({ message: { msgId: delivered } })
    // As a shell reads the command.
    const script = `curl() { printf '%s\\n' "$@"; }; ${await copied('Copy as curl')}`
    const words = execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { ALDIS_TOKEN: 'token' } })
    const [, url, , authorization, , , , body] = words.split('\n')
    expect([url, authorization]).toEqual([`${service.app.url}/v1/sendsms`, 'Authorization: Bearer token'])
    const { servicePlanId } = service
    const sent = { servicePlanId, channel: 'SMS', from: 'Aldis', to: '+15551230000', body: '=SUM(1,2)' }
    expect(JSON.parse(body!)).toEqual(sent)
    expect(opened.faults).toEqual([])
  })

  it('leaves room for dates in the filters beside it', async () => {
    await using opened = await asCustomer()
    const { page } = opened
    await opened.goto(`/messages?open=${delivered}`)
    await page.getByRole('button', { name: 'Filters' }).click()
    const { width } = (await page.getByLabel('Since').boundingBox())!
    expect(width).toBeGreaterThanOrEqual(180)
    expect(await opened.problems()).toEqual([])
  })

  it('shows a webhook that fails, and delivers it again', async () => {
    await using tenant = await service.tenant()
    tenant.receiver.answerWith(answerStatus(500))
    const msgId = await tenant.sent()
    await using opened = await asCustomer(tenant)
    const { page } = opened
    await opened.goto(`/messages/${msgId}`)
    const told = story(opened)
    await told.getByText('SENT → HTTP 500').first().click()
    const attempt = told.getByRole('figure').filter({ hasText: 'Headers of the request' })
    const [came] = tenant.receiver.received.filter((webhook) => webhook.msgId === msgId)
    const signed = ['webhook-id', 'webhook-timestamp'].map((name) => `${name}: ${came!.headers[name]}`)
    for (const line of ['user-agent: Aldis', 'webhook-signature: ***', 'aldis-attempt: 1', ...signed])
      await attempt.first().getByText(line, { exact: false }).waitFor()
    expect(await opened.problems()).toEqual([])
    tenant.receiver.answerWith(acknowledge)
    await page.getByRole('button', { name: 'Deliver now: SENT' }).click()
    await told.getByText('SENT → HTTP 200').waitFor()
    await told.getByText('DELIVERED → HTTP 200').waitFor()
    await page.getByRole('button', { name: 'Redeliver: DELIVERED' }).click()
    await expect.poll(() => tenant.statuses(msgId).at(-1)).toBe('DELIVERED')
    await expect.poll(() => tenant.statuses(msgId).filter((one) => one === 'DELIVERED').length).toBe(2)
  })

  it('of another customer is none', async () => {
    await using tenant = await service.tenant()
    await using opened = await asCustomer(tenant)
    await opened.goto(`/messages/${delivered}`)
    await opened.page.getByText('No such message').waitFor()
    expect(opened.faults.splice(0).every((fault) => fault.includes('404'))).toBe(true)
    expect(await opened.problems()).toEqual([])
  })
})
