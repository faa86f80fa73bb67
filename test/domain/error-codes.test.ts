import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { FAILURES, type FailureCode, SUCCESSES } from '../../src/domain/error-codes.ts'

const CODES = Object.keys(FAILURES) as FailureCode[]

test('codes are three digits, messages short and each its own', () => {
  expect(CODES.every((code) => /^[1-6]\d\d$/.test(code))).toBe(true)
  const messages = [...Object.values(FAILURES), ...Object.values(SUCCESSES)]
  expect(new Set(messages).size).toBe(messages.length)
  expect(messages.filter((message) => message.length > 60)).toEqual([])
})

describe('docs/error-codes.md', () => {
  const doc = readFileSync(new URL('../../docs/error-codes.md', import.meta.url), 'utf8')

  test.each(Object.entries(FAILURES))('explains %s', (code, message) => {
    expect(doc).toContain(`| \`${code}\` | ${message} |`)
  })

  test.each(Object.entries(SUCCESSES))('gives the text of %s', (status, message) => {
    expect(doc).toContain(`| ${status} | ${message} |`)
  })

  test('lists no code that does not exist', () => {
    const listed = [...doc.matchAll(/^\| `([1-9]\d\d)` \|/gm)].map((match) => match[1])
    expect(listed).toEqual(CODES)
  })
})
