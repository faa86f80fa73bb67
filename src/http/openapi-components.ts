import { FAILURE_RESPONSES, universalFailures } from './schemas/failure-responses.ts'
import { portablePattern } from './schemas/portable-patterns.ts'

/**
 * Makes the OpenAPI document that is answered out of the one that is collected, where every route has its schemas whole.
 * A schema with a `title` becomes the component of that name; failures become shared responses.
 */

type Node = Readonly<Record<string, unknown>>

/** Keywords whose value is data: a `title` in it is not a name. */
const DATA: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'example', 'examples'])

/** Returns a new document. Throws when two different schemas have the same title. */
export function withComponents(document: Node): Node {
  const named = new NamedSchemas()
  const paths = eachValue(document.paths, (path) =>
    eachValue(path, (operation, method) => named.refer(withFailures(operation as Node, method))),
  )
  const webhooks = named.refer(document.webhooks ?? {})
  const responses = named.refer(FAILURE_RESPONSES)
  return {
    ...document,
    paths,
    webhooks,
    components: { ...(document.components as Node), schemas: named.all(), responses },
  }
}

/** The operation with the failures that any request may meet, all of them by reference. */
function withFailures(operation: Node, method: string): Node {
  const { responses: answered } = operation as { responses: Record<string, Node> }
  const failures = universalFailures(method).map((status) => [status, referenceTo(status)])
  const responses = eachValue(answered, (response, status) => {
    const schema = jsonOf(response as Node)?.schema as Node | undefined
    return schema?.title === 'ErrorBody' ? referenceTo(Number(status)) : withoutRepeats(response as Node)
  })
  return { ...operation, responses: { ...Object.fromEntries(failures), ...responses } }
}

const referenceTo = (status: number) => ({ $ref: `#/components/responses/${status}` })

/** The response, whose schema repeats its description, and whose example is that of the schema. */
function withoutRepeats(response: Node): Node {
  const media = jsonOf(response)
  if (media === undefined) return response
  const { schema, example, ...rest } = media
  const { description: _, ...bare } = schema as Node
  const examples = example === undefined ? {} : { examples: [example] }
  return { ...response, content: { 'application/json': { schema: { ...bare, ...examples }, ...rest } } }
}

function jsonOf({ content }: Node): Node | undefined {
  return (content as Record<string, Node> | undefined)?.['application/json']
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

  /** The node with references in place of titled schemas, and with portable patterns. */
  refer(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((item) => this.refer(item))
    if (!isNode(node)) return node
    const walked = eachValue(node, (value, keyword) => {
      if (DATA.has(keyword)) return value
      return keyword === 'properties' ? eachValue(value, (field) => this.refer(field)) : this.refer(value)
    })
    if (typeof walked.pattern === 'string') Object.assign(walked, portablePattern(walked.pattern))
    // Generators make a type of its own for each value of an enum without a type.
    if (Array.isArray(walked.enum)) walked.type ??= 'string'
    return typeof walked.title === 'string' ? this.#reference(walked.title, walked) : walked
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
