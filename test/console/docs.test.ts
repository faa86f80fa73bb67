import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { QUEUED_MESSAGE } from '../../src/http/schemas/response-examples.ts'
import { type AdminServer, startAdminServer } from '../support/admin-server.ts'
import { browserOfProcess } from '../support/browser.ts'

let server: AdminServer

beforeAll(async () => {
  server = await startAdminServer()
})
afterAll(() => server[Symbol.asyncDispose]())

/** Opens a page of the API reference. `asked`: every address that it wanted; `faults`: errors, and what the policy refused. */
async function opened(path: string): Promise<{ page: Page; asked: string[]; faults: string[] }> {
  const page = await (await browserOfProcess()).newPage()
  const asked: string[] = []
  const faults: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  page.on('pageerror', (error) => faults.push(String(error.stack)))
  page.on(
    'console',
    (message) => ['error', 'warning'].includes(message.type()) && faults.push(message.text()),
  )
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) =>
      console.error('Content-Security-Policy', event.violatedDirective, event.blockedURI))`,
  )
  await page.goto(server.baseUrl + path)
  return { page, asked, faults }
}

test.each([
  ['/docs', '/openapi.json', 'Send one SMS', QUEUED_MESSAGE.body!],
  ['/docs/admin', '/admin/v1/openapi.json', 'Create an account', 'Its webhook secret is shown'],
])('%s shows its document, an operation, and asks nobody else', async (path, document, operation, text) => {
  const { page, asked, faults } = await opened(path)
  await page.getByRole('heading', { name: operation }).first().waitFor()
  await page
    .getByRole('button', { name: /^Test Request/ })
    .first()
    .click()
  await page.getByRole('dialog').first().waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: operation }).first().click()
  await page.getByText(text).first().waitFor()
  expect(asked).toContain(server.baseUrl + document)
  expect(asked.filter((url) => !url.startsWith(server.baseUrl))).toEqual([])
  // A library tries whether it may compile code, and does without.
  expect(faults).toEqual(['Content-Security-Policy script-src eval'])
  await page.close()
})
