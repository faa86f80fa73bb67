import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SCENARIOS } from './stage.ts'

test('every scenario of the list has one test here', () => {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'))
  const tested = files.flatMap((name) => {
    const text = readFileSync(new URL(name, import.meta.url), 'utf8')
    return [...text.matchAll(/\b(?:plainS|s)cenario\(\s*'(\w+)'/g)].map(([, id]) => id!)
  })
  expect(tested.toSorted()).toEqual(SCENARIOS.map(({ id }) => id).toSorted())
})
