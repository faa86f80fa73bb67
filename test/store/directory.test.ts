import { expect, test } from 'vitest'
import { SecretError } from '../../src/domain/secrets.ts'
import { readDirectory, readDirectoryVersion } from '../../src/store/directory.ts'
import { databaseOfFile, freshDatabase } from '../support/database.ts'
import { aDirectory } from '../support/directory.ts'

const database = await databaseOfFile()

const open = (sealed: string, context: string) => `${sealed} of ${context}`

test('an empty configuration', async () => {
  const { contents } = await readDirectory(database.db, open)
  expect(contents).toEqual({
    ...aDirectory().contents,
    version: expect.stringMatching(/^\d+$/),
    bulkVersion: expect.stringMatching(/^\d+$/),
  })
})

test('rates and number ranges are read anew only when they have changed', async () => {
  await using fresh = await freshDatabase()
  const { db } = fresh
  await db.query(`insert into rates (price, currency) values (1, 'EUR')`)
  await db.query(`insert into number_ranges (prefix, mccmnc) values ('+4670', '24001')`)
  const message = { planId: 1, recipient: '+46701234567', country: 'SE', mccmnc: null }
  const first = await readDirectory(db, open)
  await db.query(`insert into routes (name) values ('default')`)
  await db.query('delete from rates where id = 0')
  await db.query(`update number_ranges set mccmnc = '24002' where prefix = '+47'`)
  const second = await readDirectory(db, open, first)
  expect(second.contents.version).not.toBe(first.contents.version)
  expect(second.contents.routes).toHaveLength(1)
  expect(second.contents.rates).toBe(first.contents.rates)
  expect(second.contents.networks).toBe(first.contents.networks)
  expect([second.rateFor(message)?.price, second.mccmncOf('+46701234567')]).toEqual(['1.000000', '24001'])

  for (const change of [
    `insert into rates (country, price, currency) values ('SE', 2, 'EUR')`,
    `update number_ranges set mccmnc = '24007'`,
    'delete from rates where country is null',
  ]) {
    const before = await readDirectoryVersion(db)
    await db.query(change)
    expect(await readDirectoryVersion(db)).not.toBe(before)
  }
  const third = await readDirectory(db, open, second)
  expect(third.contents.rates.size).toBe(1)
  expect([third.rateFor(message)?.price, third.mccmncOf('+46701234567')]).toEqual(['2.000000', '24007'])
})

test('everything, with its references resolved', async () => {
  const { db } = database
  await db.query(`
    insert into accounts (account_id, name, webhook_secret, previous_webhook_secret, messages_per_second)
    values ('aaaaaaaaaaaaaaaaaaaaaaaa', 'Example', 'new', 'old', 7)`)
  await db.query(`
    insert into carriers (name, host, port, system_id, password) values ('acme', 'localhost', 2775, 'aldis', 'pw')`)
  await db.query(`insert into routes (name) values ('default'), ('empty')`)
  await db.query('insert into route_carriers (route_id, carrier_id, priority, weight) values (1, 1, 2, 3)')
  await db.query(`
    insert into service_plans (service_plan_id, account_id, name, route_id, messages_per_second, burst)
    values ('bbbbbbbbbbbbbbbbbbbbbbbb', 1, 'alerts', 1, 5, 50)`)
  await db.query(`
    insert into tokens (account_id, plan_ids, name, hint, hash, revoked_at)
    values (1, '{1}', 'live', '', '\\xabcd', null), (1, null, 'dead', '', '\\xef01', now())`)
  await db.query(`insert into sender_subscriptions values (1, 'constructor', 'approved')`)
  await db.query(`insert into inbound_numbers values ('+46701234567', 1, '{STOP}')`)

  const directory = await readDirectory(db, open)
  const account = directory.contents.accounts.find(({ id }) => id === 1)!
  expect(account.webhookSecrets).toEqual([
    'new of account aaaaaaaaaaaaaaaaaaaaaaaa',
    'old of account aaaaaaaaaaaaaaaaaaaaaaaa',
  ])
  expect(account.rateLimit).toEqual({ perSecond: 7, burst: 7 })
  const plan = directory.planByPublicId('BBBBbbbbBBBBbbbbBBBBbbbb')!
  expect(plan.account).toBe(account)
  expect(plan.route).toEqual({
    id: 1,
    name: 'default',
    carriers: [{ carrierId: 1, priority: 2, weight: 3 }],
    qualityFloor: null,
  })
  expect(plan.rateLimit).toEqual({ perSecond: 5, burst: 50 })
  expect(plan.senderTypes).toEqual(new Set(['short-code', 'e164', 'alphanumeric']))
  expect(directory.tokenByHash('abcd')).toMatchObject({ id: 1, account, planIds: new Set([1]), scopes: null })
  expect(directory.tokenByHash('ef01')).toBeUndefined()
  expect(directory.senderStatus(1, 'constructor')).toBe('approved')
  expect(directory.senderStatus(1, 'toString')).toBeUndefined()
  expect(directory.inboundNumber('+46701234567')).toEqual({
    number: '+46701234567',
    plan,
    keywords: ['STOP'],
  })
  expect(directory.carrierById(1)).toMatchObject({ name: 'acme', password: 'pw of carrier 1', window: 10 })
  expect(directory.contents.routes).toHaveLength(2)
})

test('what cannot be decrypted puts its account or carrier out of service, and nothing else', async () => {
  await using fresh = await freshDatabase()
  const { db } = fresh
  await db.query(`
    insert into accounts (account_id, name, webhook_secret, previous_webhook_secret, webhook_headers) values
      ('aaaaaaaaaaaaaaaaaaaaaaaa', 'secret', 'lost', null, null),
      ('bbbbbbbbbbbbbbbbbbbbbbbb', 'previous', 'kept', 'lost', null),
      ('cccccccccccccccccccccccc', 'headers', 'kept', null, 'lost'),
      ('dddddddddddddddddddddddd', 'whole', 'kept', null, null)`)
  await db.query(`
    insert into carriers (name, host, port, system_id, password) values
      ('locked', 'localhost', 2775, 'aldis', 'lost'), ('open', 'localhost', 2775, 'aldis', 'kept')`)
  const lossy = (sealed: string, context: string) => {
    if (sealed === 'lost') throw new SecretError(`secret of ${context}: damaged`)
    return open(sealed, context)
  }
  const { contents } = await readDirectory(db, lossy)
  expect(contents.accounts.map(({ name, webhookSecrets }) => [name, webhookSecrets])).toEqual([
    ['secret', null],
    ['previous', null],
    ['headers', null],
    ['whole', ['kept of account dddddddddddddddddddddddd']],
  ])
  expect(contents.carriers.map(({ name, state, password }) => [name, state, password])).toEqual([
    ['locked', 'stopped', ''],
    ['open', 'started', 'kept of carrier 2'],
  ])
  expect(contents.unreadable).toEqual([
    'secret of account aaaaaaaaaaaaaaaaaaaaaaaa: damaged',
    'secret of account bbbbbbbbbbbbbbbbbbbbbbbb: damaged',
    'secret of account cccccccccccccccccccccccc webhook headers: damaged',
    'secret of carrier 1: damaged',
  ])
  // With a wrong key a node must not start. One that runs has the right key.
  const lost = (_sealed: string, context: string) => lossy('lost', context)
  await expect(readDirectory(db, lost)).rejects.toThrow(SecretError)
  const later = await readDirectory(db, lost, aDirectory())
  expect(later.contents.unreadable).toHaveLength(6)
})

test('every change raises the version, a rolled back one does not', async () => {
  const { db } = database
  let version = await readDirectoryVersion(db)
  const changes = [
    `update accounts set name = 'Changed'`,
    `update service_plans set active = false`,
    `update tokens set revoked_at = now() where revoked_at is null`,
    `update sender_subscriptions set status = 'denied'`,
    `delete from inbound_numbers`,
    `update route_carriers set weight = 4`,
    `update routes set name = name || '2'`,
    `update carriers set state = 'stopped'`,
  ]
  for (const change of changes) {
    await db.query(change)
    const next = await readDirectoryVersion(db)
    expect(BigInt(next), change).toBeGreaterThan(BigInt(version))
    version = next
  }
  const client = await db.connect()
  await client.query('begin')
  await client.query(`update accounts set name = 'Not kept'`)
  await client.query('rollback')
  client.release()
  expect(await readDirectoryVersion(db)).toBe(version)
})

test('rates and number ranges are read when they have changed, and kept when something else has', async () => {
  const { db } = database
  await db.query(`insert into rates (country, price, currency) values ('SE', 0.0075, 'EUR')`)
  await db.query(`insert into number_ranges (prefix, mccmnc) values ('+4670', '24001')`)
  const swede = { planId: 1, recipient: '+46701234567', country: 'SE', mccmnc: null }
  const first = await readDirectory(db, open)
  expect(first.rateFor(swede)).toMatchObject({ price: '0.007500', ptf: '0.000000', currency: 'EUR' })
  expect(first.mccmncOf(swede.recipient)).toBe('24001')

  await db.query(`insert into routes (name) values ('another')`)
  const second = await readDirectory(db, open, first)
  expect(second.contents.routes).toHaveLength(first.contents.routes.length + 1)
  expect(second.contents.rates).toBe(first.contents.rates)
  expect(second.contents.networks).toBe(first.contents.networks)
  expect(second.rateFor(swede)).toBe(first.rateFor(swede))
  expect(second.mccmncOf(swede.recipient)).toBe('24001')

  await db.query('update rates set price = 1')
  const third = await readDirectory(db, open, second)
  expect(third.rateFor(swede)?.price).toBe('1.000000')
  await db.query('delete from number_ranges')
  const fourth = await readDirectory(db, open, third)
  expect(fourth.mccmncOf(swede.recipient)).toBeNull()
  expect(fourth.contents.rates).toEqual(third.contents.rates)
})
