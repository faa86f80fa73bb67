import { Compile } from 'typebox/schema'
import type { HttpAnswer } from './raw-http.ts'

interface Media {
  readonly schema: object
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

interface Response {
  readonly description: string
  readonly content?: Readonly<Record<string, Media>>
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly example?: unknown
  readonly schema: object
}

export interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly security?: readonly object[]
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<Record<string, Response | { readonly $ref: string }>>
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

/** An OpenAPI document as it is answered. */
export interface OpenApi {
  readonly openapi: string
  readonly tags?: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Paths
  readonly webhooks?: Paths
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>
    readonly responses: Readonly<Record<string, Response>>
    readonly parameters: Readonly<Record<string, Parameter>>
  }
}

/** Every operation, with its place. */
export function operationsOf({ paths }: OpenApi) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
}

/** Of each schema that was asked for: compiling one takes longer than all that it is asked. */
const compiled = new WeakMap<object, ReturnType<typeof Compile>>()

/** What a schema of the document finds wrong with a value. */
export function schemaFaultsOf({ components }: OpenApi, schema: object, value: unknown): unknown[] {
  const validator = compiled.get(schema) ?? Compile({ ...schema, components })
  compiled.set(schema, validator)
  return validator.Errors(value)[1]
}

/** The parameters of an operation, none of them by reference. */
export function parametersOf({ components }: OpenApi, { parameters = [] }: Operation): Parameter[] {
  return parameters.map((one) => ('$ref' in one ? components.parameters[nameIn(one.$ref)]! : one))
}

function nameIn(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

/** How an operation documents a status, whether there or as a shared response. */
export function responseOf({ components }: OpenApi, operation: Operation, status: number | string) {
  const response = operation.responses[status]
  if (response === undefined || !('$ref' in response)) return response
  return components.responses[nameIn(response.$ref)]
}

/** What the document finds wrong with an answer; null when it knows no such answer with a body. */
export function answerFaults(
  document: OpenApi,
  { method, path }: { method: string; path: string },
  answer: Pick<HttpAnswer, 'status' | 'json'>,
): unknown[] | null {
  const operation = document.paths[path]?.[method]
  const response = operation && responseOf(document, operation, answer.status)
  const schema = response?.content?.['application/json']?.schema
  return schema === undefined ? null : schemaFaultsOf(document, schema, answer.json)
}
