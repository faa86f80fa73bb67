import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { aCarrier, aRoute } from './support/directory.ts'
import { Shell, textsOf } from './support/document-commands.ts'
import { PLAN, startHttpService, TOKEN } from './support/http-service.ts'
import { ROOT } from './support/process.ts'

/** What docs/preflight.md tells to type, typed, with the answers that it shows. */

const DOCUMENT = readFileSync(join(ROOT, 'docs/preflight.md'), 'utf8')

const ROUTE = aRoute({
  name: 'default',
  carriers: [
    { carrierId: 1, priority: 0, weight: 1 },
    { carrierId: 2, priority: 1, weight: 1 },
  ],
})
const RATE = { id: 1, planId: null, prefix: null, country: 'US', mccmnc: null, currency: 'USD' }

test('its command gives what is shown, and so does the corrected one', async () => {
  await using service = await startHttpService({
    plan: { route: ROUTE, smartEncoding: true, rateLimit: { perSecond: 20, burst: 40 } },
    contents: {
      carriers: [aCarrier({ id: 1, name: 'acme' }), aCarrier({ id: 2, name: 'backup' })],
      numberRanges: new Map([['+1555', '310260']]),
      rates: [{ ...RATE, price: '0.0085', ptf: '0.003' }],
    },
  })
  const env = { ALDIS_URL: `http://127.0.0.1:${service.port}`, ALDIS_TOKEN: TOKEN, ALDIS_PLAN: PLAN }
  await using shell = new Shell({ env })
  const typed = async (command: string) => JSON.parse(await shell.type(command))
  const [command, ...more] = textsOf(DOCUMENT, 'sh')
  expect(more).toEqual([])
  const [shown, changed] = textsOf(DOCUMENT, 'json').map((text) => JSON.parse(text))
  expect(await typed(command!)).toEqual(shown)
  const corrected = command!.replace('"+1 555 123 0001"', '"+15551230001"')
  expect(await typed(corrected)).toEqual({ ...shown, ...changed })
})
