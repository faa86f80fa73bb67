import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openConsole, PHONE } from '../support/console-page.ts'
import { CARRIER, RECIPIENT, type Service, startService } from '../support/service.ts'
import { call } from '../support/tenant.ts'

const SANDBOX = { plan: { sandbox: true, route: undefined } }

/** A plan with a route, a rate and smart encoding. */
let service: Service
let sandbox: Service

beforeAll(async () => {
  service = await startService({ plan: { smartEncoding: true, optOut: {} } })
  await service.admin('POST', '/rates', { price: '0.0085', ptf: '0.003', currency: 'USD' })
  sandbox = await service.tenant(SANDBOX)
})
afterAll(() => service[Symbol.asyncDispose]())

const open = (tenant = service) => openConsole(tenant.app.url, { tokens: [tenant.token] })
const check = (page: Page, about: string) =>
  page.getByRole('region', { name: 'Preflight' }).getByRole('listitem').filter({ hasText: about })

describe('the preflight', () => {
  it('shows what a message would take, cost and do', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto('/compose')
    expect(await page.getByLabel('From').inputValue()).toBe('Aldis')
    await page.getByText('Approved: Aldis').waitFor()
    await page.getByLabel('To', { exact: true }).fill(RECIPIENT)
    await page.getByText('Not complete yet').waitFor()
    await page.getByLabel('Text').fill('hello')
    await page.getByText('This message would be accepted').waitFor()
    await page.getByText('5 characters · 1 segment · GSM 7-bit').waitFor()
    expect(await check(page, 'Price').textContent()).toContain('0.0085 USD')
    expect(await check(page, 'Price').textContent()).toContain('0.003 USD')
    expect(await check(page, 'Route').textContent()).toContain("plan's route default")
    expect(await check(page, 'Recipient').textContent()).toContain('United States')
    expect(await opened.problems()).toEqual([])
  })

  it('warns of a route on which the message would wait', async () => {
    await service.admin('PATCH', `/carriers/${CARRIER}`, { state: 'draining' })
    await using opened = await open()
    await opened.goto(`/compose?from=Aldis&to=${encodeURIComponent(RECIPIENT)}&body=hello`)
    await opened.page.getByText('default, not available').waitFor()
    expect(opened.faults).toEqual([])
    await service.admin('PATCH', `/carriers/${CARRIER}`, { state: 'started' })
  })

  it('marks what forces UCS-2, shows each segment, and replaces what it knows', async () => {
    await using opened = await open()
    const { page } = opened
    const body = `It costs – 5 ☕ ${'x'.repeat(70)}`
    await opened.goto(`/compose?from=Aldis&to=%2B15551230000&body=${encodeURIComponent(body)}`)
    await page.getByText('85 characters · 2 segments · UCS-2').waitFor()
    await check(page, 'UCS-2').getByRole('img', { name: 'Note' }).waitFor()
    expect(await page.locator('[data-marked]').allTextContents()).toEqual(['–', '☕'])
    expect(await page.locator('[data-starts]').count()).toBe(1)
    const segments = page.getByRole('region', { name: 'Segments' }).getByRole('listitem')
    expect((await segments.allTextContents()).join('')).toBe(body)
    await page.getByRole('button', { name: 'Find U+2615 in the text' }).click()
    expect(await page.evaluate('getSelection().toString()')).toBe('☕')
    expect(await opened.problems(PHONE)).toEqual([])
    await page.keyboard.press('Delete')
    // Without the cup, smart encoding makes it one segment; and it can be made so in the text itself.
    await page.getByText('84 characters · 1 segment · GSM 7-bit').waitFor()
    await page.getByText('Sent as').waitFor()
    await page.getByRole('button', { name: 'Replace “–” with “-”' }).click()
    expect(await page.getByLabel('Text').inputValue()).toContain('costs - 5')
    await page.getByText('Sent as').waitFor({ state: 'detached' })
  })

  it('says at the field what is wrong, and goes there instead of sending', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto('/compose?from=Unknown&to=%2B1%20555%20123%200000&body=hello')
    await page.getByRole('button', { name: `Write it as ${RECIPIENT}` }).click()
    await page.getByText('This message would be refused').waitFor()
    const from = page.getByLabel('From')
    await page.getByText('Alphanumeric, not allowed').waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    expect(await from.getAttribute('aria-invalid')).toBe('true')
    expect(await page.locator(':focus').getAttribute('name')).toBe('from')
    expect(await page.getByText('may not send from this sender').count()).toBe(1)
    await page.getByLabel('Callback URL').fill('https://192.168.0.1/receipts')
    await page.getByText('Callback URL refused').waitFor()
    expect(await opened.problems()).toEqual([])
    expect((await service.list({ from: 'Unknown' })).body.items).toEqual([])
  })

  it('warns of a recipient who has opted out', async () => {
    const { servicePlanId } = service
    await service.admin('POST', '/opt-outs', { servicePlanId, from: 'Aldis', to: '+15551239999' })
    await using opened = await open()
    await opened.goto('/compose?from=Aldis&to=%2B15551239999&body=hello')
    await opened.page.getByText('Opted out', { exact: false }).waitFor()
    expect(await opened.problems()).toEqual([])
  })

  it('finds fields that nobody knows in the JSON of an application', async () => {
    await using opened = await open()
    const { page } = opened
    await opened.goto('/compose?from=Aldis&to=%2B15551230000&body=hello')
    await page.getByText('This message would be accepted').waitFor()
    await page.getByText('JSON', { exact: true }).click()
    const json = page.getByLabel('Body of POST /v1/sendsms')
    await json.fill((await json.inputValue()).replace('{', '{ "callbackURL": "https://example.com",'))
    await page.getByText('callbackURL is ignored').waitFor()
    await page.getByText('Do you mean callbackUrl?').waitFor()
    expect(await opened.problems()).toEqual([])
    await page.getByText('Form', { exact: true }).click()
    expect(await page.getByLabel('Text').inputValue()).toBe('hello')
  })
})

describe('sending', () => {
  it('by keyboard alone, and then to the story and the phone', async () => {
    await using opened = await open(sandbox)
    const { page } = opened
    await opened.goto('/compose')
    await page.getByLabel('From').focus()
    await page.keyboard.press('Tab')
    await page.keyboard.type('+15551234000')
    await page.keyboard.press('Tab')
    await page.keyboard.type('by keyboard')
    await page.getByText('Free').waitFor()
    for (let tab = 0; tab < 3; tab += 1) await page.keyboard.press('Tab')
    expect(await page.locator(':focus').textContent()).toBe('Send')
    await page.keyboard.press('Enter')
    await page.getByText('DELIVERED').waitFor()
    expect(await page.locator(':focus').textContent()).toContain('+15551234000')
    expect(await opened.problems()).toEqual([])
    const [{ msgId }] = (await sandbox.list({ to: '+15551234000' })).body.items
    const story = page.getByRole('link', { name: 'What became of it' })
    expect(await story.getAttribute('href')).toBe(`/console/messages/${msgId}`)
    await page.getByRole('link', { name: 'See it on the phone' }).press('Enter')
    await page.getByRole('log').getByText('by keyboard').waitFor()
  })

  it('keeps what was written while another page is open, and nothing of it in the address', async () => {
    await using opened = await open(sandbox)
    const { page } = opened
    await opened.goto('/compose')
    await page.getByLabel('To', { exact: true }).fill('+15551234003')
    await page.getByLabel('Text').fill('to be kept')
    await page.getByText('This message would be accepted').waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('link', { name: 'What became of it' }).click()
    await page.getByRole('heading', { name: 'Message to +15551234003' }).waitFor()
    await page.goBack()
    expect(await page.getByLabel('Text').inputValue()).toBe('to be kept')
    expect(new URL(page.url()).search).toBe('')
    await page.getByRole('button', { name: 'Clear' }).click()
    expect(await page.getByLabel('Text').inputValue()).toBe('')
    expect(await page.getByLabel('From').inputValue()).toBe('Aldis')
    expect(opened.faults).toEqual([])
  })

  it('says that a plan without a sender cannot send, and what to do', async () => {
    await using tenant = await service.tenant()
    await tenant.admin('DELETE', `/service-plans/${tenant.servicePlanId}/senders/Aldis`)
    await using opened = await open(tenant)
    const { page } = opened
    for (const path of ['/compose', '/']) {
      await opened.goto(path)
      await page.getByText('This plan has no approved sender').waitFor()
      await page.getByText(`aldis sender create ${tenant.servicePlanId} SENDER --status approved`).waitFor()
      expect(await opened.problems()).toEqual([])
    }
  })

  it('a double click sends once, and the same is sent again when asked for', async () => {
    await using opened = await open(sandbox)
    const { page } = opened
    await opened.goto('/compose?from=Aldis&to=%2B15551234001&body=once')
    await page.getByText('This message would be accepted').waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).dblclick()
    await page.getByText('DELIVERED').waitFor()
    const sent = async () => (await sandbox.list({ to: '+15551234001' })).body.items.length
    expect(await sent()).toBe(1)
    await page.getByRole('button', { name: 'Send another' }).click()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await expect.poll(sent).toBe(2)
    expect(opened.faults).toEqual([])
  })

  it('a key of one’s own that was used for another message is refused', async () => {
    await sandbox.send({ to: '+15551234002' }, { 'idempotency-key': 'mine' })
    await using opened = await open(sandbox)
    const { page } = opened
    await opened.goto('/compose?from=Aldis&to=%2B15551234002&body=another')
    await page.getByRole('button', { name: 'Advanced' }).click()
    await page.getByLabel('Idempotency-Key').fill('mine')
    await page.getByRole('region', { name: 'The curl command' }).getByText('Idempotency-Key: mine').waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('alert').waitFor()
    expect(opened.faults.splice(0)).toEqual([expect.stringContaining('422')])
    expect(await opened.problems()).toEqual([])
  })

  it('is offered only to a token that may', async () => {
    const { accountId } = service
    const fields = { accountId, name: 'reader', scopes: ['read'] }
    const { token } = await service.admin('POST', '/tokens', fields)
    expect((await call(`${service.app.url}/v1/sendsms`, token, 'POST', {})).status).toBe(403)
    await using opened = await openConsole(service.app.url, { tokens: [token] })
    await opened.goto('/compose')
    await opened.page.getByText('Your token may not send').waitFor()
    expect(await opened.page.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true)
    expect(await opened.problems()).toEqual([])
  })
})
