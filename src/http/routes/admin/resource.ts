import type { FastifySchema } from 'fastify'
import { Type } from 'typebox'
import { refuseMissing } from '../../../operations/refuse-administration.ts'
import { limitOf, page, pageOf } from './fields.ts'
import { answers } from './responses.ts'
import type { AdminScope } from './scope.ts'

/**
 * The routes that every resource of the admin API has alike. A query or body that has passed the validator is of the type
 * of its schema; TypeScript cannot see that of a schema that is a parameter, so it is told.
 */

/** Things of one kind, each with a key, and where they are. */
interface Collection {
  /** One of them, for people: `routing rule`. The document has a tag of its plural. */
  readonly name: string
  /** Below `/admin/v1`: `/routing-rules`. */
  readonly path: string
  /** The parameter in the path of one of them: `ruleId`. */
  readonly key: string
  readonly keyField: Type.TString
}

/** How a stored one (`Row`) is shown (`Item`). */
export interface Resource<Item extends Type.TSchema, Row> extends Collection {
  readonly item: Item
  keyOf(row: Row): string
  present(row: Row): Type.Static<Item>
}

interface PathOfOne {
  readonly Params: Readonly<Record<string, string>>
}

/** `POST` of the list: 201, what was made and where it is. */
export function addCreate<Item extends Type.TSchema, Row, Body extends Type.TSchema>(
  scope: AdminScope,
  resource: Resource<Item, Row>,
  body: Body,
  create: (body: Type.Static<Body>) => Promise<Row>,
): void {
  const { path, item, keyOf, present } = resource
  scope.post(path, schemas(resource, { body, response: answers(201, item) }), async (request, reply) => {
    const row = await create(request.body as Type.Static<Body>)
    reply.code(201).header('location', `${scope.prefix}${path}/${keyOf(row)}`)
    return present(row)
  })
}

/**
 * `GET` of the list. `query` is a `pageQuery`; `list` gives at most `limit` rows in the order of their keys, from the one
 * behind `after`, which is '' for the first page.
 */
export function addList<Item extends Type.TSchema, Row, Query extends Type.TSchema>(
  scope: AdminScope,
  resource: Resource<Item, Row>,
  query: Query,
  list: (page: { after: string; limit: number }, query: Type.Static<Query>) => Promise<Row[]>,
): void {
  const { path, item, keyOf, present } = resource
  const options = schemas(resource, { querystring: query, response: answers(200, pageOf(item)) })
  scope.get<{ Querystring: { limit?: string; after?: string } }>(path, options, async (request) => {
    const { shown, fetched } = limitOf(request.query)
    const wanted = { after: request.query.after ?? '', limit: fetched }
    return page(await list(wanted, request.query as Type.Static<Query>), shown, keyOf, present)
  })
}

/** `GET` of one, or 404. */
export function addShow<Item extends Type.TSchema, Row>(
  scope: AdminScope,
  resource: Resource<Item, Row>,
  find: (key: string) => Promise<Row | undefined>,
): void {
  const { path, params } = placeOfOne(resource)
  const options = schemas(resource, { params, response: answers(200, resource.item) })
  scope.get<PathOfOne>(path, options, async (request) => {
    const row = await find(request.params[resource.key]!)
    if (row === undefined) throw refuseMissing(resource.name)
    return resource.present(row)
  })
}

/** `PATCH` of one: what it is then. `change` refuses what is not there. */
export function addChange<Item extends Type.TSchema, Row, Body extends Type.TSchema>(
  scope: AdminScope,
  resource: Resource<Item, Row>,
  body: Body,
  change: (key: string, body: Type.Static<Body>) => Promise<Row>,
): void {
  const { path, params } = placeOfOne(resource)
  const options = schemas(resource, { params, body, response: answers(200, resource.item) })
  scope.patch<PathOfOne>(path, options, async (request) => {
    const row = await change(request.params[resource.key]!, request.body as Type.Static<Body>)
    return resource.present(row)
  })
}

/** `DELETE` of one: 204. `remove` refuses what is not there. */
export function addDelete(
  scope: AdminScope,
  collection: Collection,
  remove: (key: string) => Promise<void>,
): void {
  const { path, params } = placeOfOne(collection)
  const options = schemas(collection, { params, response: answers(204, Type.Null()) })
  scope.delete<PathOfOne>(path, options, async (request, reply) => {
    await remove(request.params[collection.key]!)
    return reply.code(204).send(null)
  })
}

function placeOfOne({ path, key, keyField }: Collection) {
  return { path: `${path}/:${key}`, params: Type.Object({ [key]: keyField }) }
}

function schemas({ name }: Collection, schema: FastifySchema): { schema: FastifySchema } {
  return { schema: { tags: [`${name[0]!.toUpperCase()}${name.slice(1)}s`], ...schema } }
}
