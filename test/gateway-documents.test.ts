import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { SettingRows } from '../src/commands/import/counterparts.ts'
import { CONNECTOR_ROWS, USER_ROWS } from '../src/commands/import/jasmin-text.ts'
import { KANNEL_GROUPS, OTHER_GROUPS } from '../src/commands/import/kannel-settings.ts'
import { ROOT } from './support/process.ts'

/** The tables of docs/from-kannel.md and docs/from-jasmin.md, printed from the code. */

/** Regular expressions have bars too. */
const cell = (text: string) => text.replaceAll('|', '\\|')
const code = (names: string) =>
  names
    .split(', ')
    .map((name) => `\`${name}\``)
    .join(', ')

function table(rows: SettingRows): string {
  const lines = rows.map(([names, counterpart]) =>
    'to' in counterpart
      ? `| ${code(names)} | ${counterpart.to} | ${cell(counterpart.note ?? '')} |`
      : `| ${code(names)} | – | ${counterpart.why} |`,
  )
  return ['| setting | in Aldis | |', '| --- | --- | --- |', ...lines, ''].join('\n')
}

function kannelTables(): string {
  const detailed = [...KANNEL_GROUPS].map(([group, rows]) => `### ${group}\n\n${table(rows)}`)
  const whole = OTHER_GROUPS.map(([groups, none]) => `| ${code(groups)} | ${'why' in none && none.why} |`)
  return [
    ...detailed,
    ['### Other groups', '', '| group | why it has no counterpart |', '| --- | --- |', ...whole, ''].join(
      '\n',
    ),
  ].join('\n')
}

const SECTION = '\n## Settings side by side\n'
const TABLES = {
  'docs/from-kannel.md': kannelTables(),
  'docs/from-jasmin.md': `### smppccm -s\n\n${table(CONNECTOR_ROWS)}\n### user -s\n\n${table(USER_ROWS)}`,
}

describe.each(Object.entries(TABLES))('%s', (path, tables) => {
  const document = readFileSync(join(ROOT, path), 'utf8')

  it('has the tables of the code', () => {
    expect(document.split(SECTION)[1]).toContain(`\n${tables}`)
  })
})
