import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

/** What `.ci/run` makes of the reports of its test runs: the number it prints last, and whether it fails. */

const SCRIPT = join(import.meta.dirname, '../.ci/count.mjs')
const folder = mkdtempSync(join(tmpdir(), 'aldis-count-'))
afterAll(() => rmSync(folder, { recursive: true }))

type File = readonly [name: string, statuses: readonly string[], status?: 'passed' | 'failed']

function count(...reports: (readonly File[] | 'missing')[]) {
  const paths = reports.map((files, index) => {
    const path = join(folder, `${index}.json`)
    rmSync(path, { force: true })
    if (files !== 'missing') writeFileSync(path, JSON.stringify({ testResults: files.map(report) }))
    return path
  })
  const { status, stdout } = spawnSync(process.execPath, [SCRIPT, ...paths], { encoding: 'utf8' })
  const lines = stdout.trimEnd().split('\n')
  return { status, last: lines.at(-1), named: lines.slice(0, -1) }
}

function report([name, statuses, status]: File) {
  const assertionResults = statuses.map((each, index) => ({
    status: each,
    fullName: `test ${index}`,
    failureMessages: each === 'failed' ? ['expected 1 to be 2\n    at a line'] : [],
  }))
  return { name: `/x/${name}`, status: status ?? 'passed', message: 'no such module', assertionResults }
}

test('the runs are added up', () => {
  const runs = count([['test/a.test.ts', ['passed', 'passed']]], [['test/b.long.test.ts', ['passed']]])
  expect(runs).toEqual({ status: 0, last: '3 passed, 0 failed', named: [] })
})

test('a failed test, a file that failed before its first test and a run without a report are failures, and named', () => {
  const failing: File = ['test/a.test.ts', ['passed', 'failed'], 'failed']
  expect(count([failing])).toEqual({
    status: 1,
    last: '1 passed, 1 failed',
    named: ['FAILED /x/test/a.test.ts > test 1', '  expected 1 to be 2', '      at a line'],
  })
  expect(count([['test/a.test.ts', [], 'failed']])).toEqual({
    status: 1,
    last: '0 passed, 1 failed',
    named: ['FAILED /x/test/a.test.ts', '  no such module'],
  })
  expect(count([['test/a.test.ts', ['passed']]], 'missing')).toEqual({
    status: 1,
    last: '1 passed, 1 failed',
    named: [`no report ${join(folder, '1.json')}`],
  })
})

test('a run of nothing fails', () => {
  expect(count([])).toMatchObject({ status: 1, last: '0 passed, 1 failed' })
})

test('a skipped test is a failure, but in the file that may skip', () => {
  const skipping = ['passed', 'skipped', 'todo']
  expect(count([['test/a.test.ts', skipping]])).toEqual({
    status: 1,
    last: '1 passed, 2 failed',
    named: ['2 skipped in /x/test/a.test.ts'],
  })
  const named: File = ['test/outbound/canaries.test.ts', skipping]
  expect(count([named])).toMatchObject({ status: 0, last: '1 passed, 0 failed' })
})
