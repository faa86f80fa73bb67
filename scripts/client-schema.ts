/**
 * The client's types, from the OpenAPI document: the part of JSON Schema that our documents use, and nothing that it
 * would have to guess. What it cannot express is an error, with its place.
 *
 * openapi-typescript 7 needs TypeScript 5 as a peer: it cannot be installed beside TypeScript 7.
 */

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Record<string, Schema>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
}

interface Reference {
  readonly $ref: string
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

type Content = { readonly $ref?: string; readonly content?: Record<string, { readonly schema: Schema }> }

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: Content
  readonly responses: Record<string, Content>
}

type Paths = Record<string, Record<string, Operation>>

interface Components {
  readonly schemas?: Record<string, Schema>
  readonly responses?: Record<string, Content>
  readonly parameters?: Record<string, Parameter>
}

export interface OpenApiDocument {
  readonly components?: Components
  readonly paths: Paths
  readonly webhooks: Paths
}

/** What says more about a value than its type can. */
const REFINEMENTS = new Set(
  'description format pattern examples default deprecated minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems minProperties maxProperties'.split(
    ' ',
  ),
)
const TYPES = new Set('type properties required additionalProperties items enum const anyOf'.split(' '))

/** Headers that the client sends from an option instead of the input. */
const OPTION_HEADERS = ['idempotency-key']

/** Files of client/src by name: what is sent and answered, and the operations that do so. */
export interface ClientSources {
  readonly 'schema.ts': string
  readonly 'operations.ts': string
}

/** The sources of both, not formatted. Throws on what it cannot express. */
export function clientSources({ paths, webhooks, components = {} }: OpenApiDocument): ClientSources {
  const types = new TypeWriter(components)
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith('/v1/'))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, op]) => ({ path, method, op: withParameters(op, components) })),
    )
  const bodies = Object.values(webhooks).map(({ post }) => {
    const type = types.of(jsonOf(post!.requestBody, post!.operationId), post!.operationId)
    return `${comment(post!.summary, post!.description)}${post!.operationId}: ${type}`
  })
  const typed = operations.map(({ op }) => {
    const input = inputOf(op, types)
    return `${comment(op.summary, op.description)}${op.operationId}: { input: ${input}; answer: ${answerOf(op, types)} }`
  })
  const table = operations.map(
    ({ path, method, op }) =>
      `${op.operationId}: ${JSON.stringify({
        method: method.toUpperCase(),
        path,
        query: parametersIn('query', op).map(({ name }) => name),
        body: op.requestBody !== undefined,
      })}`,
  )
  const schema = [
    ...types.declarations(),
    `/** What is POSTed to a receiver, by type of event. */\nexport interface WebhookBodies {\n${bodies.join('\n')}\n}`,
  ]
  const interfaces = `/** Each operation of the API: what it is given, and what it answers when it succeeds. */\nexport interface Operations {\n${typed.join('\n')}\n}`
  const used = types.names().filter((name) => new RegExp(`\\b${name}\\b`).test(interfaces))
  const requests = [
    ...(used.length > 0 ? [`import type { ${used.sort().join(', ')} } from './schema.ts'`] : []),
    interfaces,
    `/** How each operation is requested: what is neither in the path nor in the query is the body. */\nexport const OPERATIONS = {${table.join(',\n')}} as const`,
  ]
  return { 'schema.ts': sourceOf(schema), 'operations.ts': sourceOf(requests) }
}

function sourceOf(parts: readonly string[]): string {
  return ['// Made from the OpenAPI document by `npm run generate-client`.', ...parts].join('\n\n')
}

/** All that an operation is given, in one object: parameters of path and query, and the fields of the body. */
function inputOf(op: WithParameters, types: TypeWriter): string {
  const where = op.operationId
  const unknown = parametersIn('header', op).find(({ name }) => !OPTION_HEADERS.includes(name))
  if (unknown !== undefined)
    throw new Error(`${where}: the client has no way to give the header ${unknown.name}`)
  const parameters = [...parametersIn('path', op), ...parametersIn('query', op)]
  const body = op.requestBody === undefined ? null : jsonOf(op.requestBody, where)
  const bodySchema = body === null ? null : types.resolved(body)
  if (bodySchema !== null && bodySchema.type !== 'object')
    throw new Error(`${where}: its body is not an object`)
  const names = [...parameters.map(({ name }) => name), ...Object.keys(bodySchema?.properties ?? {})]
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Error(`${where}: ${twice} is given in two places`)

  const fields = parameters.map(({ name, in: place, required, description, schema }) => {
    const type = types.of(schema, `${where}.${name}`)
    return field(name, type, required === true || place === 'path', description ?? schema.description)
  })
  const parts = [
    ...(fields.length > 0 ? [`{\n${fields.join('\n')}\n}`] : []),
    ...(body === null ? [] : [types.of(body, where)]),
  ]
  return parts.length > 0 ? parts.join(' & ') : 'Record<string, never>'
}

function answerOf({ operationId, responses }: Operation, types: TypeWriter): string {
  const [success, another] = Object.keys(responses).filter((status) => status.startsWith('2'))
  if (success === undefined || another !== undefined) {
    throw new Error(`${operationId}: it has to have one answer of success`)
  }
  // All failures are of one type, which is named by being met.
  for (const [status, response] of Object.entries(responses)) {
    const failure = types.response(response)
    if (status !== success && failure.content !== undefined)
      types.of(jsonOf(failure, operationId), operationId)
  }
  const answer = responses[success]!
  return answer.content === undefined ? 'undefined' : types.of(jsonOf(answer, operationId), operationId)
}

type WithParameters = Omit<Operation, 'parameters'> & { readonly parameters: readonly Parameter[] }

/** The operation with its parameters, none of them by reference. */
function withParameters(op: Operation, { parameters: shared }: Components): WithParameters {
  const parameters = (op.parameters ?? []).map((one) => ('$ref' in one ? component(shared, one.$ref) : one))
  return { ...op, parameters }
}

function parametersIn(place: Parameter['in'], { parameters }: WithParameters): readonly Parameter[] {
  return parameters.filter((parameter) => parameter.in === place)
}

function jsonOf(content: Content | undefined, where: string): Schema {
  const schema = content?.content?.['application/json']?.schema
  if (schema === undefined) throw new Error(`${where}: it has no application/json`)
  return schema
}

/** Writes schemas as types; components as types of their name. */
class TypeWriter {
  readonly #components: Components
  readonly #named = new Map<string, string>()

  constructor(components: Components) {
    this.#components = components
  }

  of(schema: Schema, where: string): string {
    if (schema.$ref !== undefined) return this.#component(schema.$ref)
    const strange = Object.keys(schema).find((keyword) => !TYPES.has(keyword) && !REFINEMENTS.has(keyword))
    if (strange !== undefined) throw new Error(`${where}: the generator does not know ${strange}`)
    if (schema.const !== undefined) return JSON.stringify(schema.const)
    if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)))
    if (schema.anyOf !== undefined) {
      return union(schema.anyOf.map((one, index) => this.of(one, `${where}|${index}`)))
    }
    if (schema.type === undefined) return 'unknown'
    const single = typeof schema.type === 'string' ? [schema.type] : schema.type
    return union(single.map((type) => this.#ofType(type, schema, where)))
  }

  names(): string[] {
    return [...this.#named.keys()]
  }

  declarations(): string[] {
    return [...this.#named.values()]
  }

  /** The schema itself, or the component that it refers to. */
  resolved(schema: Schema): Schema {
    return schema.$ref === undefined ? schema : component(this.#components.schemas, schema.$ref)
  }

  response(response: Content): Content {
    return response.$ref === undefined ? response : component(this.#components.responses, response.$ref)
  }

  #ofType(type: string, schema: Schema, where: string): string {
    switch (type) {
      case 'integer':
      case 'number':
        return 'number'
      case 'string':
      case 'boolean':
      case 'null':
        return type
      case 'array':
        return schema.items === undefined ? 'unknown[]' : `(${this.of(schema.items, `${where}[]`)})[]`
      case 'object':
        return this.#fields(schema, where)
      default:
        throw new Error(`${where}: the generator does not know the type ${type}`)
    }
  }

  #component(ref: string): string {
    const name = nameIn(ref)
    if (!this.#named.has(name)) {
      const schema = component(this.#components.schemas, ref)
      // Set before its fields are read, so that those of a schema stand behind it, and end where it is met again.
      this.#named.set(name, '')
      const type = this.of(schema, name)
      this.#named.set(
        name,
        type.startsWith('{') ? `export interface ${name} ${type}` : `export type ${name} = ${type}`,
      )
    }
    return name
  }

  #fields({ properties, required = [], additionalProperties }: Schema, where: string): string {
    if (typeof additionalProperties === 'object') {
      if (properties !== undefined) throw new Error(`${where}: fields with names and fields without`)
      return `Record<string, ${this.of(additionalProperties, where)}>`
    }
    const fields = Object.entries(properties ?? {}).map(([name, schema]) =>
      field(name, this.of(schema, `${where}.${name}`), required.includes(name), schema.description),
    )
    return fields.length > 0 ? `{\n${fields.join('\n')}\n}` : 'Record<string, unknown>'
  }
}

/** `#/components/schemas/Name` -> `Name` */
function nameIn(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

function component<T>(components: Record<string, T> = {}, ref: string): T {
  const found = components[nameIn(ref)]
  if (found === undefined) throw new Error(`the document has no ${ref}`)
  return found
}

/** An optional field may also be given as undefined, which is as good as absent. */
function field(name: string, type: string, required: boolean, description: string | undefined): string {
  const key = /^\w+$/.test(name) ? name : JSON.stringify(name)
  return `${comment(description)}${key}${required ? '' : '?'}: ${required ? type : `${type} | undefined`}`
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ')
}

function comment(...texts: readonly (string | undefined)[]): string {
  const text = texts
    .filter((one) => one !== undefined)
    .map((one) => one.replace(/\.?$/, '.'))
    .join(' ')
    .replaceAll('*/', '* /')
  return text === '' ? '' : `/** ${text} */\n`
}
