import { expect, test } from 'vitest'
import { networkOf } from '../../src/simulator/receipts.ts'

test.each([
  ['15551230001', '310260'],
  ['+15551230001', '310260'],
  ['447700900123', '23415'],
  ['4915123456789', '26201'],
  ['35312345678', '00101'],
  ['', '00101'],
])('%j is in %s', (destination, mccmnc) => {
  expect(networkOf(destination)).toBe(mccmnc)
})
