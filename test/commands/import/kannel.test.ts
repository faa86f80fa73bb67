import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseYaml } from '../../../src/commands/configuration/yaml-document.ts'
import { ImportFaults } from '../../../src/commands/import/imported-configuration.ts'
import { importKannel } from '../../../src/commands/import/kannel.ts'
import { type ReadPath, readKannelFiles } from '../../../src/commands/import/kannel-groups.ts'
import { yamlOf } from '../../../src/commands/import/written-files.ts'

/** Files by name; a folder is a list. */
const readerOf =
  (files: Readonly<Record<string, string | readonly string[]>>): ReadPath =>
  (path) =>
    Object.hasOwn(files, path) ? files[path]! : null

const imported = (text: string, more: Readonly<Record<string, string | readonly string[]>> = {}) =>
  importKannel(readKannelFiles('kannel.conf', readerOf({ 'kannel.conf': text, ...more })))

/** The file that is written, as `aldis apply` reads it. */
// biome-ignore lint/suspicious/noExplicitAny: a configuration is whatever the test expects of it
function written(text: string, more: Readonly<Record<string, string | readonly string[]>> = {}): any {
  const { value, faults } = parseYaml(yamlOf(imported(text, more), 'kannel.conf'), 'aldis.yaml')
  expect(faults).toEqual([])
  return value
}

function faultsOf(text: string, more: Readonly<Record<string, string | readonly string[]>> = {}): string {
  try {
    imported(text, more)
  } catch (error) {
    if (error instanceof ImportFaults) return error.message
    throw error
  }
  return ''
}

const smsc = (...lines: readonly string[]) =>
  [
    'group = smsc',
    'smsc = smpp',
    'host = smpp.example.net',
    'port = 2775',
    'smsc-username = us',
    'smsc-password = pw',
    ...lines,
    '',
    '',
  ].join('\n')
const user = (...lines: readonly string[]) =>
  ['group = sendsms-user', 'username = shop', 'password = pw', ...lines, '', ''].join('\n')

describe('the files', () => {
  it('quotes, comments inside groups, joined lines and included files and folders', () => {
    const text = `# a comment
group = smsc
smsc = smpp
# does not end the group
smsc-id = "acme"
host = smpp.\\
example.net
smsc-username = "say \\"hi\\""
smsc-password = a=b
include = "ports.conf"

group = core
admin-port = 13000
include = more
`
    const files = {
      'ports.conf': 'transceiver-mode = yes\nport = 3550\n',
      more: ['b.conf', 'a.conf'],
      'more/a.conf': 'group = sendsms-user\nusername = one\npassword = "1"',
      'more/b.conf': 'group = sendsms-user\nusername = two\npassword = 2',
    }
    const { carriers, sendsmsUsers } = written(text, files)
    expect(carriers.acme).toMatchObject({
      host: 'smpp.example.net',
      port: 3550,
      bindMode: 'transceiver',
      systemId: 'say "hi"',
      password: { env: 'ACME_PASSWORD' },
    })
    expect(Object.keys(sendsmsUsers)).toEqual(['one', 'two'])
    const why = expect.stringContaining('operator tokens')
    expect(imported(text, files).dropped).toContainEqual(
      expect.objectContaining({ setting: 'admin-port', why }),
    )
    expect([...imported(text, files).secrets]).toEqual([
      ['ACME_PASSWORD', 'a=b'],
      ['ONE_SENDSMS_PASSWORD', '1'],
      ['TWO_SENDSMS_PASSWORD', '2'],
    ])
  })

  it('tells all faults with their lines', () => {
    const files = { 'again.conf': 'include = "kannel.conf"' }
    const text = 'group = core\nadmin-port\n\nhost = x\n\ninclude = gone\ninclude = again.conf\n'
    expect(faultsOf(text, files)).toBe(`kannel.conf:2: is no line of the form name = value
kannel.conf:4: begins a group that has no line "group = …"
kannel.conf:6: gone cannot be read
again.conf:1: includes kannel.conf again`)
    expect(faultsOf('group = smsc\nsmsc = smpp\n\n')).toBe(
      ['host', 'smsc-password', 'smsc-username', 'port']
        .map((name) => `kannel.conf:1: smsc has no ${name}`)
        .join('\n'),
    )
    expect(faultsOf(smsc('port = x'))).toBe('kannel.conf:1: smsc has no port')
    expect(faultsOf(user() + user())).toBe('kannel.conf:5: shop is also the user of line 1')
  })

  it('is a configuration or has faults, whatever it is', () => {
    const names = [
      'group',
      'smsc',
      'smsc-id',
      'host',
      'port',
      'include',
      'username',
      'password',
      'allowed-prefix',
      'denied-prefix-regex',
      'throughput',
      '__proto__',
      'constructor',
    ]
    const values = [
      'smsc',
      'smpp',
      'sendsms-user',
      'core',
      '"a',
      '"',
      '0x1',
      '',
      '+44;040',
      '^(4',
      'kannel.conf',
      '__proto__',
    ]
    const setting = fc
      .tuple(fc.constantFrom(...names), fc.constantFrom(...values))
      .map((pair) => pair.join(' = '))
    const whole = [
      'group = smsc',
      'smsc = smpp',
      'host = h',
      'port = 1',
      'smsc-username = u',
      'smsc-password = p',
    ].join('\n')
    const line = fc.oneof(
      setting,
      setting,
      fc.constantFrom('', '\\', whole, 'group = sendsms-user\nusername = u\npassword = p'),
      fc.string(),
    )
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 30 }).map((lines) => lines.join('\n')),
        (text) => {
          const faults = faultsOf(text)
          if (faults === '') written(text)
          else for (const each of faults.split('\n')) expect(each).toMatch(/^kannel\.conf:[0-9]+: ./)
        },
      ),
      { numRuns: 1_000 },
    )
  })
})

describe('carriers', () => {
  const carriersOf = (text: string) => written(text).carriers

  it('are the groups of an id: equal ones are binds, a transmitter and a receiver a pair', () => {
    const pair = [
      smsc('smsc-id = A', 'throughput = 10'),
      smsc('smsc-id = A', 'instances = 2', 'throughput = 20.4'),
    ].join('')
    expect(carriersOf(pair)).toMatchObject({
      A: { binds: 3, bindMode: 'transmitter', messagesPerSecond: 51 },
    })
    expect(written(pair + smsc('smsc-id = B')).routes).toEqual({
      'A-B': { carriers: [share('A', 0, 3), share('B')] },
    })
    const receiver = smsc('smsc-id = A').replace('port', 'receive-port')
    expect(carriersOf(smsc('smsc-id = A') + receiver)).toMatchObject({
      A: { binds: 1, bindMode: 'transmitter+receiver', port: 2775 },
    })
    expect(carriersOf(receiver)).toMatchObject({ A: { bindMode: 'receiver' } })
    const stranger = receiver.replace('us\n', 'them\n')
    expect(Object.keys(carriersOf(smsc('smsc-id = A') + stranger))).toEqual(['A', 'A-2'])
    const hosts = smsc('smsc-id = A') + smsc('smsc-id = A', 'host = other.example.net')
    expect(
      Object.entries(carriersOf(hosts)).map(([name, each]) => [name, (each as { host: string }).host]),
    ).toEqual([
      ['A', 'smpp.example.net'],
      ['A-2', 'other.example.net'],
    ])
    expect(written(hosts).routes).toEqual({ 'A-A-2': { carriers: [share('A'), share('A-2')] } })
  })

  it('say what is not as it was', () => {
    const lines = [
      'receive-port = 2776',
      'validityperiod = 4320',
      'throughput = 0.2',
      'instances = 40',
      'colour = red',
    ]
    const text = smsc(...lines, 'max-pending-submits = many', 'alt-charset = UTF-8')
    expect(Object.values(carriersOf(text))[0]).toMatchObject({
      ...{
        bindMode: 'transmitter+receiver',
        port: 2775,
        validitySeconds: 86_400,
        messagesPerSecond: 8,
        binds: 32,
      },
    })
    const rows = imported(text).dropped.map(({ line, setting, why }) => `${line} ${setting}: ${why}`)
    for (const row of [
      '7 receive-port: both directions of a carrier have one port, here 2775',
      '8 validityperiod: validitySeconds is 86400, not 259200',
      '1 instances: binds is 32, not 40',
      '11 colour: Kannel 1.4.5 has no such setting in smsc',
      '12 max-pending-submits: many is no number',
      '13 alt-charset: texts are sent',
    ])
      expect(rows).toContainEqual(expect.stringContaining(row))
  })

  it('are those of groups whose settings are in another order, too', () => {
    const [one, other] = [smsc('smsc-id = A', 'system-type = x'), smsc('system-type = x', 'smsc-id = A')]
    expect(carriersOf(one + other)).toMatchObject({ A: { binds: 2 } })
  })

  it.each([
    ['smsc-id = 9-lives!', 'smsc-9-lives-'],
    ['smsc-id = sandbox', 'sandbox-2'],
    ['smsc-admin-id = none', 'smpp.example.net'],
  ])('with %s it is %s', (line, name) => {
    expect(Object.keys(carriersOf(smsc(line)))).toEqual([name])
  })

  it.each([
    ['0', 'normalised'],
    ['0x01', 'decimal-hex'],
    ['2', 'hex-decimal'],
    ['0x03', 'normalised'],
  ])('msg-id-type %s is %s', (type, rule) => {
    expect(carriersOf(smsc('smsc-id = A', `msg-id-type = ${type}`)).A.idRule).toBe(rule)
  })
})

const share = (carrier: string, priority = 0, weight = 1) => ({ carrier, priority, weight })

describe('users', () => {
  it('have an account, a plan, senders and a calling code', () => {
    const core =
      'group = core\nunified-prefix = "+358,00358,0;+,00"\n\ngroup = smsbox\nglobal-sender = 13013\n\n'
    const { accounts, plans, senders, sendsmsUsers } = written(core + smsc('smsc-id = A') + user())
    expect({ accounts, plans, senders, sendsmsUsers }).toEqual({
      accounts: { shop: {} },
      plans: { shop: { account: 'shop', route: 'A' } },
      senders: { shop: { 13013: { status: 'approved' } } },
      sendsmsUsers: {
        shop: {
          plan: 'shop',
          password: { env: 'SHOP_SENDSMS_PASSWORD' },
          defaultSender: '13013',
          callingCode: '358',
        },
      },
    })
    const forced = written(smsc() + user('faked-sender = 358401234567', 'default-sender = Shop'))
    expect(forced.sendsmsUsers.shop).toMatchObject({ forcedSender: '+358401234567', defaultSender: 'Shop' })
    expect(forced.senders.shop).toEqual({ '+358401234567': { status: 'approved' } })
  })

  it.each([
    ['https://app.example/dlr?id=7&type=%d', true, []],
    ['http://app.example/dlr?%d', true, ['plain http is refused unless WEBHOOK_ALLOW_HOSTS names its host']],
    ['http://me:hush@app.example/dlr', false, ['it has credentials, or is no URL: requests have to name it']],
  ])('with the dlr-url %s', (url, isCarried, reported) => {
    const conf = smsc('smsc-id = A') + user(`dlr-url = "${url}"`)
    expect(written(conf).sendsmsUsers.shop.dlrUrl).toBe(isCarried ? url : undefined)
    const rows = imported(conf).dropped.filter(({ setting }) => setting === 'dlr-url')
    expect(rows.map(({ why }) => why)).toEqual(reported)
  })

  it('without one, there is a plan for tokens', () => {
    expect(written(smsc('smsc-id = A')).plans).toEqual({ Kannel: { account: 'Kannel', route: 'A' } })
  })

  it('send where their lists let them, whatever carriers would take', () => {
    const lists = user('allowed-prefix = "040;+46"', 'allowed-prefix-regex = ^0(46|47)|^04')
    const text = `${smsc('smsc-id = A')}group = core\nunified-prefix = "+358,0"\n\n${lists}`
    const { plans, rules, routes } = written(text)
    expect(routes).toEqual({ nowhere: { carriers: [] }, A: { carriers: [share('A')] } })
    expect(plans.shop.route).toBe('nowhere')
    expect(rules).toEqual({ 'shop +35840': { plan: 'shop', prefix: '+35840', route: 'A' } })
    const gaps = (whole: string) => imported(whole).dropped.filter(({ setting }) => setting === 'to').length
    expect([gaps(text), gaps(smsc() + user())]).toEqual([1, 0])
  })
})

interface Rule {
  readonly prefix: string
  readonly route: string
}

/** Kannel's own decision about one number (gw/smscconn.c, `smscconn_usable`): null, or whether it is preferred. */
interface Lists {
  readonly allowed: readonly string[] | null
  readonly denied: readonly string[] | null
  readonly preferred: readonly string[] | null
  readonly allowedIds: readonly string[] | null
  readonly deniedIds: readonly string[] | null
  readonly preferredIds: readonly string[] | null
}

function usable(lists: Lists, id: string | null, number: string): boolean | null {
  const matches = (prefixes: readonly string[]) => prefixes.some((prefix) => number.startsWith(prefix))
  const has = (ids: readonly string[]) => id !== null && ids.includes(id)
  const { allowed, denied, preferred, allowedIds, deniedIds, preferredIds } = lists
  if (allowedIds !== null && !has(allowedIds)) return null
  if (allowedIds === null && deniedIds !== null && has(deniedIds)) return null
  if (allowed !== null && denied === null && !matches(allowed)) return null
  if (denied !== null && allowed === null && matches(denied)) return null
  if (denied !== null && allowed !== null && !matches(allowed) && matches(denied)) return null
  return (preferredIds !== null && has(preferredIds)) || (preferred !== null && matches(preferred))
}

describe('routing', () => {
  it('is that of Kannel for every user and number', () => {
    const prefix = fc.stringMatching(/^\+4[47]?[47]?$/)
    const list = <T>(item: fc.Arbitrary<T>) =>
      fc.option(fc.array(item, { minLength: 1, maxLength: 3 }), { nil: null })
    const ids = list(fc.constantFrom('a', 'b'))
    const lists: fc.Arbitrary<Lists> = fc.record({
      ...{ allowed: list(prefix), denied: list(prefix), preferred: list(prefix) },
      ...{ allowedIds: ids, deniedIds: ids, preferredIds: ids },
    })
    const line = (name: string, values: readonly string[] | null) =>
      values === null ? [] : [`${name} = ${values.join(';')}`]
    const number = fc.stringMatching(/^\+[459][47][47][47]0000$/)
    const id = fc.constantFrom(null, 'a', 'b', 'c')
    const carriers = fc.array(lists, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(
        carriers,
        id,
        fc.array(number, { minLength: 10, maxLength: 10 }),
        (all, virtualId, numbers) => {
          const groups = all.map((each, index) =>
            smsc(
              `smsc-id = c${index}`,
              ...line('allowed-prefix', each.allowed),
              ...line('denied-prefix', each.denied),
              ...line('preferred-prefix', each.preferred),
              ...line('allowed-smsc-id', each.allowedIds),
              ...line('denied-smsc-id', each.deniedIds),
              ...line('preferred-smsc-id', each.preferredIds),
            ),
          )
          const text = groups.join('') + user(...(virtualId === null ? [] : [`forced-smsc = ${virtualId}`]))
          const { plans, rules = {}, routes } = written(text)
          for (const each of numbers) {
            const matching = (Object.values(rules) as Rule[]).filter((rule) => each.startsWith(rule.prefix))
            const longest = matching.sort((a, b) => b.prefix.length - a.prefix.length)[0]
            const found = routes[longest?.route ?? plans.shop.route].carriers
            const expected = all.map((one, index) => [`c${index}`, usable(one, virtualId, each)] as const)
            const taken = expected.filter(([, preference]) => preference !== null)
            const first = taken.filter(([, preference]) => preference)
            const wanted = taken.map(([name, preference]) =>
              share(name, first.length > 0 && !preference ? 1 : 0),
            )
            const byName = (a: { carrier: string }, b: { carrier: string }) =>
              a.carrier < b.carrier ? -1 : 1
            expect(found.toSorted(byName)).toEqual(wanted.sort(byName))
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})
