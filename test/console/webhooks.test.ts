import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConsole, PHONE } from '../support/console-page.ts'
import { eventually, type Service, startService } from '../support/service.ts'
import { acknowledge, answerStatus } from '../support/webhook-receiver.ts'

let service: Service

beforeAll(async () => {
  service = await startService()
})
afterAll(() => service[Symbol.asyncDispose]())

const open = (...tokens: string[]) => openConsole(service.app.url, { tokens })

/** Sends a message whose webhooks go to a path that answers 410, which ends each event. Returns the message's id. */
async function refused(tenant: Service): Promise<string> {
  tenant.receiver.answerWith((exchange) => exchange.respond(410, {}, 'no such hook'), '/gone')
  const msgId = await tenant.sent({ callbackUrl: `${tenant.receiver.origin}/gone` })
  await tenant.until(msgId, 'DELIVERED')
  await untilEvents(tenant, msgId, 'failed', 2)
  return msgId
}

/** Waits until so many events of the message are in this state. Returns their ids. */
async function untilEvents(tenant: Service, msgId: string, state: string, count: number): Promise<string[]> {
  const search = new URLSearchParams({ servicePlanId: tenant.servicePlanId, msgId, state })
  const items = await eventually(async () => {
    const page = await tenant.admin('GET', `/webhook-events?${search}`)
    return page.items.length === count && page.items
  })
  return items.map(({ eventId }: { eventId: string }) => eventId)
}

describe('events', () => {
  it('are filtered in the address by keyboard; one shows its attempts, and is redelivered', async () => {
    await using tenant = await service.tenant()
    const failed = await refused(tenant)
    const other = await tenant.sent()
    await untilEvents(tenant, other, 'delivered', 2)
    await using opened = await open(tenant.token)
    const { page } = opened
    await opened.goto('/webhooks')
    const table = page.getByRole('region', { name: 'Events', exact: true }).getByRole('table')
    await table.getByTitle(other).first().waitFor()
    await page.getByLabel('State').selectOption('failed')
    await page.getByLabel('Message id').focus()
    await page.keyboard.type(failed)
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/webhooks?state=failed&msgId=${failed}`)
    await table.getByTitle(other).first().waitFor({ state: 'detached' })
    const message = table.getByTitle(failed).first()
    expect(await message.getAttribute('href')).toBe(`/console/messages/${failed}`)
    await page.reload()
    await table.getByRole('link', { name: 'DELIVERED' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('It wants no more of these', { exact: false }).waitFor()
    await page.getByText('no such hook').waitFor()
    await page.getByText('Headers of the request').focus()
    await page.keyboard.press('Enter')
    const headers = page.getByRole('region', { name: 'Headers of the request' })
    expect((await headers.innerText()).split('\n')).toEqual(
      expect.arrayContaining(['user-agent: Aldis', 'webhook-signature: ***', 'aldis-attempt: 1']),
    )
    expect(await opened.problems(PHONE)).toEqual([])
    tenant.receiver.answerWith(acknowledge, '/gone')
    await page.getByRole('button', { name: 'Redeliver' }).focus()
    await page.keyboard.press('Enter')
    const again = await tenant.receiver.next(({ msgId, attempt }) => msgId === failed && attempt === 2)
    expect(again.status).toBe('DELIVERED')
    await page.getByText('Attempt 2').waitFor()
    await page.getByText('The receiver took it.').waitFor()
    expect(opened.faults).toEqual([])
  })

  it('show when the next attempt is due', async () => {
    await using tenant = await service.tenant()
    tenant.receiver.answerWith(answerStatus(503))
    const msgId = await tenant.sent()
    await tenant.receiver.next((request) => request.msgId === msgId)
    await untilEvents(tenant, msgId, 'pending', 2)
    await using opened = await open(tenant.token)
    const { page } = opened
    // The one before the others, which wait for it.
    await opened.goto(`/webhooks/events/${msgId}-1`)
    await page.getByText('The receiver answered 503.').first().waitFor()
    expect(await opened.problems()).toEqual([])
    tenant.receiver.answerWith(acknowledge)
    await page.getByRole('button', { name: 'Deliver now' }).click()
    await page.getByText('The receiver took it.').waitFor()
  })

  it('of others are not found', async () => {
    await using tenant = await service.tenant()
    const msgId = await tenant.sent()
    const [eventId] = await untilEvents(tenant, msgId, 'delivered', 2)
    await using opened = await open(service.token)
    await opened.goto(`/webhooks/events/${eventId}`)
    await opened.page.getByText('Not found').waitFor()
    expect(opened.faults.splice(0)).toEqual([expect.stringContaining('404')])
    expect(await opened.problems()).toEqual([])
  })
})

describe('many events', () => {
  it('are counted, and then redelivered', async () => {
    await using tenant = await service.tenant()
    const ids = [await refused(tenant), await refused(tenant)]
    tenant.receiver.answerWith(acknowledge, '/gone')
    await using opened = await open(tenant.token)
    const { page } = opened
    await opened.goto('/webhooks?state=failed')
    await page.getByRole('button', { name: 'Redeliver many' }).click()
    const dialog = page.getByRole('dialog', { name: 'Redeliver many events' })
    await dialog.getByRole('button', { name: 'Count the events' }).focus()
    await page.keyboard.press('Enter')
    await dialog.getByText('4 events would be redelivered.').waitFor()
    expect(await opened.problems(PHONE)).toEqual([])
    await dialog.getByLabel('Message id').fill(ids[0]!)
    await dialog.getByRole('button', { name: 'Count the events' }).click()
    await dialog.getByText('2 events would be redelivered.').waitFor()
    await dialog.getByRole('button', { name: 'Redeliver 2 events' }).click()
    await dialog.getByText('2 events were redelivered.').waitFor()
    await untilEvents(tenant, ids[0]!, 'delivered', 2)
    await untilEvents(tenant, ids[1]!, 'failed', 2)
    expect(await opened.problems()).toEqual([])
  })
})

describe('a destination', () => {
  it('is paused by its address, and resumed from the list', async () => {
    await using tenant = await service.tenant()
    const { origin } = tenant.receiver
    await using opened = await open(tenant.token)
    const { page } = opened
    await opened.goto('/webhooks')
    await page.getByText('Every destination works').waitFor()
    await page.getByRole('button', { name: 'Pause a destination' }).click()
    const dialog = page.getByRole('dialog', { name: 'Pause a destination' })
    await dialog.getByLabel('Destination').fill(`${origin}/dlr?secret=1`)
    expect(await opened.problems()).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByText('by the customer').waitFor()
    expect(await opened.problems()).toEqual([])
    await page.getByRole('button', { name: `Resume ${origin}` }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('by the customer').waitFor({ state: 'detached' })
    expect(opened.faults).toEqual([])
  })

  it('that the operator has paused is resumed by the operator alone', async () => {
    await using tenant = await service.tenant()
    const { origin } = tenant.receiver
    await using operator = await open(service.operatorToken)
    await operator.goto(`/admin/webhooks?servicePlanId=${tenant.servicePlanId}`)
    await operator.page.getByRole('button', { name: 'Pause a destination' }).click()
    const dialog = operator.page.getByRole('dialog', { name: 'Pause a destination' })
    await dialog.getByLabel('Destination').fill(origin)
    await dialog.getByText(`aldis destination pause --plan ${tenant.servicePlanId}`).waitFor()
    await operator.page.keyboard.press('Enter')
    await operator.page.getByText('by the operator').waitFor()
    await using customer = await open(tenant.token)
    await customer.goto('/webhooks')
    await customer.page.getByText('Only the operator resumes it').waitFor()
    expect(await customer.page.getByRole('button', { name: /^(Resume|Pause https)/ }).count()).toBe(0)
    await operator.page.getByRole('button', { name: `Resume ${origin}` }).click()
    await operator.page.getByText('by the operator').waitFor({ state: 'detached' })
    expect(await operator.problems()).toEqual([])
  })
})

describe('a test event', () => {
  it('is sent to a URL, and its result shown', async () => {
    await using opened = await open(service.token)
    const { page } = opened
    await opened.goto('/webhooks')
    await page.getByRole('button', { name: 'Send a test event' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Send a test event' })
    service.receiver.answerWith((exchange) => exchange.respond(401, {}, 'who are you'), '/test')
    await dialog.getByLabel('URL').fill(`${service.receiver.origin}/test`)
    await page.keyboard.press('Enter')
    const { headers } = await service.receiver.next(({ path }) => path === '/test')
    expect(headers['aldis-test']).toBe('true')
    await dialog.getByText('check the credentials and headers').waitFor()
    await dialog.getByText('who are you').waitFor()
    expect(await opened.problems()).toEqual([])
  })
})

describe('an operator', () => {
  it('chooses the plan first, which is in the address then', async () => {
    await using tenant = await service.tenant()
    const msgId = await refused(tenant)
    await using opened = await open(service.operatorToken)
    const { page } = opened
    await opened.goto('/admin/webhooks')
    await page.getByRole('combobox', { name: 'Service plan' }).fill(tenant.servicePlanId)
    await page.waitForURL(`**/admin/webhooks?servicePlanId=${tenant.servicePlanId}`)
    await page.getByRole('link', { name: 'SENT' }).click()
    await page.getByRole('heading', { level: 1, name: 'Webhook event: SENT' }).waitFor()
    tenant.receiver.answerWith(acknowledge, '/gone')
    await page.getByRole('button', { name: 'Redeliver' }).click()
    await tenant.receiver.next((request) => request.msgId === msgId && request.attempt === 2)
    await page.getByText('Attempt 2').waitFor()
    expect(opened.faults).toEqual([])
  })

  it('with the role support has no button that would be refused', async () => {
    await using tenant = await service.tenant()
    const msgId = await refused(tenant)
    const [eventId] = await untilEvents(tenant, msgId, 'failed', 2)
    const { token } = await service.admin('POST', '/operator-tokens', { name: 'desk', role: 'support' })
    await using opened = await open(token)
    const { page } = opened
    const buttons = page.getByRole('button', { name: /^(Send|Redeliver|Pause|Resume|Try)/ })
    await opened.goto(`/admin/webhooks?servicePlanId=${tenant.servicePlanId}`)
    await page.getByRole('region', { name: 'Events', exact: true }).getByTitle(msgId).first().waitFor()
    expect(await buttons.count()).toBe(0)
    await opened.goto(`/admin/webhooks/events/${eventId}`)
    await page.getByText('Attempt 1').waitFor()
    expect(await buttons.count()).toBe(0)
    expect(opened.faults).toEqual([])
  })
})

it('a token without the scope is told so', async () => {
  const { accountId } = service
  const { token } = await service.admin('POST', '/tokens', { accountId, name: 'reader', scopes: ['read'] })
  await using opened = await open(token)
  await opened.goto('/webhooks')
  await opened.page.getByText('does not have the scope').waitFor()
  expect(await opened.problems()).toEqual([])
})
