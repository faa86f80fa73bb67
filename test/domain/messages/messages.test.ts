import { expect, test } from 'vitest'
import { UNKNOWN_REVERSIBLE_MS } from '../../../src/domain/messages/messages.ts'

test('UNKNOWN gives way for 72 h', () => {
  expect(UNKNOWN_REVERSIBLE_MS).toBe(72 * 3_600_000)
})
