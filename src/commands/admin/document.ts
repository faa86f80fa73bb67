import { readFileSync } from 'node:fs'
import { commandOf } from './nouns.ts'

/**
 * The operations of the admin API, as the OpenAPI document of the service describes them. It is a file, because building
 * it takes a second (`npm run generate-admin-openapi`).
 */

/** A schema without references: `null` is one of the types. */
export interface Schema {
  readonly types: readonly string[]
  readonly enum?: readonly string[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
}

export interface Field {
  readonly name: string
  readonly schema: Schema
  readonly required: boolean
  readonly example?: unknown
}

export interface Operation {
  readonly id: string
  readonly noun: string
  readonly verb: string
  readonly method: string
  /** With the parameters in braces: `/carriers/{carrier}`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly parameters: readonly Field[]
  readonly query: readonly Field[]
  readonly body: readonly Field[]
}

type Example = Readonly<Record<string, unknown>>
type Raw = Readonly<Record<string, unknown>>

interface RawSchema extends Omit<Schema, 'types' | 'items' | 'properties'> {
  readonly $ref?: string
  readonly anyOf?: readonly RawSchema[]
  readonly type?: string | readonly string[]
  readonly items?: RawSchema
  readonly properties?: Readonly<Record<string, RawSchema>>
}

interface RawParameter {
  readonly $ref?: string
  readonly in: string
  readonly name: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: RawSchema
  readonly example?: unknown
}

interface RawOperation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly RawParameter[]
  readonly requestBody?: {
    readonly content: { 'application/json': { schema: RawSchema; example?: Example } }
  }
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>
  readonly components: Readonly<Record<string, Raw>>
  readonly tags: readonly { readonly name: string; readonly description: string }[]
}

const FILE = new URL('../../admin-openapi.json', import.meta.url)
const PREFIX = '/admin/v1'

let read: { operations: readonly Operation[]; tags: ReadonlyMap<string, string> } | undefined

/** `aldis export`, `apply` and `diff` are commands of their own: they read and write files. */
const WRITTEN_BY_HAND = new Set(['getConfiguration', 'applyConfiguration'])

/** Every operation of the document that a command is made of, in its order. */
export function operations(): readonly Operation[] {
  return readDocument().operations
}

/** What the document says of a tag. */
export function describeTag(tag: string): string {
  return readDocument().tags.get(tag) ?? tag
}

function readDocument() {
  if (read !== undefined) return read
  const document = JSON.parse(readFileSync(FILE, 'utf8')) as Document
  const found = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => !WRITTEN_BY_HAND.has(operationId))
      .map(([method, raw]) => operationOf(document, path, method, raw)),
  )
  read = { operations: found, tags: new Map(document.tags.map((tag) => [tag.name, tag.description])) }
  return read
}

function operationOf(document: Document, url: string, method: string, raw: RawOperation): Operation {
  const path = url.slice(PREFIX.length)
  const parameters = (raw.parameters ?? []).map((parameter) => refer<RawParameter>(document, parameter))
  const fieldsIn = (place: string) =>
    parameters.filter((parameter) => parameter.in === place).map((parameter) => fieldOf(document, parameter))
  const { operationId: id, summary, description } = raw
  const described = description === undefined ? {} : { description }
  return {
    id,
    ...commandOf({ id, method, path }),
    method: method.toUpperCase(),
    path,
    tag: raw.tags[0]!,
    summary,
    ...described,
    parameters: fieldsIn('path'),
    query: fieldsIn('query'),
    body: bodyOf(document, raw),
  }
}

function fieldOf(document: Document, { name, required, description, schema, example }: RawParameter): Field {
  const described = description === undefined ? schema : { ...schema, description }
  return { name, required: required === true, schema: resolve(document, described), example }
}

function bodyOf(document: Document, { requestBody }: RawOperation): Field[] {
  if (requestBody === undefined) return []
  const { schema, example } = requestBody.content['application/json']
  const { properties = {}, required = [] } = resolve(document, schema)
  return Object.entries(properties).map(([name, property]) => ({
    name,
    schema: property,
    required: required.includes(name),
    example: example?.[name],
  }))
}

/** The schema with what it refers to in its place. Of `anyOf` the document has only "this or null". */
function resolve(document: Document, raw: RawSchema): Schema {
  const { $ref, anyOf = [], type = [], items, properties, ...own } = raw
  const parts = [...($ref === undefined ? [] : [refer<RawSchema>(document, raw)]), ...anyOf]
  const inherited = parts.map((part) => resolve(document, part))
  return {
    ...Object.assign({}, ...inherited),
    ...own,
    types: [...[type].flat(), ...inherited.flatMap((schema) => schema.types)],
    ...(items !== undefined && { items: resolve(document, items) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, resolve(document, property)]),
      ),
    }),
  }
}

/** What `#/components/schemas/Carrier` refers to; the node itself when it is no reference. */
function refer<T extends { readonly $ref?: string }>({ components }: Document, node: T): T {
  if (node.$ref === undefined) return node
  const [, , kind, name] = node.$ref.split('/')
  return components[kind!]![name!] as T
}
