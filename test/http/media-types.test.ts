import { describe, expect, it } from 'vitest'
import { isPlainJson } from '../../src/http/media-types.ts'

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
