import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConsole, PHONE, tabTo } from '../support/console-page.ts'
import { CARRIER, RECIPIENT, ROUTE, type Service, startService } from '../support/service.ts'

let service: Service

beforeAll(async () => {
  // Counts of quality are written every 10 s otherwise.
  service = await startService({ app: { qualityMs: 100 } })
  await service.until(await service.sent(), 'DELIVERED')
})
afterAll(() => service[Symbol.asyncDispose]())

const open = () => openConsole(service.app.url, { tokens: [service.operatorToken] })

describe('carriers', () => {
  it('are listed with their links, and one is opened by keyboard', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto('/admin/carriers')
    const row = page.getByRole('row').filter({ hasText: CARRIER })
    await row.getByText('1 of 1 bound').waitFor()
    await row.getByRole('link').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: `Carrier ${CARRIER}` }).waitFor()
    await page.getByRole('region', { name: 'Binds' }).getByText('bound', { exact: true }).waitFor()
    await page.getByRole('region', { name: 'Nodes with binds' }).getByText('usable').waitFor()
    await page.getByRole('region', { name: 'Routes of the carrier' }).getByRole('link').waitFor()
    expect(opened.faults).toEqual([])
  })

  it('are drained and started again, after a question that shows the command', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto(`/admin/carriers/${CARRIER}`)
    const stateOf = async () => (await service.admin('GET', `/carriers/${CARRIER}`)).state
    for (const [verb, state, condition] of [
      ['Drain', 'draining', 'draining'],
      ['Start', 'started', 'usable'],
    ]) {
      await page.getByRole('button', { name: verb! }).click()
      const question = page.getByRole('dialog', { name: `${verb} ${CARRIER}` })
      await question.getByText(`aldis carrier update ${CARRIER} --state ${state}`).waitFor()
      expect(await opened.violations()).toEqual([])
      await question.getByRole('button', { name: verb! }).click()
      await question.waitFor({ state: 'hidden' })
      await page.getByText(state!, { exact: true }).first().waitFor()
      expect(await stateOf()).toBe(state)
      await page.getByRole('region', { name: 'Nodes with binds' }).getByText(condition!).waitFor()
    }
    expect(opened.faults).toEqual([])
  })

  it('are only looked at with the role support', async () => {
    const { token } = await service.admin('POST', '/operator-tokens', { name: 'desk', role: 'support' })
    await using opened = await openConsole(service.app.url, { tokens: [token] })
    await opened.goto(`/admin/carriers/${CARRIER}`)
    await opened.page.getByText('started', { exact: true }).waitFor()
    expect(await opened.page.getByRole('button', { name: 'Drain' }).count()).toBe(0)
  })
})

describe('quality', () => {
  it('shows each carrier in its route, and a pause is ended by keyboard', async () => {
    await service.admin('PATCH', `/routes/${ROUTE}`, { qualityFloor: { minDelivered: 1 } })
    const { rows } = await service.db.query(
      `insert into carrier_pauses (route_id, carrier_id, since, until, reason)
       select r.id, c.id, now(), now() + interval '1 hour', '10 of 100 delivered'
       from routes r, carriers c where r.name = $1 and c.name = $2 returning reason`,
      [ROUTE, CARRIER],
    )
    await using opened = await open()
    const { page } = opened
    await opened.goto('/admin/quality?span=24h')
    await page.getByRole('region', { name: 'Quality of carriers' }).getByText(CARRIER).waitFor()
    await page.getByText(rows[0].reason).waitFor()
    expect(await opened.problems()).toEqual([])
    await tabTo(page, 'End the pause')
    await page.keyboard.press('Enter')
    await page.getByText(rows[0].reason).waitFor({ state: 'detached' })
    expect((await service.admin('GET', '/quality/pauses')).items).toEqual([])
  })
})

describe('the route explanation', () => {
  it('is asked by a form, answered under an address of its own, and says why not', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto('/admin/explain')
    await page.getByLabel('Service plan').fill(service.servicePlanId)
    await page.getByLabel('From').fill('12345')
    await page.getByLabel('To', { exact: true }).fill(RECIPIENT)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Carriers of the route' }).getByText(CARRIER).waitFor()
    await page.reload()
    await page.getByRole('region', { name: 'Carriers of the route' }).getByText(CARRIER).waitFor()
    await page.getByText('This message would not be sent').waitFor()
    expect(await opened.problems()).toEqual([])
    await page.getByRole('link', { name: CARRIER, exact: true }).waitFor()
    const to = page.getByLabel('To', { exact: true })
    await to.fill('+1')
    await page.keyboard.press('Enter')
    await page.getByText('must be one E.164 number').waitFor()
    expect(await page.locator(':focus').getAttribute('name')).toBe('to')
  })

  it('says what is missing beside the field, and of a plan without a route that it has none', async () => {
    const { servicePlanId } = await service.admin('POST', '/service-plans', {
      accountId: service.accountId,
      name: 'Without a route',
    })
    await using opened = await open()
    const { page } = opened
    // The names of plans arrive after one was typed.
    const PLANS = '**/admin/v1/service-plans?*'
    const typed = Promise.withResolvers<void>()
    await page.route(PLANS, (route) => typed.promise.then(() => route.continue()))
    await opened.goto('/admin/explain')
    await page.getByRole('combobox', { name: 'Service plan' }).fill('without a route')
    const names = page.waitForResponse(PLANS)
    typed.resolve()
    await names
    await page.unroute(PLANS)
    await page.getByLabel('From').fill('Aldis')
    await page.getByRole('button', { name: 'Explain' }).click()
    await page.getByText('Give a number').waitFor()
    await page.keyboard.type(RECIPIENT)
    await page.keyboard.press('Enter')
    await page.getByText('None: no routing rule matches').waitFor()
    expect(await page.getByText('Chosen by').count()).toBe(0)
    expect(await opened.problems()).toEqual([])
    await page.getByRole('link', { name: 'Without a route' }).click()
    await page.getByRole('heading', { level: 1, name: 'Service plan Without a route' }).waitFor()
    await service.admin('DELETE', `/service-plans/${servicePlanId}`)
  })
})

describe('the audit log', () => {
  it('is filtered and looked into by keyboard, and leads to what was changed', async () => {
    const name = 'Renamed by a test'
    await service.admin('PUT', `/service-plans/${service.servicePlanId}/senders/Other`, {
      status: 'approved',
    })
    await service.admin('PATCH', `/accounts/${service.accountId}`, { name })
    await using opened = await open()
    const { page } = opened
    await opened.goto('/admin/audit-log')
    await tabTo(page, 'Operation')
    await page.keyboard.type('updateAccount')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/audit-log?operation=updateAccount')
    const table = page.getByRole('region', { name: 'Audit log' })
    await table.getByText('setSender').waitFor({ state: 'detached' })
    await tabTo(page, 'updateAccount')
    await page.keyboard.press('Enter')
    const entry = page.getByRole('dialog', { name: 'updateAccount' })
    await entry.getByText(name).waitFor()
    expect(await opened.problems(PHONE)).toEqual([])
    await page.keyboard.press('Escape')
    await entry.waitFor({ state: 'hidden' })
    expect(await page.locator(':focus').textContent()).toBe('updateAccount')
    await opened.look({ width: 360, scheme: 'light' })
    expect(await page.getByLabel('Operation', { exact: true }).isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Filters: 1' }).click()
    expect(await page.getByLabel('Operation', { exact: true }).inputValue()).toBe('updateAccount')
    await table.getByRole('button', { name: 'updateAccount' }).first().click()
    await entry.getByRole('link', { name: service.accountId }).click()
    await page.getByRole('heading', { level: 1, name: `Account ${name}` }).waitFor()
  })
})

describe('nodes', () => {
  it('are shown with what they hold, by keyboard alone', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.load('/admin')
    await tabTo(page, 'Nodes')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Nodes' }).waitFor()
    await page.getByText('256 of 256').waitFor()
    await page.getByText('alive').waitFor()
    // The table scrolls inside itself, so the keyboard comes to it.
    await tabTo(page, 'Nodes')
    expect(opened.faults).toEqual([])
  })
})
