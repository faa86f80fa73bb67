import { expect, test } from 'vitest'
import { MAX_RATES } from '../../../../src/operations/configuration/rates.ts'
import { adminServerOfFile } from '../../../support/admin-server.ts'

/** Rates and number ranges are kept in memory by every node, so their number is bounded. */

const server = await adminServerOfFile()
const { db } = server.database

const RATE = { country: 'SE', price: '0.0075', currency: 'EUR' }

test('200,000 rates are the most', async () => {
  await db.query(
    `insert into rates (prefix, price, currency)
     select '+' || (100000000 + n), 0, 'EUR' from generate_series(1, $1) n`,
    [MAX_RATES - 1],
  )
  const norwegian = { ...RATE, country: 'NO' }
  const imported = await server.request('POST', '/rates/import', { rates: [RATE, norwegian] })
  expect(imported).toMatchObject({
    status: 409,
    body: { errorMessage: 'there can be at most 200000 rates' },
  })
  expect((await server.request('POST', '/rates', RATE)).status).toBe(201)
  expect((await server.request('POST', '/rates', norwegian)).status).toBe(409)
})

test('200,000 number ranges are the most', async () => {
  await db.query(
    `insert into number_ranges (prefix, mccmnc)
     select '+' || 8000000 + n, '45400' from generate_series(1, 199999) n`,
  )
  const ranges = ['+33709000', '+33709001'].map((prefix) => ({ prefix, mccmnc: '20801' }))
  const refused = await server.request('POST', '/number-ranges/import', { ranges })
  expect(refused).toMatchObject({ status: 409, body: { errorMessage: expect.stringContaining('200000') } })
  expect((await server.request('GET', '/number-ranges/+33709000')).status).toBe(404)
  expect((await server.request('PUT', '/number-ranges/+33709000', { mccmnc: '20801' })).status).toBe(201)
  expect((await server.request('PUT', '/number-ranges/+33709001', { mccmnc: '20801' })).status).toBe(409)
  // What is there can still be changed.
  expect((await server.request('PUT', '/number-ranges/+33709000', { mccmnc: '20810' })).status).toBe(200)
})
