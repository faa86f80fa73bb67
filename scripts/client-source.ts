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
  readonly tags: readonly string[]
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

/** The operations of one tag, or the webhooks: members of an interface, which has a file of its own. */
interface Group {
  readonly file: string
  readonly name: string
  readonly doc: string
  readonly members: readonly Member[]
}

interface Member {
  readonly source: string
  /** Names of the schemas that it refers to. */
  readonly schemas: readonly string[]
}

const MADE = '// Made from the OpenAPI document by `npm run generate-client`.'
/** The file of the schemas that the operations of several tags need, or of none. */
const SHARED = 'several-tags'

/**
 * The sources of a client of the operations below `prefix`, not formatted, by their paths: `<name>.ts`, and a folder of that
 * name with a file for each tag. Types that `declared` has with the same meaning are imported from there. Throws on what it
 * cannot express.
 */
export function clientSources(
  document: OpenApiDocument,
  { prefix, name }: { readonly prefix: string; readonly name: string },
  declared?: Declared,
): ReadonlyMap<string, string> {
  const operations = Object.entries(document.paths)
    .filter(([path]) => path.startsWith(prefix))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, op]) => operationOf(document, path, method, op)),
    )
  const byTag = [...Map.groupBy(operations, ({ tag }) => tag)].sort(([a], [b]) => (a < b ? -1 : 1))
  const tags = byTag.map(([tag, members]) => ({
    file: tag.toLowerCase().replaceAll(' ', '-'),
    name: `${tag.replace(/(?:^|[ -])(\w)/g, (_, letter: string) => letter.toUpperCase())}Operations`,
    doc: 'Each operation: its input, and its answer when it succeeds.',
    members,
  }))
  const groups = [...tags, ...webhooksIn(document)]
  const imported = declared === undefined ? [] : sameIn(document.components.schemas, declared.schemas)
  const files = groupFiles(document.components.schemas, groups, { names: imported, file: declared?.file })
  const index = [
    MADE,
    tags.map((tag) => `import type { ${tag.name} } from './${name}/${tag.file}.ts'`).join('\n'),
    [...files.keys()]
      .sort()
      .map((file) => `export type * from './${name}/${file}.ts'`)
      .join('\n'),
    imported.length === 0 ? '' : `export type { ${imported.join(', ')} } from '${declared!.file}'`,
    `/** Each operation of the API. */\nexport interface Operations extends ${tags.map((tag) => tag.name).join(', ')} {}`,
    `/** How each is requested: method, path and names of the query; \`body\` if the rest of the input is its body. */\nexport const OPERATIONS = {${operations.map(({ request }) => request).join(',\n')}}`,
  ]
  return new Map([
    [`${name}.ts`, index.join('\n\n')],
    ...[...files].map(([file, source]) => [`${name}/${file}.ts`, source] as const),
  ])
}

function webhooksIn({ webhooks = {} }: OpenApiDocument): Group[] {
  const members = Object.values(webhooks).map(({ post }) => webhookOf(post!))
  const doc = 'What is POSTed to a receiver, by type of event.'
  return members.length === 0 ? [] : [{ file: 'webhook-bodies', name: 'WebhookBodies', doc, members }]
}

/** The file of each group, with the schemas that only this group needs, and the one of the other schemas. */
function groupFiles(
  schemas: Record<string, Schema>,
  groups: readonly Group[],
  imported: { readonly names: readonly string[]; readonly file: string | undefined },
): ReadonlyMap<string, string> {
  const neededBy = (file: string, names: readonly string[]) => ({ file, names: reachable(schemas, names) })
  const needs = groups.map(({ file, members }) =>
    neededBy(
      file,
      members.flatMap((member) => member.schemas),
    ),
  )
  const unused = Object.keys(schemas).filter((schema) => !needs.some(({ names }) => names.has(schema)))
  needs.push(neededBy(SHARED, unused))
  const declared = Object.keys(schemas).filter((schema) => !imported.names.includes(schema))
  const homes = Map.groupBy(declared, (schema) => {
    const [home, another] = needs.filter(({ names }) => names.has(schema))
    return another === undefined ? home!.file : SHARED
  })
  const sourceOf = (file: string, members: readonly Member[], last: string) => {
    const own = homes.get(file) ?? []
    const used = new Set([
      ...members.flatMap((member) => member.schemas),
      ...schemasIn(own.map((one) => schemas[one])),
    ])
    const importing = (names: readonly string[], from: string) => {
      const wanted = names.filter((one) => used.has(one))
      return wanted.length === 0 ? '' : `import type { ${wanted.join(', ')} } from '${from}'\n`
    }
    const shared = file === SHARED ? [] : (homes.get(SHARED) ?? [])
    const imports = importing(imported.names, `.${imported.file}`) + importing(shared, `./${SHARED}.ts`)
    const types = own.map((one) => declaration(one, typeOf(schemas[one]!, one)))
    return [MADE, imports, ...types, last].join('\n\n')
  }
  const files = new Map(
    groups.map(({ file, name, doc, members }) => {
      const body = members.map(({ source }) => source).join('\n')
      return [file, sourceOf(file, members, `/** ${doc} */\nexport interface ${name} {\n${body}\n}`)]
    }),
  )
  return homes.has(SHARED) ? files.set(SHARED, sourceOf(SHARED, [], '')) : files
}

/** These, and those that they refer to. */
function reachable(
  schemas: Record<string, Schema>,
  names: readonly string[],
  found = new Set<string>(),
): ReadonlySet<string> {
  for (const name of names) {
    if (found.has(name)) continue
    found.add(name)
    reachable(schemas, schemasIn(schemas[name]), found)
  }
  return found
}

/** Names of the schemas that something refers to. */
function schemasIn(part: unknown): string[] {
  const references = JSON.stringify(part ?? null).matchAll(/#\/components\/schemas\/(\w+)/g)
  return [...references].map(([, name]) => name!)
}

/** Names of the schemas that are the same in both, and refer only to such. */
function sameIn(schemas: Record<string, Schema>, others: Record<string, Schema>): string[] {
  const texts = Object.entries(schemas).map(([name, schema]) => [name, JSON.stringify(schema)] as const)
  let same = texts.filter(([name, text]) => text === JSON.stringify(others[name]))
  for (let before = -1; before !== same.length; ) {
    before = same.length
    const names = new Set(same.map(([name]) => name))
    same = same.filter(([, text]) => schemasIn(JSON.parse(text)).every((name) => names.has(name)))
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
  const succeeded = Object.entries(op.responses).filter(([status]) => status.startsWith('2'))
  const answers = succeeded.map(([, { content }]) =>
    content === undefined ? 'undefined' : typeOf(content['application/json'].schema, id),
  )
  const types = `{ input: ${input.join(' & ') || 'Record<string, never>'}; answer: ${union(answers)} }`
  const target = query.length === 0 ? path : `${path}?${query.join('&')}`
  return {
    tag: op.tags[0]!,
    source: `${comment(op.summary, op.description)}${id}: ${types}`,
    request: `${id}: '${method.toUpperCase()} ${target}${body === undefined ? '' : ' body'}'`,
    schemas: schemasIn([parameters, requestBody, succeeded]),
  }
}

function webhookOf({ operationId, summary, description, requestBody }: Operation): Member {
  const type = typeOf(requestBody!.content!['application/json'].schema, operationId)
  return {
    source: `${comment(summary, description)}${operationId}: ${type}`,
    schemas: schemasIn(requestBody),
  }
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
