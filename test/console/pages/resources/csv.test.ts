import { expect, test } from 'vitest'
import { readCsv } from '../../../../console/src/pages/resources/csv.ts'

const COLUMNS = ['prefix', 'mccmnc', 'note']
const read = (text: string) => readCsv(text, COLUMNS, ['prefix'])

test('columns in any order, quotes, empty lines and a byte order mark', () => {
  expect(read('\uFEFFmccmnc, prefix\r\n23410,+4477\r\n\r\n"23415" ,"+4478"\n')).toEqual([
    { line: 2, values: { mccmnc: '23410', prefix: '+4477' } },
    { line: 4, values: { mccmnc: '23415', prefix: '+4478' } },
  ])
  expect(read('prefix,note\n+44,"a ""b"", c"\n+45,')).toEqual([
    { line: 2, values: { prefix: '+44', note: 'a "b", c' } },
    { line: 3, values: { prefix: '+45' } },
  ])
})

test.each([
  ['prefix,colour\n', 'no column “colour”'],
  ['prefix,prefix\n', 'repeated'],
  ['mccmnc\n23410\n', 'column prefix is missing'],
  ['', 'column prefix is missing'],
  ['prefix,mccmnc\n+44\n', 'Line 2 has 1 fields'],
  ['prefix\n"+44\n', 'Line 2 has a quote'],
])('%j: %s', (text, message) => {
  expect(() => read(text)).toThrow(message)
})
