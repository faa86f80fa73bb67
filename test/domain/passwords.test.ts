import { expect, test } from 'vitest'
import { hashPassword, isPassword, SALT_BYTES } from '../../src/domain/credentials.ts'

const SALT = Buffer.alloc(SALT_BYTES, 7)

test('the hash of a password is of no other, and has its salt', async () => {
  const stored = await hashPassword('elpmis ü', SALT)
  expect(stored).toMatch(/^scrypt\.16384\.8\.1\.[\w-]{22}\.[\w-]{43}$/)
  expect(await isPassword('elpmis ü', stored)).toBe(true)
  expect(await isPassword('elpmis', stored)).toBe(false)
  expect(await hashPassword('elpmis ü', Buffer.alloc(SALT_BYTES, 8))).not.toBe(stored)
})
