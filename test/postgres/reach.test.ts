import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Account } from '../../src/postgres/account.ts'
import { binariesIn } from '../../src/postgres/binaries.ts'
import { giveTo, homeFor, reachableBinaries } from '../../src/postgres/reach.ts'

/** Only root can become somebody else; for others every question here has the answer "where it is". */
const isRoot = userInfo().uid === 0
const account: Account = isRoot
  ? { kind: 'drop', uid: 65_534, gid: 65_534 }
  : { kind: 'direct', uid: userInfo().uid, gid: userInfo().gid }

let open: string
let closed: string

beforeEach(() => {
  open = mkdtempSync(join(tmpdir(), 'aldis open-'))
  chmodSync(open, 0o755)
  closed = join(open, 'closed')
  mkdirSync(join(closed, 'data'), { recursive: true })
  chmodSync(closed, 0o700)
})

afterEach(() => rmSync(open, { recursive: true }))

test('a directory that the account can enter stays the home, one that it cannot gets another', () => {
  const shared = join(open, 'shared')
  mkdirSync(join(open, 'data'), { mode: 0o700 })
  expect(homeFor(join(open, 'data'), account, shared)).toBe(join(open, 'data'))
  const home = homeFor(join(closed, 'data'), account, shared)
  expect(home.startsWith(isRoot ? shared : closed)).toBe(true)
  expect(homeFor(join(closed, 'data'), account, shared)).toBe(home)
})

test('programs that the account cannot run are copied once, links and modes kept', () => {
  const shared = join(open, 'shared')
  const binaries = binariesIn(join(closed, 'native'))
  mkdirSync(join(binaries.root, 'bin'), { recursive: true })
  writeFileSync(binaries.postgres, '#!/bin/sh\necho 18\n', { mode: 0o755 })
  symlinkSync('postgres', binaries.initdb)
  const reached = reachableBinaries(binaries, account, shared)
  expect(reached.root.startsWith(isRoot ? shared : closed)).toBe(true)
  expect(readFileSync(reached.initdb, 'utf8')).toContain('echo 18')
  expect(statSync(reached.postgres).mode & 0o111).toBe(0o111)
  expect(reachableBinaries(binaries, account, shared)).toEqual(reached)
})

test('a cluster changes hands where its new owner can reach it, and nowhere else', () => {
  const outcomes = [open, closed].map((parent) => {
    // The folder above the cluster is ours to open; those above that are not.
    const cluster = join(parent, 'data', 'cluster')
    mkdirSync(join(cluster, 'base'), { recursive: true })
    giveTo(account, cluster)
    return [statSync(cluster).uid, statSync(join(cluster, 'base')).uid]
  })
  expect(outcomes).toEqual([[account.uid, account.uid], isRoot ? [0, 0] : [account.uid, account.uid]])
})
