import { expect, test } from 'vitest'
import { MAX_RATES } from '../../../../src/operations/configuration/rates.ts'
import { adminServerOfFile } from '../../../support/admin-server.ts'

/** As many rates and number ranges as there may be fit into one request, and into one transaction. */

const server = await adminServerOfFile()

const prefixes = Array.from({ length: MAX_RATES }, (_, at) => `+${100_000_000 + at}`)
const all = (price: string) => ({
  rates: Object.fromEntries(
    prefixes.map((prefix, at) => [`rates.csv:${at}`, { prefix, price, ptf: '0.001', currency: 'EUR' }]),
  ),
  ranges: Object.fromEntries(prefixes.map((prefix) => [prefix, { mccmnc: '310260' }])),
})

async function apply(configuration: object, query: string) {
  const { status, body } = await server.request('POST', `/configuration/apply?${query}`, configuration)
  expect(status, JSON.stringify(body.errors ?? body.errorMessage)).toBe(200)
  return body.counts.map(({ kind: _, unconfirmed: __, ...counts }: Record<string, unknown>) => counts)
}

const NONE = { created: 0, updated: 0, deleted: 0, unchanged: 0 }

test('200,000 rates and as many ranges are created, compared, changed, exported and deleted', async () => {
  const first = all('0.035')
  expect(await apply(first, '')).toEqual([
    { ...NONE, created: MAX_RATES },
    { ...NONE, created: MAX_RATES },
  ])
  const same = { ...NONE, unchanged: MAX_RATES }
  expect(await apply(first, 'prune=true&dryRun=true')).toEqual([same, same])
  expect(await apply(all('0.04'), 'prune=true')).toEqual([{ ...NONE, updated: MAX_RATES }, same])
  const { body } = await server.request('GET', '/configuration')
  const { rates, ranges } = body.configuration
  expect(await apply({ rates, ranges }, 'prune=true')).toEqual([same, same])
  const more = { rates: { one: { country: 'SE', price: 1, currency: 'SEK' } } }
  expect((await server.request('POST', '/configuration/apply', more)).body.errorMessage).toBe(
    'there can be at most 200000 rates, and there would be 200001',
  )
  const confirm = `rates=${MAX_RATES},ranges=${MAX_RATES}`
  const gone = { ...NONE, deleted: MAX_RATES }
  expect(await apply({ rates: {}, ranges: {} }, `prune=true&confirm=${confirm}`)).toEqual([gone, gone])
})
