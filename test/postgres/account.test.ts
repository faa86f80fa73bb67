import { userInfo } from 'node:os'
import { expect, test } from 'vitest'
import { canReach, chooseAccount, invocation } from '../../src/postgres/account.ts'
import { locateBinaries } from '../../src/postgres/binaries.ts'
import { scratchDirectory } from './holding.ts'

const { uid, gid } = userInfo()

test('an ordinary user starts the program itself', () => {
  const account = { kind: 'direct', uid: 1000, gid: 1000 } as const
  expect(invocation(account, '/bin/postgres', ['-D', 'a b'])).toEqual({
    command: '/bin/postgres',
    args: ['-D', 'a b'],
    identity: {},
  })
})

test('in a user namespace unshare(1) does, under another number', () => {
  const account = { kind: 'namespace', uid: 65_534, gid: 65_534 } as const
  expect(invocation(account, '/bin/postgres', ['-D', 'a b'])).toEqual({
    command: 'unshare',
    args: ['--user', '--map-user=65534', '--map-group=65534', '--', '/bin/postgres', '-D', 'a b'],
    identity: {},
  })
})

test('an unprivileged account is taken by the process itself', () => {
  const account = { kind: 'drop', uid: 65_534, gid: 65_533 } as const
  expect(invocation(account, '/bin/postgres', []).identity).toEqual({ uid: 65_534, gid: 65_533 })
})

test('the chosen account is never root, and can run the server where it stands', () => {
  using directory = scratchDirectory()
  const { postgres } = locateBinaries()
  const account = chooseAccount(postgres, '/', undefined)
  expect(account.uid).not.toBe(0)
  expect(canReach(account, '/', postgres)).toBe(true)
  expect(canReach(account, directory.path)).toBe(false)
  expect(canReach(account, '/', '/no/such/program')).toBe(false)
})

test("root runs another user's cluster as that user; anybody else as themselves", () => {
  const { postgres } = locateBinaries()
  const account = chooseAccount(postgres, '/', { uid: 12_345, gid: 23_456 })
  expect(account).toEqual(
    uid === 0 ? { kind: 'drop', uid: 12_345, gid: 23_456 } : { kind: 'direct', uid, gid },
  )
})
