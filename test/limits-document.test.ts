import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, createPlan, startAdminServer } from './support/admin-server.ts'
import { MAIN, ROOT, start } from './support/process.ts'

/** What docs/limits.md tells to type, typed. */

const DOCUMENT = readFileSync(join(ROOT, 'docs/limits.md'), 'utf8')
const [SETTING, ...COMMANDS] = [...DOCUMENT.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block!)

let server: AdminServer
beforeAll(async () => {
  server = await startAdminServer()
})
afterAll(() => server?.[Symbol.asyncDispose]())

test('every command does what it says', async () => {
  const { servicePlanId } = await createPlan(server)
  const names = [...SETTING!.matchAll(/(ALDIS_\w+)=/g)].map(([, name]) => name!) as [string, string, string]
  const [url, token, plan] = names
  const env = { [url]: server.baseUrl, [token]: server.operatorToken, [plan]: servicePlanId }
  const aldis = `aldis() { '${process.execPath}' '${MAIN}' "$@"; }`
  await using running = start('/bin/sh', ['-ec', [aldis, ...COMMANDS].join('\n')], { env })
  const { code, stderr } = await running.exited
  expect([code, stderr]).toEqual([0, ''])
  const { body } = await server.request('GET', `/service-plans/${servicePlanId}`)
  expect(body).toMatchObject({
    allowedCountries: [],
    validitySeconds: 3_600,
    maxValiditySeconds: 14_400,
    texts: 'discard',
  })
  const caps = {
    messagesPerDay: null,
    messagesPerMonth: 200_000,
    costPerDay: null,
    costPerMonth: '2500',
    currency: 'EUR',
  }
  expect(body).toMatchObject({
    caps,
    limitEvents: true,
    pumpingGuard: { messagesPerPrefix: 200, pauseMinutes: 120 },
  })
})
