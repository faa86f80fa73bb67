import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConsole, PHONE } from '../support/console-page.ts'
import { eventually, INBOUND_NUMBER, type Service, startService } from '../support/service.ts'

const SENDER = '+15551230002'
const OTHER_SENDER = '+15551230003'

let service: Service

beforeAll(async () => {
  service = await startService()
  await arrived(SENDER, 'STOP it, please\nand thank you')
  await arrived(OTHER_SENDER, 'Hello')
})
afterAll(() => service[Symbol.asyncDispose]())

/** Sends a message to the number of the plan, and waits until its webhook came. */
async function arrived(from: string, body: string): Promise<void> {
  await service.simulator.sendInbound({ from, to: INBOUND_NUMBER, body })
  await service.receiver.next(({ path, body: json }) => path === '/mo' && JSON.parse(json).from === from)
}

/** Sends a message to a number that nobody has, and waits until it is listed. */
async function unowned(body: string): Promise<void> {
  await service.simulator.sendInbound({ from: SENDER, to: '+15559990000', body })
  await eventually(async () =>
    (await service.admin('GET', '/unowned-inbound-messages')).items.some(
      (each: { body: string }) => each.body === body,
    ),
  )
}

const open = (...tokens: string[]) => openConsole(service.app.url, { tokens })
/** A token of the account that has only these scopes. */
const scoped = async (...scopes: string[]): Promise<string> =>
  (await service.admin('POST', '/tokens', { accountId: service.accountId, name: scopes.join(), scopes }))
    .token

describe('inbound messages of a customer', () => {
  it('are filtered in the address, and one opens by keyboard with its webhook', async () => {
    await using opened = await open(service.token)
    const { page } = opened
    await opened.goto('/inbound')
    const table = page.getByRole('region', { name: 'Inbound messages' })
    await table.getByText(OTHER_SENDER).waitFor()
    expect(await opened.problems()).toEqual([])
    await page.getByLabel('Keyword').focus()
    await page.keyboard.type('stop')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/inbound?keyword=stop')
    await table.getByText(OTHER_SENDER).waitFor({ state: 'detached' })
    await page.reload()
    await table.getByRole('link', { name: SENDER }).focus()
    await page.keyboard.press('Enter')
    const message = page.getByRole('dialog', { name: 'Inbound message' })
    await message.getByText('and thank you').waitFor()
    await message.getByRole('region', { name: 'Webhook' }).getByText('delivered', { exact: true }).waitFor()
    expect(await opened.problems(PHONE)).toEqual([])
    await page.keyboard.press('Escape')
    await message.waitFor({ state: 'hidden' })
    expect(new URL(page.url()).search).toBe('?keyword=stop')
  })

  it('have their filters behind a button on a phone', async () => {
    await using opened = await open(service.token)
    const { page } = opened
    await opened.look({ width: 360, scheme: 'light' })
    await opened.goto('/inbound')
    expect(await page.getByLabel('Keyword').isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByLabel('Keyword').fill('stop')
    expect(await opened.violations()).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Filters: 1' }).waitFor()
  })

  it('lead to a reply the other way, and to every attempt of the webhook', async () => {
    await using opened = await open(service.token)
    const { page } = opened
    await opened.goto('/inbound')
    await page.getByRole('link', { name: OTHER_SENDER }).click()
    const reply = await page.getByRole('link', { name: 'Reply' }).getAttribute('href')
    const { pathname, searchParams } = new URL(reply!, page.url())
    expect([pathname, searchParams.get('from'), searchParams.get('to')]).toEqual([
      '/console/compose',
      INBOUND_NUMBER,
      OTHER_SENDER,
    ])
    await page.getByRole('link', { name: 'Show every attempt' }).click()
    await page.getByRole('heading', { level: 1, name: 'Webhook event: Inbound message' }).waitFor()
    expect(opened.faults).toEqual([])
  })

  it('are shown without what the scopes of the token do not allow', async () => {
    await using opened = await open(await scoped('read'))
    const { page } = opened
    await opened.goto('/inbound')
    await page.getByRole('link', { name: OTHER_SENDER }).click()
    const message = page.getByRole('dialog', { name: 'Inbound message' })
    await message.getByText('Your token needs the scope').waitFor()
    expect(await message.getByRole('link', { name: 'Reply' }).count()).toBe(0)
    expect(await opened.problems()).toEqual([])
  })

  it('say what to do when there is none, and nothing of those of others', async () => {
    await using stranger = await service.tenant()
    await using opened = await open(stranger.token)
    const { page } = opened
    await opened.goto('/inbound')
    await page.getByText('Nobody has written yet').waitFor()
    const [{ msgId }] = (await service.listInbound({ from: SENDER })).body.items
    await opened.goto(`/inbound?open=${msgId}`)
    await page.getByText('Not found').waitFor()
    // Chromium writes a line for each answer that is no success.
    expect(opened.faults).toEqual([expect.stringContaining('404')])
  })
})

describe('inbound messages of an operator', () => {
  it('are those of the plan that is chosen', async () => {
    await using opened = await open(service.operatorToken)
    const { page } = opened
    await opened.goto('/admin/inbound')
    await page.getByRole('combobox', { name: 'Service plan' }).fill(service.servicePlanId)
    await page.waitForURL(`**/admin/inbound?servicePlanId=${service.servicePlanId}`)
    await page.getByRole('link', { name: OTHER_SENDER }).click()
    const message = page.getByRole('dialog', { name: 'Inbound message' })
    await message.getByText('Example', { exact: true }).waitFor()
    await message.getByRole('region', { name: 'Webhook' }).getByText('delivered', { exact: true }).waitFor()
    expect(await opened.problems()).toEqual([])
  })
})

describe('unowned inbound messages', () => {
  it('are given to a plan by keyboard, and arrive at its webhook', async () => {
    await unowned('Whose am I?')
    await using opened = await open(service.operatorToken)
    const { page } = opened
    await opened.goto('/admin/inbound/unowned')
    expect(await opened.problems()).toEqual([])
    await page.getByRole('button', { name: 'Give to a plan' }).focus()
    await page.keyboard.press('Enter')
    const message = page.getByRole('dialog', { name: 'Unowned inbound message' })
    await message.getByLabel('Give to the service plan').focus()
    await page.keyboard.type(service.servicePlanId)
    await message.getByText(`${service.receiver.origin}/mo`).waitFor()
    await message.getByText(`--plan ${service.servicePlanId}`).waitFor()
    expect(await opened.problems()).toEqual([])
    await page.keyboard.press('Enter')
    const { body } = await service.receiver.next(
      ({ path, body }) => path === '/mo' && body.includes('Whose am I?'),
    )
    expect(JSON.parse(body).to).toBe('+15559990000')
    await page.getByText('Every message had an owner').waitFor()
    expect(opened.faults).toEqual([])
  })

  it('are only read with the role support', async () => {
    const text = `Still nobody’s, ${'and in two parts '.repeat(5)}`
    await unowned(text)
    const { token } = await service.admin('POST', '/operator-tokens', { name: 'desk', role: 'support' })
    await using opened = await open(token)
    const { page } = opened
    await opened.goto('/admin/inbound/unowned')
    await page.getByRole('button', { name: SENDER }).click()
    const message = page.getByRole('dialog', { name: 'Unowned inbound message' })
    await message.getByText(text.trim()).waitFor()
    expect(await message.locator('dt', { hasText: 'Parts' }).locator('+ dd').innerText()).toBe('2')
    expect(await page.getByRole('button', { name: /^Give/ }).count()).toBe(0)
    expect(opened.faults).toEqual([])
  })
})
