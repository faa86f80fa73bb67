import { Compile } from 'typebox/schema'
import { describe, expect, it, test } from 'vitest'
import { adminServerOfFile } from '../../../support/admin-server.ts'
import { storeEvent } from '../../../support/stored-events.ts'

const server = await adminServerOfFile({ state: 'started' })
const { db } = server.database

interface Options {
  readonly query?: string
  readonly ifMatch?: string
  readonly token?: string
}

async function apply(configuration: unknown, { query = '', ifMatch, token }: Options = {}) {
  const response = await fetch(`${server.baseUrl}/admin/v1/configuration/apply${query}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token ?? server.operatorToken}`,
      'content-type': 'application/json',
      ...(ifMatch && { 'if-match': ifMatch }),
    },
    body: JSON.stringify(configuration),
  })
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
  const body = (await response.json()) as any
  return { status: response.status, body, etag: response.headers.get('etag') }
}

const exported = async () => (await server.request('GET', '/configuration')).body

const FILE = {
  accounts: {
    'Example Ltd': {
      accountId: 'a'.repeat(24),
      defaultDlrUrl: 'https://hooks.example.com/dlr',
      webhookHeaders: [{ name: 'x-key', value: 'hush-header' }],
      webhookCredentials: { username: 'me', password: 'hush-basic' },
      rateLimit: { messagesPerSecond: 10 },
    },
  },
  carriers: {
    acme: {
      host: 'smpp.example.net',
      systemId: 'aldis',
      password: 'hush-hsh',
      submitOutcomes: { 69: 'retry' },
    },
    other: { host: 'smpp.example.org', systemId: 'aldis', password: 'hush-oth', tls: true },
  },
  routes: {
    main: {
      carriers: [{ carrier: 'other', priority: 1 }, { carrier: 'acme' }],
      qualityFloor: { minDelivered: 80 },
    },
  },
  plans: {
    Alerts: {
      servicePlanId: 'b'.repeat(24),
      account: 'Example Ltd',
      route: 'main',
      inboundUrl: 'https://user:hush-url@hooks.example.com/in',
      nationalLanguages: ['turkish'],
      optOut: {},
    },
    Trial: { account: 'Example Ltd', sandbox: true },
  },
  senders: { Alerts: { Aldis: { status: 'approved' }, '71234': { status: 'odd', force: true } } },
  numbers: { 71234: { plan: 'Alerts', keywords: ['JOIN'] } },
  rules: {
    'United Kingdom': { country: 'GB', route: 'main' },
    mine: { plan: 'Alerts', from: 'Aldis', route: 'main' },
  },
  senderRules: { gb: { country: 'GB', senderTypes: ['e164'] } },
  rates: {
    all: { price: 0.04, currency: 'EUR' },
    mine: { plan: 'Alerts', mccmnc: '23410', price: '0.0350', ptf: '0.001', currency: 'EUR' },
  },
  ranges: { '+4477': { mccmnc: '23410' } },
}
const WITHHELD = [
  'accounts.Example Ltd.webhookHeaders',
  'accounts.Example Ltd.webhookCredentials',
  'carriers.acme.password',
  'carriers.other.password',
  'plans.Alerts.inboundUrl',
]

describe('a file', () => {
  it('is applied to an empty service, and then changes nothing', async () => {
    const first = await apply(FILE)
    expect(first.body).toMatchObject({ moreChanges: 0, webhookSecrets: [{ name: 'Example Ltd' }] })
    expect(first.status).toBe(200)
    expect(
      first.body.counts.map(({ kind, created }: { kind: string; created: number }) => [kind, created]),
    ).toEqual([
      ['accounts', 1],
      ['carriers', 2],
      ['routes', 1],
      ['plans', 2],
      ['senders', 2],
      ['numbers', 1],
      ['rules', 2],
      ['senderRules', 1],
      ['rates', 2],
      ['ranges', 1],
    ])
    const again = await apply(FILE)
    expect(again.body.changes).toEqual([])
    expect(again.body.version).toBe(first.body.version)
    const out = await exported()
    expect(out.withheld).toEqual(WITHHELD)
    expect(JSON.stringify([out, first.body])).not.toContain('hush')
    const back = await apply(out.configuration, { query: '?prune=true&dryRun=true' })
    expect(back.body.changes).toEqual([])
  })

  it('keeps settings that it omits, and says what differs without secrets', async () => {
    const change = {
      accounts: {
        'Example Ltd': { webhookCredentials: null, defaultDlrUrl: 'https://u:hush-url@hooks.example.com/a' },
      },
      carriers: { acme: { window: 20, password: 'hush-new' } },
      rates: { x: { price: 0.05 } },
    }
    const { body } = await apply(change)
    expect(body.errors).toBeUndefined()
    expect(body.changes).toEqual([
      {
        action: 'update',
        kind: 'accounts',
        name: 'Example Ltd',
        namesakes: [],
        before: { webhookCredentials: '***', defaultDlrUrl: 'https://hooks.example.com/dlr' },
        after: { webhookCredentials: null, defaultDlrUrl: 'https://hooks.example.com/a' },
      },
      {
        action: 'update',
        kind: 'carriers',
        name: 'acme',
        namesakes: [],
        before: { window: 10, password: '***' },
        after: { window: 20, password: '***' },
      },
      {
        action: 'update',
        kind: 'rates',
        name: 'x',
        namesakes: [],
        before: { price: '0.04' },
        after: { price: '0.05' },
      },
    ])
    const { configuration } = await exported()
    expect(configuration.carriers.acme).toMatchObject({ window: 20, host: 'smpp.example.net' })
    const { body: account } = await server.request('GET', `/accounts/${'a'.repeat(24)}`)
    expect(account).toMatchObject({ webhookHeaderNames: ['x-key'], webhookCredentialsSet: false })
    expect((await apply(change)).body.changes).toEqual([])
  })

  it('leaves a sandbox plan its route, even if it asks for none', async () => {
    const { body } = await apply({ plans: { Trial: { route: null } } })
    expect([body.errors, body.changes]).toEqual([undefined, []])
    const { items } = (await server.request('GET', '/service-plans?route=sandbox')).body
    expect(items).toMatchObject([{ name: 'Trial', sandbox: true }])
  })

  it('renames what it names by id', async () => {
    const renamed = { accounts: { 'Renamed Ltd': { accountId: 'A'.repeat(24) } } }
    expect((await apply(renamed)).body.changes).toMatchObject([
      { action: 'update', before: { name: 'Example Ltd' }, after: { name: 'Renamed Ltd' } },
    ])
    const { configuration } = await exported()
    expect(configuration.plans.Alerts.account).toBe('Renamed Ltd')
    expect((await apply({ accounts: { 'Example Ltd': { accountId: 'a'.repeat(24) } } })).status).toBe(200)
  })

  it('says which plans have the name of a new one: its id may be mistyped', async () => {
    const mistyped = { plans: { Alerts: { servicePlanId: `${'b'.repeat(23)}8`, account: 'Example Ltd' } } }
    const { body } = await apply(mistyped, { query: '?dryRun=true' })
    expect(body.changes).toMatchObject([{ action: 'create', name: 'Alerts', namesakes: ['b'.repeat(24)] }])
  })

  it('names several objects of one name by their ids', async () => {
    await server.request('POST', '/accounts', { accountId: 'c'.repeat(24), name: 'Twin' })
    await server.request('POST', '/accounts', { accountId: 'd'.repeat(24), name: 'Twin' })
    const { configuration } = await exported()
    const twin = `Twin (${'c'.repeat(24)})`
    expect(configuration.accounts[twin]).toMatchObject({ accountId: 'c'.repeat(24), name: 'Twin' })
    expect((await apply(configuration, { query: '?prune=true' })).body.changes).toEqual([])
    const refused = await apply({ accounts: { Twin: {} }, plans: { New: { account: 'Twin' } } })
    expect(refused.body.errors.map(({ field }: Fault) => field)).toEqual(['accounts.Twin.accountId'])
    const byId = { plans: { New: { account: 'c'.repeat(24) } } }
    expect((await apply(byId, { query: '?dryRun=true' })).body.changes).toHaveLength(1)
    await server.request('DELETE', `/accounts/${'c'.repeat(24)}`)
    await server.request('DELETE', `/accounts/${'d'.repeat(24)}`)
  })
})

interface Fault {
  readonly field: string
  readonly code: string
}

describe('refused', () => {
  it('400 with all faults, of schemas and of what there is', async () => {
    const { status, body } = await apply({
      accounts: { Bad: { rateLimit: {} }, ' x': {}, Local: { defaultDlrUrl: 'ftp://x.example' } },
      carriers: {
        new: { host: '1.2.3', submitOutcomes: { 0: 'retry', x: 'retry' }, tlsCa: 'x', widnow: 5 },
        bad: { host: '1.2.3', submitOutcomes: { 0: 'retry', x: 'retry' }, tlsCa: 'x' },
        sandbox: { window: 5 },
        '1x': {},
      },
      routes: { main: { carriers: [{ carrier: 'nobody' }, { carrier: 'new' }] }, sandbox: { carriers: [] } },
      plans: {
        Alerts: { account: 'Nobody', sandbox: true },
        Trial: { route: 'main' },
        Late: { account: 'Nobody', validitySeconds: 'x', maxValiditySeconds: 60 },
        New: { account: 'Bad', route: 'sandbox', optOut: { stopWords: ['!'] } },
      },
      senders: { Nobody: { Aldis: { status: 'approved' } }, Alerts: { '!': { status: 'x' } } },
      numbers: { x: { plan: 'Alerts' }, 71234: { keywords: ['a', 'A'] } },
      rules: { none: { route: 'main' }, two: { prefix: '+44', country: 'GB', route: 'gone' } },
      senderRules: { none: { senderTypes: ['e164'] }, xx: { country: 'XX', senderTypes: [] } },
      rates: {
        a: { price: -1, currency: 'EUR' },
        b: { country: 'GB' },
        c: { country: 'GB', price: 1, currency: 'EUR' },
      },
      ranges: { 44: { mccmnc: '23410' }, '+44': { mccmnc: 23410 }, '+45': {} },
      carrier: {},
      toString: {},
    })
    expect(status).toBe(400)
    const lines = body.errors.map(({ field, code }: Fault) => `${field} ${code}`)
    expect(lines).toMatchInlineSnapshot(`
      [
        "accounts.Bad.rateLimit.messagesPerSecond REQUIRED",
        "accounts. x INVALID_FORMAT",
        "carriers.new.widnow UNKNOWN_FIELD",
        "carriers.1x INVALID_FORMAT",
        "plans.Late.validitySeconds WRONG_TYPE",
        "numbers.x INVALID_FORMAT",
        "senderRules.none.country REQUIRED",
        "rates.a.price OUT_OF_RANGE",
        "ranges.44 INVALID_FORMAT",
        "ranges.+44.mccmnc WRONG_TYPE",
        "carrier UNKNOWN_FIELD",
        "toString UNKNOWN_FIELD",
        "accounts.Local.defaultDlrUrl INVALID_SCHEME",
        "carriers.bad.host INVALID_FORMAT",
        "carriers.bad.tlsCa INVALID_FORMAT",
        "carriers.bad.submitOutcomes.0 NOT_ALLOWED",
        "carriers.bad.submitOutcomes.x INVALID_FORMAT",
        "carriers.sandbox NOT_ALLOWED",
        "carriers.bad.systemId REQUIRED",
        "carriers.bad.password REQUIRED",
        "routes.main.carriers.0.carrier NOT_FOUND",
        "routes.sandbox NOT_ALLOWED",
        "plans.Alerts.account NOT_FOUND",
        "plans.Alerts.sandbox NOT_ALLOWED",
        "plans.Trial.route NOT_ALLOWED",
        "plans.Late.account NOT_FOUND",
        "plans.New.optOut.stopWords.0 INVALID_FORMAT",
        "senders.Nobody NOT_FOUND",
        "senders.Alerts.! INVALID_FORMAT",
        "senders.Alerts.!.status UNKNOWN_STATUS",
        "numbers.71234.keywords REPEATED",
        "rules.none REQUIRED",
        "rules.two.route NOT_FOUND",
        "rules.two.country EXCLUSIVE",
        "senderRules.xx.country NOT_FOUND",
        "rates.c REPEATED",
        "rates.b.price REQUIRED",
        "rates.b.currency REQUIRED",
        "ranges.+45.mccmnc REQUIRED",
      ]
    `)
    expect(body.errors.find(({ field }: Fault) => field === 'carriers.new.widnow').message).toBe(
      'is not a setting of carriers; did you mean window?',
    )
  })

  test.each([
    ['a list', [], 'request'],
    ['a kind that is no map', { carriers: [] }, 'carriers'],
    ['an object that is no map', { carriers: { acme: 5 } }, 'carriers.acme'],
    ['an If-Match that is no version', {}, 'If-Match'],
    ['a confirmation of nothing', {}, 'confirm'],
    ['a confirmation without a number', {}, 'confirm'],
    ['a dry run that is neither', {}, 'dryRun'],
  ])('400 for %s', async (what, configuration, field) => {
    const query = { confirm: '?confirm=things=5', dryRun: '?dryRun=yes' }[field] ?? ''
    const { status, body } = await apply(configuration, {
      query: what.endsWith('number') ? '?confirm=rates' : query,
      ...(field === 'If-Match' && { ifMatch: 'W/"x"' }),
    })
    expect([status, body.errors[0].field]).toEqual([400, field])
  })

  it('400 for names and statuses that are no Unicode', async () => {
    const configuration = {
      accounts: { 'a\ud800': {} },
      senders: { Alerts: { Aldis: { status: '\ud800', force: true } } },
    }
    const { status, body } = await apply(configuration)
    expect(status).toBe(400)
    expect(body.errors.map(({ field }: { field: string }) => field)).toEqual([
      'accounts.a\ud800',
      'senders.Alerts.Aldis.status',
    ])
  })

  it('400 for a rule of a plan that does not exist, and for nothing else', async () => {
    const { body } = await apply({ rules: { x: { plan: 'Nobody', route: 'main' } } })
    expect(body.errors.map(({ field }: Fault) => field)).toEqual(['rules.x.plan'])
  })

  it('400 for one object by two names', async () => {
    const rate = { country: 'FR', price: 1, currency: 'EUR' }
    const { body } = await apply({ rates: { a: rate, b: { ...rate, price: 2 } } })
    expect(body.errors).toEqual([
      { field: 'rates.b', code: 'REPEATED', message: 'must not be the same object as rates.a' },
    ])
    const accounts = { a: { name: 'Two' }, b: { name: 'Two' } }
    expect((await apply({ accounts })).body.errors).toMatchObject([{ field: 'accounts.b', code: 'REPEATED' }])
  })

  it('401 without a token, 403 to the role support', async () => {
    expect((await apply({}, { token: 'x' })).status).toBe(401)
    const { body } = await server.request('POST', '/operator-tokens', { name: 'Reader', role: 'support' })
    expect((await apply({}, { token: body.token })).status).toBe(403)
    expect((await server.request('GET', '/configuration', undefined, body.token)).status).toBe(200)
  })

  it('412 when somebody changed the configuration', async () => {
    const { version } = await exported()
    const range = { ranges: { '+4478': { mccmnc: '23415' } } }
    const first = await apply(range, { ifMatch: `"${version}"` })
    expect([first.status, first.etag]).toEqual([200, `"${first.body.version}"`])
    const second = await apply({ ranges: {} }, { ifMatch: `"${version}"` })
    expect([second.status, second.body.errorCode]).toEqual([412, 'PRECONDITION_FAILED'])
    expect((await apply({}, { ifMatch: '*' })).status).toBe(200)
  })

  it('413 for more than 32 MiB', async () => {
    const { status, body } = await apply({ ranges: { '+44': { mccmnc: 'x'.repeat(32 * 1024 * 1024) } } })
    expect([status, body.errorCode]).toEqual([413, 'MESSAGE_TOO_LARGE'])
  })
})

describe('pruning', () => {
  const ranges = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`+99${at}`, { mccmnc: '23410' }]))
  const without = (count: number) => ({ ranges: Object.fromEntries(Object.entries(ranges).slice(count)) })
  const stored = async () => Object.keys((await exported()).configuration.ranges)

  it('deletes nothing unless it is asked for, and then of the kinds of the file', async () => {
    await apply({ ranges: { ...FILE.ranges, ...ranges } })
    expect((await apply(without(0))).body.changes).toEqual([])
    const { body } = await apply(without(0), { query: '?prune=true' })
    expect(
      body.changes.map(({ action, kind, name }: Record<string, string>) => [action, kind, name]),
    ).toEqual([
      ['delete', 'ranges', '+4477'],
      ['delete', 'ranges', '+4478'],
    ])
    expect(Object.keys((await exported()).configuration.carriers)).toEqual(['acme', 'other'])
  })

  it('of more than 20 % needs the number', async () => {
    expect((await apply(without(2), { query: '?prune=true' })).status).toBe(200)
    const looked = await apply(without(5), { query: '?prune=true&dryRun=true' })
    expect(looked.body.counts).toMatchObject([{ deleted: 3, unconfirmed: true }])
    for (const query of ['?prune=true', '?prune=true&confirm=ranges=2']) {
      const { status, body } = await apply(without(5), { query })
      expect([status, body.errorMessage]).toEqual([
        409,
        'More than 20 % of a kind needs its number confirmed: 3 of 8 ranges would be deleted (confirm ranges=3)',
      ])
    }
    expect(await stored()).toHaveLength(8)
    expect((await apply(without(5), { query: '?prune=true&confirm=ranges=3' })).status).toBe(200)
    expect(await stored()).toHaveLength(5)
  })

  it('makes room for what is created', async () => {
    await db.query(`
      insert into sendsms_users (username, plan_id, password_hash)
      select 'user' || n, (select id from service_plans where name = 'Alerts'), 'none' from generate_series(1, 1000) n`)
    const one = { sendsmsUsers: { one: { plan: 'Alerts', password: 'hush-one' } } }
    for (const query of ['?dryRun=true', '']) {
      const { status, body } = await apply(one, { query })
      expect([status, body.errorMessage]).toEqual([
        409,
        'there can be at most 1000 sendsms users, and there would be 1001',
      ])
    }
    expect((await apply(one, { query: '?prune=true&confirm=sendsmsUsers=1000' })).status).toBe(200)
    const { status } = await apply({ sendsmsUsers: {} }, { query: '?prune=true&confirm=sendsmsUsers=1' })
    expect(status).toBe(200)
  })

  it('409 for a plan with messages, and for what others name', async () => {
    const { plans } = (await exported()).configuration
    const planId = (await db.query('select id from service_plans where name = $1', ['Trial'])).rows[0].id
    await storeEvent(db, { planId, state: 'delivered' })
    const query = '?prune=true&confirm=plans=1,carriers=1,senders=2,numbers=1,rules=1,rates=1'
    const used = await apply({ plans: { Alerts: plans.Alerts } }, { query })
    expect([used.status, used.body.errorMessage]).toEqual([
      409,
      'Service plans that are in use cannot be deleted, but made inactive: Trial (messages)',
    ])
    const { rules, rates } = FILE
    const kept = { rules: { gb: rules['United Kingdom'] }, rates: { all: rates.all } }
    const named = await apply({ plans: { Trial: plans.Trial }, ...kept }, { query })
    expect([named.status, named.body.errorMessage]).toEqual([
      409,
      `Objects cannot be deleted while others name them: service plan Alerts (inbound number 71234, sender Alerts/71234, sender Alerts/Aldis)`,
    ])
    const carriers = { acme: {} }
    for (const dryRun of ['', '&dryRun=true']) {
      const routed = await apply({ carriers }, { query: `${query}${dryRun}` })
      expect([routed.status, routed.body.errorMessage]).toEqual([
        409,
        'Objects cannot be deleted while others name them: carrier other (route main)',
      ])
      const owned = await apply({ accounts: {} }, { query: `?prune=true&confirm=accounts=1${dryRun}` })
      expect([owned.status, owned.body.errorMessage]).toEqual([
        409,
        'Objects cannot be deleted while others name them: account Example Ltd (service plan Alerts, service plan Trial)',
      ])
    }
    const routes = { main: { carriers: [{ carrier: 'acme' }] } }
    const together = await apply(
      { carriers, routes, plans: { Trial: {} }, senders: {}, numbers: {}, ...kept },
      { query },
    )
    expect(together.status).toBe(200)
    const { configuration } = await exported()
    expect(Object.keys(configuration.plans)).toEqual(['Trial'])
    expect(Object.keys(configuration.rates)).toEqual(['any'])
  })

  it('409 for a plan whose rules and rates the file keeps, or does not have', async () => {
    const { plans } = FILE
    await apply({
      plans: { Old: { account: 'Example Ltd' } },
      rates: { old: { ...FILE.rates.all, plan: 'Old' } },
    })
    const rules = { gb: { country: 'GB', route: 'main' } }
    const query = '?prune=true&confirm=plans=1,rates=2'
    const of = (kinds: string) => [
      409,
      `Objects cannot be deleted while others name them: service plan Old (${kinds})`,
    ]
    const wanted = { plans: { Trial: plans.Trial } }
    for (const dryRun of ['', '&dryRun=true']) {
      const silent = await apply(wanted, { query: `${query}${dryRun}` })
      expect([silent.status, silent.body.errorMessage]).toEqual(of('rate Old'))
      const added = await apply(
        { ...wanted, rules: { ...rules, old: { ...rules.gb, plan: 'Old' } }, rates: {} },
        { query: `${query}${dryRun}` },
      )
      expect([added.status, added.body.errorMessage]).toEqual(of('routing rule old'))
    }
    const rates = { all: FILE.rates.all }
    const { status } = await apply({ ...wanted, rates }, { query: '?prune=true&confirm=plans=1,rates=1' })
    expect(status).toBe(200)
  })

  it('409 for an account with a live token', async () => {
    const query = '?prune=true&confirm=accounts=1'
    const kept = { accounts: { 'Example Ltd': {} } }
    await server.request('POST', '/accounts', { accountId: 'e'.repeat(24), name: 'Former' })
    const { body: token } = await server.request('POST', '/tokens', {
      accountId: 'e'.repeat(24),
      name: 'live',
    })
    for (const dryRun of ['', '&dryRun=true']) {
      const { status, body } = await apply(kept, { query: `${query}${dryRun}` })
      expect([status, body.errorMessage]).toEqual([
        409,
        'Accounts with live tokens cannot be deleted: Former',
      ])
    }
    await server.request('DELETE', `/tokens/${token.tokenId}`)
    expect((await apply(kept, { query })).status).toBe(200)
  })

  it('leaves the objects of the sandbox alone', async () => {
    const { status } = await apply(
      { accounts: { 'Example Ltd': {} }, routes: {}, rules: {}, carriers: {} },
      {
        query: '?prune=true&confirm=routes=1,rules=1,carriers=1',
      },
    )
    expect(status).toBe(200)
    const { rows } = await db.query('select name from carriers union all select name from routes')
    expect(rows).toEqual([{ name: 'sandbox' }, { name: 'sandbox' }])
  })
})

describe('the audit log', () => {
  const entries = async () =>
    (await server.request('GET', '/audit-log?operation=applyConfiguration&limit=1000')).body.items

  it('has a row for each object, and none of a dry run or of no change', async () => {
    const before = (await entries()).length
    await apply({ ranges: { '+881': { mccmnc: '90101' } } }, { query: '?dryRun=true' })
    expect(await entries()).toHaveLength(before)
    const carrier = { host: 'smpp.example.net', systemId: 'aldis', password: 'hush-hsh' }
    await apply({ carriers: { a: carrier, b: carrier }, ranges: { '+881': { mccmnc: '90101' } } })
    await apply({ carriers: { a: carrier } })
    const added = (await entries()).slice(0, -before)
    expect(added).toMatchObject([
      { objectType: 'number-range', objectId: '+881', before: null, after: { mccmnc: '90101' } },
      { objectType: 'carrier', objectId: 'b', before: null, after: { password: '***' } },
      { objectType: 'carrier', objectId: 'a', before: null },
    ])
    await apply({ carriers: { a: { password: 'hush-2' } } })
    const [changed] = await entries()
    expect(changed).toMatchObject({ objectId: 'a', after: { host: carrier.host, password: '***' } })
    expect(JSON.stringify(await entries())).not.toContain('hush')
  })

  it('says what a rate applies to', async () => {
    await apply({ rates: { 'in the file': { country: 'NZ', price: '0.1', currency: 'EUR' } } })
    const [created] = await entries()
    expect(created).toMatchObject({ objectType: 'rate', after: { country: 'NZ', price: '0.1' } })
    expect(created.after).not.toHaveProperty('prefix')
  })

  it('has the numbers of a kind of which more than 1,000 change', async () => {
    const prefixes = Array.from({ length: 1_001 }, (_, at) => `+7${1_000 + at}`)
    const ranges = Object.fromEntries(prefixes.map((prefix) => [prefix, { mccmnc: '25001' }]))
    const { body } = await apply({ ranges })
    expect([body.changes.length, body.moreChanges]).toEqual([1_000, 1])
    const [entry] = await entries()
    expect(entry).toMatchObject({ objectType: 'number-range', objectId: '', after: { created: 1_001 } })
  })
})

it('the schema for editors says what the API says, and knows values from outside', async () => {
  const response = await fetch(`${server.baseUrl}/docs/aldis.schema.json`)
  expect(response.headers.get('content-type')).toBe('application/schema+json; charset=utf-8')
  const schema = Compile((await response.json()) as object)
  expect(schema.Errors(FILE)[1]).toEqual([])
  expect(schema.Errors((await exported()).configuration)[1]).toEqual([])
  const password = { env: 'PASSWORD' }
  const outside = {
    carriers: { acme: { password, tlsCa: { file: 'ca.pem' } } },
    rates: { file: 'rates.csv' },
  }
  expect(schema.Errors(outside)[1]).toEqual([])
  for (const wrong of [{ carriers: { acme: { widnow: 5 } } }, { carriers: { '1x': {} } }, { carrier: {} }])
    expect(schema.Check(wrong)).toBe(false)
})
