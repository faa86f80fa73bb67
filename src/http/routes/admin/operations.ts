import type { Readable } from 'node:stream'
import type { FastifyContextConfig, FastifyReply, FastifySchema } from 'fastify'
import { type Static, Type } from 'typebox'
import { failures } from '../../schemas/error-body.ts'
import type { AdminScope, OperatorRequest } from './scope.ts'

/** A request that fits its schemas. */
export interface Given<
  Query extends Type.TSchema,
  Params extends Type.TSchema,
  Body extends Type.TSchema = Type.TSchema,
> extends OperatorRequest {
  readonly query: Static<Query>
  readonly params: Static<Params>
  readonly body: Static<Body>
  readonly headers: { readonly 'if-match'?: string }
}

/** The same, to be read only, as rows of the store are. */
export type Shown<T> = T extends Date
  ? T
  : T extends readonly (infer Element)[]
    ? readonly Shown<Element>[]
    : T extends object
      ? { readonly [Property in keyof T]: Shown<T[Property]> }
      : T

const DESCRIPTIONS = { 200: 'As it is now', 201: 'Created', 202: 'Taken on', 204: 'Done' }

/** Below `/admin/v1`. */
export type Path = `/${string}`

export interface Operation<
  Query extends Type.TSchema,
  Params extends Type.TSchema,
  Body extends Type.TSchema,
  Answer extends Type.TSchema,
> {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tags: string[]
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly bodyLimit?: number
  readonly config?: FastifyContextConfig
  /** Absent: 204. */
  readonly answer?: Answer
  /** What it answers; default: 200. If there are several, `run` says which. */
  readonly statuses?: readonly (keyof typeof DESCRIPTIONS)[]
  /** What it fails with, beyond what every operation does. */
  readonly failures?: readonly number[]
  run(request: Given<Query, Params, Body>, reply: FastifyReply): Answered<Answer> | Promise<Answered<Answer>>
}

/** The answer, or the JSON of a long one in pieces. */
type Answered<Answer extends Type.TSchema> = Shown<Static<Answer>> | Readable

/** Adds an operation: `GET /quality`. A request that fits its schemas has their types. */
export function addOperation<
  Query extends Type.TSchema,
  Params extends Type.TSchema,
  Body extends Type.TSchema,
  Answer extends Type.TSchema = Type.TUnknown,
>(
  scope: AdminScope,
  route: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} ${Path}`,
  operation: Operation<Query, Params, Body, Answer>,
): void {
  const {
    params,
    query,
    body,
    bodyLimit,
    config,
    answer,
    statuses,
    failures: more = [],
    run,
    ...document
  } = operation
  const [method, url] = route.split(' ') as [string, string]
  const usual = statuses ?? [answer === undefined ? 204 : 200]
  const done = usual.map((status) => [
    status,
    { ...(answer ?? Type.Null()), description: DESCRIPTIONS[status] },
  ])
  const schema = {
    ...document,
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(body && { body }),
    response: { ...failures(400, 401, 403, 404, 409, ...more), ...Object.fromEntries(done) },
  } as FastifySchema
  const handler = async (request: unknown, reply: FastifyReply) => {
    const value = await run(request as Given<Query, Params, Body>, reply)
    if (usual.length === 1) reply.code(usual[0]!)
    return answer === undefined ? reply.send(null) : value
  }
  scope.route({ method, url, schema, handler, ...(bodyLimit && { bodyLimit }), ...(config && { config }) })
}
