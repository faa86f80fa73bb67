import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import type { TLocalizedValidationError } from 'typebox/error'
import { type Fault, fault, WHOLE_REQUEST } from '../../../domain/faults.ts'
import { invalid } from '../../../errors.ts'
import { PATTERN_MEANINGS } from './fields.ts'

/** More than a request of 64 KiB sensibly has, and the answer stays readable. */
const MAX_FAULTS = 50

/**
 * Fastify's validator for the admin API. Nothing is coerced; all faults of a part are listed, one for each field; and
 * unknown fields are faults (otherwise an operator's typing error would be a setting silently not made). Each is compiled
 * when first used, because most never are.
 */
export function compileAdminValidator({ schema }: { schema: unknown }) {
  let validator: ReturnType<typeof Compile> | undefined
  return (value: unknown) => {
    validator ??= Compile(schema as TSchema)
    if (validator.Check(value)) return { value }
    return { error: invalid(faultsOf(validator.Errors(value)).slice(0, MAX_FAULTS)) }
  }
}

type SchemaError = TLocalizedValidationError

/** The first fault of each field. */
function faultsOf(errors: readonly SchemaError[]): Fault[] {
  const byField = new Map<string, Fault>()
  for (const found of errors.flatMap(faultsOfError)) {
    if (!byField.has(found.field)) byField.set(found.field, found)
  }
  return [...byField.values()]
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
      return [fault(field, 'WRONG_TYPE', `must be of type ${[error.params.type].flat().join(' or ')}`)]
    case 'pattern': {
      const meaning = PATTERN_MEANINGS.get(String(error.params.pattern))
      return [fault(field, 'INVALID_FORMAT', meaning ?? 'must have the documented form')]
    }
    case 'enum': {
      const allowed = error.params.allowedValues.join(', ')
      return [fault(field, 'NOT_ALLOWED', `must be one of ${allowed}`)]
    }
    case 'maxLength':
      return [fault(field, 'TOO_LONG', `must have at most ${error.params.limit} characters`)]
    case 'minLength':
      return [fault(field, 'TOO_SHORT', `must have at least ${error.params.limit} characters`)]
    case 'maxItems':
      return [fault(field, 'TOO_LONG', `must have at most ${error.params.limit} items`)]
    case 'minItems':
      return [fault(field, 'TOO_SHORT', `must have at least ${error.params.limit} items`)]
    case 'maxProperties':
      return [fault(field, 'TOO_LONG', `must have at most ${error.params.limit} fields`)]
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
