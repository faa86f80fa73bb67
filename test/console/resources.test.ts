import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pauseCountries } from '../../src/store/country-pauses.ts'
import { type ConsolePage, openConsole, PHONE, tabTo } from '../support/console-page.ts'
import { MAIN, NODE_COMPILE_CACHE, start } from '../support/process.ts'
import { CARRIER, ROUTE, type Service, startService } from '../support/service.ts'

let service: Service

beforeAll(async () => {
  service = await startService()
})
afterAll(() => service[Symbol.asyncDispose]())

const open = (token = service.operatorToken) => openConsole(service.app.url, { tokens: [token] })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true })
const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
const commandLine = (page: Page) => page.getByLabel('Command line', { exact: true }).first()

/** Runs a command line as a shell does. */
async function run(line: string, env: Record<string, string> = {}): Promise<void> {
  const script = `aldis() { "${process.execPath}" "${MAIN}" "$@"; }; ${line}`
  await using running = start('sh', ['-c', script], {
    env: {
      NODE_COMPILE_CACHE,
      ALDIS_URL: service.app.url,
      ALDIS_OPERATOR_TOKEN: service.operatorToken,
      ...env,
    },
  })
  expect(await running.exited).toMatchObject({ code: 0, stderr: '' })
}

/** Deletes the object that is shown, as a person does. */
async function confirmDeletion({ page }: ConsolePage, name: string): Promise<void> {
  await button(page, 'Delete').click()
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
}

describe('a route: references, a list of objects, numbers, an object that may be none', () => {
  it('is created, edited by the command line that is shown, and deleted', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto('/admin/routes')
    await link(page, 'New route').click()
    await heading(page, 'New route')
    await page.getByLabel('Name').fill('north')
    await button(page, 'Add to carriers').click()
    await page.getByRole('combobox', { name: 'Carrier' }).fill(CARRIER)
    await page.getByLabel('Weight').fill('3')
    await page.getByLabel('Quality floor').selectOption('Set')
    await page.getByLabel('Min delivered').fill('80')
    expect(await commandLine(page).textContent()).toBe(
      `aldis route create north --carrier ${CARRIER}:0:3 --quality-floor 80`,
    )
    expect(await opened.problems(PHONE)).toEqual([])
    await button(page, 'Create route').click()
    await heading(page, 'Route north')
    expect(await service.admin('GET', '/routes/north')).toMatchObject({
      carriers: [{ carrier: CARRIER, priority: 0, weight: 3 }],
      qualityFloor: { minDelivered: 80, windowMinutes: 60 },
    })

    await link(page, 'Edit').click()
    await heading(page, 'Edit route north')
    await page.getByLabel('Quality floor').selectOption('None')
    await page.getByLabel('Weight').fill('5')
    const line = await commandLine(page).textContent()
    expect(line).toBe(`aldis route update north --carrier ${CARRIER}:0:5 --no-quality-floor`)
    await run(line!)
    expect(await service.admin('GET', '/routes/north')).toMatchObject({
      carriers: [{ carrier: CARRIER, priority: 0, weight: 5 }],
      qualityFloor: null,
    })
    await button(page, 'Save changes').click()
    await heading(page, 'Route north')

    await button(page, 'Delete').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').waitFor()
    expect(await opened.problems(PHONE)).toEqual([])
    await page.keyboard.press('Escape')
    await confirmDeletion(opened, 'north')
    await heading(page, 'Routes')
    await expect(service.admin('GET', '/routes/north')).rejects.toThrow('404')
    expect(opened.faults).toEqual([])
  })

  it('that is in use says by whom, and offers no deletion', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto(`/admin/routes?open=${ROUTE}`)
    await page.getByText('1 service plan:').waitFor()
    await button(page, 'Delete').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('cannot be deleted').waitFor()
    expect(await dialog.getByRole('button').allTextContents()).toEqual(['', 'Close'])
    expect(await dialog.getByRole('textbox').count()).toBe(0)
    expect(await opened.problems()).toEqual([])
    await dialog.getByRole('link').click()
    await heading(page, 'Service plan Example')
  })

  it('has its fault at the field', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto('/admin/routes?view=new')
    await page.getByLabel('Name').fill('north east')
    await button(page, 'Add to carriers').click()
    await page.getByRole('combobox', { name: 'Carrier' }).fill(CARRIER)
    await page.getByLabel('Weight').fill('5000')
    await button(page, 'Create route').click()
    await page.getByRole('alert').first().waitFor()
    for (const label of ['Name', 'Weight'])
      expect(await page.getByLabel(label).getAttribute('aria-invalid')).toBe('true')
    expect(await page.locator(':focus').inputValue()).toBe('north east')
    expect(opened.faults.splice(0)).toEqual([expect.stringContaining('400')])
    expect(await opened.problems()).toEqual([])
  })
})

describe('the limits of a service plan', () => {
  it('shows what is used of its caps, and resumes a paused country by keyboard', async () => {
    await using tenant = await service.tenant()
    const { servicePlanId } = tenant
    await tenant.admin('PATCH', `/service-plans/${servicePlanId}`, {
      caps: { messagesPerDay: 4, costPerMonth: '20.00', currency: 'EUR' },
    })
    await tenant.until(await tenant.sent(), 'DELIVERED')
    const { rows } = await tenant.db.query('select id from service_plans where service_plan_id = $1', [
      servicePlanId,
    ])
    const pause = { planId: rows[0].id, country: 'NO', minutes: 60, reason: '201 messages to 4790000xxxx' }
    await pauseCountries(tenant.db, [pause], new Date())
    await using opened = await open()
    const { page } = opened
    await opened.goto(`/admin/plans?open=${servicePlanId}`)
    const caps = page.getByRole('region', { name: 'Caps' })
    await caps.getByText('1 of 4 (25 %)').waitFor()
    expect(await caps.getByRole('progressbar', { name: 'Messages today (UTC)' }).getAttribute('value')).toBe(
      '25',
    )
    await caps.getByText('0.00 EUR of 20.00 EUR (0 %)').waitFor()
    const paused = page.getByRole('region', { name: 'Paused countries' }).first()
    await paused.getByText('201 messages to 4790000xxxx').waitFor()
    expect(await opened.problems(PHONE)).toEqual([])
    await tabTo(page, 'Resume Norway')
    await page.keyboard.press('Enter')
    await paused.waitFor({ state: 'detached' })
    expect(await tenant.admin('GET', `/service-plans/${servicePlanId}/limits`)).toMatchObject({ pauses: [] })
    expect(opened.faults).toEqual([])
  })
})

describe('a service plan: switches, choices, words, texts', () => {
  it('is created with everything behind "More settings", as its command line does', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto(`/admin/plans?view=new&accountId=${service.accountId}`)
    await page.getByLabel('Name').fill("It's a plan")
    await page.getByLabel('Active').uncheck()
    await page.getByText('More settings').click()
    await page.getByLabel('Ambiguous submits').selectOption('unknown')
    await page.getByLabel('National languages', { exact: true }).selectOption('turkish')
    await page.getByLabel('National languages', { exact: true }).selectOption('spanish')
    await page.getByLabel('Validity seconds', { exact: true }).fill('600')
    await page.getByLabel('Opt-out words and replies').selectOption('Set')
    await page.getByLabel('Stop words').fill('ENDE')
    await page.keyboard.press('Enter')
    await page.getByLabel('Stop reply').fill('You get no more.')
    const line = (await commandLine(page).textContent())!
    expect(await opened.problems()).toEqual([])
    await button(page, 'Create service plan').click()
    await heading(page, "Service plan It's a plan")
    await run(line)
    const { items } = await service.admin('GET', `/service-plans?accountId=${service.accountId}`)
    const [one, other] = items.filter(({ name }: { name: string }) => name === "It's a plan")
    expect(one).toMatchObject({
      active: false,
      ambiguousSubmits: 'unknown',
      nationalLanguages: ['turkish', 'spanish'],
      validitySeconds: 600,
      optOut: { stopWords: ['ENDE'], stopReply: 'You get no more.' },
    })
    const own = { servicePlanId: '', createdAt: '' }
    expect({ ...one, ...own }).toEqual({ ...other, ...own })
    for (const { servicePlanId } of [one, other])
      await service.admin('DELETE', `/service-plans/${servicePlanId}`)
    expect(await opened.problems()).toEqual([])
  })
})

describe('what belongs to what', () => {
  it('a plan finds its account by name, and leads to the forms of its senders and tokens', async () => {
    await service.admin('POST', '/accounts', { name: 'Quay Street' })
    await using opened = await open()
    const { page } = opened
    await opened.goto('/admin/plans?view=new')
    const account = page.getByRole('combobox', { name: 'Account' })
    await account.fill('Nobody Ltd')
    await page.getByLabel('Name').fill('Quays')
    await page.getByText('No account has this name alone').waitFor()
    await account.fill('quay street')
    await button(page, 'Create service plan').click()
    await heading(page, 'Service plan Quays')
    await page.getByRole('link', { name: 'Quay Street' }).waitFor()
    await link(page, 'New token').click()
    await heading(page, 'New token')
    await page.getByRole('list', { name: 'Service plans chosen' }).getByText('Quays').waitFor()
    expect(await account.inputValue()).toContain('Quay Street · ')
    await page.goBack()
    await link(page, 'New sender').click()
    await heading(page, 'New sender')
    expect(await page.getByRole('combobox', { name: 'Service plan' }).inputValue()).toContain('Quays · ')
    expect(await opened.problems()).toEqual([])
  })

  it('the carrier of sandbox plans is built in: it has no address and no form', async () => {
    await service.tenant({ plan: { sandbox: true, route: undefined } })
    await using opened = await open()
    const { page } = opened
    for (const path of [
      '/admin/carriers',
      '/admin/carriers/sandbox',
      '/admin/carrier-settings?open=sandbox',
    ]) {
      await opened.goto(path)
      await page
        .getByText(/built in/i)
        .first()
        .waitFor()
      expect(await page.getByText(/127\.0\.0\.1(:0)?$/).count()).toBe(0)
      expect(await page.getByRole('link', { name: /^Edit/ }).count()).toBe(0)
    }
    await opened.goto('/admin/carrier-settings?open=sandbox&view=edit')
    await heading(page, 'Carrier sandbox')
    expect(await opened.problems()).toEqual([])
  })
})

describe('secrets', () => {
  it('of a new account is shown once, is rotated, and its command line has none', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto('/admin/accounts?view=new')
    await page.getByLabel('Name').fill('Northern Ltd')
    await page.getByText('More settings').click()
    await button(page, 'Add to webhook headers').click()
    const headers = page.getByRole('group', { name: 'Webhook headers' })
    await headers.getByLabel('Name').fill('X-Key')
    await headers.getByLabel(/^Value/).fill('hunter2')
    expect(await commandLine(page).textContent()).toBe(
      `aldis account create --name 'Northern Ltd' --webhook-header 'X-Key':"$X_KEY"`,
    )
    await button(page, 'Create account').click()
    const secret = page.getByRole('dialog', { name: 'Keep this secret now' })
    await secret.getByText(/^whsec_/).waitFor()
    expect(await opened.problems()).toEqual([])
    await button(page, 'I have kept it').click()
    await heading(page, 'Account Northern Ltd')
    await button(page, 'Rotate the webhook secret').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate the webhook secret' }).click()
    await secret.getByText(/^whsec_/).waitFor()
    await button(page, 'I have kept it').click()
    await button(page, 'Delete the previous webhook secret').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the previous webhook secret' }).click()
    await button(page, 'Delete the previous webhook secret').first().waitFor({ state: 'detached' })
    await confirmDeletion(opened, 'Northern Ltd')
    await heading(page, 'Accounts')
    expect(opened.faults).toEqual([])
  })
})

describe('tokens and carriers: times, choices of several, keys with values', () => {
  it('a token of one plan expires, and is revoked', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto(`/admin/tokens?view=new&accountId=${service.accountId}`)
    await page.getByLabel('Name').fill('Till')
    await page.getByLabel('Service plans', { exact: true }).fill(service.servicePlanId)
    await button(page, `Remove ${service.servicePlanId}`).waitFor()
    await page.getByLabel('Scopes', { exact: true }).selectOption('send')
    await page.getByLabel('Expires at').fill('2050-01-02T03:04')
    expect(await opened.problems()).toEqual([])
    await button(page, 'Create token').click()
    await page.getByText(/^aldis_/).waitFor()
    await button(page, 'I have kept it').click()
    await heading(page, 'Token Till')
    const { items } = await service.admin('GET', `/tokens?accountId=${service.accountId}`)
    expect(items.at(-1)).toMatchObject({
      name: 'Till',
      servicePlanIds: [service.servicePlanId],
      scopes: ['send'],
      expiresAt: new Date('2050-01-02T03:04').toISOString(),
    })
    await button(page, 'Revoke').click()
    await page.getByLabel('Name', { exact: true }).fill('Till')
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
    await heading(page, 'Tokens')
    expect(opened.faults).toEqual([])
  })

  it('a carrier keeps what its form does not show', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto(`/admin/carriers/${CARRIER}`)
    await link(page, 'Edit the settings').click()
    await heading(page, `Edit carrier ${CARRIER}`)
    await page.getByText('More settings').click()
    await button(page, 'Add to submit outcomes').click()
    await page.getByLabel('Status', { exact: true }).fill('0x45')
    await page.getByLabel('Meaning').fill('retry')
    await page.getByLabel('Messages per second', { exact: true }).fill('90')
    const line = (await commandLine(page).textContent())!
    expect(line).toBe(`aldis carrier update ${CARRIER} --rate 90 --outcome 0x45=retry`)
    expect(await opened.problems()).toEqual([])
    await button(page, 'Save changes').click()
    await heading(page, `Carrier ${CARRIER}`)
    const saved = await service.admin('GET', `/carriers/${CARRIER}`)
    expect(saved).toMatchObject({ messagesPerSecond: 90 })
    expect(Object.values(saved.submitOutcomes)).toEqual(['retry'])
    expect(await opened.problems()).toEqual([])
    await service.admin('PATCH', `/carriers/${CARRIER}`, { messagesPerSecond: null, submitOutcomes: {} })
  })
})

describe('opt-outs and senders, which belong to a plan', () => {
  it('a sender is set, changed and deleted; an opt-out is found by plan, sender and recipient', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto('/admin/senders')
    await page.getByText('Choose a service plan').waitFor()
    await page.getByRole('combobox', { name: 'Service plan' }).fill(service.servicePlanId)
    await link(page, 'New sender').click()
    await page.getByRole('textbox', { name: 'Sender' }).fill('Nord')
    await page.getByRole('textbox', { name: 'Status' }).fill('pending')
    await button(page, 'Create sender').click()
    await heading(page, 'Sender Nord')
    await link(page, 'Edit').click()
    await page.getByRole('textbox', { name: 'Status' }).fill('approved')
    await run((await commandLine(page).textContent())!)
    const path = `/service-plans/${service.servicePlanId}/senders/Nord`
    expect(await service.admin('GET', path)).toMatchObject({ status: 'approved' })
    await button(page, 'Save changes').click()
    await heading(page, 'Sender Nord')
    await confirmDeletion(opened, 'Nord')
    await heading(page, 'Senders')

    const { servicePlanId } = service
    await service.admin('POST', '/opt-outs', { servicePlanId, from: 'Aldis', to: '+15551230009' })
    await opened.goto(`/admin/opt-outs?servicePlanId=${servicePlanId}`)
    await link(page, '+15551230009').click()
    await heading(page, 'Opt-out +15551230009')
    await confirmDeletion(opened, '+15551230009')
    await heading(page, 'Opt-outs')
    await page.getByText('No opt-out matches').waitFor()
    expect(await opened.problems()).toEqual([])
  })
})

describe('CSV', () => {
  it('is imported, and a refusal names its lines', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto('/admin/ranges')
    await link(page, 'Import CSV').click()
    const give = async (text: string) => {
      const buffer = Buffer.from(text)
      await page.getByLabel('CSV file').setInputFiles({ name: 'ranges.csv', mimeType: 'text/csv', buffer })
      await button(page, 'Import').click()
    }
    await give('prefix,mccmnc\n+4477,23410\n+4478,234\n')
    await page.getByText(/^Line 3: mccmnc must/).waitFor()
    expect(opened.faults.splice(0)).toEqual([expect.stringContaining('400')])
    await give('mccmnc,prefix\n23410,+4477\n23415,+4478\n')
    await page.getByText('2 lines imported').waitFor()
    expect(await service.admin('GET', '/number-ranges/+4478')).toMatchObject({ mccmnc: '23415' })
    expect(await opened.problems()).toEqual([])
  })
})

it('asks before what was entered is lost', async () => {
  await using opened = await open()
  const { page } = opened
  await opened.goto('/admin/rates?view=new')
  await page.getByLabel('Price').fill('0.04')
  await button(page, 'Cancel').click()
  await button(page, 'Stay').click()
  expect(await page.getByLabel('Price').inputValue()).toBe('0.04')
  await button(page, 'Cancel').click()
  await button(page, 'Leave').click()
  await heading(page, 'Rates')
  expect(opened.faults).toEqual([])
})

it('the role support sees everything and changes nothing', async () => {
  const { token } = await service.admin('POST', '/operator-tokens', { name: 'Sam', role: 'support' })
  await using opened = await open(token)
  const { page } = opened
  await opened.goto(`/admin/routes?open=${ROUTE}`)
  await heading(page, `Route ${ROUTE}`)
  for (const name of ['Edit', 'New route']) expect(await link(page, name).count()).toBe(0)
  expect(await button(page, 'Delete').count()).toBe(0)
  await opened.goto('/admin/routes?view=new')
  await page.getByText('Your role only reads').waitFor()
  expect(await opened.problems()).toEqual([])
})
