import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ConsolePage, openConsole, PHONE } from '../support/console-page.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service

beforeAll(async () => {
  service = await startService()
})
afterAll(() => service[Symbol.asyncDispose]())

const open = (options: Parameters<typeof openConsole>[1] = {}) => openConsole(service.app.url, options)
const links = ({ page }: ConsolePage) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link')
const sessions = ({ page }: ConsolePage) => page.getByLabel('Sessions', { exact: true })
const heading = ({ page }: ConsolePage, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

async function signIn({ page }: ConsolePage, token: string): Promise<void> {
  await page.getByLabel(/^Token/).fill(token)
  await page.keyboard.press('Enter')
}

describe('signing in', () => {
  it('leads to the page that was asked for', async () => {
    await using opened = await open()
    await opened.load('/admin/carriers')
    expect(await opened.page.title()).toBe('Sign in · Aldis')
    expect(await opened.problems(PHONE)).toEqual([])
    await signIn(opened, service.operatorToken)
    await heading(opened, 'Carriers')
    expect(await opened.page.title()).toBe('Carriers · Aldis')
    expect(opened.faults).toEqual([])
  })

  it('says when there is no such token', async () => {
    await using opened = await open()
    await opened.goto('/')
    await signIn(opened, 'aldis_wrong')
    await opened.page.getByText('No such token').waitFor()
    // Chromium writes a line for each answer that is no success.
    expect(opened.faults.splice(0)).toEqual([expect.stringContaining('401')])
    expect(await opened.problems()).toEqual([])
  })

  it('a second session stands beside the first, and each ends by itself', async () => {
    await using opened = await open({ tokens: [service.token] })
    const { page } = opened
    await opened.goto('/messages')
    const customerLinks = await links(opened).count()
    await sessions(opened).click()
    expect(await opened.violations()).toEqual([])
    await page.getByRole('link', { name: 'Sign in with another token' }).click()
    await heading(opened, 'Sign in to Aldis')
    await signIn(opened, service.operatorToken)
    await page.getByText('Audit log').waitFor()
    expect(await links(opened).count()).toBeGreaterThan(customerLinks + 20)
    await sessions(opened).click()
    await page.getByRole('button', { name: 'Sign out: Account' }).click()
    // The operator is still there, and has an overview of their own.
    await page.waitForURL('**/console/admin')
    await sessions(opened).click()
    await page.getByRole('button', { name: 'Sign out: Operator' }).click()
    await heading(opened, 'Sign in to Aldis')
    expect(opened.faults).toEqual([])
  })

  it('a link signs in with the tokens of its fragment, which is gone then', async () => {
    await using opened = await open()
    await opened.load(`/#customer=${service.token}&operator=${service.operatorToken}`)
    await heading(opened, 'Overview')
    expect(opened.page.url()).toBe(`${service.app.url}/console/`)
    await opened.page.getByText('Audit log').waitFor()
    expect(opened.faults).toEqual([])
  })

  it('such a link is followed in a tab that shows the console already, too', async () => {
    await using opened = await open()
    await opened.goto('/')
    await heading(opened, 'Sign in to Aldis')
    // It loads the console again by itself.
    await opened.page.goto(`${service.app.url}/console/#operator=${service.operatorToken}`)
    await heading(opened, 'Overview')
    expect(opened.page.url()).toBe(`${service.app.url}/console/admin`)
    expect(opened.faults).toEqual([])
  })

  it('a session that has ended asks for a token on the same page', async () => {
    await using opened = await open({ tokens: [service.operatorToken] })
    const { page } = opened
    await opened.goto('/admin/carriers')
    await page.context().clearCookies()
    await links(opened).filter({ hasText: 'Audit log' }).click()
    await heading(opened, 'Sign in to Aldis')
    expect(new URL(page.url()).pathname).toBe('/console/admin/audit-log')
    await signIn(opened, service.operatorToken)
    await heading(opened, 'Audit log')
  })
})

describe('a token for several service plans', () => {
  it('has a choice, which stays from page to page', async () => {
    const tenant = service
    const { servicePlanId } = await tenant.admin('POST', '/service-plans', {
      accountId: tenant.accountId,
      name: 'Second',
      route: tenant.route,
    })
    await using opened = await open({ tokens: [tenant.token] })
    await opened.goto('/messages')
    await opened.page.getByLabel('Service plan').selectOption({ label: 'Second' })
    await opened.page.waitForURL(`**/console/messages?plan=${servicePlanId}`)
    await links(opened).filter({ hasText: 'Inbound' }).click()
    await opened.page.waitForURL(`**/console/inbound?plan=${servicePlanId}`)
    expect(await opened.problems()).toEqual([])
    await tenant.admin('DELETE', `/service-plans/${servicePlanId}`)
  })
})

it('a token without a service plan is told what it lacks', async () => {
  const { accountId } = await service.admin('POST', '/accounts', { name: 'Empty' })
  const { token } = await service.admin('POST', '/tokens', { accountId, name: 'Empty' })
  await using opened = await open({ tokens: [token] })
  await opened.goto('/messages')
  await heading(opened, 'No service plan')
  expect(await opened.problems()).toEqual([])
})

describe('the frame', () => {
  it('by keyboard: past the navigation, along a link, and then at the page', async () => {
    await using opened = await open({ tokens: [service.operatorToken] })
    const { page } = opened
    await opened.load('/admin')
    await page.keyboard.press('Tab')
    const focus = page.locator(':focus')
    expect(await focus.textContent()).toBe('Skip to the page')
    await links(opened).filter({ hasText: 'Nodes' }).focus()
    await page.keyboard.press('Enter')
    await heading(opened, 'Nodes')
    expect(await focus.getAttribute('id')).toBe('main')
  })

  it('on a phone the navigation opens over the page and closes with a choice', async () => {
    await using opened = await open({
      tokens: [service.operatorToken],
      look: { width: 360, scheme: 'light' },
    })
    const { page } = opened
    await opened.goto('/admin')
    // Out of sight it is out of the order of the keyboard, too.
    const closed = page.locator('[inert]').filter({ hasText: 'Rates' })
    expect(await closed.count()).toBe(1)
    await page.getByRole('button', { name: 'Open the navigation' }).click()
    expect(await closed.count()).toBe(0)
    expect(await opened.violations()).toEqual([])
    await links(opened).filter({ hasText: 'Rates' }).click()
    await heading(opened, 'Rates')
    await closed.waitFor({ state: 'attached' })
  })

  it('light, dark, or as the system: chosen once', async () => {
    await using opened = await open({ tokens: [service.operatorToken] })
    const { page } = opened
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme')
    await opened.goto('/admin')
    expect(await scheme()).toBe('light')
    await page.getByRole('button', { name: 'Colour scheme: as the system' }).click()
    await page.getByRole('button', { name: 'Colour scheme: light' }).click()
    expect(await scheme()).toBe('dark')
    await page.reload()
    await opened.settled()
    expect(await scheme()).toBe('dark')
  })

  it('an address that is none says so', async () => {
    await using opened = await open({ tokens: [service.token] })
    await opened.goto('/no/such/page')
    expect(await opened.page.title()).toBe('No such page · Aldis')
    expect(await opened.problems()).toEqual([])
  })
})
