import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { openApiDocument } from '../../scripts/openapi-document.ts'
import { ERRORS } from '../../src/errors.ts'
import { portablePattern, withComponents } from '../../src/http/openapi-components.ts'
import { PATTERN_MEANINGS } from '../../src/http/validate.ts'
import { type OpenApi, type Operation, operationsOf, parametersOf, responseOf } from '../support/openapi.ts'

const KIB = 1_024
const CUSTOMERS = await openApiDocument<OpenApi>('/openapi.json')
const OPERATORS = await openApiDocument<OpenApi>('/admin/v1/openapi.json')

describe.each([
  ['customers', CUSTOMERS],
  ['operators', OPERATORS],
])("the %s' document", (_name, document) => {
  const operations = operationsOf(document)

  it('is small: less than 240 KiB', () => {
    expect(Buffer.byteLength(JSON.stringify(document))).toBeLessThan(240 * KIB)
  })

  it('has every object of more than 3 fields as a component, once', () => {
    const { schemas } = document.components
    const shapes = Object.values(schemas).map((schema) => JSON.stringify(schema))
    expect(new Set(shapes).size).toBe(shapes.length)
    const within = Object.values(schemas).flatMap((schema) => Object.values(schema).flatMap(largeObjects))
    expect([...within, ...largeObjects({ ...document, components: null })]).toEqual([])
  })

  it('has no pattern that regular expressions of Go, Java or Python cannot read', () => {
    const patterns = [...JSON.stringify(document).matchAll(/"pattern":"(.*?[^\\])"/g)].map(([, one]) => one!)
    expect(patterns.length).toBeGreaterThan(0)
    expect(patterns.filter((pattern) => /\\p\{|\\u|\(\?[^:]/.test(pattern))).toEqual([])
  })

  it('has an id of its own for every operation', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([])
  })

  it('describes every operation and every parameter', () => {
    for (const { operation } of operations) {
      expect(operation.summary, operation.operationId).toMatch(/^[A-Z][^.]+$/)
      expect(operation.description, operation.operationId).toMatch(/^[A-Z].*\.$/)
      for (const { name, description, required, example } of parametersOf(document, operation)) {
        expect(description, `${operation.operationId} ${name}`).toBeTruthy()
        if (required) expect(example, `${operation.operationId} ${name}`).toBeDefined()
      }
    }
  })

  it('describes its tags, whose names differ by more than case', () => {
    const names = document.tags!.map(({ name }) => name)
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length)
    expect(document.tags!.map(({ description }) => description)).not.toContain('')
    const pushed = Object.values(document.webhooks ?? {}).flatMap(Object.values<Operation>)
    const used = [...operations.map(({ operation }) => operation), ...pushed].flatMap(({ tags }) => tags)
    expect([...new Set(used)].sort()).toEqual(names.sort())
    const managed = operations.flatMap(({ operation }) => operation.tags)
    expect(pushed.flatMap(({ tags }) => tags).filter((tag) => managed.includes(tag))).toEqual([])
  })

  it('says what every answer means', () => {
    for (const { operation } of operations) {
      for (const status of Object.keys(operation.responses)) {
        const { description } = responseOf(document, operation, status)!
        expect(description, `${operation.operationId} ${status}`).toMatch(/^[A-Z]/)
        expect(description).not.toBe('Default Response')
      }
    }
  })

  it('has the failures that any request may meet, those of a body as well', () => {
    for (const { operation } of operations) {
      const ofBody = operation.requestBody === undefined ? [] : [413, 415]
      for (const status of [400, 405, 408, 417, 431, 500, 503, ...ofBody]) {
        const { description } = responseOf(document, operation, status)!
        const [code] = Object.entries(ERRORS).find(([, error]) => error.status === status)!
        expect(description, `${operation.operationId} ${status}`).toContain(code)
      }
    }
  })
})

/** Objects of more than 3 fields in a part of a document, by their fields. */
function largeObjects(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  const { properties } = node as { properties?: object }
  const names = Object.keys(properties ?? {})
  return [...(names.length > 3 ? [names.join()] : []), ...Object.values(node).flatMap(largeObjects)]
}

it('says that omitted fields keep their values where fields may be omitted, and nowhere else', () => {
  const changes = operationsOf(OPERATORS).filter(({ operation }) =>
    operation.operationId.startsWith('update'),
  )
  expect(changes.length).toBeGreaterThan(5)
  const { schemas } = OPERATORS.components as {
    schemas: Record<string, { properties: object; required?: [] }>
  }
  for (const { operation } of changes) {
    const name = JSON.stringify(operation.requestBody).match(/schemas\/(\w+)/)![1]!
    const { properties, required = [] } = schemas[name]!
    const isOptional = required.length < Object.keys(properties).length
    expect(operation.description!.includes('Omitted fields keep'), name).toBe(isOptional)
  }
})

describe('components', () => {
  const TEXT = { type: 'string' }
  const jsonOf = (schema: object) => ({ content: { 'application/json': { schema } } })
  const componentsOf = (...schemas: object[]) => {
    const responses = Object.fromEntries(schemas.map((schema, index) => [200 + index, jsonOf(schema)]))
    const document = withComponents({ paths: { '/things': { get: { responses } } } }) as unknown as OpenApi
    const answered = Object.values(document.paths['/things']!.get!.responses).slice(0, schemas.length)
    return { answered, schemas: document.components.schemas as Record<string, object> }
  }
  const thing = { title: 'Thing', type: 'object', properties: { a: TEXT } }

  it('are referred to, null beside them where it may be, with the description of the place', () => {
    const list = {
      type: 'object',
      properties: { one: { ...thing, type: ['object', 'null'], description: 'the first' }, title: TEXT },
    }
    const { answered, schemas } = componentsOf(list, { ...thing, description: 'of the response' })
    expect(schemas.Thing).toEqual({ type: 'object', properties: { a: TEXT } })
    expect(answered).toEqual([
      jsonOf({
        type: 'object',
        properties: {
          one: {
            description: 'the first',
            anyOf: [{ $ref: '#/components/schemas/Thing' }, { type: 'null' }],
          },
          title: TEXT,
        },
      }),
      jsonOf({ $ref: '#/components/schemas/Thing' }),
    ])
  })

  it('keep data as it is, and the examples of one place', () => {
    const example = { title: 'Data', a: 'b' }
    const { schemas } = componentsOf(thing, { ...thing, examples: [example] })
    expect(schemas.Thing).toHaveProperty('examples', [example])
  })

  it('of one title are one', () => {
    const other = { ...thing, properties: { b: TEXT } }
    expect(() => componentsOf(thing, other)).toThrow('two different schemas have the title Thing')
  })
})

describe('portable patterns', () => {
  test.each([
    ['^[0-9]{5,6}$', { pattern: '^[0-9]{5,6}$' }],
    [
      '^(?=.{1,64}$)[^\\s\\p{Cc}]+$',
      { pattern: '^[^\\s\\x00-\\x1f\\x7f-\\x9f]+$', minLength: 1, maxLength: 64 },
    ],
    ['^[^\\p{Cc}\\p{Cs}]{0,9}$', { pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]{0,9}$' }],
  ])('%s', (pattern, published) => {
    expect(portablePattern(pattern)).toEqual(published)
  })

  test.each([...PATTERN_MEANINGS.keys()])('never accept less than the validated one: %s', (source) => {
    const validated = new RegExp(source, 'u')
    const { pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = portablePattern(source)
    const published = new RegExp(pattern, 'u')
    const characters = fc.constantFrom(...'aZ09 +-._:/~\t\u0000\u0085\u00a0é\u2028😀\ud800')
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 70 }), (some) => {
        const text = some.join('')
        const length = [...text].length
        const isPublished = published.test(text) && length >= minLength && length <= maxLength
        return !validated.test(text) || isPublished
      }),
    )
  })
})
