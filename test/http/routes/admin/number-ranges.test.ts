import { expect, test } from 'vitest'
import { adminServerOfFile } from '../../../support/admin-server.ts'

const server = await adminServerOfFile()

test('201, then 200: the network of a range, known at once', async () => {
  const created = await server.request('PUT', '/number-ranges/+4474', { mccmnc: '23410' })
  expect(created).toMatchObject({ status: 201, body: { prefix: '+4474', mccmnc: '23410' } })
  await server.request('PUT', '/number-ranges/+447400', { mccmnc: '23415' })
  const directory = () => server.directory.current()
  expect(directory().mccmncOf('+447400123456')).toBe('23415')
  expect(directory().mccmncOf('+447401123456')).toBe('23410')
  const changed = await server.request('PUT', '/number-ranges/+4474', { mccmnc: '310260' })
  expect(changed).toMatchObject({ status: 200, body: { ...created.body, mccmnc: '310260' } })
  expect((await server.request('GET', '/number-ranges/%2B4474')).body).toEqual(changed.body)
  expect(directory().mccmncOf('+447401123456')).toBe('310260')
})

test('204: a range goes, 404 when it is not there', async () => {
  await server.request('PUT', '/number-ranges/+4670', { mccmnc: '24001' })
  expect((await server.request('DELETE', '/number-ranges/+4670')).status).toBe(204)
  expect((await server.request('DELETE', '/number-ranges/+4670')).status).toBe(404)
  expect((await server.request('GET', '/number-ranges/+4670')).status).toBe(404)
})

test.each([
  ['prefix', '/number-ranges/4474', { mccmnc: '23410' }],
  ['prefix', '/number-ranges/+1234567890123456', { mccmnc: '23410' }],
  ['mccmnc', '/number-ranges/+4474', { mccmnc: '2341' }],
  ['mccmnc', '/number-ranges/+4474', { mccmnc: 23410 }],
  ['mccmnc', '/number-ranges/+4474', {}],
])('400 names %s: PUT %s %j', async (field, path, sent) => {
  const { status, body } = await server.request('PUT', path, sent)
  expect(status).toBe(400)
  expect(body.errors.map((each: { field: string }) => each.field)).toEqual([field])
})

const ranges = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({ prefix: `+33${700_000 + from + n}`, mccmnc: '20801' }))

test('200: an import writes over what is there, all or none', async () => {
  const path = '/number-ranges/import'
  const first = await server.request('POST', path, { ranges: ranges(1_000) })
  expect(first).toMatchObject({ status: 200, body: { created: 1_000, changed: 0 } })
  const moved = ranges(20, 990).map((range) => ({ ...range, mccmnc: '20810' }))
  const second = await server.request('POST', path, { ranges: moved })
  expect(second.body).toEqual({ created: 10, changed: 10 })
  expect((await server.request('GET', '/number-ranges/+33700990')).body.mccmnc).toBe('20810')

  const twice = [...ranges(2, 5_000), ...ranges(1, 5_000)]
  const refused = await server.request('POST', path, { ranges: twice })
  expect(refused).toMatchObject({
    status: 400,
    body: { errors: [{ field: 'ranges.2.prefix', code: 'REPEATED' }] },
  })
  expect((await server.request('GET', '/number-ranges/+33705000')).status).toBe(404)
})

test.each([
  ['ranges', { ranges: [] }],
  ['ranges', { ranges: ranges(1_001) }],
  ['ranges', {}],
  ['ranges.1.prefix', { ranges: [...ranges(1), { prefix: '33', mccmnc: '20801' }] }],
  ['ranges.0.mccmnc', { ranges: [{ prefix: '+33' }] }],
])('400 names %s of an import', async (field, sent) => {
  const { status, body } = await server.request('POST', '/number-ranges/import', sent)
  expect(status).toBe(400)
  expect(body.errors[0].field).toBe(field)
})

test('the longest 1,000 ranges fit into one request', async () => {
  const longest = ranges(1_000).map((_, n) => ({ prefix: `+4567890123${10_000 + n}`, mccmnc: '310260' }))
  const sent = await server.request('POST', '/number-ranges/import', { ranges: longest })
  expect(sent.body).toEqual({ created: 1_000, changed: 0 })
})

test('200: the list, in pages, of one network', async () => {
  const first = await server.request('GET', '/number-ranges?limit=2&mccmnc=20801')
  expect(first.body.items.map((range: { prefix: string }) => range.prefix)).toEqual([
    '+33700000',
    '+33700001',
  ])
  const after = encodeURIComponent(first.body.nextAfter)
  const second = await server.request('GET', `/number-ranges?limit=1&mccmnc=20801&after=${after}`)
  expect(second.body.items).toMatchObject([{ prefix: '+33700002' }])
  expect((await server.request('GET', '/number-ranges?mccmnc=1')).status).toBe(400)
})
