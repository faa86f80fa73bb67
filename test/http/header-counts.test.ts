import { expect, it } from 'vitest'
import { countHeader } from '../../src/http/header-counts.ts'

it('counts a name in any case, and never a value', () => {
  const rawHeaders = ['Host', 'a', 'x', 'host', 'HOST', 'b', 'hosts', 'c']
  expect(countHeader(rawHeaders, 'host')).toBe(2)
  expect(countHeader(rawHeaders, 'authorization')).toBe(0)
})
