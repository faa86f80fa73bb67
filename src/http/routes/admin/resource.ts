import type { Static, TObject, TProperties, TSchema, TString } from 'typebox'
import type { Settings } from '../../../domain/configuration/configuration-changes.ts'
import { HIDDEN } from '../../../domain/secrets.ts'
import { notFound } from '../../../errors.ts'
import type { TableKind } from '../../../operations/configuration/kind.ts'
import { createObject, judgeRequest, updateObject } from '../../../operations/configuration/single-changes.ts'
import { deleteRow } from '../../../operations/manage/configuration-rows.ts'
import type { ObjectChange } from '../../../store/audit-log.ts'
import type { AnyTable } from '../../../store/configuration-table.ts'
import type { Transaction } from '../../../store/database.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { titled } from '../../schemas/shapes.ts'
import { limitOf, page, pageOf } from './fields.ts'
import {
  type AdminDeps,
  type AdminScope,
  addOperation,
  type Given,
  type Operation,
  type Path,
  type Shown,
} from './operations.ts'

/**
 * The routes that all resources of the admin API share. A query or body that passed the validator has the type of its
 * schema. TypeScript cannot infer that for a schema parameter, so it is asserted.
 */

/** Sentences of the document. */
export const PAGED = 'Sorted by name or number.'
export const AT_ONCE =
  'The change takes effect at once on the node that answers, and within 5 seconds on every other node.'

/** Rows of one table, as the document names them. */
export interface DocumentedRows {
  readonly table: { readonly noun: string }
  /** Below `/admin/v1`: `/routing-rules`. The document's tag is the plural of the table's noun. */
  readonly path: Path
  /** Text of the document for each operation, in addition to what it says for every resource. */
  readonly texts: { readonly [name in keyof typeof VERBS]?: string }
  /** What a removal is called if not `delete`. */
  readonly removal?: { readonly operationId: string; readonly summary: string }
}

/** Rows of one table: how one is shown, and at which path. */
export interface Resource<Item extends TSchema, Row extends object> extends DocumentedRows {
  readonly table: Pick<AnyTable<Row>, 'noun' | 'find' | 'list'>
  /** The path parameter of a single row: `ruleId`. */
  readonly key: string
  readonly keyField: TString
  readonly item: Item
  /** Default: the property that `key` names. */
  readonly keyOf?: (row: Row) => string
  present(row: Row): Shown<Static<Item>>
  /** What the audit log keeps of a row; default: what `present` shows. */
  readonly settings?: (row: Row) => object
}

/** What an import answers that changes what exists. */
export const ImportResult = titled('ImportResult', { created: Type.Integer(), changed: Type.Integer() })

/** Rows that a configuration file has too. */
export interface ConfiguredResource<Item extends TSchema, Row extends object>
  extends Omit<Resource<Item, Row>, 'table'> {
  readonly kind: TableKind<Row>
  readonly creation: TSchema
  /** What the answer to a creation has; default: `item`. */
  readonly created?: TSchema
  readonly change: TSchema
  /** A `pageQuery` with filters of the table. Absent: the list has a route of its own. */
  readonly query?: TSchema
  /** Refuses a row that does not exist. Default: deletes the row. */
  readonly remove?: (transaction: Transaction, key: string) => Promise<void>
  /** Why a row that others refer to is not deleted. */
  readonly inUse?: string
}

/** `POST` and `GET` of the list; `GET`, `PATCH` and `DELETE` of one row. */
export function addConfigured<Item extends TSchema, Row extends object>(
  scope: AdminScope,
  deps: AdminDeps,
  configured: ConfiguredResource<Item, Row>,
): void {
  const { kind, creation, created, change, query, remove, inUse } = configured
  const resource = { ...configured, table: kind.table }
  addIssue(scope, deps, resource, {
    body: creation,
    answer: created ?? resource.item,
    prepare: (body) => judgeRequest(kind, body as Settings, deps),
    issue: async (transaction, body, judged) => {
      const context = { transaction, secretKey: deps.secretKey, judged }
      const { row, issued } = await createObject(kind, context, body as Settings)
      return { row, secret: created === undefined ? {} : { webhookSecret: issued[0]!.webhookSecret } }
    },
  })
  if (query === undefined) addShow(scope, deps, resource)
  else addReads(scope, deps, resource, query)
  addChange(scope, deps, resource, kind, change)
  addDelete(
    scope,
    deps,
    resource,
    remove ?? ((transaction, key) => deleteRow(transaction, kind.table, key, inUse)),
  )
}

/** `POST` of the list: 201 with the new row and its location, and, in no other answer, its secret. */
export function addIssue<
  Item extends TSchema,
  Row extends object,
  Body extends TSchema,
  Prepared = undefined,
>(
  scope: AdminScope,
  { change }: AdminDeps,
  resource: Resource<Item, Row>,
  { body, answer, issue, prepare }: Issue<Row, Body, Prepared>,
): void {
  const { path, present } = resource
  addOperation(scope, `POST ${path}`, {
    ...documentOf(resource, 'create', body),
    body,
    answer,
    statuses: [201],
    run: async (request, reply) => {
      const prepared = (await prepare?.(request.body)) as Prepared
      const { row, secret } = await change(request, async (transaction) => {
        const value = await issue(transaction, request.body, prepared)
        return { value, entry: rowChange(resource, undefined, value.row, request.body as object) }
      })
      reply.header('location', `${scope.prefix}${path}/${keyOf(resource, row)}`)
      return { ...(present(row) as object), ...secret }
    },
  })
}

interface Issue<Row, Body extends TSchema, Prepared> {
  readonly body: Body
  readonly answer: TSchema
  readonly issue: (
    transaction: Transaction,
    body: Static<Body>,
    prepared: Prepared,
  ) => Promise<{ readonly row: Row; readonly secret: object }>
  /** What cannot be part of the transaction. */
  readonly prepare?: (body: Static<Body>) => Promise<Prepared>
}

interface List<Query extends TSchema, Params extends TSchema, Item extends TSchema, Row>
  extends Omit<Operation<Query, Params, TSchema, Item>, 'query' | 'body' | 'answer' | 'run'> {
  /** A `pageQuery`. */
  readonly query: Query
  readonly item: Item
  /** At most `limit` rows behind `query.after`, which is the `keyOf` of a row. */
  fetch(given: Given<Query, Params>, limit: number): Promise<readonly Row[]>
  keyOf(row: Row): string
  present(row: Row, given: Given<Query, Params>): Shown<Static<Item>>
}

/** `GET` of a list, a page at a time. */
export function addList<
  Query extends TSchema,
  Item extends TSchema,
  Row,
  Params extends TSchema = TObject<TProperties>,
>(
  scope: AdminScope,
  path: Path,
  { item, fetch, keyOf, present, ...operation }: List<Query, Params, Item, Row>,
): void {
  addOperation(scope, `GET ${path}`, {
    ...operation,
    answer: pageOf(item) as TSchema,
    run: async (given) => {
      const { shown, fetched } = limitOf(given.query as { limit?: string })
      const rows = await fetch(given, fetched)
      return page(rows, shown, keyOf, (row) => present(row, given))
    },
  })
}

/** `GET` of the list, whose `query` is a `pageQuery` with filters of the table, and `GET` of one row, or 404. */
export function addReads<Item extends TSchema, Row extends object>(
  scope: AdminScope,
  deps: AdminDeps,
  resource: Resource<Item, Row>,
  query: TSchema,
): void {
  const { table, item, present } = resource
  addList(scope, resource.path, {
    ...documentOf(resource, 'list'),
    query,
    item,
    fetch: (given, limit) => {
      const { after = '', ...filters } = given.query as { after?: string }
      return table.list(deps.reads, { after, limit }, filters)
    },
    keyOf: (row) => keyOf(resource, row),
    present,
  })
  addShow(scope, deps, resource)
}

/** `GET` of one row, or 404. */
function addShow<Item extends TSchema, Row extends object>(
  scope: AdminScope,
  { reads }: AdminDeps,
  resource: Resource<Item, Row>,
): void {
  const { table, item, present } = resource
  const { path, ...one } = pathOfOne(resource)
  addOperation(scope, `GET ${path}`, {
    ...documentOf(resource, 'show'),
    ...one,
    answer: item,
    run: async ({ params }) => {
      const row = await table.find(reads, params[resource.key]!)
      if (row === undefined) throw notFound(table.noun)
      return present(row)
    },
  })
}

/** `PATCH` of one row; answers the changed row. */
function addChange<Item extends TSchema, Row extends object>(
  scope: AdminScope,
  deps: AdminDeps,
  resource: Resource<Item, Row>,
  kind: TableKind<Row>,
  body: TSchema,
): void {
  const { path, ...one } = pathOfOne(resource)
  addOperation(scope, `PATCH ${path}`, {
    ...documentOf(resource, 'change', body),
    ...one,
    body,
    answer: resource.item,
    run: async (request) => {
      const key = request.params[resource.key]!
      const given = request.body as Settings
      const judged = await judgeRequest(kind, given, deps, key)
      const row = await deps.change(request, async (transaction) => {
        const context = { transaction, secretKey: deps.secretKey, judged }
        const { before, after } = await updateObject(kind, context, key, given)
        return { value: after, entry: rowChange(resource, before, after, given) }
      })
      return resource.present(row)
    },
  })
}

/** `DELETE` of one row: 204. `remove` refuses a row that does not exist. */
export function addDelete<Item extends TSchema, Row extends object>(
  scope: AdminScope,
  { change }: AdminDeps,
  resource: Resource<Item, Row>,
  remove: (transaction: Transaction, key: string) => Promise<void>,
): void {
  const { table } = resource
  const { path, ...one } = pathOfOne(resource)
  addOperation(scope, `DELETE ${path}`, {
    ...documentOf(resource, 'remove'),
    ...one,
    run: (request) =>
      change(request, async (transaction) => {
        const key = request.params[resource.key]!
        const before = await table.find(transaction, key, 'for update')
        await remove(transaction, key)
        return { value: null, entry: rowChange(resource, before, await table.find(transaction, key)) }
      }),
  })
}

/** `POST` of many rows, all or none. `run` answers what it did, which the audit log keeps. */
export function addImport<Body extends TSchema>(
  scope: AdminScope,
  { change }: AdminDeps,
  resource: DocumentedRows,
  schemas: { body: Body; answer: TSchema; bodyLimit?: number },
  run: (transaction: Transaction, body: Static<Body>) => Promise<object>,
): void {
  addOperation(scope, `POST ${resource.path}/import`, {
    ...documentOf(resource, 'import'),
    ...schemas,
    run: (request) =>
      change(request, async (transaction) => {
        const after = await run(transaction, request.body)
        return {
          value: after,
          entry: { objectType: objectTypeOf(resource), objectId: '', before: null, after },
        }
      }),
  })
}

/** What happened to a row, for the audit log: its settings before and after a request with the fields `given`. */
export function rowChange<Item extends TSchema, Row extends object>(
  resource: Resource<Item, Row>,
  before: Row | undefined,
  after: Row | undefined,
  given: object = {},
): ObjectChange {
  const { present, settings = present as (row: Row) => object } = resource
  return {
    objectType: objectTypeOf(resource),
    objectId: keyOf(resource, (before ?? after)!),
    before: before === undefined ? null : settings(before),
    after: after === undefined ? null : withHiddenFields(given, settings(after)),
  }
}

/** The key by which the row is known outside. */
function keyOf<Row extends object>({ key, keyOf: own }: Resource<TSchema, Row>, row: Row): string {
  return own === undefined ? String(row[key as keyof Row]) : own(row)
}

function objectTypeOf({ table }: DocumentedRows): string {
  return table.noun.replaceAll(' ', '-')
}

function pathOfOne({ path, key, keyField }: Pick<Resource<TSchema, object>, 'path' | 'key' | 'keyField'>) {
  const one: Path = `${path}/:${key}`
  return { path: one, params: Type.Object({ [key]: keyField }) }
}

/** Used in the operationId and in the summary. */
const VERBS = {
  create: ['create', 'Create'],
  list: ['list', 'List'],
  show: ['get', 'Show'],
  change: ['update', 'Update'],
  remove: ['delete', 'Delete'],
  import: ['import', 'Import'],
} as const

/** What the document says of an operation. */
export function documentOf(
  { table: { noun }, texts, removal }: DocumentedRows,
  operation: keyof typeof VERBS,
  body?: unknown,
) {
  const [verb, Verb] = VERBS[operation]
  const isOfMany = operation === 'list' || operation === 'import'
  const plural = isOfMany ? 's' : ''
  const name = noun.replace(/(?:^|[ -])(\w)/g, (_, letter: string) => letter.toUpperCase())
  const article = isOfMany ? '' : /^[aeiou]/.test(noun) ? 'an ' : 'a '
  const descriptions = {
    ...texts,
    list: texts.list ?? PAGED,
    change: `${isOptional(body) ? 'Omitted fields keep their values. ' : ''}${texts.change ?? AT_ONCE}`,
  }
  return {
    tags: [`${noun[0]!.toUpperCase()}${noun.slice(1)}s`],
    operationId: `${verb}${name}${plural}`,
    summary: `${Verb} ${article}${noun}${plural}`,
    description: descriptions[operation]!,
    ...(operation === 'remove' && removal),
  }
}

/** Whether a body may lack some of its fields. */
function isOptional(body: unknown): boolean {
  const { properties = {}, required = [] } = (body ?? {}) as Partial<TObject>
  return required.length < Object.keys(properties).length
}

/**
 * The object after a request with these fields. A field that the object does not show, such as a password, is named without
 * its value.
 */
function withHiddenFields(given: object, shown: object): object {
  const hidden = Object.keys(given).filter((field) => !(field in shown))
  return { ...shown, ...Object.fromEntries(hidden.map((field) => [field, HIDDEN])) }
}
