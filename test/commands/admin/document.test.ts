import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { adminOpenApi } from '../../../scripts/generate-admin-openapi.ts'
import { addNoun, nouns } from '../../../src/commands/admin/commands.ts'
import { operations } from '../../../src/commands/admin/document.ts'
import { inputsOf } from '../../../src/commands/admin/inputs.ts'
import { tablesOf } from '../../../src/commands/admin/nouns.ts'
import { headed } from '../../../src/commands/admin/printing.ts'
import * as apply from '../../../src/commands/apply.ts'
import * as dev from '../../../src/commands/dev.ts'
import * as diff from '../../../src/commands/diff.ts'
import * as exports from '../../../src/commands/export.ts'
import * as listen from '../../../src/commands/listen.ts'
import * as send from '../../../src/commands/send.ts'
import * as serve from '../../../src/commands/serve.ts'
import * as simulateCarrier from '../../../src/commands/simulate-carrier.ts'
import { CARRIER, startAdminServer } from '../../support/admin-server.ts'
import { runAldis } from '../../support/cli.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const program = new Command('aldis')
for (const noun of nouns()) addNoun(program, noun)

function commandOf(noun: string, verb: string): Command {
  const found = program.commands
    .find((command) => command.name() === noun)
    ?.commands.filter((command) => command.name() === verb)
  expect(found, `aldis ${noun} ${verb}`).toHaveLength(1)
  return found![0]!
}

test('src/admin-openapi.json is what the service answers (otherwise: npm run generate-admin-openapi)', async () => {
  const file = new URL('../../../src/admin-openapi.json', import.meta.url)
  expect(readFileSync(file, 'utf8')).toBe(await adminOpenApi())
})

test('every operation is a command, and each of its fields an argument or an option', () => {
  expect(operations().length).toBeGreaterThan(70)
  for (const operation of operations()) {
    const { noun, verb, parameters, query, body } = operation
    const command = commandOf(noun, verb)
    if (verb === 'import') continue
    const shown = [
      ...command.registeredArguments.map((argument) => argument.name()),
      ...command.options.map(({ long }) => long),
    ]
    const inputs = inputsOf(operation)
    for (const { name, isArgument, clears } of inputs) {
      expect(shown).toContain(isArgument ? name : `--${name}`)
      if (clears) expect(shown).toContain(`--no-${name}`)
    }
    const fields = [...parameters, ...query, ...body].map(({ name }) => name)
    expect(new Set(inputs.map(({ path }) => path[0]))).toEqual(new Set(fields))
  }
})

test('every option says what it is for', () => {
  const silent = operations().flatMap((operation) =>
    inputsOf(operation)
      .filter(({ schema }) => operation.verb !== 'import' && schema.description === undefined)
      .map(({ name }) => `${operation.noun} ${operation.verb} --${name}`),
  )
  expect(silent).toEqual([])
})

function helpOf(noun: string, verb: string): string {
  let help = ''
  commandOf(noun, verb)
    .configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 1_000 })
    .outputHelp()
  return help
}

test('help says what an option is without a value, its default, and what is required', () => {
  for (const { noun, verb } of operations())
    expect(helpOf(noun, verb)).not.toMatch(/\bnull\b|undefined|; default:|nextAfter|\b409\b/)
  const update = helpOf('carrier', 'update')
  expect(update).toMatch(/--no-rate +No limit$/m)
  expect(update).not.toContain('(default: 10)')
  expect(update).not.toContain('ALDIS_CARRIER_PASSWORD')
  const create = helpOf('carrier', 'create')
  expect(create).toMatch(/--window <number> .*\(default: 10\)$/m)
  expect(create).toMatch(
    /^Usage: .*<name> --host <host> --system-id <id> --password <password> \[options\]$/m,
  )
  expect(create).toMatch(/--host <host> .*\(required\)$/m)
  expect(create).not.toContain('--no-rate')
  expect(helpOf('sender-rule', 'create')).toMatch(/--no-sender-type +Allow no sender in this country$/m)
})

test('help of a command, by either way to ask for it', async () => {
  const asked = await runAldis(['help', 'carrier', 'create'])
  expect(asked).toEqual(await runAldis(['carrier', 'create', '--help']))
  expect(asked.stdout).toContain('Usage: aldis carrier create')
})

test('a noun whose default is show has its options in its help', async () => {
  const { stdout } = await runAldis(['quality', '--help'])
  expect(stdout).toContain('--minutes <minutes>')
})

test('the verbs are the same everywhere', () => {
  const verbs = new Set(operations().map(({ verb }) => verb))
  expect([...verbs].filter((verb) => /^(add|remove|get|set|change|edit)$/.test(verb))).toEqual([])
})

test('every column is a field of the answer, with a heading of its own', async () => {
  const { paths, components } = JSON.parse(await adminOpenApi())
  // biome-ignore lint/suspicious/noExplicitAny: the document
  const resolve = (node: any): any =>
    node.$ref === undefined
      ? (node.anyOf?.map(resolve)[0] ?? node)
      : resolve(components.schemas[node.$ref.split('/').at(-1)])
  // biome-ignore lint/suspicious/noExplicitAny: the document
  const fieldAt = (schema: any, path: string): any =>
    path.split('.').reduce((at, name) => at && resolve(resolve(at).properties?.[name] ?? {}), schema)
  const presented = /^(age|receiptSeconds\..*)$/
  for (const { noun, verb, path, method } of operations()) {
    const { responses } = paths[`/admin/v1${path}`][method.toLowerCase()]
    const answer = responses[200]?.content?.['application/json'].schema
    if (answer === undefined) continue
    for (const [name, columns] of Object.entries(tablesOf(noun, verb))) {
      const rows = fieldAt(answer, name === 'links' ? 'link.links' : name)
      if (rows?.items === undefined) continue
      const headings = columns.split(/\s+/).map((column) => headed(column)[0])
      expect(new Set(headings).size, `${noun} ${verb}: ${headings}`).toBe(headings.length)
      for (const column of columns.split(/\s+/)) {
        const [, field] = headed(column)
        if (!presented.test(field))
          expect(Object.keys(fieldAt(rows.items, field) ?? {}), `${noun} ${verb}: ${field}`).not.toEqual([])
      }
    }
  }
})

test('the example in the help of every command reaches the service, which understands it', async () => {
  await using server = await startAdminServer()
  await server.request('POST', '/carriers', { ...CARRIER, name: 'acme' })
  const env = { ALDIS_URL: server.baseUrl, ALDIS_OPERATOR_TOKEN: server.operatorToken }
  for (const { noun, verb } of operations().filter(({ verb }) => verb !== 'import')) {
    let help = ''
    const command = commandOf(noun, verb)
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
    const [, line] = /^Example:\n {2}(.+)$/m.exec(help)!
    const words = line!.match(/(?:[^\s']|'[^']*')+/g)!.map((word) => word.replaceAll("'", ''))
    const own = words.slice(0, words.indexOf('aldis')).map((word) => word.split('='))
    const { stderr } = await runAldis(words.slice(own.length + 1), {
      env: { ...env, ...Object.fromEntries(own) },
    })
    expect(stderr, line).not.toMatch(
      /required|unknown|argument|must (?!be (?:(?:an )?existing|service plans of))/,
    )
  }
})

test('options that the documents name by themselves are those of some command', () => {
  const all = new Command('aldis')
  for (const { register } of [dev, listen, send, serve, simulateCarrier, apply, diff, exports]) register(all)
  for (const noun of nouns()) addNoun(all, noun)
  const optionsOf = (command: Command): (string | undefined)[] => [
    ...command.options.map(({ long }) => long),
    ...command.commands.flatMap(optionsOf),
  ]
  const known = new Set(['--help', ...optionsOf(all)])
  const files = ['README.md', ...globSync('docs/{,guides/}*.md', { cwd: ROOT })]
  const named = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/(?<=`)--[a-z-]+/g)].map(([option]) => [
      file,
      option,
    ]),
  )
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter(([, option]) => !known.has(option))).toEqual([])
})

test('every command line of the documents is one', () => {
  const files = [
    'README.md',
    'CHANGELOG.md',
    ...globSync('docs/{,guides/}*.md', { cwd: ROOT }),
    ...globSync('src/**/*.ts', { cwd: ROOT }),
  ]
  const others = [
    'apply',
    'completion',
    'dev',
    'diff',
    'export',
    'help',
    'import',
    'listen',
    'migrate',
    'send',
    'serve',
    'simulate-carrier',
  ]
  let count = 0
  let whole = 0
  for (const file of files) {
    const text = readFileSync(join(ROOT, file), 'utf8').replace(/\\\n\s*/g, '')
    for (const match of text.matchAll(/\baldis ([a-z-]+) ([a-z-]+)\b([^`\n#;)]*)/g)) {
      const [line, noun, verb, rest = ''] = match
      const before = text.slice(text.lastIndexOf('\n', match.index) + 1, match.index)
      const command = program.commands.find((each) => each.name() === noun)
      if (command === undefined) {
        if (/^([A-Z_]+=\S+ )*$|`$/.test(before) && file.endsWith('.md'))
          expect(others, `${file}: ${line}`).toContain(noun)
        continue
      }
      count += 1
      const known = command.commands.find((each) => [each.name(), ...each.aliases()].includes(verb!))
      expect(known, `${file}: ${line}`).toBeDefined()
      const options = known!.options.map(({ long }) => long!)
      const given = [...rest.matchAll(/(?<= )--[a-z-]+/g)].map(([option]) => option)
      for (const option of given) expect(options, `${file}: ${line}`).toContain(option)
      // A command in prose may be abridged; one on a line of its own is to be run.
      if (!/^([A-Z_]+=\S+ )*$/.test(before) || !file.endsWith('.md') || given.length === 0) continue
      whole += 1
      for (const { long } of known!.options.filter(({ mandatory }) => mandatory))
        expect(
          given.map((option) => option.replace('--no-', '--')),
          `${file}: ${line}`,
        ).toContain(long)
    }
  }
  expect(count).toBeGreaterThan(60)
  expect(whole).toBeGreaterThan(20)
})
