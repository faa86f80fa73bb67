import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AldisClient } from '../../client/src/index.ts'
import { OPERATIONS } from '../../client/src/operations.ts'
import { clientSources, type OpenApiDocument } from '../../scripts/client-schema.ts'
import { generateClientSources } from '../../scripts/generate-client.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

it('is what the generator makes of the API as it is; npm run generate-client makes it anew', async () => {
  const sources = await generateClientSources()
  expect(read('client/src/schema.ts')).toBe(sources['schema.ts'])
  expect(read('client/src/operations.ts')).toBe(sources['operations.ts'])
})

it('has a method for every operation', () => {
  const operations = Object.keys(OPERATIONS)
  expect(operations).toContain('sendSms')
  const methods = Object.getOwnPropertyNames(AldisClient.prototype)
  expect(operations.filter((id) => !methods.includes(id))).toEqual([])
})

it('is of the version of the service', () => {
  expect(JSON.parse(read('client/package.json')).version).toBe(JSON.parse(read('package.json')).version)
})

describe('the generator', () => {
  const TEXT = { type: 'string' }
  const sourceOf = (document: OpenApiDocument) => Object.values(clientSources(document)).join('\n')

  /** A document of one operation, `GET /v1/things` unless the changes say otherwise. */
  function documentOf(changes: object, path = '/v1/things'): OpenApiDocument {
    const operation = { operationId: 'listThings', responses: { 200: jsonOf(TEXT) }, ...changes }
    return { paths: { [path]: { get: operation } }, webhooks: {} } as OpenApiDocument
  }
  const jsonOf = (schema: object) => ({ content: { 'application/json': { schema } } })
  const parameter = (name: string, place: string) => ({ name, in: place, schema: TEXT })
  const answering = (schema: object) => () => sourceOf(documentOf({ responses: { 200: jsonOf(schema) } }))

  it.each([
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'integer', minimum: 1, description: 'of it' }, 'number'],
    [{ type: 'array', items: { type: ['number', 'null'] } }, '(number | null)[]'],
    [{ type: 'array' }, 'unknown[]'],
    [{ enum: ['a', 'b'] }, '"a" | "b"'],
    [{ const: true }, 'true'],
    [{ anyOf: [TEXT, { type: 'boolean' }, TEXT] }, 'string | boolean'],
    [{ type: 'object', additionalProperties: { type: 'integer' } }, 'Record<string, number>'],
    [{ type: 'object' }, 'Record<string, unknown>'],
    [{}, 'unknown'],
  ])('%j is %s', (schema, type) => {
    expect(answering(schema)()).toContain(`answer: ${type} }`)
  })

  it('names components, once, those of shared responses too', () => {
    const refer = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })
    const schemas = {
      Node: {
        type: 'object',
        properties: { 'a-b': refer('schemas', 'Kind'), next: refer('schemas', 'Node') },
        required: ['a-b'],
      },
      Kind: { enum: ['a', 'b'] },
      Fault: { type: 'object' },
    }
    const document = {
      ...documentOf({
        responses: {
          200: jsonOf({ type: 'array', items: { ...refer('schemas', 'Node'), description: 'one' } }),
          400: refer('responses', '400'),
        },
      }),
      components: { schemas, responses: { 400: jsonOf(refer('schemas', 'Fault')) } },
    } as OpenApiDocument
    const source = sourceOf(document)
    expect(source.split('export interface Node {\n"a-b": Kind\nnext?: Node | undefined\n}')).toHaveLength(2)
    expect(source).toContain('export type Kind = "a" | "b"')
    expect(source).toContain('export type Fault = Record<string, unknown>')
    expect(source).toContain('answer: (Node)[]')
  })

  it('leaves out what is not of the customers', () => {
    expect(sourceOf(documentOf({}, '/livez'))).not.toContain('listThings')
  })

  it('a comment cannot end before its time', () => {
    expect(sourceOf(documentOf({ summary: 'a */ b' }))).toContain('/** a * / b. */')
  })

  it.each<[string, () => unknown]>([
    ['does not know patternProperties', answering({ type: 'object', patternProperties: {} })],
    ['does not know the type date', answering({ type: 'date' })],
    ['the document has no #/components/schemas/A', answering({ $ref: '#/components/schemas/A' })],
    [
      'fields with names and fields without',
      answering({ type: 'object', properties: { a: TEXT }, additionalProperties: TEXT }),
    ],
    ['one answer of success', () => sourceOf(documentOf({ responses: {} }))],
    [
      'no way to give the header x-y',
      () => sourceOf(documentOf({ parameters: [parameter('x-y', 'header')] })),
    ],
    [
      'a is given in two places',
      () => sourceOf(documentOf({ parameters: [parameter('a', 'path'), parameter('a', 'query')] })),
    ],
    ['its body is not an object', () => sourceOf(documentOf({ requestBody: jsonOf(TEXT) }))],
    ['no application/json', () => sourceOf(documentOf({ requestBody: { content: {} } }))],
  ])('says what it cannot express: %s', (message, generate) => {
    expect(generate).toThrow(message)
  })
})
