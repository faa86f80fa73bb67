import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, createPlan, startAdminServer } from './support/admin-server.ts'
import { Shell, textsOf } from './support/document-commands.ts'
import { ROOT } from './support/process.ts'

/** What docs/limits.md tells to type, typed. */

const [SETTING, ...COMMANDS] = textsOf(readFileSync(join(ROOT, 'docs/limits.md'), 'utf8'), 'sh')

let server: AdminServer
beforeAll(async () => {
  server = await startAdminServer()
})
afterAll(() => server?.[Symbol.asyncDispose]())

test('every command does what it says', async () => {
  const { servicePlanId } = await createPlan(server)
  expect(SETTING).toMatch(/^export ALDIS_URL=\S+ ALDIS_OPERATOR_TOKEN=\S+ ALDIS_PLAN=\S+\n$/)
  const { baseUrl, operatorToken } = server
  const env = { ALDIS_URL: baseUrl, ALDIS_OPERATOR_TOKEN: operatorToken, ALDIS_PLAN: servicePlanId }
  await using shell = new Shell({ env })
  for (const command of COMMANDS) await shell.type(command)
  expect(shell.stderr).toBe('')
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
