/**
 * The client's types, from an OpenAPI document of ours. It knows the part of JSON Schema that our documents use; anything
 * else is an error, with its place.
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
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Schema[]
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

interface Content {
  readonly content?: { readonly 'application/json': { readonly schema: Schema } }
}

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[]
  readonly requestBody?: Content
  readonly responses: Record<string, Content>
}

type Paths = Record<string, Record<string, Operation>>

export interface OpenApiDocument {
  readonly components: {
    readonly schemas: Record<string, Schema>
    readonly parameters: Record<string, Parameter>
  }
  readonly paths: Paths
  readonly webhooks?: Paths
}

/** Keywords that say more about a value than its type can. */
const REFINEMENTS =
  /^(description|format|pattern|examples|default|writeOnly|(exclusive)?M(in|ax)imum|m(in|ax)(imum|Length|Items|Properties)|uniqueItems)$/
const TYPES = /^(type|properties|required|additionalProperties|items|enum|anyOf)$/
const PRIMITIVES: Record<string, string> = {
  integer: 'number',
  number: 'number',
  string: 'string',
  boolean: 'boolean',
  null: 'null',
}
/** The client sends it from an option instead of the input. */
const OPTION_HEADER = 'idempotency-key'

/** Where else types are declared: the schemas of the document that `file` was made from. */
export interface Declared {
  readonly file: string
  readonly schemas: Record<string, Schema>
}

/**
 * The source of a client of the operations below `prefix`, not formatted. Types that `declared` has with the same meaning are
 * imported from there. Throws on what it cannot express.
 */
export function clientSource(document: OpenApiDocument, prefix: string, declared?: Declared): string {
  const { schemas } = document.components
  const imported = declared === undefined ? [] : sameIn(schemas, declared.schemas)
  const operations = Object.entries(document.paths)
    .filter(([path]) => path.startsWith(prefix))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, op]) => operationOf(document, path, method, op)),
    )
  const webhooks = Object.values(document.webhooks ?? {}).map(
    ({ post }) => `${comment(post!.summary, post!.description)}${post!.operationId}: ${bodyType(post!)}`,
  )
  return [
    '// Made from the OpenAPI document by `npm run generate-client`.',
    ...(declared === undefined || imported.length === 0
      ? []
      : [
          `import type { ${imported.join(', ')} } from '${declared.file}'\n\nexport type { ${imported.join(', ')} }`,
        ]),
    ...Object.entries(schemas)
      .filter(([name]) => !imported.includes(name))
      .map(([name, schema]) => declaration(name, typeOf(schema, name))),
    ...(webhooks.length === 0
      ? []
      : [
          `/** What is POSTed to a receiver, by type of event. */\nexport interface WebhookBodies {\n${webhooks.join('\n')}\n}`,
        ]),
    `/** Each operation of the API: its input, and its answer when it succeeds. */\nexport interface Operations {\n${operations.map(({ types }) => types).join('\n')}\n}`,
    `/** How each operation is requested: what is neither in the path nor in the query is the body. */\nexport const OPERATIONS = {${operations.map(({ request }) => request).join(',\n')}} as const`,
  ].join('\n\n')
}

/** Names of the schemas that are the same in both, and refer only to such. */
function sameIn(schemas: Record<string, Schema>, others: Record<string, Schema>): string[] {
  const texts = Object.entries(schemas).map(([name, schema]) => [name, JSON.stringify(schema)] as const)
  let same = texts.filter(([name, text]) => text === JSON.stringify(others[name]))
  for (let before = -1; before !== same.length; ) {
    before = same.length
    const names = new Set(same.map(([name]) => name))
    same = same.filter(([, text]) =>
      [...text.matchAll(/#\/components\/schemas\/(\w+)/g)].every(([, name]) => names.has(name!)),
    )
  }
  return same.map(([name]) => name)
}

function operationOf({ components }: OpenApiDocument, path: string, method: string, op: Operation) {
  const { operationId: id, requestBody } = op
  const parameters = (op.parameters ?? []).map((one) =>
    '$ref' in one ? components.parameters[nameIn(one.$ref)]! : one,
  )
  const [headers, inputs] = [true, false].map((is) =>
    parameters.filter((one) => (one.in === 'header') === is),
  )
  const query = inputs!.filter((one) => one.in === 'query').map(({ name }) => name)
  const body = requestBody?.content?.['application/json'].schema
  // The client tells fields of the body from parameters by their names.
  const fields = Object.keys(components.schemas[nameIn(body?.$ref ?? '')]?.properties ?? {})
  const names = [...inputs!.map(({ name }) => name), ...fields]
  check(new Set(names).size === names.length, `${id}: one name is given in two places: ${names}`)
  for (const { name } of headers!)
    check(name === OPTION_HEADER, `${id}: the client cannot send the header ${name}`)

  const given = inputs!.map(({ name, required = false, description, schema }) =>
    field(name, typeOf(schema, `${id}.${name}`), required, description ?? schema.description),
  )
  const input = [
    ...(given.length > 0 ? [`{\n${given.join('\n')}\n}`] : []),
    ...(body === undefined ? [] : [typeOf(body, id)]),
  ]
  const answers = Object.entries(op.responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) =>
      content === undefined ? 'undefined' : typeOf(content['application/json'].schema, id),
    )
  const types = `{ input: ${input.join(' & ') || 'Record<string, never>'}; answer: ${union(answers)} }`
  const request = { method: method.toUpperCase(), path, query, body: body !== undefined }
  return {
    types: `${comment(op.summary, op.description)}${id}: ${types}`,
    request: `${id}: ${JSON.stringify(request)}`,
  }
}

function bodyType({ operationId, requestBody }: Operation): string {
  return typeOf(requestBody!.content!['application/json'].schema, operationId)
}

/** A component is referred to by its name. `where` is for errors. */
function typeOf(schema: Schema, where: string): string {
  if (schema.$ref !== undefined) return nameIn(schema.$ref)
  for (const keyword of Object.keys(schema))
    check(
      TYPES.test(keyword) || REFINEMENTS.test(keyword),
      `${where}: the generator does not know ${keyword}`,
    )
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)))
  if (schema.anyOf !== undefined) return union(schema.anyOf.map((one) => typeOf(one, where)))
  return union([schema.type ?? []].flat().map((type) => singleType(type, schema, where)))
}

function singleType(
  type: string,
  { items, properties, required = [], additionalProperties }: Schema,
  where: string,
) {
  if (type === 'array') return `(${typeOf(items!, `${where}[]`)})[]`
  if (type === 'object' && typeof additionalProperties === 'object')
    return `Record<string, ${typeOf(additionalProperties, where)}>`
  if (type === 'object' && properties === undefined && additionalProperties === true)
    return 'Record<string, unknown>'
  if (type === 'object') {
    const fields = Object.entries(properties ?? {}).map(([name, schema]) =>
      field(name, typeOf(schema, `${where}.${name}`), required.includes(name), schema.description),
    )
    return `{\n${fields.join('\n')}\n}`
  }
  check(type in PRIMITIVES, `${where}: the generator does not know the type ${type}`)
  return PRIMITIVES[type]!
}

function declaration(name: string, type: string): string {
  return type.startsWith('{') ? `export interface ${name} ${type}` : `export type ${name} = ${type}`
}

/** `#/components/schemas/Name` -> `Name` */
function nameIn(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

/** An optional field may also be given as undefined, which is as good as absent. */
function field(name: string, type: string, required: boolean, description: string | undefined): string {
  return `${comment(description)}${JSON.stringify(name)}${required ? `: ${type}` : `?: ${type} | undefined`}`
}

function union(types: readonly string[]): string {
  check(types.length > 0, 'a value without a type')
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

function check(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message)
}
