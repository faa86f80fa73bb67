import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseYaml } from '../../../src/commands/configuration/yaml-document.ts'
import { ImportFaults } from '../../../src/commands/import/imported-configuration.ts'
import { importJasmin } from '../../../src/commands/import/jasmin.ts'
import { readJasminText } from '../../../src/commands/import/jasmin-text.ts'
import { yamlOf } from '../../../src/commands/import/written-files.ts'

const imported = (text: string) => importJasmin(readJasminText([{ file: 'jcli.txt', text }]))

/** The file that is written, as `aldis apply` reads it. */
// biome-ignore lint/suspicious/noExplicitAny: a configuration is whatever the test expects of it
function written(text: string): any {
  const { value, faults } = parseYaml(yamlOf(imported(text), 'jcli.txt'), 'aldis.yaml')
  expect(faults).toEqual([])
  return value
}

function faultsOf(text: string): string {
  try {
    imported(text)
  } catch (error) {
    if (error instanceof ImportFaults) return error.message
    throw error
  }
  return ''
}

const connector = (cid: string, ...lines: readonly string[]) =>
  `jcli : smppccm -s ${cid}\nhost ${cid}.example.net\nport 2775\nusername us\npassword pw\nbind transceiver\nsystype \nsrc_addr None\ncid ${cid}\n${lines.join('\n')}\njcli : \n`
const user = (uid: string, gid: string, ...lines: readonly string[]) =>
  `jcli : user -s ${uid}\nusername ${uid}\n${lines.join('\n')}\nuid ${uid}\nsmpps_cred quota max_bindings ND\ngid ${gid}\n`
const routes = (...rows: readonly string[]) =>
  `jcli : mtrouter -l\n#Order Type                    Rate       Connector ID(s)      Filter(s)\n${rows.map((row) => `#${row}   \n\n`).join('')}Total MT Routes: ${rows.length}\n`

const share = (carrier: string, priority = 0) => ({ carrier, priority, weight: 1 })
const CONNECTORS = ['one', 'two', 'three'].map((cid) => connector(cid)).join('')

describe('connectors', () => {
  it('are carriers', () => {
    const lines = [
      'ssl yes',
      'submit_throughput 12',
      'validity 3600',
      'dlr_msgid 1',
      'elink_interval 10',
      'ripf 1',
      'coding 0',
    ]
    const { carriers } = written(connector('Demo', ...lines))
    expect(carriers).toEqual({
      Demo: {
        ...{ state: 'stopped', host: 'Demo.example.net', port: 2775, tls: true, bindMode: 'transceiver' },
        ...{ systemId: 'us', password: { env: 'DEMO_PASSWORD' }, systemType: '', messagesPerSecond: 12 },
        ...{ validitySeconds: 3600, idRule: 'decimal-hex' },
      },
    })
    const { carried, dropped, secrets } = imported(connector('Demo', ...lines))
    expect([...secrets]).toEqual([['DEMO_PASSWORD', 'pw']])
    expect(carried).toContainEqual({
      file: 'jcli.txt',
      line: 11,
      setting: 'submit_throughput',
      object: 'carriers.Demo',
      as: 'messagesPerSecond',
    })
    expect(dropped.map(({ line, setting }) => [line, setting])).toEqual([
      [14, 'elink_interval'],
      [15, 'ripf'],
    ])
  })

  it('must all be shown', () => {
    const list =
      '#Connector id                        Service Session          Starts Stops\n#Demo     started BOUND_TRX 1 0\n#other stopped None 0 0\n'
    expect(faultsOf(connector('Demo') + list)).toBe('jcli.txt:14: the output of smppccm -s other is missing')
    expect(faultsOf(routes('0     DefaultRoute     0 (!)     smppc(gone)'))).toBe(
      'jcli.txt:3: names gone: its smppccm -s gone is missing',
    )
    expect(faultsOf('#Bind id  Since\n#one  today\n#two  today\n')).toBe(
      'jcli.txt:1: is no heading of a list that is imported; remove this list',
    )
  })

  it('are read beside statistics, which are not imported', () => {
    const statistics = 'jcli : stats --users\n#User id  SMPP Bound connections\n#web  2\nTotal users: 1\n'
    expect(Object.keys(written(`${statistics}jcli : \n${connector('Demo')}`).carriers)).toEqual(['Demo'])
  })
})

describe('users', () => {
  it('are plans of the account of their group', () => {
    const lines = [
      'mt_messaging_cred quota http_throughput 8.2',
      'mt_messaging_cred defaultvalue src_addr 358401234567',
      'mt_messaging_cred valuefilter src_addr ^(Shop|Bank)$',
      'mt_messaging_cred quota balance 44.2',
    ]
    const list =
      '#User id          Group id         Username         Balance MT SMS Throughput\n#!idle             shops            idle             ND      ND     ND/ND\n'
    const { accounts, plans, senders } = written(
      user('web', 'shops', ...lines) + user('idle', 'shops') + list,
    )
    expect(accounts).toEqual({ shops: {} })
    expect(plans).toEqual({
      web: { account: 'shops', route: 'nowhere', rateLimit: { messagesPerSecond: 8 } },
      idle: { account: 'shops', route: 'nowhere', active: false },
    })
    const approved = { status: 'approved' }
    expect(senders).toEqual({ web: { Shop: approved, Bank: approved, '+358401234567': approved } })
    expect(imported(user('web', 'shops', ...lines)).dropped.map(({ setting }) => setting)).toEqual([
      'mtrouter',
      'mt_messaging_cred quota http_throughput',
      'username',
      'mt_messaging_cred quota balance',
    ])
  })
})

describe('routes', () => {
  const table = (...rows: readonly string[]) =>
    written(CONNECTORS + user('web', 'shops') + user('app', 'apps') + routes(...rows))

  it('are those of each user, in their order', () => {
    const {
      plans,
      rules,
      routes: found,
    } = table(
      '30    FailoverMTRoute         0 (!)      smppc(two), smppc(three)         <G (gid=shops)>, <DA (dst_addr=^44)>',
      '20    StaticMTRoute           0.05000    smppc(three)     <U (uid=app)>, <SA (src_addr=^Bank$)>',
      '10    RandomRoundrobinMTRoute 0 (!)      smppc(one), smppc(two)         <DA (dst_addr=^(46|47)\\d+)>, <T>',
      '0     DefaultRoute            0 (!)      smppc(one)',
    )
    expect(found).toEqual({
      one: { carriers: [share('one')] },
      'two-then-three': { carriers: [share('two'), share('three', 1)] },
      'one-two': { carriers: [share('one'), share('two')] },
      three: { carriers: [share('three')] },
    })
    expect([plans.web.route, plans.app.route]).toEqual(['one', 'one'])
    expect(Object.values(rules)).toEqual([
      { plan: 'web', prefix: '+44', route: 'two-then-three' },
      { plan: 'web', prefix: '+46', route: 'one-two' },
      { plan: 'web', prefix: '+47', route: 'one-two' },
      { plan: 'app', prefix: '+46', route: 'one-two' },
      { plan: 'app', prefix: '+47', route: 'one-two' },
      { plan: 'app', from: 'Bank', route: 'three' },
    ])
  })

  it('that ask for more than plan, sender and recipient are left out, and said', () => {
    const rows = [
      'SM (msg=^hello.*$)',
      'TG (tag=1)',
      'Ev (pyCode=x ..)',
      'TI (08:00:00,18:00:00)',
      'DA (dst_addr=^85111$)',
      'SA (src_addr=^20\\d+)',
    ]
    const lines = rows.map(
      (filter, index) => `${index + 1}     StaticMTRoute     0 (!)     smppc(two)     <${filter}>`,
    )
    const text =
      CONNECTORS + user('web', 'shops') + routes(...lines, '0     DefaultRoute     0 (!)     smppc(one)')
    expect(Object.keys(written(text).routes)).toEqual(['one'])
    const left = imported(text).dropped.filter(({ setting }) => setting.startsWith('mtrouter'))
    expect(left.map(({ why }) => /<(\w+)/.exec(why)?.[1])).toEqual(['SM', 'TG', 'Ev', 'TI', 'DA', 'SA'])
  })

  it('of inbound messages are said', () => {
    const text =
      'jcli : morouter -l\n#Order Type                    Connector ID(s)                  Filter(s)\n#10    StaticMORoute           http(http_1)                     <T>\n'
    expect(imported(text).dropped).toMatchObject([{ line: 3, setting: 'morouter 10' }])
  })
})

it('reads what the console of Jasmin 0.11.1 printed, with its control characters', () => {
  const {
    plans,
    senders,
    routes: chosen,
    rules,
    carriers,
  } = written(readFileSync(join(import.meta.dirname, '../../vectors/jcli-0.11.1.txt'), 'utf8'))
  expect(carriers).toMatchObject({
    acme: {
      host: '127.0.0.1',
      port: 27751,
      bindMode: 'transceiver',
      messagesPerSecond: 50,
      idRule: 'decimal-hex',
    },
    world: { bindMode: 'transmitter', messagesPerSecond: 1, validitySeconds: 3600 },
  })
  expect(plans).toEqual({
    web: { account: 'shops', route: 'world', rateLimit: { messagesPerSecond: 20 } },
    mob: { account: 'banks', route: 'nowhere' },
    free: { account: 'shops', route: 'world' },
  })
  expect(senders).toMatchObject({ web: { Shop: {}, Bank: {} }, mob: { Bank: {} } })
  expect(chosen['acme-then-world']).toEqual({ carriers: [share('acme'), share('world', 1)] })
  // As Jasmin routed messages of these users: order 28 by sender, 25 by group, 20 by prefix, 0 the rest.
  expect(rules).toEqual({
    'web +358': { plan: 'web', prefix: '+358', route: 'acme-then-world' },
    'web Shop': { plan: 'web', from: 'Shop', route: 'acme' },
    'mob +46': { plan: 'mob', prefix: '+46', route: 'acme-world' },
    'mob +47': { plan: 'mob', prefix: '+47', route: 'acme-world' },
    'free +358': { plan: 'free', prefix: '+358', route: 'acme-then-world' },
  })
})

it('is a configuration or has faults, whatever it is', () => {
  const line = fc.oneof(
    fc.constantFrom(
      'jcli : x',
      '',
      'cid a',
      'uid b',
      'gid __proto__',
      'host h',
      'port x',
      'password p',
      'Total Users: 1',
      connector('a'),
      user('b', 'c'),
    ),
    fc.constantFrom(
      '#Connector id   Service ',
      '#User id    Group id ',
      '#Group id',
      '#!c',
      routes('1 StaticMTRoute 0 (!) smppc(a) <DA (dst_addr=^(4|)>'),
    ),
    fc.constantFrom(
      '#1 StaticMTRoute 0 (!) smppc(a)',
      '#9 FailoverMTRoute 1.5 smppc(a), smppc(a) <SA (src_addr=^x$)>, <U (uid=b)>',
      'mt_messaging_cred valuefilter dst_addr ^(44|45)',
    ),
    fc.string(),
  )
  fc.assert(
    fc.property(
      fc.array(line, { maxLength: 30 }).map((lines) => lines.join('\n')),
      (text) => {
        const faults = faultsOf(text)
        if (faults === '') written(text)
        else for (const each of faults.split('\n')) expect(each).toMatch(/^jcli\.txt:[0-9]+: ./)
      },
    ),
    { numRuns: 1_000 },
  )
})
