import type { FastifySchema } from 'fastify'
import { Type } from 'typebox'
import { refuseMissing, removeRow } from '../../../operations/administration.ts'
import type { AnyTable } from '../../../store/configuration-table.ts'
import { limitOf, page, pageOf } from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

/**
 * The routes that all resources of the admin API share. A query or body that passed the validator has the type of its
 * schema. TypeScript cannot infer that for a schema parameter, so it is asserted.
 */

/** Sentences of the document. */
export const PAGED = 'Sorted by key.'
export const AT_ONCE =
  'The change takes effect at once on the node that answers, and within 5 seconds on every other node.'

/** Rows of one table: how one is shown, and at which path. */
export interface Resource<Item extends Type.TSchema, Row extends object> {
  readonly table: AnyTable<Row>
  /** Below `/admin/v1`: `/routing-rules`. The document's tag is the plural of the table's noun. */
  readonly path: string
  /** Text of the document for each operation, in addition to what it says for every resource. */
  readonly texts: { readonly [name in keyof typeof VERBS]?: string }
  /** What a removal is called if not `delete`. */
  readonly removal?: { readonly operationId: string; readonly summary: string }
  /** The path parameter of a single row: `ruleId`. */
  readonly key: string
  readonly keyField: Type.TString
  readonly item: Item
  keyOf(row: Row): string
  present(row: Row): Type.Static<Item>
}

interface PathOfOne {
  readonly Params: Readonly<Record<string, string>>
}

/** `POST` of the list: 201 with the new row and its location. */
export function addCreate<Item extends Type.TSchema, Row extends object, Body extends Type.TSchema, Made>(
  scope: AdminScope,
  resource: Omit<Resource<Item, Row>, 'keyOf' | 'present'> & {
    keyOf(made: Made): string
    present(made: Made): Type.Static<Item>
  },
  body: Body,
  create: (body: Type.Static<Body>) => Promise<Made>,
): void {
  const { path, item, keyOf, present } = resource
  scope.post(
    path,
    schemas(resource, 'create', { body, response: answers(201, item) }),
    async (request, reply) => {
      const row = await create(request.body as Type.Static<Body>)
      reply.code(201).header('location', `${scope.prefix}${path}/${keyOf(row)}`)
      return present(row)
    },
  )
}

/** `GET` of the list, whose `query` is a `pageQuery` with filters of the table, and `GET` of one row, or 404. */
export function addReads<Item extends Type.TSchema, Row extends object>(
  scope: AdminScope,
  { reads }: AdminDeps,
  resource: Resource<Item, Row>,
  query: Type.TSchema,
): void {
  const { table, item, keyOf, present } = resource
  const list = schemas(resource, 'list', { querystring: query, response: answers(200, pageOf(item)) })
  scope.get<{ Querystring: { limit?: string; after?: string } }>(resource.path, list, async (request) => {
    const { shown, fetched } = limitOf(request.query)
    const rows = await table.list(reads, { after: request.query.after ?? '', limit: fetched }, request.query)
    return page(rows, shown, keyOf, present)
  })

  const { path, params } = placeOfOne(resource)
  const show = schemas(resource, 'show', { params, response: answers(200, item) })
  scope.get<PathOfOne>(path, show, async (request) => {
    const row = await table.find(reads, request.params[resource.key]!)
    if (row === undefined) throw refuseMissing(table.noun)
    return present(row)
  })
}

/** `PATCH` of one row; answers the changed row. `change` refuses a row that does not exist. */
export function addChange<Item extends Type.TSchema, Row extends object, Body extends Type.TSchema>(
  scope: AdminScope,
  resource: Resource<Item, Row>,
  body: Body,
  change: (key: string, body: Type.Static<Body>) => Promise<Row>,
): void {
  const { path, params } = placeOfOne(resource)
  const options = schemas(resource, 'change', { params, body, response: answers(200, resource.item) })
  scope.patch<PathOfOne>(path, options, async (request) => {
    const row = await change(request.params[resource.key]!, request.body as Type.Static<Body>)
    return resource.present(row)
  })
}

/** `DELETE` of one row: 204. `remove` refuses a row that does not exist. */
export function addDelete(scope: AdminScope, resource: Place, remove: (key: string) => Promise<void>): void {
  const { path, params } = placeOfOne(resource)
  const options = schemas(resource, 'remove', { params, response: answers(204, Type.Null()) })
  scope.delete<PathOfOne>(path, options, async (request, reply) => {
    await remove(request.params[resource.key]!)
    return reply.code(204).send(null)
  })
}

/** `DELETE` of a row that only needs removing. 409 with the text of `inUse` when others refer to it. */
export function addRemoval(scope: AdminScope, { db }: AdminDeps, resource: Place, inUse?: string): void {
  addDelete(scope, resource, (key) => removeRow(db, resource.table, key, inUse))
}

type Place = Pick<Resource<Type.TSchema, object>, 'table' | 'path' | 'texts' | 'removal' | 'key' | 'keyField'>

function placeOfOne({ path, key, keyField }: Place) {
  return { path: `${path}/:${key}`, params: Type.Object({ [key]: keyField }) }
}

/** Used in the operationId and in the summary. */
const VERBS = {
  create: ['create', 'Create'],
  list: ['list', 'List'],
  show: ['get', 'Show'],
  change: ['change', 'Update'],
  remove: ['delete', 'Delete'],
} as const

/** The schemas of an operation, and what the document says of it. */
function schemas(
  { table: { noun }, texts, removal }: Place,
  operation: keyof typeof VERBS,
  schema: FastifySchema,
): { schema: FastifySchema } {
  const [verb, Verb] = VERBS[operation]
  const plural = operation === 'list' ? 's' : ''
  const name = noun.replace(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase())
  const article = operation === 'list' ? '' : /^[aeiou]/.test(noun) ? 'an ' : 'a '
  const descriptions = {
    ...texts,
    list: texts.list ?? PAGED,
    change: `${isOptional(schema.body) ? 'Omitted fields keep their values. ' : ''}${texts.change ?? AT_ONCE}`,
  }
  const document = {
    tags: [`${noun[0]!.toUpperCase()}${noun.slice(1)}s`],
    operationId: `${verb}${name}${plural}`,
    summary: `${Verb} ${article}${noun}${plural}`,
    description: descriptions[operation],
    ...(operation === 'remove' && removal),
  }
  return { schema: { ...document, ...schema } as FastifySchema }
}

/** Whether a body may lack some of its fields. */
function isOptional(body: unknown): boolean {
  const { properties = {}, required = [] } = (body ?? {}) as Partial<Type.TObject>
  return required.length < Object.keys(properties).length
}
