import { expect, test } from 'vitest'
import type { Directory } from '../../src/domain/configuration/directory.ts'
import { SecretError } from '../../src/domain/secrets.ts'
import { readDirectory, readDirectoryVersion } from '../../src/store/directory.ts'
import { databaseOfFile, freshDatabase } from '../support/database.ts'
import { aDirectory } from '../support/directory.ts'

const database = await databaseOfFile()

const open = (sealed: string, context: string) => `${sealed} of ${context}`

test('an empty configuration', async () => {
  const { contents } = await readDirectory(database.db, open)
  expect(contents).toEqual({ ...aDirectory().contents, version: expect.stringMatching(/^\d+$/) })
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

test('what cannot be decrypted puts its account, carrier or URL out of service, and nothing else', async () => {
  await using fresh = await freshDatabase()
  const { db } = fresh
  await db.query(`
    insert into accounts (account_id, name, webhook_secret, previous_webhook_secret, webhook_headers, default_dlr_url) values
      ('aaaaaaaaaaaaaaaaaaaaaaaa', 'secret', 'lost', null, null, null),
      ('bbbbbbbbbbbbbbbbbbbbbbbb', 'previous', 'kept', 'lost', null, 'https://example.com/plain'),
      ('cccccccccccccccccccccccc', 'headers', 'kept', null, 'lost', 'v1.kept'),
      ('dddddddddddddddddddddddd', 'whole', 'kept', null, null, 'v1.lost')`)
  await db.query(`
    insert into service_plans (service_plan_id, account_id, name, inbound_url) values
      ('eeeeeeeeeeeeeeeeeeeeeeee', 1, 'plain', 'https://example.com/plain'),
      ('ffffffffffffffffffffffff', 1, 'sealed', 'v1.lost')`)
  await db.query(`
    insert into carriers (name, host, port, system_id, password) values
      ('locked', 'localhost', 2775, 'aldis', 'lost'), ('open', 'localhost', 2775, 'aldis', 'kept')`)
  const lossy = (sealed: string, context: string) => {
    if (sealed.endsWith('lost')) throw new SecretError(`secret of ${context}: damaged`)
    return open(sealed, context)
  }
  const directory = await readDirectory(db, lossy)
  const { contents } = directory
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
  const { unreadable } = directory
  expect(unreadable).toEqual([
    'secret of account aaaaaaaaaaaaaaaaaaaaaaaa: damaged',
    'secret of account bbbbbbbbbbbbbbbbbbbbbbbb: damaged',
    'secret of account cccccccccccccccccccccccc webhook headers: damaged',
    'default DLR URL of account dddddddddddddddddddddddd: secret of callback URL: damaged',
    'secret of carrier 1: damaged',
    'inbound URL of service plan ffffffffffffffffffffffff: secret of callback URL: damaged',
  ])
  // With a wrong key a node must not start. One that runs has the right key.
  const lost = (_sealed: string, context: string) => lossy('lost', context)
  await expect(readDirectory(db, lost)).rejects.toThrow(SecretError)
  const later = await readDirectory(db, lost, aDirectory())
  expect(later.unreadable).toHaveLength(9)
  // What is not read anew stays out of service.
  await db.query(`insert into routes (name) values ('default')`)
  expect((await readDirectory(db, lossy, directory)).unreadable).toEqual(unreadable)
})

/** A row of each table of the configuration, and of some the objects that they refer to. */
const ROWS = `
  insert into accounts (account_id, name, webhook_secret) values ('aaaaaaaaaaaaaaaaaaaaaaaa', 'Example', 'new');
  insert into carriers (name, host, system_id, password) values ('acme', 'localhost', 'aldis', 'pw');
  insert into routes (name) values ('default'), ('other');
  insert into route_carriers (route_id, carrier_id, priority, weight) values (1, 1, 2, 3);
  insert into service_plans (service_plan_id, account_id, name, route_id) values ('bbbbbbbbbbbbbbbbbbbbbbbb', 1, 'alerts', 1);
  insert into tokens (account_id, name, hint, hash) values (1, 'live', '', '\\xabcd');
  insert into operator_tokens (name, role, hint, hash) values ('ops', 'admin', '', '\\xef');
  insert into sender_subscriptions values (1, 'ALDIS', 'approved');
  insert into inbound_numbers values ('+46701234567', 1, '{STOP}');
  insert into sendsms_users (username, plan_id, password_hash) values ('user', 1, 'hash');
  insert into routing_rules (prefix, route_id) values ('+4670', 1);
  insert into sender_rules (country, sender_types) values ('SE', '{e164}');
  insert into number_ranges (prefix, mccmnc) values ('+4670', '24001');
  insert into rates (price, currency) values (1, 'EUR')`

/** A change of each table, and the kinds that a node reads anew for it. */
const CHANGES: readonly (readonly [change: string, kinds: readonly string[]])[] = [
  [`update accounts set name = 'Changed'`, ['accounts', 'plans', 'tokens', 'inboundNumbers', 'sendsmsUsers']],
  [`update carriers set state = 'stopped'`, ['carriers']],
  [`update routes set name = name || '2'`, ['routes', 'plans', 'inboundNumbers', 'sendsmsUsers']],
  ['update route_carriers set weight = 4', ['routes', 'plans', 'inboundNumbers', 'sendsmsUsers']],
  ['update service_plans set active = false', ['plans', 'inboundNumbers', 'sendsmsUsers']],
  ['update tokens set revoked_at = now()', ['tokens']],
  [`update operator_tokens set role = 'support'`, ['operators']],
  [`update sender_subscriptions set status = 'denied'`, ['senders']],
  [`update inbound_numbers set keywords = '{}'`, ['inboundNumbers']],
  [`update sendsms_users set default_sender = 'ALDIS'`, ['sendsmsUsers']],
  ['update routing_rules set route_id = 2', ['rules']],
  [`update sender_rules set country = 'NO'`, ['senderRules']],
  [`update number_ranges set mccmnc = '24007'`, ['networks']],
  ['update rates set price = 2', ['rates']],
  [`insert into rates (country, price, currency) values ('SE', 3, 'EUR')`, ['rates']],
  ['delete from number_ranges', ['networks']],
  // Nothing of these has changed.
  ['delete from rates where id = 0', []],
  [`update routing_rules set route_id = 1 where prefix = '+47'`, []],
]

/** The kinds whose objects are not the same ones. */
function kindsReadAnew(before: Directory, after: Directory): string[] {
  const { version: _version, tableVersions: _versions, unreadable: _unreadable, ...kinds } = after.contents
  const objects = ({ contents }: Directory, kind: string) =>
    kind === 'rules' ? contents.rules.table : contents[kind as keyof typeof contents]
  return Object.keys(kinds).filter((kind) => objects(before, kind) !== objects(after, kind))
}

test('a change raises the version, and only what depends on it is read anew', async () => {
  await using fresh = await freshDatabase()
  const { db } = fresh
  await db.query(ROWS)
  let before = await readDirectory(db, open)
  for (const [change, kinds] of CHANGES) {
    await db.query(change)
    const after = await readDirectory(db, open, before)
    expect(kindsReadAnew(before, after).sort(), change).toEqual(kinds.toSorted())
    const risen = BigInt(after.contents.version) > BigInt(before.contents.version)
    expect(risen, change).toBe(kinds.length > 0)
    // What is kept and what is read anew are together what a new node reads.
    expect(after.contents, change).toEqual((await readDirectory(db, open)).contents)
    before = after
  }
  const swede = { planId: 1, recipient: '+46701234567', country: 'SE', mccmnc: null }
  expect(before.rateFor(swede)).toMatchObject({ price: '3.000000', ptf: '0.000000', currency: 'EUR' })
  expect(before.mccmncOf(swede.recipient)).toBeNull()
})

test('what is kept refers to what was read anew', async () => {
  await using fresh = await freshDatabase()
  const { db } = fresh
  await db.query(ROWS)
  const before = await readDirectory(db, open)
  const token = before.tokenByHash('abcd')!
  expect(before.readablePlanIds(token)).toEqual([1])
  await db.query(`
    insert into service_plans (service_plan_id, account_id, name) values ('cccccccccccccccccccccccc', 1, 'new');
    update routes set name = 'renamed' where id = 1`)
  const after = await readDirectory(db, open, before)
  expect(after.contents.tokens).toBe(before.contents.tokens)
  expect(after.readablePlanIds(token)).toEqual([1, 2])
  const plan = after.planById(1)!
  const [route] = after.contents.routes
  expect(plan.route).toBe(route)
  expect(after.routeFor(plan, 'ALDIS', '+46701234567')).toMatchObject({
    route: { name: 'renamed' },
    rule: { id: 1 },
  })
  expect(after.routeFor(plan, 'ALDIS', '+46701234567')!.route).toBe(route)
  expect(after.inboundNumber('+46701234567')!.plan).toBe(plan)
  expect(after.contents.sendsmsUsers.get('user')!.plan).toBe(plan)
  await db.query(`update accounts set name = 'Changed'`)
  const last = await readDirectory(db, open, after)
  expect(last.planById(1)!.account).toBe(last.contents.accounts[0])
  expect(last.tokenByHash('abcd')!.account).toBe(last.contents.accounts[0])
})

test('a rolled back change leaves the version, and one that commits late is not missed', async () => {
  await using fresh = await freshDatabase()
  const { db } = fresh
  await db.query(ROWS)
  const first = await readDirectory(db, open)
  const client = await db.connect()
  await client.query('begin')
  await client.query(`update accounts set name = 'Not kept'`)
  await client.query('rollback')
  expect(await readDirectoryVersion(db)).toBe(first.contents.version)

  await client.query('begin')
  await client.query(`update carriers set state = 'stopped'`)
  // Another writer waits for the first one to commit, so its version is the later one.
  let isLaterDone = false
  const later = db.query('update rates set price = 7').then(() => {
    isLaterDone = true
  })
  await db.query(`select pg_sleep(0.05)`)
  const between = await readDirectory(db, open, first)
  expect([isLaterDone, kindsReadAnew(first, between)]).toEqual([false, []])
  await client.query('commit')
  client.release()
  await later
  const last = await readDirectory(db, open, between)
  expect(kindsReadAnew(between, last)).toEqual(['carriers', 'rates'])
  expect(last.contents.carriers[0]!.state).toBe('stopped')
})

test('more rows than are read at once', async () => {
  await using fresh = await freshDatabase()
  const { db } = fresh
  await db.query(`
    insert into routes (name) values ('default');
    insert into routing_rules (prefix, route_id) select '+46' || n, 1 from generate_series(100000, 101499) n;
    insert into number_ranges (prefix, mccmnc) select '+46' || n, '24001' from generate_series(100000, 100999) n;
    insert into accounts (account_id, name, webhook_secret)
      select lpad(to_hex(n), 24, '0'), n, 'new' from generate_series(1, 1200) n`)
  const directory = await readDirectory(db, open)
  expect(directory.contents.accounts.map(({ id }) => id)).toEqual(
    Array.from({ length: 1_200 }, (_, n) => n + 1),
  )
  expect(directory.contents.rules.table.size).toBe(1_500)
  expect(['+461000001', '+461009991', '+461010001'].map((each) => directory.mccmncOf(each))).toEqual([
    '24001',
    '24001',
    null,
  ])
})
