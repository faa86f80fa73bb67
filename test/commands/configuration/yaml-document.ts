import fc from 'fast-check'
import { expect } from 'vitest'
import { parseYaml } from '../../../src/commands/configuration/yaml-document.ts'

/** Faults as `line:column path: message`. */
export function faultsOf(text: string): string[] {
  return parseYaml(text, 'a.yaml').faults.map(
    ({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`,
  )
}

/** Reads so many texts of pieces that mean something: none may make it throw. */
export function readAnything(numRuns: number): void {
  const piece = fc.constantFrom(
    'a',
    ': ',
    '\n',
    '  ',
    '- ',
    '{',
    '}',
    '[',
    ']',
    '&a ',
    '*a',
    '"',
    "'",
    '|',
    '#',
    '!!x ',
    '---\n',
    '<<',
    '\t',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      parseYaml(pieces.join(''), 'a.yaml')
    }),
    { numRuns },
  )
}

/** Reads a mapping of so many keys, the last of which is given twice. */
export function readKeys(count: number): void {
  const keys = Array.from({ length: count }, (_, at) => `k${at}: 1`)
  const last = `k${count - 1}`
  expect(faultsOf([...keys, `${last}: 2`].join('\n'))).toEqual([
    `${count + 1}:1 ${last}: must not be given twice`,
  ])
}
