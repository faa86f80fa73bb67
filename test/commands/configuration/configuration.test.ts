import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AdminServer, startAdminServer } from '../../support/admin-server.ts'
import { runAldis } from '../../support/cli.ts'
import { scratchFolder } from '../../support/process.ts'

let server: AdminServer
let env: Record<string, string>
const folder = scratchFolder()
beforeAll(async () => {
  server = await startAdminServer()
  env = {
    ALDIS_URL: server.baseUrl,
    ALDIS_OPERATOR_TOKEN: server.operatorToken,
    ACME_PASSWORD: 'hush-hsh',
  }
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

function file(name: string, text: string): string {
  const path = join(folder.path, name)
  writeFileSync(path, text)
  return path
}

const run = (...args: string[]) => runAldis(args, { env })

const ALDIS = `accounts:
  Example Ltd:
    rateLimit: {messagesPerSecond: 100}
carriers:
  acme: {host: smpp.example.net, systemId: aldis, password: {env: ACME_PASSWORD}}
routes:
  main: {carriers: [{carrier: acme}]}
plans:
  Alerts: {account: Example Ltd, route: main, inboundUrl: {file: secrets/url}}
rates: {file: rates.csv}
ranges:
  "+4477": {mccmnc: "23410"}
`
const RATES = 'plan,country,price,currency\n,GB,0.04,EUR\n,FR,0.05,EUR\n,DE,0.06,EUR\n"Alerts",GB,0.035,EUR\n'

let aldis: string
beforeAll(() => {
  mkdirSync(join(folder.path, 'secrets'))
  file('secrets/url', 'https://user:hush-url@hooks.example.com/in\n')
  file('rates.csv', RATES)
  aldis = file('aldis.yaml', ALDIS)
})

describe('diff and apply', () => {
  it('shows what would change with exit code 2, changes it, and then shows nothing with 0', async () => {
    const diff = await run('diff', '-f', aldis)
    expect(diff.code).toBe(2)
    const columns = diff.stdout.split('\n').map((line) => line.split(/ {2,}/))
    expect(columns.slice(0, 6)).toEqual([
      ['ACTION', 'KIND', 'NAME', 'CHANGES'],
      ['create', 'accounts', 'Example Ltd'],
      ['create', 'carriers', 'acme'],
      ['create', 'routes', 'main'],
      ['create', 'plans', 'Alerts'],
      ['create', 'rates', 'rates.csv:5'],
    ])
    expect(diff.stdout).toContain(
      '9 would be created, 0 would be updated, 0 would be deleted; configuration version 1\n',
    )
    const applied = await run('apply', '-f', aldis)
    expect(applied).toMatchObject({ code: 0, stderr: '' })
    expect(applied.stdout).toContain('9 created, 0 updated, 0 deleted; configuration version')
    expect(applied.stdout).toMatch(/shown only now:\n.+\n[0-9a-f]{24} +Example Ltd +whsec_/)
    expect(applied.stdout).not.toContain('hush')
    const same = await run('diff', '-f', aldis)
    expect(same).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^no changes; /) })
  })

  it('says beside which plan of the same name a new one would be', async () => {
    const mistyped = file(
      'mistyped.yaml',
      `plans: {Alerts: {servicePlanId: ${'b'.repeat(24)}, account: Example Ltd}}`,
    )
    const { stdout } = await run('diff', '-f', mistyped)
    expect(stdout).toMatch(/^create +plans +Alerts +new, beside [0-9a-f]{24} of the same name$/m)
  })

  it('of several files, one of them standard input, and JSON for programs', async () => {
    const one = file('one.yaml', 'carriers: {acme: {window: 20}}')
    const stdin = 'carriers: {acme: {window: 20}}'
    const both = await runAldis(['diff', '-f', one, '-f', '-'], { env, stdin })
    expect(both).toMatchObject({
      code: 1,
      stderr: 'error: standard input:1:12: carriers.acme: must not be given twice\n',
    })
    const other = 'ranges: {+4478: {mccmnc: "23415"}}'
    const { code, stdout } = await runAldis(['diff', '-f', one, '-f', '-', '--json'], { env, stdin: other })
    expect(code).toBe(2)
    expect(JSON.parse(stdout).changes).toMatchObject([
      { action: 'update', kind: 'carriers', name: 'acme', before: { window: 10 }, after: { window: 20 } },
      { action: 'create', kind: 'ranges', name: '+4478', before: null, after: { mccmnc: '23415' } },
    ])
    const table = await run('diff', '-f', one)
    expect(table.stdout).toContain('window 10 -> 20')
  })

  it('deletes with --prune, more than 20 % only with --confirm', async () => {
    const empty = file('empty.yaml', 'ranges:\n')
    expect((await run('diff', '-f', empty)).code).toBe(0)
    const diff = await run('diff', '-f', empty, '--prune')
    expect(diff).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('apply needs --confirm ranges=1\n'),
    })
    expect(await run('apply', '-f', empty, '--prune')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('1 of 1 ranges would be deleted (confirm ranges=1)'),
    })
    expect((await run('apply', '-f', empty, '--prune', '--confirm', 'ranges')).stderr).toContain('rates=1200')
    expect((await run('apply', '-f', empty, '--prune', '--confirm', 'ranges=1')).code).toBe(0)
  })

  it('says what it sends if that takes long', async () => {
    const rows = Array.from({ length: 40_000 }, (_, at) => `+${990_000 + at},23410`)
    file('many.csv', ['prefix,mccmnc', ...rows].join('\n'))
    const { code, stdout, stderr } = await run('diff', '-f', file('many.yaml', 'ranges: {file: many.csv}'))
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^sending 40000 objects, 1\.\d MiB …\n$/)])
    expect(stdout).toContain('and 39000 more changes\n40000 would be created')
  })

  it('can insist on a version', async () => {
    const one = file('one.yaml', 'carriers: {acme: {window: 20}}')
    expect(await run('apply', '-f', one, '--if-match', '1')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: The configuration has version \d+, not 1/),
    })
    const { version } = JSON.parse((await run('diff', '-f', one, '--json')).stdout)
    expect((await run('apply', '-f', one, '--if-match', version)).code).toBe(0)
    expect((await run('apply', '-f', one, '--if-match', 'latest')).stderr).toContain(
      'number that aldis diff prints',
    )
  })
})

describe('faults', () => {
  it('are told all at once, each with its place', async () => {
    const bad = file(
      'bad.yaml',
      `carriers:
  acme:
    widnow: 5
    password: {env: NOBODY}
  acme: {}
plans:
  New: {account: {file: nowhere}}
`,
    )
    const { code, stderr, stdout } = await run('apply', '-f', bad)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr.split('\n')).toEqual([
      `error: ${bad}:3:5: carriers.acme.widnow: is not a setting of carriers; did you mean window?`,
      `${bad}:4:15: carriers.acme.password: needs the environment variable NOBODY, which is not set`,
      `${bad}:5:3: carriers.acme: must not be given twice`,
      `${bad}:7:18: plans.New.account: cannot read ${join(folder.path, 'nowhere')}: ENOENT`,
      '',
    ])
  })

  it('of the service have the places of what they name, or of the nearest object', async () => {
    const csv = file('wrong.csv', 'country,price,currency\nGB,0.04,EUR\nXX,x,EUR\n')
    const bad = file(
      'bad.yaml',
      `carriers:
  acme:
    widnow: 5
  new: {}
ranges:
  +4479: {mccmnc: 23415}
rates: {file: wrong.csv}
`,
    )
    const { code, stderr } = await run('diff', '-f', bad)
    expect(code).toBe(1)
    expect(stderr.split('\n')).toEqual([
      `error: ${bad}:3:5: carriers.acme.widnow: is not a setting of carriers; did you mean window?`,
      `${bad}:4:3: carriers.new.host: is required of a new carrier`,
      `${bad}:4:3: carriers.new.systemId: is required of a new carrier`,
      `${bad}:4:3: carriers.new.password: is required of a new carrier`,
      `${bad}:6:11: ranges.+4479.mccmnc: must be a string`,
      expect.stringMatching(`^${csv}:3:1: rates.wrong.csv:3.price: must be `),
      `${csv}:3:1: rates.wrong.csv:3.country: must be a country code of ISO 3166-1`,
      '',
    ])
    const { stdout } = await run('diff', '-f', bad, '--json')
    expect(JSON.parse(stdout).faults[0]).toMatchObject({ file: bad, line: 3, column: 5 })
  })

  it('are at most 1,000, of one file or of several', async () => {
    const many = (name: string) => file(name, `accounts:\n${'  a: {x: 1}\n'.repeat(2_000)}`)
    const { code, stderr } = await run('diff', '-f', many('many.yaml'), '-f', many('more.yaml'))
    expect(code).toBe(1)
    const lines = stderr.trimEnd().split('\n')
    expect(lines).toHaveLength(1_001)
    expect(lines[0]).toMatch(/many\.yaml:2:7: accounts\.a\.x: is not a setting/)
    expect(lines.at(-1)).toBe('No more than 1000 faults are shown.')
  })

  it('of devices and pipes, whose size nobody knows', async () => {
    const endless = file('endless.yaml', 'carriers: {acme: {password: {file: /dev/zero}}}')
    expect((await run('diff', '-f', endless)).stderr).toContain('/dev/zero is larger than 64 KiB')
    expect((await run('diff', '-f', '/dev/zero')).stderr).toContain('/dev/zero is larger than 5 MiB')
  })

  it('of files: those that cannot be read, that are too large, or no mapping', async () => {
    expect((await run('diff', '-f', 'nowhere.yaml')).stderr).toBe('error: cannot read nowhere.yaml: ENOENT\n')
    const large = file('large.yaml', `# ${'x'.repeat(5 * 1024 * 1024)}`)
    expect((await run('diff', '-f', large)).stderr).toContain(
      'is larger than 5 MiB: rates and ranges can be CSV',
    )
    const list = file('list.yaml', '- a')
    expect((await run('diff', '-f', list)).stderr).toContain('list.yaml:1:1: must be a mapping of kinds')
    const names = file('names.yaml', 'rates: [1]\nranges: {file: x.csv}\n')
    expect((await run('diff', '-f', names)).stderr).toMatch(
      /rates: must be a mapping of names\n.+ranges: x.csv: cannot/,
    )
    expect((await run('diff')).code).toBe(1)
    const unnamed = file('unnamed.yaml', 'carriers: {acme: {host: {env: ""}, systemId: {file: ""}}}')
    expect((await run('diff', '-f', unnamed)).stderr).toMatch(/host: must be a string\n.+systemId: must be/)
  })

  it('of kinds that are named as properties of every object', async () => {
    const { code, stderr } = await run(
      'diff',
      '-f',
      file('kinds.yaml', '__proto__: {a: {}}\nconstructor: {b: {}}\n'),
    )
    expect(code).toBe(1)
    expect(stderr).toMatch(/kinds.yaml:1:1: __proto__: is not .+\n.+kinds.yaml:2:1: constructor: is not /)
  })

  it('of encodings other than UTF-8, of which the byte order mark is no part', async () => {
    const latin = join(folder.path, 'latin')
    writeFileSync(latin, Buffer.from('accounts: {Café: {}}', 'latin1'))
    expect((await run('diff', '-f', latin)).stderr).toBe(`error: ${latin} is not in UTF-8\n`)
    const secret = file('secret.yaml', `carriers: {acme: {password: {file: ${latin}}}}`)
    expect((await run('diff', '-f', secret)).stderr).toContain(`acme.password: ${latin} is not in UTF-8`)
    expect((await run('diff', '-f', file('bom.yaml', '\ufeffcarriers: {acme: {}}\r\n'))).code).toBe(0)
  })
})

describe('export', () => {
  it('prints a file that changes nothing, without secrets', async () => {
    const { code, stdout, stderr } = await run('export')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`# yaml-language-server: $schema=${server.baseUrl}/docs/aldis.schema.json\n`)
    expect(stdout).toContain('#   carriers.acme.password\n#   plans.Alerts.inboundUrl\n')
    expect(stdout).not.toContain('hush')
    const copy = file('export.yaml', stdout)
    expect((await run('diff', '-f', copy, '--prune')).code).toBe(0)
  })

  it('writes tables to CSV files', async () => {
    const { stdout } = await run('export', '--tables', folder.path)
    expect(stdout).toContain(`file: ${join(folder.path, 'rates.csv')}`)
    expect(readFileSync(join(folder.path, 'rates.csv'), 'utf8')).toContain('\nAlerts,,GB,,0.035,0,EUR\n')
    const copy = file('tables.yaml', stdout)
    expect((await run('diff', '-f', copy, '--prune')).code).toBe(0)
    mkdirSync(join(folder.path, 'live'))
    const live = relative('.', join(folder.path, 'live'))
    expect(await run('export', '--output', join(live, 'aldis.yaml'), '--tables', live)).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    })
    expect(readFileSync(join(live, 'aldis.yaml'), 'utf8')).toContain('file: rates.csv\n')
    expect((await run('diff', '-f', join(live, 'aldis.yaml'), '--prune')).code).toBe(0)
    const { stdout: json } = await run('export', '--json')
    expect(JSON.parse(json).configuration.carriers).toHaveProperty('acme')
  })
})
