import type { FastifySchema } from 'fastify'
import { Type } from 'typebox'
import { refuseMissing, removeRow } from '../../../operations/refuse-administration.ts'
import type { AnyTable } from '../../../store/configuration-table.ts'
import { AT_ONCE, PAGED } from './configuration-operations.ts'
import { limitOf, page, pageOf } from './fields.ts'
import { answers } from './responses.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

/**
 * The routes that every resource of the admin API has alike. A query or body that has passed the validator is of the type
 * of its schema; TypeScript cannot see that of a schema that is a parameter, so it is told.
 */

/** Rows of one table, how one of them is shown, and where they are. */
export interface Resource<Item extends Type.TSchema, Row extends object> {
  readonly table: AnyTable<Row>
  /** Below `/admin/v1`: `/routing-rules`. The document has a tag of the plural of the table's noun. */
  readonly path: string
  /** What the document says of each operation, beside what it says of that of every resource. */
  readonly texts: { readonly [name in 'create' | 'show' | 'change' | 'remove']?: string }
  /** The parameter in the path of one of them: `ruleId`. */
  readonly key: string
  readonly keyField: Type.TString
  readonly item: Item
  keyOf(row: Row): string
  present(row: Row): Type.Static<Item>
}

interface PathOfOne {
  readonly Params: Readonly<Record<string, string>>
}

/** `POST` of the list: 201, what was made and where it is. */
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

/** `GET` of the list, of which `query` is a `pageQuery` with filters of the table, and `GET` of one, or 404. */
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

/** `PATCH` of one: what it is then. `change` refuses what is not there. */
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

/** `DELETE` of one: 204. `remove` refuses what is not there. */
export function addDelete(scope: AdminScope, resource: Place, remove: (key: string) => Promise<void>): void {
  const { path, params } = placeOfOne(resource)
  const options = schemas(resource, 'remove', { params, response: answers(204, Type.Null()) })
  scope.delete<PathOfOne>(path, options, async (request, reply) => {
    await remove(request.params[resource.key]!)
    return reply.code(204).send(null)
  })
}

/** `DELETE` of a row that needs nothing but its removal. 409 with the words of `inUse` where others name it. */
export function addRemoval(scope: AdminScope, { db }: AdminDeps, resource: Place, inUse?: string): void {
  addDelete(scope, resource, (key) => removeRow(db, resource.table, key, inUse))
}

type Place = Pick<Resource<Type.TSchema, object>, 'table' | 'path' | 'texts' | 'key' | 'keyField'>

function placeOfOne({ path, key, keyField }: Place) {
  return { path: `${path}/:${key}`, params: Type.Object({ [key]: keyField }) }
}

/** In the operationId, and in the summary. */
const VERBS = {
  create: ['create', 'Create'],
  list: ['list', 'List'],
  show: ['get', 'Show'],
  change: ['change', 'Change'],
  remove: ['delete', 'Delete'],
} as const

/** The schemas of an operation, and what the document says of it. */
function schemas(
  { table: { noun }, texts }: Place,
  operation: keyof typeof VERBS,
  schema: FastifySchema,
): { schema: FastifySchema } {
  const [verb, Verb] = VERBS[operation]
  const plural = operation === 'list' ? 's' : ''
  const name = noun.replace(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase())
  const article = operation === 'list' ? '' : /^[aeiou]/.test(noun) ? 'an ' : 'a '
  const descriptions = {
    ...texts,
    list: PAGED,
    change: `Omitted fields keep their values. ${texts.change ?? AT_ONCE}`,
  }
  const document = {
    tags: [`${noun[0]!.toUpperCase()}${noun.slice(1)}s`],
    operationId: `${verb}${name}${plural}`,
    summary: `${Verb} ${article}${noun}${plural}`,
    description: descriptions[operation],
  }
  return { schema: { ...document, ...schema } as FastifySchema }
}
