import { expect, test } from 'vitest'
import { KnownPaths } from '../../../src/http/wire/arrivals.ts'

const paths = new KnownPaths()
paths.add('/rates', ['GET', 'HEAD'])
paths.add('/rates', ['POST'])
paths.add('/rates/:rateId', ['GET', 'HEAD'])
paths.add('/rates/:rateId', ['DELETE'])
paths.add('/rates/import', ['POST'])
paths.add('/files/*', ['GET'])

test.each([
  ['/rates', ['GET', 'HEAD', 'POST']],
  ['/rates?limit=1', ['GET', 'HEAD', 'POST']],
  ['http://example.com/rates', ['GET', 'HEAD', 'POST']],
  ['/rates/7', ['DELETE', 'GET', 'HEAD']],
  ['/rates/import', ['POST']],
  ['/rates/import/', []],
  ['/rates/7/import', []],
  ['/files/x', []],
])('%s answers %j', (target, methods) => {
  expect(paths.methodsOf(target)).toEqual(methods)
})

test.each([
  ['/rates/import?x=1', '/rates/:rateId', true],
  ['/rates/import', '/rates/import', false],
  ['/rates/7', '/rates/:rateId', false],
  ['/nowhere', undefined, false],
])('%s routed to %s is mistaken: %s', (target, url, mistaken) => {
  expect(paths.isMistaken(target, url)).toBe(mistaken)
})
