import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { stringify } from 'yaml'
import { parseYaml } from '../../../src/commands/configuration/yaml-document.ts'
import { faultsOf, readAnything, readKeys } from './yaml-document.ts'

describe('values', () => {
  it('have a place each, and keys are as they are written', () => {
    const text = 'numbers:\n  71234:\n    plan: Alerts\nranges:\n  +4477: {mccmnc: "23410"}\n  "+44": {}\n'
    const { value, places, faults } = parseYaml(text, 'a.yaml')
    expect(faults).toEqual([])
    expect(value).toEqual({
      numbers: { 71234: { plan: 'Alerts' } },
      ranges: { '+4477': { mccmnc: '23410' }, '+44': {} },
    })
    expect(places.get('numbers.71234.plan')).toEqual({ file: 'a.yaml', line: 3, column: 5 })
    expect(places.get('ranges.+4477')).toEqual({ file: 'a.yaml', line: 5, column: 3 })
  })

  test('of any JSON are what they were', () => {
    // Not JSON: -0.
    const json = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)))
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), (value) => {
        const { value: parsed, faults } = parseYaml(stringify(value), 'a.yaml')
        expect(faults).toEqual([])
        expect(JSON.stringify(parsed)).toBe(JSON.stringify(value))
      }),
    )
  })

  test('of no text are none, and of several documents are refused', () => {
    expect(parseYaml('', 'a.yaml').value).toEqual({})
    expect(faultsOf('a: 1\n---\nb: 2\n')).toEqual([
      '2:1 : a second document begins here: put it into a file of its own, and repeat -f',
    ])
  })

  it('may stand for others', () => {
    const { value } = parseYaml('a: {env: X}\nb: {env: [1]}', 'a.yaml', (path, { env }) =>
      typeof env === 'string' ? `${path}=${env}` : undefined,
    )
    expect(value).toEqual({ a: 'a=X', b: { env: [1] } })
  })
})

describe('aliases', () => {
  it('are values that are written once', () => {
    const { value } = parseYaml('a: &host {port: 1}\nb: *host\n', 'a.yaml')
    expect(value).toEqual({ a: { port: 1 }, b: { port: 1 } })
  })

  it('are refused if they stand for very many values, or for themselves', () => {
    const laughs = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    for (let each = 1; each < 9; each += 1) {
      const items = Array.from({ length: 10 }, () => `*a${each - 1}`)
      laughs.push(`a${each}: &a${each} [${items.join(', ')}]`)
    }
    expect(faultsOf(laughs.join('\n'))).toEqual([
      expect.stringContaining('aliases for more than 10000 values'),
    ])
    expect(faultsOf('a: &a {b: *a}')).toEqual([expect.stringContaining('nested too deep')])
    expect(faultsOf('a: *nobody')).toEqual(['1:4 a: has no anchor &nobody before it'])
  })
})

test.each([
  ['a key that is given twice', 'a:\n  b: 1\n  b: 2\n', ['3:3 a.b: must not be given twice']],
  ['all of them', 'a: {b: 1, b: 2}\nc: {d: 1, d: 2}\n', [/^1:11 a\.b: /, /^2:11 c\.d: /]],
  ['syntax', 'a: [1\nb: 2\n', [/^\d:\d : /, /./]],
  ['a key that is no text', '[1, 2]: x\n', [/must have texts as keys/]],
  ['depth', '['.repeat(100) + ']'.repeat(100), [/is nested too deep/]],
  [
    'numbers that JSON does not have',
    'a: .inf\nb: [-.inf, .nan]\n',
    [/^1:4 a: must be/, /^2:5 b\.0: /, /b\.1: /],
  ],
  ['binary values', 'a: !!binary aGk=\n', [/^1:\d+ a: must be/]],
  ['great depth', `a: ${'['.repeat(100_000)}`, [/is nested too deep/]],
  ['great depth of mappings', `${'{a: '.repeat(5_000)}1${'}'.repeat(5_000)}`, [/is nested too deep/]],
])('faults: %s', (_, text, expected) => {
  const found = faultsOf(text)
  expect(found.length).toBeGreaterThan(0)
  for (const [index, one] of expected.entries())
    if (found[index] !== undefined) expect(found[index]).toMatch(one)
})

test('nothing that is typed makes it throw', () => readAnything(300))

test('no more than 1,000 faults are kept, whatever is typed', () => {
  expect(faultsOf('a: 1\n'.repeat(5_000))).toHaveLength(1_000)
  expect(faultsOf('a: 1\n\t\n'.repeat(2_000)).length).toBeLessThanOrEqual(1_000)
})

test('10,000 keys of one mapping are read, and a repeated one found', () => readKeys(10_000))
