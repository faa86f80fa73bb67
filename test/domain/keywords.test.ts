import { describe, expect, test } from 'vitest'
import { matchKeyword } from '../../src/domain/keywords.ts'

const KEYWORDS = ['STOP', 'Win', 'ÉTÉ', 'a.', 'constructor']

describe('matchKeyword', () => {
  test.each([
    ['STOP', 'STOP'],
    ['stop please', 'STOP'],
    ['  sToP\nnow', 'STOP'],
    ['WIN', 'Win'],
    ['Stop!', 'STOP'],
    ['"win" is not first when quoted', null],
    ['été', 'ÉTÉ'],
    ['e\u0301te\u0301', 'ÉTÉ'],
    ['A.', 'a.'],
    ['a', null],
    ['Constructor', 'constructor'],
    ['__proto__', null],
    ['please stop', null],
    ['stopping', null],
    ['', null],
    [' \n\t', null],
    ['!!!', null],
  ])('%j -> %j', (text, keyword) => {
    expect(matchKeyword(text, KEYWORDS)).toBe(keyword)
  })

  test('a blank keyword matches nothing', () => {
    expect(matchKeyword('!', ['', ' '])).toBeNull()
    expect(matchKeyword('hello', [])).toBeNull()
  })
})
