import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { SettingRows } from '../src/commands/import/counterparts.ts'
import { CONNECTOR_ROWS, USER_ROWS } from '../src/commands/import/jasmin-settings.ts'
import { KANNEL_GROUPS } from '../src/commands/import/kannel-settings.ts'
import { startAdminServer } from './support/admin-server.ts'
import { MAIN, ROOT, scratchFolder, start } from './support/process.ts'

/** What docs/from-kannel.md and docs/from-jasmin.md tell to type, typed; and their tables, printed from the code. */

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
  const entries = Object.entries(KANNEL_GROUPS)
  const detailed = entries.flatMap(([group, rows]) =>
    typeof rows === 'string' ? [] : [`### ${group}\n\n${table(rows)}`],
  )
  const byReason = Map.groupBy(entries, ([, rows]) => rows)
  const whole = [...byReason].flatMap(([why, groups]) =>
    typeof why === 'string' ? [`| ${groups.map(([group]) => `\`${group}\``).join(', ')} | ${why} |`] : [],
  )
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
  const blocks = (language: string) =>
    [
      ...document
        .split('\n## A walk through it\n')[1]!
        .split('\n## ')[0]!
        .matchAll(/^```(\w+)\n(.*?)^```$/gms),
    ].flatMap(([, found, block]) => (found === language ? [block!] : []))

  it('has the tables of the code', () => {
    expect(document.split(SECTION)[1]).toContain(`\n${tables}`)
  })

  it('tells to type what works, and shows what it prints', async () => {
    await using server = await startAdminServer()
    using folder = scratchFolder()
    const [setting, ...commands] = blocks('sh')
    const [url, token] = [...setting!.matchAll(/(ALDIS_\w+)=/g)].map(([, name]) => name!) as [string, string]
    const source = /^aldis import \w+ (\S+)/m.exec(commands[0]!)![1]!
    writeFileSync(join(folder.path, source), blocks('ini')[0]!)
    // One shell types all of them, so that what a command sets is there for the next.
    const typed = commands.map((command, index) => `{ ${command}} > out.${index} 2>&1`).join('\n')
    const aldis = `aldis() { '${process.execPath}' '${MAIN}' "$@"; }`
    const env = { [url]: server.baseUrl, [token]: server.operatorToken }
    await using running = start('/bin/sh', ['-c', `${aldis}\n${typed}`], { cwd: folder.path, env })
    expect(await running.exited).toMatchObject({ code: 0, stderr: '' })
    const printed = commands.map((_, index) => readFileSync(join(folder.path, `out.${index}`), 'utf8'))
    const [report, diff, applied, ...others] = printed
    const explained = others.at(-1)
    expect([report, diff, explained]).toEqual(blocks('text'))
    expect(applied).toContain('0 deleted; configuration version')
    for (const text of printed) expect(text).not.toMatch(/^error/m)
  })
})
