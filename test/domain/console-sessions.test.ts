import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { hashToken, openSession, sealSession } from '../../src/domain/credentials.ts'
import { deriveKey } from '../../src/domain/secrets.ts'

const key = deriveKey(randomBytes(32), 'sessions')
const session = { tokenHash: hashToken('token'), expiresAtMs: 2_000 }
const sealed = sealSession('customer', session, key, randomBytes(12))
const open = (text: string, nowMs = 1_000) => openSession('customer', text, key, nowMs)

test('a session opens until it expires', () => {
  expect(open(sealed)).toEqual(session)
  expect(open(sealed, 1_999)).toEqual(session)
  expect(open(sealed, 2_000)).toBeNull()
})

test('it shows nothing of the token', () => {
  expect(Buffer.from(sealed.split('.')[2]!, 'base64url').toString('latin1')).not.toContain('tokenHash')
  expect(sealSession('customer', session, key, randomBytes(12))).not.toBe(sealed)
})

test('a session of one kind is none of the other', () => {
  expect(openSession('operator', sealed, key, 1_000)).toBeNull()
})

test('null for whatever was not sealed with the key', () => {
  const other = deriveKey(randomBytes(32), 'sessions')
  expect(open(sealSession('customer', session, other, randomBytes(12)))).toBeNull()
  const [version, , rest] = sealed.split('.')
  const [, otherId] = sealSession('customer', session, other, randomBytes(12)).split('.')
  expect(open(`${version}.${otherId}.${rest}`)).toBeNull()
  for (const text of [
    '',
    'v1',
    'v1..',
    `v2${sealed.slice(2)}`,
    `${sealed}A`,
    sealed + sealed,
    'x'.repeat(16_000),
  ])
    expect(open(text), text.slice(0, 40)).toBeNull()
})

test('null when any character is missing or another', () => {
  for (let at = 0; at < sealed.length; at += 1) {
    expect(open(sealed.slice(0, at)), `first ${at}`).toBeNull()
    const changed = sealed[at] === 'A' ? 'B' : 'A'
    const text = sealed.slice(0, at) + changed + sealed.slice(at + 1)
    // The last character may have bits that stand for nothing.
    if (at < sealed.length - 1) expect(open(text), `without ${at}`).toBeNull()
  }
})

test('while SECRET_KEY is being changed, sessions of both keys open, and new ones are of the new key', () => {
  const fresh = deriveKey(randomBytes(32), 'sessions')
  expect(openSession('customer', sealed, [fresh, key], 1_000)).toEqual(session)
  const renewed = sealSession('customer', session, [fresh, key], randomBytes(12))
  expect(openSession('customer', renewed, fresh, 1_000)).toEqual(session)
})
