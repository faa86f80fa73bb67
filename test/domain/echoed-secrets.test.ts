import fc from 'fast-check'
import { expect, test } from 'vitest'
import { maskEchoes } from '../../src/domain/echoed-secrets.ts'

const BASIC = `Basic ${Buffer.from('aldis:open sésame').toString('base64')}`

test('an answer without secrets stays as it is', () => {
  expect(maskEchoes('', { 'X-Key': 'abcdef' })).toBe('')
  expect(maskEchoes('{"ok":true}', { 'X-Key': 'abcdef' })).toBe('{"ok":true}')
  expect(maskEchoes('{"ok":true}', {})).toBe('{"ok":true}')
})

test('a value is masked wherever it stands, the longest first', () => {
  const headers = { 'X-Key': 'abcdef', 'X-Longer': 'abcdefgh' }
  expect(maskEchoes('1 abcdef 2 abcdefgh 3 abcdef', headers)).toBe('1 *** 2 *** 3 ***')
})

test('of Authorization, what follows the scheme too, and Basic credentials decoded', () => {
  expect(maskEchoes('token s3cr3t', { authorization: 'Bearer s3cr3t' })).toBe('token ***')
  expect(maskEchoes(`got ${BASIC}`, { authorization: BASIC })).toBe('got ***')
  expect(maskEchoes('user aldis, password open sésame', { authorization: BASIC })).toBe(
    'user aldis, password ***',
  )
  expect(maskEchoes('aldis:open sésame', { authorization: BASIC })).toBe('***')
})

test('as JSON writes it', () => {
  const value = 'a"b\\c d'
  expect(maskEchoes(JSON.stringify({ key: value }), { 'X-Key': value })).toBe('{"key":"***"}')
})

test('what is too short to be a secret is not looked for', () => {
  expect(maskEchoes('error 500 of eu', { 'X-Version': '500', 'X-Region': 'eu' })).toBe('error 500 of eu')
})

test('the beginning of a value at the end of a text', () => {
  expect(maskEchoes('key: abcde', { 'X-Key': 'abcdefgh' })).toBe('key: ***')
  expect(maskEchoes('key: abc', { 'X-Key': 'abcdefgh' })).toBe('key: abc')
})

test('wherever the text is cut, no more than three characters of a value are left', () => {
  const value = fc.stringMatching(/^[a-z0-9]{8,40}$/)
  fc.assert(
    fc.property(fc.string(), value, fc.nat(60), (before, secret, length) => {
      const whole = `${before}${secret} tail`
      const cut = whole.slice(0, before.length + length)
      const masked = maskEchoes(cut, { 'X-Key': secret })
      fc.pre(!before.includes(secret.slice(0, 4)))
      expect(masked).not.toContain(secret.slice(0, 4))
    }),
  )
})
