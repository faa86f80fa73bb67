import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { expect, test } from 'vitest'
import { addNoun, nouns } from '../src/commands/admin/commands.ts'
import { register as dev } from '../src/commands/dev.ts'
import { register as listen } from '../src/commands/listen.ts'
import { VARIABLES, type Variable } from '../src/config.ts'

const DOCUMENT = readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8')
const ROWS = [...DOCUMENT.matchAll(/^\| `([A-Z_]+)` \| (.+?) \|(?: (.+?) \|)?$/gm)]

test('docs/configuration.md has every variable of aldis serve, in order, as the code describes it', () => {
  const documented = ROWS.filter(([, , , fallback]) => fallback !== undefined)
  expect(documented.map(([, name, description, fallback]) => ({ name, description, fallback }))).toEqual(
    Object.values<Variable<unknown>>(VARIABLES).map(({ name, description, fallback, required }) => ({
      name,
      description,
      fallback: required ? 'required' : fallback ? `\`${fallback}\`` : 'unset',
    })),
  )
})

test('docs/configuration.md has every variable of the other commands', () => {
  const program = new Command()
  for (const register of [dev, listen]) register(program)
  for (const noun of nouns()) addNoun(program, noun)
  const all = program.commands.flatMap((command) => [command, ...command.commands])
  const variables = all.flatMap(({ options }) => options.flatMap(({ envVar }) => envVar ?? []))
  const documented = ROWS.filter(([, , , fallback]) => fallback === undefined).map(([, name]) => name)
  expect(new Set(documented)).toEqual(new Set(variables))
})
