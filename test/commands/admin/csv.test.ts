import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readCsv } from '../../../src/commands/admin/csv.ts'
import { scratchFolder } from '../../support/process.ts'

const COLUMNS = ['prefix', 'mccmnc', 'note']

async function read(text: string, required: readonly string[] = ['prefix', 'mccmnc']) {
  using scratch = scratchFolder()
  const file = join(scratch.path, 'ranges.csv')
  writeFileSync(file, text)
  return await readCsv(file, COLUMNS, required)
}

it('reads columns in any order, with line numbers; what is empty is absent', async () => {
  expect(await read('mccmnc, prefix,note\n23415, +4479 ,\n\n20801,+336,x\n')).toEqual([
    { line: 2, values: { mccmnc: '23415', prefix: '+4479' } },
    { line: 4, values: { mccmnc: '20801', prefix: '+336', note: 'x' } },
  ])
})

it('reads quoted fields, a byte order mark and the line ends of Windows', async () => {
  expect(await read('\uFEFF"prefix","mccmnc",note\r\n"+4479",23415,"a, ""b"""\r\n')).toEqual([
    { line: 2, values: { prefix: '+4479', mccmnc: '23415', note: 'a, "b"' } },
  ])
  expect(await read('prefix,mccmnc\n')).toEqual([])
})

it.each([
  ['', "there is no column ''"],
  ['prefix,mcc\n', "there is no column 'mcc'; the first line names the columns: prefix, mccmnc, note"],
  ['prefix\n+44\n', 'the column mccmnc is missing'],
  ['prefix,mccmnc,prefix\n', 'the column prefix is repeated'],
  ['prefix,mccmnc\n+44,1,2\n', 'line 2 has 3 fields, but the header has 2'],
  ['prefix,mccmnc\n+44,"1\n+45,2\n', 'invalid CSV after line 1: Quote Not Closed'],
  ['prefix,mccmnc\n\n+44,1\n+45,a"b\n', 'invalid CSV after line 3: Invalid Opening Quote'],
])('refuses %j', async (text, message) => {
  await expect(read(text)).rejects.toThrow(message)
})

it('says which file it cannot read', async () => {
  await expect(readCsv('/nowhere/ranges.csv', COLUMNS, [])).rejects.toThrow(
    'cannot read /nowhere/ranges.csv: ENOENT',
  )
})
