import { expect, it } from 'vitest'
import {
  idempotencyKeyHash,
  isIdempotencyKey,
  requestHash,
} from '../../../src/domain/messages/send-requests.ts'

it('takes 1 to 255 visible ASCII characters as a key', () => {
  for (const key of ['a', '~', '!', '"8e03978e-40d5"', 'x'.repeat(255)])
    expect(isIdempotencyKey(key)).toBe(true)
  for (const key of ['', ' ', 'a b', 'x'.repeat(256), 'é', 'a\n', '\u007f', 'a, b']) {
    expect(isIdempotencyKey(key)).toBe(false)
  }
})

it('hashes keys with SHA-256', () => {
  expect(idempotencyKeyHash('abc').toString('hex')).toBe(
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  )
})

it('tells requests apart by every field that has an effect, and by nothing else', () => {
  const request = { servicePlanId: 'AB', from: '12345', to: '+15551230001', body: 'hi', callbackUrl: null }
  const same = { ...request, servicePlanId: 'ab', unknown: 1 }
  expect(requestHash(same)).toEqual(requestHash(request))
  const others = [
    { ...request, servicePlanId: 'ac' },
    { ...request, from: '1234' },
    { ...request, to: '+15551230002' },
    { ...request, body: 'hi ' },
    { ...request, callbackUrl: 'https://example.com' },
    { ...request, from: '12345+1', to: '5551230001' },
  ]
  const hashes = [request, ...others].map((one) => requestHash(one).toString('hex'))
  expect(new Set(hashes).size).toBe(hashes.length)
})
