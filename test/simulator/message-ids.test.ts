import { describe, expect, test } from 'vitest'
import { canonicalId } from '../../src/domain/carriers/message-ids.ts'
import { firstMessageNumber, type IdForm, MessageIds } from '../../src/simulator/message-ids.ts'

const ids = (submit: IdForm, receipt: IdForm = submit, first = 255) =>
  new MessageIds(submit, receipt, first, () => 0.5)

test('count up from the first number', () => {
  const sequence = ids('decimal')
  expect([sequence.next().submitted, sequence.next().submitted]).toEqual(['255', '256'])
})

test.each([
  ['decimal', '255'],
  ['decimal-padded', '00000000000000000255'],
  ['hex', 'ff'],
  ['hex-upper', 'FF'],
  ['uuid', '00000000-0000-80ff-8000-800000000000'],
] as const)('%s', (form, written) => {
  expect(ids(form).next()).toEqual({ submitted: written, receipted: written })
})

describe('two forms of one id', () => {
  test.each([
    ['hex', 'decimal', 'decimal-hex'],
    ['decimal', 'hex-upper', 'hex-decimal'],
    ['decimal', 'decimal-padded', 'normalised'],
    ['hex', 'hex-upper', 'normalised'],
  ] as const)('%s and %s are one under the rule %s', (submit, receipt, rule) => {
    const { submitted, receipted } = ids(submit, receipt, firstMessageNumber(1_763_683_200_000)).next()
    expect(submitted).not.toBe(receipted)
    expect(canonicalId(submitted, rule, 'submit')).toBe(canonicalId(receipted, rule, 'receipt'))
  })

  test('a UUID has no other form', () => {
    expect(() => ids('uuid', 'decimal')).toThrow(RangeError)
    expect(() => ids('hex', 'uuid')).toThrow(RangeError)
  })
})

test('a later start begins higher, in every form within 64 characters', () => {
  expect(firstMessageNumber(2)).toBeGreaterThan(firstMessageNumber(1))
  const late = firstMessageNumber(Date.parse('2200-01-01'))
  expect(Number.isSafeInteger(late)).toBe(true)
  expect(ids('uuid', 'uuid', late).next().submitted).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
})
