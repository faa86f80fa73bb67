import type { FastifySchemaValidationError } from 'fastify'
import { type Fault, fault, WHOLE_REQUEST } from '../domain/faults.ts'

/** Faults from a schema's validation errors. A value of the wrong type gets that fault and no other. */
export function schemaFaults(errors: readonly FastifySchemaValidationError[]): Fault[] {
  const faults = errors.map(faultOf)
  const mistyped = new Set(faults.filter(({ code }) => code === WRONG_TYPE).map(({ field }) => field))
  return faults.filter(({ code, field }) => code === WRONG_TYPE || !mistyped.has(field))
}

const WRONG_TYPE = 'WRONG_TYPE'

function faultOf({ keyword, instancePath, params, message }: FastifySchemaValidationError): Fault {
  const field = instancePath === '' ? WHOLE_REQUEST : instancePath.slice(1).replaceAll('/', '.')
  switch (keyword) {
    case 'required':
      return fault(String(params.missingProperty), 'REQUIRED', 'is required')
    case 'type':
      return fault(field, WRONG_TYPE, `must be ${withArticle(String(params.type))}`)
    case 'enum':
      return fault(field, 'NOT_ALLOWED', `must be one of ${(params.allowedValues as string[]).join(', ')}`)
    case 'format':
      return fault(field, 'INVALID_FORMAT', `must have the form ${String(params.format)}`)
    case 'additionalProperties':
      return fault(String(params.additionalProperty), 'UNKNOWN_FIELD', 'is not a field of this request')
    case 'minLength':
      return fault(field, 'TOO_SHORT', `must have at least ${String(params.limit)} characters`)
    case 'maxLength':
      return fault(field, 'TOO_LONG', `must have at most ${String(params.limit)} characters`)
    case 'pattern':
      return fault(field, 'INVALID_FORMAT', `must match ${String(params.pattern)}`)
    default:
      return fault(field, 'INVALID', message ?? 'is not valid')
  }
}

function withArticle(type: string): string {
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`
}
