import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminServer, createPlan, startAdminServer } from './support/admin-server.ts'
import { Shell, textsOf } from './support/document-commands.ts'
import { ROOT } from './support/process.ts'

/** What docs/limits.md tells to type, typed. The short form of all typed documents is typed-documents.test.ts. */

const [SETTING, ...COMMANDS] = textsOf(readFileSync(join(ROOT, 'docs/limits.md'), 'utf8'), 'sh')

let server: AdminServer
beforeAll(async () => {
  server = await startAdminServer()
})
afterAll(() => server?.[Symbol.asyncDispose]())

test('every command does what it says', async () => {
  const { accountId, servicePlanId } = await createPlan(server)
  const { token } = (await server.request('POST', '/tokens', { accountId, name: 'own' })).body
  expect(SETTING).toMatch(/^export ALDIS_URL=\S+ ALDIS_OPERATOR_TOKEN=\S+ ALDIS_TOKEN=\S+ ALDIS_PLAN=\S+\n$/)
  const { baseUrl, operatorToken } = server
  const env = {
    ALDIS_URL: baseUrl,
    ALDIS_OPERATOR_TOKEN: operatorToken,
    ALDIS_TOKEN: token,
    ALDIS_PLAN: servicePlanId,
  }
  await using shell = new Shell({ env })
  const outputs: string[] = []
  for (const command of COMMANDS) outputs.push(await shell.type(command))
  const own = outputs[COMMANDS.findIndex((command) => command.includes('/v1/limits'))]!
  expect(JSON.parse(own)).toMatchObject({
    servicePlanId,
    usage: [{ per: 'month', used: { messages: 0 } }, { cap: { cost: '2500', currency: 'EUR' } }],
    pauses: [],
  })
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
