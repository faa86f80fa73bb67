import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConsole, PHONE } from '../support/console-page.ts'
import { type Service, startService } from '../support/service.ts'

/** Its plan is a sandbox. */
let service: Service

beforeAll(async () => {
  service = await startService({ plan: { sandbox: true, route: undefined } })
})
afterAll(() => service[Symbol.asyncDispose]())

const open = (tenant = service) => openConsole(tenant.app.url, { tokens: [tenant.token] })
const phone = (number: string) => `/phone?number=${encodeURIComponent(number)}`

describe('the handset', () => {
  it('shows what was sent to its number, what failed and why, and leads to each story', async () => {
    const number = '+15554441001'
    const failed = await service.sent({ to: number, body: 'never arrives' })
    await service.until(failed, 'FAILED')
    await using opened = await open()
    const { page } = opened
    await opened.goto(phone(number))
    const messages = page.getByRole('log', { name: 'Messages' })
    await messages.getByText('never arrives').waitFor()
    await messages.getByText('Did not arrive. 303').waitFor()
    expect(await messages.getByRole('link').getAttribute('href')).toBe(`/console/messages/${failed}`)
    // Without a reload, and told to screen readers as an addition to a log.
    expect(await messages.getAttribute('aria-live')).toBe('polite')
    await service.sent({ to: number, body: 'a second one' })
    await messages.getByText('a second one').waitFor()
    expect(await opened.problems()).toEqual([])
  })

  it('replies by keyboard, with an emoji in one part and a long text in several, and the webhook has them', async () => {
    const number = '+15554440000'
    await using opened = await open()
    const { page } = opened
    await opened.goto(phone(number))
    const reply = page.getByLabel(`Reply to ${service.inboundNumber}`)
    await reply.focus()
    await page.keyboard.type('Hello 👋')
    await page.keyboard.press('Enter')
    await page.getByRole('log').getByText('Hello 👋').waitFor()
    await page.getByText('in UCS-2, 1 part').waitFor()
    const [first] = [await service.receiver.next(({ path }) => path === '/mo')]
    expect(JSON.parse(first.body)).toMatchObject({
      from: number,
      to: service.inboundNumber,
      body: 'Hello 👋',
    })
    await page.getByRole('button', { name: 'Long' }).click()
    const text = await reply.inputValue()
    await page.getByRole('button', { name: 'Send the reply' }).click()
    await page.getByText('in GSM 7-bit, 2 parts').waitFor()
    const second = await service.receiver.next(({ path }) => path === '/mo')
    expect(JSON.parse(second.body).body).toBe(text)
    expect(await opened.problems(PHONE)).toEqual([])
  })

  it('merges both directions in their order', async () => {
    const number = '+15554442000'
    await service.until(await service.sent({ to: number, body: 'one' }), 'DELIVERED')
    await using opened = await open()
    const { page } = opened
    await opened.goto(phone(number))
    const texts = () => page.getByRole('log').locator('.phone-bubble p').allTextContents()
    await page.getByLabel(`Reply to ${service.inboundNumber}`).fill('two')
    await page.keyboard.press('Enter')
    await expect.poll(texts).toEqual(['one', 'two'])
    await service.sent({ to: number, body: 'three' })
    await expect.poll(texts).toEqual(['one', 'two', 'three'])
  })

  it('says when the service does not take a reply', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto(phone('+15554443000'))
    await page.getByLabel(`Reply to ${service.inboundNumber}`).fill('x'.repeat(1_601))
    await page.getByRole('button', { name: 'Send the reply' }).click()
    await page.getByRole('alert').getByText('body', { exact: true }).waitFor()
    expect(opened.faults.splice(0)).toEqual([expect.stringContaining('400')])
    expect(await opened.problems()).toEqual([])
  })
})

describe('the number', () => {
  it('is made by a click on an outcome, or typed as people write it', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto(phone('+15554440000'))
    await page.getByRole('link', { name: /^1006/ }).click()
    await page.getByRole('region', { name: 'Handset +15554441006' }).waitFor()
    expect(new URL(page.url()).searchParams.get('number')).toBe('+15554441006')
    const number = page.getByLabel('Number of the handset')
    await number.fill('+1 (555) 444-1005')
    await number.press('Enter')
    await page.getByRole('region', { name: 'Handset +15554441005' }).waitFor()
    await number.fill('12')
    await page.getByText('Write it as +, country code, number').waitFor()
    expect(await opened.problems()).toEqual([])
  })

  it('of recent messages is offered, and the newest is open at first', async () => {
    await service.sent({ to: '+15554444444', body: 'the newest' })
    await using opened = await open()
    const { page } = opened
    await opened.goto('/phone')
    await page.getByRole('log').getByText('the newest').waitFor()
    await page.getByRole('region', { name: 'Recent numbers' }).getByRole('link').first().click()
    await page.getByText('the newest').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Send a message to it' }).click()
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toMatch(/^\+1555444/)
  })
})

describe('a plan that is not a sandbox', () => {
  it('says what one is, and how to get it', async () => {
    await using tenant = await service.tenant()
    await using opened = await open(tenant)
    await opened.goto('/phone')
    await opened.page.getByText('is not a sandbox').waitFor()
    await opened.page.getByText(`aldis plan create --account ${tenant.accountId}`).waitFor()
    expect(opened.faults).toEqual([])
  })

  it('leads to the sandbox plan of the same token', async () => {
    const { accountId, token } = service
    const fields = { accountId, name: 'Production', route: service.route }
    const { servicePlanId } = await service.admin('POST', '/service-plans', fields)
    await using opened = await openConsole(service.app.url, { tokens: [token] })
    const { page } = opened
    await opened.goto(`/phone?plan=${servicePlanId}`)
    await page.getByRole('link', { name: 'Open the phone of Example' }).click()
    await page.getByRole('region', { name: /^Handset/ }).waitFor()
    await service.admin('DELETE', `/service-plans/${servicePlanId}`)
  })
})
