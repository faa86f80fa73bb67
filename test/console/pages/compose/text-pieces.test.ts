import { expect, test } from 'vitest'
import { piecesOf, unitsBefore } from '../../../../console/src/pages/compose/text-pieces.ts'

const shown = (...given: Parameters<typeof piecesOf>) =>
  piecesOf(...given).map(
    ({ text, isMarked, startsSegment }) => (startsSegment ? '|' : '') + (isMarked ? `[${text}]` : text),
  )

test('marked characters that follow each other are one piece', () => {
  expect(shown('a👋👋b', new Set(['👋']), ['a👋👋b'])).toEqual(['a', '[👋👋]', 'b'])
})

test('a piece begins where a segment does', () => {
  expect(shown('abc👋👋', new Set(['👋']), ['ab', 'c👋', '👋'])).toEqual(['ab', '|c', '[👋]', '|[👋]'])
})

test('segments of another text divide nothing', () => {
  expect(shown('abcd', new Set(), ['ab', 'c'])).toEqual(['abcd'])
})

test('a position in code points is one in UTF-16 code units', () => {
  expect(unitsBefore('👋a👋', 2)).toBe(3)
})
