import { expect, test } from 'vitest'
import { judgeRecipient, limitFaults, validityMs } from '../../../src/domain/limits/plan-limits.ts'
import { aPlan } from '../../support/directory.ts'

test('judgeRecipient: all countries, or those of the list; a number of no country only without a list', () => {
  const nordic = aPlan({ allowedCountries: new Set(['SE', 'NO']) })
  const codes = (plan: typeof nordic) =>
    ['+46701234567', '+4740123456', '+447400123456', '+882161234567'].map(
      (to) => judgeRecipient(plan, to)?.code ?? null,
    )
  expect(codes(aPlan())).toEqual([null, null, null, null])
  expect(codes(nordic)).toEqual([null, null, 'COUNTRY_NOT_ALLOWED', 'COUNTRY_NOT_ALLOWED'])
  expect(judgeRecipient(nordic, '+447400123456')?.message).toContain('GB')
})

test('validityMs: the usual one, or what the sender asks for, never more than the longest', () => {
  const plan = aPlan({ validitySeconds: 600, maxValiditySeconds: 900 })
  expect([validityMs(plan), validityMs(plan, 60), validityMs(plan, 1_200)]).toEqual([
    600_000, 60_000, 900_000,
  ])
  expect(validityMs(aPlan({ maxValiditySeconds: 900 }))).toBe(900_000)
})

test('limitFaults names a country that does not exist', () => {
  expect(limitFaults({})).toEqual([])
  const [fault, ...more] = limitFaults({ allowedCountries: ['SE', 'XX'] })
  expect([fault, more]).toMatchObject([{ field: 'allowedCountries.1', code: 'NOT_FOUND' }, []])
})
