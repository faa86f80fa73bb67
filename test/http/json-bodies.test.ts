import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/errors.ts'
import { isPlainJson, parseJson } from '../../src/http/json-bodies.ts'

function codeOf(bytes: Uint8Array | string): string {
  try {
    parseJson(Buffer.from(bytes), 8)
    return 'none'
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.errors![0]!.code
  }
}

describe('parseJson', () => {
  it('gives any JSON back', () => {
    const values = fc.jsonValue({ maxDepth: 6 })
    fc.assert(
      fc.property(values, (value) => {
        const text = JSON.stringify(value)
        expect(JSON.stringify(parseJson(Buffer.from(text), 8))).toBe(text)
      }),
    )
  })

  it('refuses any other bytes as one of four faults', () => {
    const codes = ['none', 'INVALID_UTF8', 'TOO_DEEP', 'MALFORMED_JSON']
    fc.assert(fc.property(fc.uint8Array(), (bytes) => codes.includes(codeOf(bytes))))
  })

  it('bounds nesting, and does not count brackets in strings', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(codeOf(nested(8))).toBe('none')
    expect(codeOf(nested(9))).toBe('TOO_DEEP')
    expect(codeOf('['.repeat(60_000))).toBe('TOO_DEEP')
    expect(codeOf(JSON.stringify({ text: `${nested(20)}\\"[[[[[[[[[` }))).toBe('none')
    expect(codeOf(`{"a":"[[[[[[[[[[`)).toBe('MALFORMED_JSON')
  })

  it('lets __proto__ be a property', () => {
    const value = parseJson(Buffer.from('{"__proto__":{"from":"x"}}'), 8) as Record<string, unknown>
    expect(value.from).toBeUndefined()
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })
})

function judge(type: string, encoding?: string): boolean {
  const headers = {
    'content-type': type,
    ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
  }
  return isPlainJson({ headers, rawHeaders: Object.entries(headers).flat() })
}

describe('isPlainJson', () => {
  it.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json;',
    'application/json ; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json; charset=us-ascii',
    'application/json; version=1',
  ])('takes %s', (type) => expect(judge(type)).toBe(true))

  it.each([
    '',
    'text/json',
    'application/jsonx',
    'application/json, text/plain',
    'application/json\u00a0',
    'application/json; charset=utf-16',
    'application/json; charset=',
    'application/json; charset=utf-8; charset=utf-16',
  ])('refuses %j', (type) => expect(judge(type)).toBe(false))

  it('refuses any coding of the body', () => {
    expect(judge('application/json', 'Identity')).toBe(true)
    for (const coding of ['gzip', 'identity, gzip', 'x', '']) {
      expect(judge('application/json', coding)).toBe(false)
    }
  })

  it('refuses two content types, the first of which Node would take', () => {
    const headers = { 'content-type': 'application/json' }
    const rawHeaders = ['Content-Type', 'application/json', 'content-type', 'text/plain']
    expect(isPlainJson({ headers, rawHeaders })).toBe(false)
  })
})
