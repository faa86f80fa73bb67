import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pauseCountries } from '../../src/store/country-pauses.ts'
import { type ConsolePage, openConsole, PHONE } from '../support/console-page.ts'
import { CARRIER, eventually, ROUTE, type Service, startService } from '../support/service.ts'
import { call } from '../support/tenant.ts'

let service: Service

beforeAll(async () => {
  const app = { statisticsMs: 20 }
  service = await startService({ app })
  const rate = { country: 'US', price: '0.0075', ptf: '0.003', currency: 'USD' }
  await service.admin('POST', '/rates', rate)
  await traffic()
})
afterAll(() => service[Symbol.asyncDispose]())

/** Two messages are delivered, one to another country; one fails, nothing is known of one; one comes in. */
async function traffic(): Promise<void> {
  const outcomes = [
    ['+15551230000', 'DELIVERED'],
    ['+447700900000', 'DELIVERED'],
    ['+15551231001', 'FAILED'],
    ['+15551231004', 'UNKNOWN'],
  ] as const
  for (const [to, status] of outcomes) await service.until(await service.sent({ to }), status)
  await service.simulator.sendInbound({ from: '+15551230001', to: service.inboundNumber, body: 'hello' })
  await eventually(async () => {
    const { totals } = (await service.admin('GET', '/statistics')).series[0]
    return totals.accepted === 4 && totals.unknown === 1 && totals.inbound === 1 && totals.sent === 4
  })
}

const open = (token: string) => openConsole(service.app.url, { tokens: [token] })

/** The numbers at the top, by their names. */
async function totalsOf({ page }: ConsolePage): Promise<string[]> {
  return await page.locator('.aldis-tile-value').allTextContents()
}

const TOTALS = ['4 accepted', '4 sent', '2 delivered', '1 failed', '1 unknown', '1 inbound']

/** Tables of the page with columns out of sight. */
async function cutTables({ page }: ConsolePage): Promise<string[]> {
  return await page.evaluate(`[...document.querySelectorAll('.aldis-table-box')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map((box) => box.ariaLabel)`)
}

const linkTo = (opened: ConsolePage, name: string) =>
  opened.page.getByRole('list', { name: 'Totals' }).getByRole('link', { name })

const searchOf = async (opened: ConsolePage, name: string) =>
  new URL((await linkTo(opened, name).getAttribute('href'))!, service.app.url)

describe('the overview of a customer', () => {
  it('has the numbers of what was sent', async () => {
    await using opened = await open(service.token)
    await opened.goto('/')
    expect(await totalsOf(opened)).toEqual(TOTALS)
    const countries = opened.page.getByRole('region', { name: 'Messages by country' })
    await countries.getByRole('row', { name: 'United States 3 1 1 33.3 %' }).waitFor()
    await countries.getByRole('row', { name: 'United Kingdom 1 1 0 100.0 %' }).waitFor()
    const reasons = opened.page.getByRole('region', { name: 'Messages not delivered by error code' })
    await reasons.getByRole('row', { name: 'FAILED 303 Subscriber absent or handset off 1' }).waitFor()
    await opened.page.getByText('0.0225 USD').waitFor()
    expect(await cutTables(opened)).toEqual([])
    expect(await opened.problems()).toEqual([])
  })

  it('leads from each number to the log of its messages', async () => {
    await using opened = await open(service.token)
    await opened.goto('/?span=24h')
    const { pathname, searchParams } = await searchOf(opened, 'failed')
    expect([pathname, searchParams.get('status')]).toEqual(['/console/messages', 'FAILED'])
    const hours = (Date.now() - Date.parse(searchParams.get('fromDate')!)) / 3_600_000
    expect(Math.floor(hours)).toBe(24)
    expect((await searchOf(opened, 'inbound')).pathname).toBe('/console/inbound')
    // The log has no filter for messages that were sent at any time.
    expect(await linkTo(opened, 'sent').count()).toBe(0)
    const countries = opened.page.getByRole('region', { name: 'Messages by country' })
    const british = countries.getByRole('row', { name: 'United Kingdom' }).getByRole('link').nth(1)
    expect(await british.getAttribute('href')).toContain('country=GB&status=DELIVERED&fromDate=')
    await linkTo(opened, 'failed').click()
    await opened.page.waitForURL('**/console/messages?*status=FAILED*')
  })

  it('is read by keyboard alone', async () => {
    await using opened = await open(service.token)
    const { page } = opened
    await opened.goto('/')
    await page.getByRole('radiogroup', { name: 'Time span' }).getByRole('radio', { checked: true }).focus()
    await page.keyboard.press('ArrowRight')
    await page.waitForURL('**/?span=6h')
    await opened.settled()
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/messages?*status=FAILED*')
  })

  it('has what is used of the caps of the plan, and its paused countries', async () => {
    await using tenant = await service.tenant({ plan: { caps: { messagesPerDay: 4 } } })
    const reason = 'fewer than 30 % delivered'
    const pause = { planId: await tenant.planKey(), country: 'SE', minutes: 60, reason }
    await pauseCountries(service.db, [pause], new Date())
    await using opened = await open(tenant.token)
    await opened.goto('/')
    const limits = opened.page.getByRole('region', { name: 'Limits' })
    await limits.getByText('0 of 4 (0 %)').waitFor()
    await limits.getByText(`: ${reason}`).waitFor()
    expect(await limits.innerText()).toContain('Sweden is paused until')
    expect(await opened.problems()).toEqual([])
  })

  it('says how to send the first message', async () => {
    await using tenant = await service.tenant()
    await using opened = await open(tenant.token)
    await opened.goto('/')
    await opened.page.getByText('No messages yet').waitFor()
    const command = opened.page.getByRole('region', { name: 'Command that sends a message' })
    expect(await command.innerText()).toContain(tenant.servicePlanId)
    expect(await command.innerText()).toContain('"from":"Aldis"')
    expect(await opened.problems()).toEqual([])
    await opened.page.getByRole('link', { name: 'Compose page' }).click()
    await opened.page.waitForURL('**/console/compose')
  })
})

describe('the overview of an operator', () => {
  const attention = (opened: ConsolePage) => opened.page.getByRole('region', { name: 'Attention' })

  it('has the numbers of all, by carrier too, and says that all is well', async () => {
    await using opened = await open(service.operatorToken)
    const { page } = opened
    await opened.goto('/admin')
    expect(await totalsOf(opened)).toEqual(TOTALS)
    await attention(opened).getByText('All is well').waitFor()
    await page.getByRole('radio', { name: 'Carrier' }).focus()
    await page.keyboard.press('Space')
    await page.waitForURL('**/admin?by=carrier')
    const row = page.getByRole('region', { name: 'Messages by carrier' }).getByRole('row', { name: CARRIER })
    await row.waitFor()
    expect(await row.getByRole('link').last().getAttribute('href')).toContain(
      `/admin/messages?carrier=${CARRIER}&status=FAILED&fromDate=`,
    )
    const reason = page.getByRole('row', { name: 'FAILED 303' }).getByRole('link')
    expect(await reason.getAttribute('href')).toContain('status=FAILED&errorCode=303&fromDate=')
    expect(await opened.problems()).toEqual([])
  })

  it('answers each time span by country and by plan', async () => {
    await using opened = await open(service.operatorToken)
    for (const span of ['15m', '6h', '24h', '7d', '30d'])
      for (const [by, label] of Object.entries({ country: 'country', servicePlanId: 'service plan' })) {
        await opened.goto(`/admin?span=${span}&by=${by}`)
        const table = opened.page.getByRole('region', { name: `Messages by ${label}` })
        await table.getByRole('link').first().waitFor()
      }
    expect(opened.faults).toEqual([])
  })

  it('lists a carrier that is not bound, what waits for it, and a destination that is paused', async () => {
    await using troubled = await startService({ smscPort: 1, bound: false })
    const destination = troubled.receiver.origin
    await call(`${troubled.app.url}/v1/webhooks/destinations/pause`, troubled.token, 'POST', {
      servicePlanId: troubled.servicePlanId,
      destination,
    })
    await troubled.recorded(await troubled.sent())
    await using opened = await openConsole(troubled.app.url, { tokens: [troubled.operatorToken] })
    await opened.goto('/admin')
    const link = (name: string) => attention(opened).getByRole('link', { name })
    expect(await link(`${destination} is paused`).getAttribute('href')).toContain(
      `/admin/webhooks?servicePlanId=${troubled.servicePlanId}`,
    )
    await opened.page.getByRole('region', { name: 'Messages waiting' }).getByText(ROUTE).waitFor()
    await attention(opened)
      .getByText(/^service plan Example, /)
      .waitFor()
    expect(await cutTables(opened)).toEqual([])
    expect(await opened.problems(PHONE)).toEqual([])
    await link(`Carrier ${CARRIER} is not bound`).focus()
    await opened.page.keyboard.press('Enter')
    await opened.page.getByRole('heading', { level: 1, name: `Carrier ${CARRIER}` }).waitFor()
  })

  it('says what is still to be set up', async () => {
    await using installed = await startService({ bound: false })
    await installed.app.stop()
    await installed.db.query('truncate accounts, carriers, routes cascade')
    await installed.restart()
    await using opened = await openConsole(installed.app.url, { tokens: [installed.operatorToken] })
    await opened.goto('/admin')
    const steps = opened.page.getByRole('region', { name: 'Set up: what is missing' }).getByRole('listitem')
    await steps.first().waitFor()
    expect(await steps.getByRole('link').allTextContents()).toEqual([
      'Add a carrier',
      'Add a route',
      'Add an account',
      'Add a service plan',
      'Add an inbound number',
      'Create a token',
    ])
    expect(await opened.problems()).toEqual([])
  })
})
