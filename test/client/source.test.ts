import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clientSources, type OpenApiDocument } from '../../scripts/client-source.ts'
import { generateClientSources } from '../../scripts/generate-client.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

it('is what the generator makes of both APIs; npm run generate-client makes it anew', async () => {
  const sources = await generateClientSources()
  for (const [path, source] of sources) expect(read(path)).toBe(source)
  const there = ['api', 'admin-api'].flatMap((folder) =>
    readdirSync(join(ROOT, 'client/src', folder)).map((file) => `client/src/${folder}/${file}`),
  )
  expect(there.filter((path) => !sources.has(path))).toEqual([])
})

it('is of the version of the service', () => {
  expect(JSON.parse(read('client/package.json')).version).toBe(JSON.parse(read('package.json')).version)
})

describe('the generator', () => {
  const TEXT = { type: 'string' }
  const jsonOf = (schema: object) => ({ content: { 'application/json': { schema } } })
  const parameter = (name: string, place: string) => ({ name, in: place, schema: TEXT })

  /** Of a document with one operation, `GET /v1/things`. */
  function sourceOf(changes: object, path = '/v1/things'): string {
    const get = { operationId: 'listThings', tags: ['Things'], responses: { 200: jsonOf(TEXT) }, ...changes }
    const components = { schemas: { Thing: { type: 'object', properties: { a: TEXT } } }, parameters: {} }
    const document = { components, paths: { [path]: { get } } } as OpenApiDocument
    return [...clientSources(document, { prefix: '/v1/', name: 'api' }).values()].join('\n')
  }
  const answering = (schema: object) => ({ responses: { 200: jsonOf(schema) } })

  it('leaves out what is not below its path', () => {
    expect(sourceOf({}, '/livez')).not.toContain('listThings')
  })

  it('a comment cannot end before its time', () => {
    expect(sourceOf({ summary: 'a */ b' })).toContain('/** a * / b. */')
  })

  it.each<[string, object]>([
    ['does not know patternProperties', answering({ type: 'object', patternProperties: {} })],
    ['does not know the type date', answering({ type: 'date' })],
    ['a value without a type', answering({})],
    ['a value without a type', { responses: {} }],
    ['cannot send the header x-y', { parameters: [parameter('x-y', 'header')] }],
    [
      'given in two places: a',
      {
        parameters: [parameter('a', 'path')],
        requestBody: jsonOf({ $ref: '#/components/schemas/Thing' }),
      },
    ],
  ])('says what it cannot express: %s', (message, changes) => {
    expect(() => sourceOf(changes)).toThrow(message)
  })
})
