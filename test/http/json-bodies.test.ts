import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { atOnce } from '../../src/collections/steps.ts'
import { AppError } from '../../src/errors.ts'
import { isPlainJson, parseJson, parseJsonInSteps } from '../../src/http/json-bodies.ts'

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

describe('parseJsonInSteps', () => {
  const outcome = (read: () => unknown) => {
    try {
      return JSON.stringify(read(), (_, value) => (value instanceof Map ? Object.fromEntries(value) : value))
    } catch (error) {
      return (error as AppError).errors
    }
  }
  const same = (text: string) => {
    const bytes = Buffer.from(text)
    const inSteps = outcome(() => atOnce(parseJsonInSteps(bytes, 5)))
    expect(inSteps).toEqual(outcome(() => parseJson(bytes, 5)))
  }
  const members = (count: number) => Array.from({ length: count }, (_, n) => `"${n}x":{"a":[${n}]}`).join()

  it('returns what parseJson does, with Maps, for any JSON', () => {
    const name = fc.constantFrom('', 'a', '__proto__', '1')
    const member = fc.tuple(name, fc.jsonValue({ maxDepth: 2 }))
    const object = fc
      .array(member)
      .map((all) => `{${all.map(([key, value]) => `"${key}":${JSON.stringify(value)}`)}}`)
    const objects = fc.array(fc.tuple(name, object))
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 7 }), (value) => same(JSON.stringify(value))))
    fc.assert(fc.property(objects, (all) => same(`{${all.map(([key, text]) => `"${key}": ${text}`)}}`)))
    fc.assert(fc.property(objects, (all) => same(`[${all.map(([, text]) => text)}]`)))
  })

  it('refuses what parseJson does, for texts with a letter too many, too few or changed', () => {
    const short = '{"a":{"x":1,"y":[2,{"z":{}}]},"b":{},"c":[{"":0}],"d":{"q":"}\\""}}'
    const long = `{"a":{${members(251)}},"b":{${members(500)}}}`
    // The long one takes a hundred times as long.
    const texts = fc.constantFrom(...Array(31).fill(short), long)
    const letter = fc.constantFrom('', ...'{}[],:" 1é\ufeff')
    fc.assert(
      fc.property(texts, fc.nat(), fc.nat(1), letter, (text, place, removed, added) => {
        const at = place % text.length
        same(text.slice(0, at) + added + text.slice(at + removed))
      }),
      { numRuns: 2_000 },
    )
  })

  it('refuses bytes that are not UTF-8 wherever they are', () => {
    const body = Buffer.from(`{"a":{${members(251)}},"b":{"é":[]}}`)
    fc.assert(
      fc.property(fc.nat(body.length), (place) => {
        const bytes = Buffer.concat([body.subarray(0, place), Buffer.of(0xff), body.subarray(place)])
        expect(outcome(() => atOnce(parseJsonInSteps(bytes, 5)))).toMatchObject([{ code: 'INVALID_UTF8' }])
      }),
    )
  })

  it.each([249, 250, 251, 500])('cuts %i members, and wants one behind each comma', (count) => {
    same(`{"rates":{${members(count)}}}`)
    same(`{"rates":{${members(count)},}}`)
    same(`{"rates":{${members(count)}, }}`)
  })

  it('may pause at every member', () => {
    expect([...parseJsonInSteps(Buffer.from(`{"rates":{${members(1_000)}}}`), 8)].length).toBeGreaterThan(999)
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
