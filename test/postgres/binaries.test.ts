import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { completeLinks, locateBinaries } from '../../src/postgres/binaries.ts'

test('the installed programs are a PostgreSQL 18', () => {
  const { postgres, initdb } = locateBinaries()
  expect(execFileSync(postgres, ['--version'], { encoding: 'utf8' })).toMatch(/^postgres \(PostgreSQL\) 18\./)
  expect(execFileSync(initdb, ['--version'], { encoding: 'utf8' })).toMatch(/^initdb \(PostgreSQL\) 18\./)
})

test('links that no install script made are made, once', () => {
  const folder = mkdtempSync(join(tmpdir(), 'aldis-links-'))
  mkdirSync(join(folder, 'native', 'lib'), { recursive: true })
  writeFileSync(join(folder, 'native', 'lib', 'liba.so.1.2'), '')
  writeFileSync(
    join(folder, 'native', 'pg-symlinks.json'),
    JSON.stringify([{ source: 'native/lib/liba.so.1.2', target: 'native/lib/liba.so.1' }]),
  )
  completeLinks(folder)
  completeLinks(folder)
  expect(readlinkSync(join(folder, 'native', 'lib', 'liba.so.1'))).toBe('liba.so.1.2')
  rmSync(folder, { recursive: true })
})
