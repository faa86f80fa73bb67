import { expect, it } from 'vitest'
import { fieldFaults, recordBytes } from '../../src/domain/send-requests.ts'

function faultsOf(request: Parameters<typeof fieldFaults>[0]): string[] {
  return fieldFaults(request).map(({ field, code }) => `${field} ${code}`)
}

it('finds what a schema cannot tell', () => {
  expect(faultsOf({ from: '12345', to: '+15551230001', body: 'hi' })).toEqual([])
  expect(faultsOf({ from: '12', to: '15551230001', body: 'a\u0000b' })).toEqual([
    'from INVALID_FORMAT',
    'to INVALID_FORMAT',
    'body INVALID_TEXT',
  ])
  expect(faultsOf({ body: 'x\udc00y' })).toEqual(['body INVALID_TEXT'])
  expect(faultsOf({ body: '\ud800\u0000' })).toEqual(['body INVALID_TEXT', 'body INVALID_TEXT'])
  expect(faultsOf({ body: '😀\ufeff\u202e' })).toEqual([])
})

it('leaves types to the schema', () => {
  expect(faultsOf({ from: ['12345'], to: 15551230001, body: null })).toEqual([])
})

it('measures a record in bytes of UTF-8', () => {
  const request = { servicePlanId: '', channel: 'SMS' as const, from: 'Aldis', to: '+15551230001', body: 'é' }
  expect(recordBytes(request)).toBe(5 + 12 + 2)
  expect(recordBytes({ ...request, callbackUrl: 'https://é' })).toBe(19 + 10)
})
