import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import {
  openCallbackUrl,
  sealCallbackUrl,
  withoutCredentials,
} from '../../src/domain/callback-credentials.ts'

const key = randomBytes(32)
const iv = () => randomBytes(12)

it('stores a URL without credentials as it is', () => {
  const url = 'https://hooks.example.com/in?x=1'
  expect(sealCallbackUrl(key, url, iv)).toBe(url)
  expect(openCallbackUrl(key, url)).toBe(url)
})

it.each(['https://user:pass@hooks.example.com/in', 'https://user@hooks.example.com/'])('seals %s', (url) => {
  const stored = sealCallbackUrl(key, url, iv)
  expect(stored).not.toContain('user')
  expect(stored).not.toContain('hooks')
  expect(openCallbackUrl(key, stored)).toBe(url)
  expect(() => openCallbackUrl(randomBytes(32), stored)).toThrow('another SECRET_KEY')
})

it.each([
  ['https://user:pass@hooks.example.com/in?x=a@b', 'https://hooks.example.com/in?x=a@b'],
  ['HTTPS://us@er:pass@hooks.example.com', 'HTTPS://hooks.example.com'],
  ['https://hooks.example.com/@me', 'https://hooks.example.com/@me'],
  ['https://hooks.example.com?a@b', 'https://hooks.example.com?a@b'],
])('%s is shown without credentials', (url, shown) => {
  expect(withoutCredentials(url)).toBe(shown)
})
