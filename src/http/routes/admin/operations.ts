import type { Readable } from 'node:stream'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifySchema } from 'fastify'
import type { Static, TSchema, TUnknown } from 'typebox'
import type { AlarmCondition } from '../../../domain/alarms.ts'
import type { Backlog } from '../../../domain/backlog.ts'
import type { Directory } from '../../../domain/configuration/directory.ts'
import type { Operator } from '../../../domain/credentials.ts'
import type { LinkSummary } from '../../../domain/nodes.ts'
import type { SecretKeys } from '../../../domain/secrets.ts'
import type { HeaderSettings } from '../../../domain/webhooks/attempt-headers.ts'
import type { CallbackChecker } from '../../../domain/webhooks/callback-url.ts'
import type { WaitsOfNode } from '../../../operations/explain-waits.ts'
import type { Changed } from '../../../operations/manage/audited-changes.ts'
import type { MessageReads } from '../../../operations/read-messages.ts'
import type { OwnReport } from '../../../operations/read-nodes.ts'
import type { TestAlarms, TestEvents } from '../../../operations/send-tests.ts'
import type { Database, Queryable, Transaction } from '../../../store/database.ts'
import type { ConsoleSessions } from '../../console-sessions.ts'
import { failures } from '../../schemas/error-body.ts'
import { Type } from '../../schemas/schema-builder.ts'

/** The quality watch of this node: its clock (Unix ms), and how it learns which carriers are out of use. */
interface QualityWatching {
  clock(): number
  refresh(): Promise<void>
}

/** A request of an operator. */
export interface OperatorRequest {
  readonly operator: Operator | null
  readonly ip: string
  readonly routeOptions: { readonly schema?: object }
}

/**
 * What the routes use. `change` is the only way to write, and it writes the audit log too, except for work that reports that
 * it changed nothing, or nothing that another call of the request has not recorded.
 */
export interface AdminDeps {
  /** Runs the work of a request in a transaction, and records in the same transaction what it changed. */
  readonly change: <T>(
    request: OperatorRequest,
    work: (transaction: Transaction) => Promise<Changed<T>>,
  ) => Promise<T>
  /** For requests that only read: however long they take, they take no connection from the message path. */
  readonly reads: Database
  /** For lists, look-ups and statistics of what is at rest: perhaps a read replica, and never for what decides. */
  readonly records: Queryable
  readonly directory: {
    current(): Directory
    fresh(): Directory | Promise<Directory | null>
    refresh(): Promise<void>
  }
  /** `deriveKey(masterKey, 'secrets')`. */
  readonly secretKey: SecretKeys
  /** For the headers of webhooks' attempts. */
  readonly headerSettings: HeaderSettings
  /** Unix milliseconds. */
  readonly clock: () => number
  readonly guard: CallbackChecker
  readonly testEvents: TestEvents
  readonly messages: MessageReads
  /** Reads which countries the pumping guards of plans have paused. Absent where this node runs no carrier links. */
  readonly refreshPauses?: () => Promise<void>
  /** Absent where this node runs no carrier links. */
  readonly quality?: QualityWatching
  /** Absent where this node runs no carrier links. */
  readonly linkSummary?: (carrierId: number) => LinkSummary | null
  /** What waits, where and why. Also absent then. */
  readonly backlog?: { read(): Promise<Backlog> }
  /** What the carrier did that SMPP does not allow, by kind, since this node started. Also absent then. */
  readonly carrierAnomalies?: (carrierId: number) => Readonly<Record<string, number>>
  /** What this node could do with the carrier in a route now. Absent where this node runs no carrier links. */
  readonly carrierCondition?: WaitsOfNode['carrierCondition']
  /** Also absent then. */
  readonly heldCause?: WaitsOfNode['heldCause']
  /** What is wrong now, as alarms. Also absent then. */
  readonly readAlarms?: () => Promise<readonly AlarmCondition[]>
  /** Null where nobody is told of alarms. Also absent where this node runs no carrier links. */
  readonly testAlarms?: Pick<TestAlarms, 'send'> | null
  /** This node and its binds, for those who look at all nodes. Absent where it runs none. */
  readonly ownReport?: OwnReport
}

export interface AdminOptions extends Omit<AdminDeps, 'change'> {
  /** Absent where there is no console. */
  readonly sessions?: ConsoleSessions | undefined
  readonly db: Database
  /** SHA-256 of each token of OPERATOR_TOKEN, hex. */
  readonly operatorTokenHashes: readonly string[]
}

/** Where the routes below `/admin/v1` are added. */
export type AdminScope = FastifyInstance

/** A request that fits its schemas. */
export interface Given<Query extends TSchema, Params extends TSchema, Body extends TSchema = TSchema>
  extends OperatorRequest {
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
  Query extends TSchema,
  Params extends TSchema,
  Body extends TSchema,
  Answer extends TSchema,
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
type Answered<Answer extends TSchema> = Shown<Static<Answer>> | Readable

/** Adds an operation: `GET /quality`. A request that fits its schemas has their types. */
export function addOperation<
  Query extends TSchema,
  Params extends TSchema,
  Body extends TSchema,
  Answer extends TSchema = TUnknown,
>(
  scope: AdminScope,
  route: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} ${Path}`,
  operation: Operation<Query, Params, Body, Answer>,
): void {
  const { bodyLimit, config, answer, run } = operation
  const usual = statusesOf(operation)
  const handler = async (request: unknown, reply: FastifyReply) => {
    const value = await run(request as Given<Query, Params, Body>, reply)
    if (usual.length === 1) reply.code(usual[0]!)
    return answer === undefined ? reply.send(null) : value
  }
  const [method, url] = route.split(' ') as [string, string]
  const schema = schemaOf(operation)
  scope.route({ method, url, schema, handler, ...(bodyLimit && { bodyLimit }), ...(config && { config }) })
}

type AnyOperation = Omit<Operation<TSchema, TSchema, TSchema, TSchema>, 'run'>

function statusesOf({ statuses, answer }: AnyOperation): readonly (keyof typeof DESCRIPTIONS)[] {
  return statuses ?? [answer === undefined ? 204 : 200]
}

/** By operationId, for all servers of this process, because what is compiled for a schema is kept with it. */
const SCHEMAS = new Map<string, FastifySchema>()

function schemaOf(operation: AnyOperation): FastifySchema {
  const { operationId, summary, description, tags, params, query, body, answer } = operation
  const known = SCHEMAS.get(operationId)
  if (known !== undefined) return known
  const response: Record<number, object> = {
    ...failures(400, 401, 403, 404, 409, ...(operation.failures ?? [])),
  }
  for (const status of statusesOf(operation))
    response[status] = { ...(answer ?? Type.Null()), description: DESCRIPTIONS[status] }
  const schema = {
    ...{ operationId, summary, description, tags },
    ...(params && { params }),
    ...(query && { querystring: query }),
    ...(body && { body }),
    response,
  } as FastifySchema
  SCHEMAS.set(operationId, schema)
  return schema
}
