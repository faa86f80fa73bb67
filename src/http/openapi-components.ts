import { FAILURE_RESPONSES, SHARED_HEADERS, universalFailures } from './schemas/failure-responses.ts'

/**
 * Turns the collected OpenAPI document, where every route has its schemas in full, into the one that is served. A schema
 * with a `title` becomes the component of that name; failures become shared responses.
 */

type Node = Readonly<Record<string, unknown>>

/** Keywords whose value is data: a `title` in it is not a name. */
const DATA: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'example', 'examples'])

/** Returns a new document. Throws when two different schemas have the same title. */
export function withComponents(document: Node): Node {
  const named = new NamedSchemas()
  const { paths, parameters } = withSharedParameters(
    eachValue(document.paths, (path) =>
      eachValue(path, (operation, method) => named.refer(withFailures(operation as Node, method))),
    ),
  )
  const webhooks = named.refer(document.webhooks ?? {})
  const text = JSON.stringify(paths)
  const answered = Object.entries(FAILURE_RESPONSES).filter(([name]) => text.includes(referenceTo(name).$ref))
  const responses = named.refer(Object.fromEntries(answered))
  return {
    ...document,
    paths,
    webhooks,
    components: {
      ...(document.components as Node),
      schemas: named.all(),
      responses,
      parameters,
      headers: SHARED_HEADERS,
    },
  }
}

/** The operation with references to the failures that any request may meet. */
function withFailures(operation: Node, method: string): Node {
  const { responses: answered } = operation as { responses: Record<string, Node> }
  const failures = universalFailures(operation.requestBody !== undefined)
  const referred = Object.fromEntries(failures.map((status) => [status, referenceTo(status)]))
  const responses = eachValue(answered, (response, status) => {
    const schema = jsonOf(response as Node)?.schema as Node | undefined
    return schema?.title === 'ErrorBody' ? referenceTo(status) : withoutRepeats(response as Node)
  })
  // A route that only reads has no conflicts.
  if (method === 'get') delete responses['409']
  return { ...operation, responses: { ...referred, ...responses } }
}

const referenceTo = (name: string | number) => ({ $ref: `#/components/responses/${name}` })

/** The response, whose schema repeats its description. */
function withoutRepeats(response: Node): Node {
  const media = jsonOf(response)
  if (media === undefined) return response
  const { schema, ...rest } = media
  const { description: _, ...bare } = schema as Node
  return { ...response, content: { 'application/json': { schema: bare, ...rest } } }
}

function jsonOf({ content }: Node): Node | undefined {
  return (content as Record<string, Node> | undefined)?.['application/json']
}

/** Replaces parameters that several operations share by references. A name refers to the form that most of them have. */
function withSharedParameters(paths: Record<string, unknown>): { paths: Node; parameters: Node } {
  const counts = new Map<string, number>()
  eachParameter(paths, (parameter) => {
    const text = JSON.stringify(parameter)
    counts.set(text, (counts.get(text) ?? 0) + 1)
    return parameter
  })
  const shared = new Map<string, string>()
  for (const [text, count] of [...counts].sort(([, a], [, b]) => b - a)) {
    const name = sharedName(JSON.parse(text))
    if (count > 1 && !shared.has(name)) shared.set(name, text)
  }
  const refer = (parameter: Node) => {
    const name = sharedName(parameter)
    const isShared = shared.get(name) === JSON.stringify(parameter)
    return isShared ? { $ref: `#/components/parameters/${name}` } : parameter
  }
  const parameters = [...shared].map(([name, text]) => [name, JSON.parse(text)])
  return { paths: eachParameter(paths, refer), parameters: Object.fromEntries(parameters.sort()) }
}

/** `path.msgId`, or `query.servicePlanId.optional` */
function sharedName({ in: place, name, required }: Node): string {
  return `${place}.${name}${required === true ? '' : '.optional'}`
}

function eachParameter(paths: Node, change: (parameter: Node) => Node): Node {
  return eachValue(paths, (path) =>
    eachValue(path, (operation) => {
      const { parameters } = operation as { parameters?: readonly Node[] }
      return { ...(operation as Node), ...(parameters && { parameters: parameters.map(change) }) }
    }),
  )
}

class NamedSchemas {
  readonly #schemas = new Map<string, { shape: Node; examples: unknown }>()

  /** `components.schemas`, by name. */
  all(): Node {
    const entries = [...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(
      entries.map(([name, { shape, examples }]) => [
        name,
        examples === undefined ? shape : { ...shape, examples },
      ]),
    )
  }

  /** The node with references instead of titled schemas, and with portable patterns. */
  refer(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((item) => this.refer(item))
    if (!isNode(node)) return node
    const walked = eachValue(node, (value, keyword) => {
      if (DATA.has(keyword)) return value
      return keyword === 'properties' ? eachValue(value, (field) => this.refer(field)) : this.refer(value)
    })
    if (typeof walked.pattern === 'string') Object.assign(walked, portablePattern(walked.pattern))
    // For an enum without a type, generators create a type for each value.
    if (Array.isArray(walked.enum)) walked.type ??= 'string'
    if (typeof walked.title === 'string') return this.#reference(walked.title, walked)
    if (walked.required === false) delete walked.required
    // The example of the whole request or response shows the field as well.
    if (Array.isArray(walked.examples)) delete walked.examples
    return walked
  }

  #reference(name: string, { title: _, description, examples, ...schema }: Node): Node {
    const types = [schema.type].flat()
    const nullable = types.length > 1 && types.includes('null')
    this.#add(name, nullable ? withoutNull(schema) : schema, examples)
    const described = description === undefined ? {} : { description }
    const reference = { $ref: `#/components/schemas/${name}` }
    return nullable ? { ...described, anyOf: [reference, { type: 'null' }] } : { ...described, ...reference }
  }

  #add(name: string, shape: Node, examples: unknown): void {
    const known = this.#schemas.get(name)
    if (known !== undefined && JSON.stringify(known.shape) !== JSON.stringify(shape)) {
      throw new Error(`two different schemas have the title ${name}`)
    }
    this.#schemas.set(name, { shape, examples: known?.examples ?? examples })
  }
}

function withoutNull({ type, ...schema }: Node): Node {
  const [only, ...others] = (type as string[]).filter((one) => one !== 'null')
  const values = schema.enum as unknown[] | undefined
  return {
    type: others.length === 0 ? only : [only, ...others],
    ...schema,
    ...(values && { enum: values.filter((value) => value !== null) }),
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}

function eachValue(node: unknown, change: (value: unknown, key: string) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(node as Node).map(([key, value]) => [key, change(value, key)]))
}

/** `(?=.{1,64}$)` at the start of a pattern: the length of the whole text. */
const LENGTH = /^\^\(\?=\.\{(\d+),(\d+)\}\$\)/

interface Published {
  readonly pattern: string
  readonly minLength?: number
  readonly maxLength?: number
}

/**
 * A pattern for the OpenAPI document. Regular expressions of Go, Java and Python lack look-ahead or `\p{Cc}`, so clients
 * generated from them would not start. The published pattern may accept more than the validated one, for example lone
 * surrogates, but never less.
 */
export function portablePattern(pattern: string): Published {
  const length = LENGTH.exec(pattern)
  const published = pattern
    .replace(LENGTH, '^')
    .replaceAll('\\p{Cc}', '\\x00-\\x1f\\x7f-\\x9f')
    .replaceAll('\\p{Cs}', '')
  if (length === null) return { pattern: published }
  return { pattern: published, minLength: Number(length[1]), maxLength: Number(length[2]) }
}
