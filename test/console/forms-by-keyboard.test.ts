import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, CARRIER, createPlan, startAdminServer } from '../support/admin-server.ts'
import { openConsole, tabTo } from '../support/console-page.ts'

let server: AdminServer
/** What forms are for that the address has filled in. */
let account: string
let plan: string

beforeAll(async () => {
  server = await startAdminServer()
  const { accountId, servicePlanId } = await createPlan(server)
  account = `?accountId=${accountId}`
  plan = `?servicePlanId=${servicePlanId}`
  await server.request('POST', '/carriers', CARRIER)
  await server.request('POST', '/routes', { name: 'north', carriers: [] })
})
afterAll(() => server[Symbol.asyncDispose]())

/** Focuses what has this name, and presses a key there, or types a text. */
type Step = readonly [name: string, pressed: 'Enter' | 'ArrowDown' | { readonly text: string }, back?: 'back']

const text = (value: string) => ({ text: value })

interface Form {
  readonly noun: string
  /** Of the list. */
  readonly title: string
  readonly path: () => string
  readonly steps: readonly Step[]
  /** As the audit log names them. */
  readonly operations: readonly [created: string, removed: string]
  /** It is created with a secret, which is shown once. */
  readonly isSecret?: true
  readonly removal?: 'Revoke'
}

const FORMS: readonly Form[] = [
  {
    noun: 'account',
    title: 'Accounts',
    path: () => 'accounts',
    steps: [['Name', text('Quay Street')]],
    operations: ['createAccount', 'deleteAccount'],
    isSecret: true,
  },
  {
    noun: 'service plan',
    title: 'Service plans',
    path: () => `plans${account}`,
    steps: [['Name', text('Quays')]],
    operations: ['createServicePlan', 'deleteServicePlan'],
  },
  {
    noun: 'token',
    title: 'Tokens',
    path: () => `tokens${account}`,
    steps: [
      ['Name', text('Till')],
      ['Scopes', 'ArrowDown'],
    ],
    operations: ['createToken', 'revokeToken'],
    isSecret: true,
    removal: 'Revoke',
  },
  {
    noun: 'operator token',
    title: 'Operator tokens',
    path: () => 'operator-tokens',
    steps: [
      ['Name', text('Sam')],
      ['Role', 'ArrowDown'],
    ],
    operations: ['createOperatorToken', 'revokeOperatorToken'],
    isSecret: true,
    removal: 'Revoke',
  },
  {
    noun: 'sender',
    title: 'Senders',
    path: () => `senders${plan}`,
    steps: [
      ['Sender', text('Quay')],
      ['Status', text('pending')],
    ],
    operations: ['setSender', 'deleteSender'],
  },
  {
    noun: 'sender rule',
    title: 'Sender rules',
    path: () => 'sender-rules',
    steps: [
      ['Country', text('NO')],
      ['Sender types', 'ArrowDown'],
    ],
    operations: ['createSenderRule', 'deleteSenderRule'],
  },
  {
    noun: 'inbound number',
    title: 'Inbound numbers',
    path: () => `numbers${plan}`,
    steps: [['Number', text('+15557770001')]],
    operations: ['createInboundNumber', 'deleteInboundNumber'],
  },
  {
    noun: 'sendsms user',
    title: 'Sendsms users',
    path: () => `sendsms-users${plan}`,
    steps: [
      ['Username', text('kannel')],
      ['Password', text('hush-hush')],
    ],
    operations: ['createSendsmsUser', 'deleteSendsmsUser'],
  },
  {
    noun: 'opt-out',
    title: 'Opt-outs',
    path: () => `opt-outs${plan}`,
    steps: [
      ['Sender', text('Quay')],
      ['Recipient', text('+15551230009')],
    ],
    operations: ['createOptOut', 'deleteOptOut'],
  },
  {
    noun: 'carrier',
    title: 'Carrier settings',
    path: () => 'carrier-settings',
    steps: [
      ['Name', text('quay')],
      ['Host', text('smpp.example.org')],
      ['System id', text('quay')],
      ['Password', text('hush')],
      ['Bind mode', 'ArrowDown'],
    ],
    operations: ['createCarrier', 'deleteCarrier'],
  },
  {
    noun: 'route',
    title: 'Routes',
    path: () => 'routes',
    steps: [
      ['Name', text('quay')],
      ['Add to carriers', 'Enter'],
      ['Carrier', text(CARRIER.name), 'back'],
      ['Weight', text('3')],
    ],
    operations: ['createRoute', 'deleteRoute'],
  },
  {
    noun: 'routing rule',
    title: 'Routing rules',
    path: () => 'routing-rules',
    steps: [
      ['Route', text('north')],
      ['Country', text('NO')],
    ],
    operations: ['createRoutingRule', 'deleteRoutingRule'],
  },
  {
    noun: 'rate',
    title: 'Rates',
    path: () => 'rates',
    steps: [
      ['Price', text('0.04')],
      ['Currency', text('EUR')],
    ],
    operations: ['createRate', 'deleteRate'],
  },
  {
    noun: 'number range',
    title: 'Number ranges',
    path: () => 'ranges',
    steps: [
      ['Prefix', text('+4477')],
      ['MCC and MNC', text('23410')],
    ],
    operations: ['setNumberRange', 'deleteNumberRange'],
  },
]

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name, exact: true })

async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, name)
  await page.keyboard.press('Enter')
}

test.each(FORMS)('$noun: created and deleted by keyboard alone', async (form) => {
  const { noun, title, path, steps, operations, removal = 'Delete' } = form
  await using opened = await openConsole(server.baseUrl, { tokens: [server.operatorToken] })
  const { page } = opened
  await opened.goto(`/admin/${path()}`)
  await press(page, `New ${noun}`)
  await heading(page, `New ${noun}`).waitFor()
  for (const [name, pressed, back] of steps) {
    await tabTo(page, name, back)
    await (typeof pressed === 'string' ? page.keyboard.press(pressed) : page.keyboard.type(pressed.text))
  }
  await press(page, `Create ${noun}`)
  if (form.isSecret) {
    await page.locator('dialog :focus', { hasText: 'I have kept it' }).waitFor()
    await page.keyboard.press('Enter')
  }
  // Only the page of the object has it.
  await page.getByRole('button', { name: removal, exact: true }).waitFor()
  const name = (await page.locator('h1').innerText()).slice(noun.length + 1)
  await press(page, removal)
  await page.locator('dialog input:focus').waitFor()
  await page.keyboard.type(name)
  await page.keyboard.press('Enter')
  await heading(page, title).waitFor()
  const { body } = await server.request('GET', '/audit-log?limit=2')
  expect(body.items.map(({ operation }: { operation: string }) => operation)).toEqual(operations.toReversed())
  expect(opened.faults).toEqual([])
})
