import { expect, test } from 'vitest'
import { withHiddenFields } from '../../src/domain/audit-log.ts'

test('a field that the object does not show is named without its value', () => {
  const shown = { name: 'acme', host: 'b' }
  expect(withHiddenFields({ host: 'b', password: 'hush' }, shown)).toEqual({ ...shown, password: '***' })
  expect(withHiddenFields({}, shown)).toEqual(shown)
})
