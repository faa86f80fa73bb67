import type { FastifyInstance, FastifyRequest, FastifySchema, HookHandlerDoneFunction } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import type { TLocalizedValidationError } from 'typebox/error'
import Format from 'typebox/format'
import { Compile } from 'typebox/schema'
import { Settings } from 'typebox/system'
import { isUuid } from '../domain/identifiers.ts'
import { parseTimestamp } from '../domain/instants.ts'
import { DATE_MEANING, type FilterRules, parseFilters } from '../domain/lists.ts'
import { type Fault, fault, invalid, WHOLE_REQUEST } from '../errors.ts'
import { Type } from './schemas/schema-builder.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The faults of a request whose route has `attachValidation`: its handler adds its own. */
    faults: readonly Fault[] | null
  }
  interface FastifyContextConfig {
    /** The objects within its body may have hundreds of thousands of members: they are parsed in slices, and become Maps. */
    hasManyMembers?: boolean
  }
}

/** More than a request of 64 KiB sensibly has, and the answer stays readable. */
const MAX_FAULTS = 50
Settings.Set({ maxErrors: MAX_FAULTS })

/** What a format requires in words. The callback guard judges a `uri`. */
const FORMAT_MEANINGS: Readonly<Record<string, string>> = {
  uuid: 'must be a UUID',
  'date-time': DATE_MEANING,
}
Format.Set('uuid', isUuid)
Format.Set('date-time', (text) => parseTimestamp(text, 'down') !== null)
Format.Set('uri', () => true)

/** What each pattern requires in words, by its source: the text of the fault. */
export const PATTERN_MEANINGS = new Map<string, string>()

/** Title, description and examples, which the OpenAPI document shows. */
export interface Annotations {
  /** Makes it a schema with that name in the document. */
  readonly title?: string
  readonly description?: string
  readonly examples?: readonly string[]
}

/** A string with a pattern, and what the fault says. */
export function patterned(pattern: RegExp, meaning: string, options: Annotations = {}) {
  PATTERN_MEANINGS.set(pattern.source, meaning)
  return Type.String({ pattern: pattern.source, ...options })
}

type Rules = FilterRules<Record<string, NonNullable<unknown>>>
const PARSED = new WeakMap<object, Rules[string]>()

/** A text of a path or a query that the document shows as `schema`. The handler gets what the rule makes of it. */
export function parsedBy<Schema extends TSchema>(schema: Schema, rule: Rules[string]): Schema {
  PARSED.set(schema, rule)
  return schema
}

/** The rules of an object's parsed fields, by name, and the schema that checks the others. Null: no field is parsed. */
function separated(schema: TSchema): { rules: Rules | null; rest: TSchema } {
  const fields = Object.entries((schema as Partial<TObject>).properties ?? {})
  const parsed = fields.filter(([, field]) => PARSED.has(field))
  if (parsed.length === 0) return { rules: null, rest: schema }
  const rules = Object.fromEntries(parsed.map(([name, field]) => [name, PARSED.get(field)!]))
  const others = fields.map(([name, field]) => [name, PARSED.has(field) ? Type.Unknown() : field])
  return { rules, rest: { ...schema, properties: Object.fromEntries(others) } as TSchema }
}

/** What a schema cannot say about the fields of an object: a relation of several, or more than one fault of a field. */
type FieldsCheck = (fields: Readonly<Record<string, unknown>>) => Fault[]
const FIELDS_CHECKS = new WeakMap<object, FieldsCheck>()

/** The schema of an object with a check in addition, which gets the fields as they came, of whatever type. */
export function withCheck<Schema extends TSchema>(schema: Schema, check: FieldsCheck): Schema {
  FIELDS_CHECKS.set(schema, check)
  return schema
}

/**
 * Checks every request against the schemas of its route, before its handler, and answers 400 with the faults of all its
 * parts. Only fields that are `parsedBy` a rule are converted. Call before routes are added.
 */
export function validateRequests(app: FastifyInstance): void {
  // Fastify itself would stop at the first part that has a fault.
  app.setValidatorCompiler(() => () => true)
  app.decorateRequest('faults', null)
  app.addHook('onRoute', (route) => {
    const faultsOf = requestCheck(route.schema ?? {})
    const isAttached = route.attachValidation === true
    const validate = (request: FastifyRequest, _reply: unknown, done: HookHandlerDoneFunction) => {
      const faults = faultsOf(request)
      if (faults.length === 0) return done()
      if (!isAttached) return done(invalid(faults.slice(0, MAX_FAULTS)))
      request.faults = faults
      done()
    }
    route.preHandler = [validate, ...[route.preHandler ?? []].flat()]
  })
}

type QuerySchema = TObject & { readonly additionalProperties?: boolean }
type Check = (value: unknown) => readonly Fault[]
const NONE: readonly Fault[] = []
const accept: Check = () => NONE

function requestCheck(schema: FastifySchema): (request: FastifyRequest) => readonly Fault[] {
  const { params, querystring, body } = schema as Partial<Record<keyof FastifySchema, TSchema>>
  const paramFaults = params === undefined ? accept : checkOf(params)
  const bodyFaults = body === undefined ? accept : checkOf(body)
  if (querystring === undefined) {
    // No array is made for a send.
    if (params === undefined) return (request) => bodyFaults(request.body)
    return (request) => [...paramFaults(request.params), ...bodyFaults(request.body)]
  }
  const { properties, additionalProperties } = querystring as QuerySchema
  const names = Object.keys(properties)
  const isOpen = additionalProperties !== false
  const queryFaults = checkOf(querystring, names)
  return (request) => {
    const query = request.query as Query
    request.query = withPluses(query)
    const brackets = isOpen ? bracketFaults(query, names) : NONE
    const faults = [
      ...paramFaults(request.params),
      ...queryFaults(request.query),
      ...bodyFaults(request.body),
    ]
    return [...brackets, ...faults]
  }
}

interface Compiled {
  readonly validator: ReturnType<typeof Compile>
  readonly rules: Rules | null
  readonly fieldsCheck: FieldsCheck | undefined
}

const COMPILED = new WeakMap<TSchema, Compiled>()

/** A schema is compiled when it is first used, because most never are, and once for all servers of this process. */
function compiledOf(schema: TSchema): Compiled {
  let compiled = COMPILED.get(schema)
  if (compiled === undefined) {
    const { rules, rest } = separated(schema)
    compiled = { validator: Compile(rest), rules, fieldsCheck: FIELDS_CHECKS.get(schema) }
    COMPILED.set(schema, compiled)
  }
  return compiled
}

/**
 * Returns a check, which replaces the texts of parsed fields by their values. `names`: the parameters, if it is one of a
 * query.
 */
export function checkOf(schema: TSchema, names?: readonly string[]): Check {
  let compiled: Compiled | undefined
  return (value) => {
    compiled ??= compiledOf(schema)
    const { validator, rules, fieldsCheck } = compiled
    const faults = validator.Check(value)
      ? NONE
      : faultsOf(validator.Errors(value)[1], names === undefined ? null : (value as Query))
    if (fieldsCheck === undefined && rules === null) return faults
    const fields = isObject(value) ? value : {}
    // The check of the whole reads the texts, which the parsed values then replace.
    const more = [
      ...(fieldsCheck?.(fields) ?? NONE),
      ...(rules === null ? NONE : parseFields(fields as Query, rules)),
    ]
    if (more.length === 0) return faults
    return names === undefined ? [...faults, ...more] : inOrder([...faults, ...more], names)
  }
}

/** Replaces the texts of these fields by their values. Returns the faults of those that are not valid. */
function parseFields(fields: Query, rules: Rules): Fault[] {
  const faults: Fault[] = []
  const values = Object.entries(parseFilters(rules, fields, faults))
  Object.assign(fields, Object.fromEntries(values.filter(([, value]) => value !== null)))
  return faults.map((found) => faultOfSyntax(found, fields) ?? found)
}

/** Sorted by parameter; the request as a whole comes last. */
function inOrder(faults: readonly Fault[], names: readonly string[]): Fault[] {
  const ranks = new Map(names.map((name, rank) => [name, rank]))
  const rankOf = ({ field }: Fault) => ranks.get(field) ?? names.length
  return faults.toSorted((a, b) => rankOf(a) - rankOf(b))
}

type SchemaError = TLocalizedValidationError

/** The first fault of each field. */
function faultsOf(errors: readonly SchemaError[], query: Query | null): Fault[] {
  const byField = new Map<string, Fault>()
  for (const found of errors.flatMap(faultsOfError)) {
    if (!byField.has(found.field)) byField.set(found.field, found)
  }
  if (query === null) return [...byField.values()]
  return [...byField.values()].map((found) => faultOfSyntax(found, query) ?? found)
}

function faultsOfError(error: SchemaError): Fault[] {
  const field = fieldName(error.instancePath)
  switch (error.keyword) {
    case 'required':
      return error.params.requiredProperties.map((name) =>
        fault(inside(error.instancePath, name), 'REQUIRED', 'is required'),
      )
    case 'additionalProperties':
      return error.params.additionalProperties.map((name) =>
        fault(inside(error.instancePath, name), 'UNKNOWN_FIELD', 'is not a field of this request'),
      )
    case 'boolean': // the schema `false` of a field that is not listed
      return [fault(field, 'UNKNOWN_FIELD', 'is not a field of this request')]
    case 'type':
      return [
        fault(field, 'WRONG_TYPE', `must be ${[error.params.type].flat().map(withArticle).join(' or ')}`),
      ]
    case 'pattern': {
      const meaning = PATTERN_MEANINGS.get(String(error.params.pattern))
      return [fault(field, 'INVALID_FORMAT', meaning ?? 'must have the documented form')]
    }
    case 'format':
      return [
        fault(
          field,
          'INVALID_FORMAT',
          FORMAT_MEANINGS[error.params.format] ?? 'must have the documented form',
        ),
      ]
    case 'enum':
      return [fault(field, 'NOT_ALLOWED', `must be one of ${error.params.allowedValues.join(', ')}`)]
    case 'maxLength':
      return [fault(field, 'TOO_LONG', `must have at most ${counted(error.params.limit, 'character')}`)]
    case 'minLength':
      return [fault(field, 'TOO_SHORT', `must have at least ${counted(error.params.limit, 'character')}`)]
    case 'maxItems':
      return [fault(field, 'TOO_LONG', `must have at most ${counted(error.params.limit, 'item')}`)]
    case 'minItems':
      return [fault(field, 'TOO_SHORT', `must have at least ${counted(error.params.limit, 'item')}`)]
    case 'maxProperties':
      return [fault(field, 'TOO_LONG', `must have at most ${counted(error.params.limit, 'field')}`)]
    case 'minProperties':
      return [fault(field, 'TOO_SHORT', 'must name at least one field')]
    case 'uniqueItems':
      return [fault(field, 'REPEATED', 'must not have the same item twice')]
    case 'minimum':
    case 'maximum':
      return [fault(field, 'OUT_OF_RANGE', `must be ${error.params.comparison} ${error.params.limit}`)]
    default:
      return [fault(field, 'INVALID', error.message)]
  }
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
}

function withArticle(type: string): string {
  if (type === 'null') return type
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`
}

/** `/rateLimit/burst` -> `rateLimit.burst`. */
function fieldName(instancePath: string): string {
  if (instancePath === '') return WHOLE_REQUEST
  return instancePath
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')
}

function inside(instancePath: string, name: string): string {
  return instancePath === '' ? name : `${fieldName(instancePath)}.${name}`
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// The peculiarities of query strings.

/** A parsed query string: a parameter given more than once is an array. */
type Query = Readonly<Record<string, string | string[] | undefined>>

/** Parameters that are telephone numbers, and other addresses. */
const ADDRESSES: ReadonlySet<string> = new Set(['from', 'to'])

/** The query with the pluses of its addresses. */
function withPluses(query: Query): Query {
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) =>
      ADDRESSES.has(name) && typeof text === 'string' ? [name, withPlus(text)] : [name, text],
    ),
  )
}

/** An unescaped plus of a query arrives as a space. */
export function withPlus(text: string): string {
  return /^ [0-9]/.test(text) ? `+${text.slice(1)}` : text
}

/**
 * The fault of a parameter that was given empty or more than once, which replaces the fault that its schema found; undefined
 * for any other.
 */
function faultOfSyntax({ field, code }: Fault, query: Query): Fault | undefined {
  if (code === 'UNKNOWN_FIELD' || !Object.hasOwn(query, field)) return undefined
  if (query[field] === '') return fault(field, 'EMPTY', 'must not be empty')
  return Array.isArray(query[field]) ? fault(field, 'REPEATED', 'must be given once') : undefined
}

/** Names of the parameters given; `name[]` and the like count as `name`. */
export function givenNames(query: object): string[] {
  return Object.keys(query).map((key) => /^[^[]*/.exec(key)![0])
}

/**
 * Faults for `name[]`, `name[0]`, `name[$ne]` …: other servers read them as arrays or operators; here they would be
 * ignored.
 */
function bracketFaults(query: Query, names: readonly string[]): Fault[] {
  return Object.keys(query)
    .map((key) => key.slice(0, Math.max(0, key.indexOf('['))))
    .filter((name) => names.includes(name))
    .map((name) => fault(name, 'REPEATED', 'must be given once, without brackets'))
}
