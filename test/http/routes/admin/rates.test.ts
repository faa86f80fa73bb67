import { beforeEach, describe, expect, test } from 'vitest'
import { adminServerOfFile, createPlan } from '../../../support/admin-server.ts'

const server = await adminServerOfFile()
const { servicePlanId } = await createPlan(server)
beforeEach(() => server.database.db.query('delete from rates'))

const RATE = { country: 'SE', price: '0.0075', currency: 'EUR' }

async function created(fields: Record<string, unknown> = {}): Promise<number> {
  const { status, body } = await server.request('POST', '/rates', { ...RATE, ...fields })
  expect(status).toBe(201)
  return body.rateId
}

async function listed(query = ''): Promise<number[]> {
  const { body } = await server.request('GET', `/rates${query}`)
  return body.items.map((item: { rateId: number }) => item.rateId)
}

test('201: a rate for all plans, at once in the directory; 409 for the same plan and recipients', async () => {
  const { status, body, headers } = await server.request('POST', '/rates', RATE)
  expect(status).toBe(201)
  expect(body).toEqual({
    rateId: expect.any(Number),
    servicePlanId: null,
    prefix: null,
    country: 'SE',
    mccmnc: null,
    price: '0.0075',
    ptf: '0',
    currency: 'EUR',
    createdAt: expect.any(String),
  })
  expect(headers.get('location')).toBe(`/admin/v1/rates/${body.rateId}`)
  expect((await server.request('GET', `/rates/${body.rateId}`)).body).toEqual(body)
  const message = { planId: 1, recipient: '+46701234567', country: 'SE', mccmnc: null }
  expect(server.directory.current().rateFor(message)?.id).toBe(body.rateId)
  const again = await server.request('POST', '/rates', { ...RATE, price: 1 })
  expect(`${again.status} ${again.body.errorCode}`).toBe('409 CONFLICT')
})

test('201: by network, by prefix, by country and for anywhere, of a plan and of all', async () => {
  const destinations = [{ mccmnc: '24001' }, { prefix: '+4670' }, { country: 'SE' }, {}]
  for (const plan of [{}, { servicePlanId: servicePlanId.toUpperCase() }]) {
    for (const destination of destinations) await created({ country: null, ...destination, ...plan })
  }
  const { body } = await server.request('GET', `/rates?servicePlanId=${servicePlanId}`)
  expect(body.items).toMatchObject(destinations.map((each) => ({ servicePlanId, ...each })))
})

test.each([
  ['0.0075', '0.0075'],
  ['0.007500', '0.0075'],
  ['10', '10'],
  ['1000000', '1000000'],
  [0.0075, '0.0075'],
  [0.1, '0.1'],
  [0.000001, '0.000001'],
  [0, '0'],
  [1_000_000, '1000000'],
])('price %j is %s', async (price, exact) => {
  const { body } = await server.request('POST', '/rates', { ...RATE, price, ptf: price })
  expect([body.price, body.ptf]).toEqual([exact, exact])
})

test.each([
  ['price', { price: '1000000.000001' }],
  ['price', { price: '-1' }],
  ['price', { price: '0.0000001' }],
  ['price', { price: '0,0075' }],
  ['price', { price: '1e-3' }],
  ['price', { price: '' }],
  ['price', { price: -0.5 }],
  ['price', { price: 1e-7 }],
  ['price', { price: 0.1 + 0.2 }],
  ['price', { price: 1_000_001 }],
  ['price', { price: null }],
  ['price', { price: true }],
  ['ptf', { ptf: 'free' }],
  ['currency', { currency: 'eur' }],
  ['currency', { currency: 'EURO' }],
  ['country', { country: 'ZZ' }],
  ['country', { country: 'Sweden' }],
  ['prefix', { country: null, prefix: '4670' }],
  ['prefix', { country: null, prefix: '+0' }],
  ['mccmnc', { country: null, mccmnc: '2400' }],
  ['mccmnc', { mccmnc: '24001' }],
  ['country', { prefix: '+46' }],
  ['servicePlanId', { servicePlanId: '0'.repeat(24) }],
  ['segments', { segments: 1 }],
])('400 names %s for %j', async (field, fields) => {
  const { status, body } = await server.request('POST', '/rates', { ...RATE, ...fields })
  expect(status).toBe(400)
  expect(body.errors.map((each: { field: string }) => each.field)).toEqual([field])
})

test('200: the amounts change, each by itself; 400 for another destination, or none', async () => {
  const path = `/rates/${await created({ ptf: '0.003' })}`
  expect((await server.request('PATCH', path, { price: 0.01 })).body).toMatchObject({
    price: '0.01',
    ptf: '0.003',
    currency: 'EUR',
  })
  expect((await server.request('PATCH', path, { ptf: '0', currency: 'USD' })).body).toMatchObject({
    price: '0.01',
    ptf: '0',
    currency: 'USD',
  })
  expect((await server.request('PATCH', path, { price: 0.0000005 })).body.errors[0].field).toBe('price')
  expect((await server.request('PATCH', path, { country: 'NO' })).status).toBe(400)
  expect((await server.request('PATCH', path, {})).status).toBe(400)
  expect((await server.request('PATCH', '/rates/99999', { price: 1 })).status).toBe(404)
})

test('204: a rate is gone; those of a plan go with it', async () => {
  const path = `/rates/${await created()}`
  expect((await server.request('DELETE', path)).status).toBe(204)
  expect((await server.request('DELETE', path)).status).toBe(404)
  const { servicePlanId: plan } = await createPlan(server)
  await created({ servicePlanId: plan })
  expect((await server.request('DELETE', `/service-plans/${plan}`)).status).toBe(204)
  expect(await listed()).toEqual([])
  expect(server.directory.current().contents.rates.size).toBe(0)
})

test('200: filters and pages', async () => {
  const country = await created()
  const network = await created({ country: null, mccmnc: '24001' })
  const prefix = await created({ country: null, prefix: '+4670' })
  const own = await created({ servicePlanId })
  expect(await listed('?country=SE')).toEqual([country, own])
  expect(await listed('?mccmnc=24001')).toEqual([network])
  expect(await listed('?prefix=%2B4670')).toEqual([prefix])
  expect(await listed(`?servicePlanId=${servicePlanId.toUpperCase()}&country=SE`)).toEqual([own])
  const first = await server.request('GET', '/rates?limit=2')
  expect(first.body.nextAfter).toBe(String(network))
  expect(await listed(`?limit=2&after=${first.body.nextAfter}`)).toEqual([prefix, own])
  expect((await server.request('GET', '/rates?after=x')).status).toBe(400)
})

describe('import', () => {
  const imported = (rates: unknown) => server.request('POST', '/rates/import', { rates })

  test('adds what is new and changes what is there', async () => {
    const country = await created({ servicePlanId })
    const { status, body } = await imported([
      { servicePlanId, country: 'SE', price: '0.5', ptf: 0.1, currency: 'SEK' },
      { country: 'SE', price: '0.009', currency: 'EUR' },
      { price: 1, currency: 'EUR' },
    ])
    expect(`${status} ${JSON.stringify(body)}`).toBe('200 {"created":2,"changed":1}')
    expect((await server.request('GET', `/rates/${country}`)).body).toMatchObject({
      servicePlanId,
      price: '0.5',
      ptf: '0.1',
      currency: 'SEK',
    })
    expect(await listed()).toHaveLength(3)
    await server.directory.refresh()
    expect(server.directory.current().contents.rates.size).toBe(3)
  })

  test('takes 1,000 of the longest at once', async () => {
    const rates = Array.from({ length: 1_000 }, (_, index) => ({
      servicePlanId,
      prefix: `+1${String(index).padStart(14, '0')}`,
      price: '1000000.000000',
      ptf: '999999.999999',
      currency: 'EUR',
    }))
    expect((await imported(rates)).body).toEqual({ created: 1_000, changed: 0 })
    expect((await imported(rates)).body).toEqual({ created: 0, changed: 1_000 })
    expect((await imported([...rates, RATE])).status).toBe(400)
  })

  test('400: none is taken when one is wrong, and every fault is named', async () => {
    const none = '0'.repeat(24)
    const { status, body } = await imported([
      RATE,
      { ...RATE, country: 'NO', price: 0.1 + 0.2 },
      { ...RATE, mccmnc: '24001' },
      { ...RATE, price: '0.1' },
    ])
    expect(status).toBe(400)
    expect(body.errors.map((each: { field: string; code: string }) => `${each.field} ${each.code}`)).toEqual([
      'rates.1.price INVALID_FORMAT',
      'rates.2.mccmnc EXCLUSIVE',
      'rates.3 REPEATED',
    ])
    const unknown = await imported([RATE, { ...RATE, servicePlanId: none }])
    expect(unknown.body.errors).toMatchObject([{ field: 'rates.1.servicePlanId', code: 'NOT_FOUND' }])
    const form = await imported([RATE, { ...RATE, price: 'x' }])
    expect(form.body.errors).toMatchObject([{ field: 'rates.1.price', code: 'INVALID_FORMAT' }])
    expect((await imported([])).status).toBe(400)
    expect(await listed()).toEqual([])
  })
})
