import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { expect, test } from 'vitest'
import { ServerLog } from '../../src/postgres/server-log.ts'

test('keeps the last lines, and at most two files of a mebibyte however much is written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aldis-log-'))
  const log = new ServerLog(join(folder, 'postgres.log'))
  const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index} ${'x'.repeat(990)}\n`)
  const output = Readable.from(lines)
  log.follow(output)
  await finished(output)
  expect(log.tail).toHaveLength(20)
  expect(log.tail.at(-1)).toMatch(/^line 4999 x/)
  expect(readdirSync(folder).sort()).toEqual(['postgres.log', 'postgres.log.1'])
  for (const name of readdirSync(folder)) {
    expect(statSync(join(folder, name)).size).toBeLessThan(1.1 * 1024 * 1024)
  }
  expect(readFileSync(join(folder, 'postgres.log'), 'utf8')).toContain('line 4999 ')
  rmSync(folder, { recursive: true })
})

test('a disk that takes nothing costs the log, not the server', async () => {
  const log = new ServerLog('/nowhere/at/all/postgres.log')
  const output = Readable.from(['FATAL: no\n'])
  log.follow(output)
  await finished(output)
  expect(log.tail).toEqual(['FATAL: no'])
})
