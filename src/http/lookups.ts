import type { FastifyRequest } from 'fastify'
import { type Fault, fault } from '../domain/faults.ts'
import { isUuid } from '../domain/message-ids.ts'
import { bracketFaults, planParameter, type Query } from '../domain/query-parameters.ts'
import { invalid } from '../errors.ts'

const PARAMETERS: ReadonlySet<string> = new Set(['servicePlanId'])

/** Path and query of a look-up by id, or 400 with every fault in them. */
export function readLookup(request: FastifyRequest): { msgId: string; servicePlanId: string }
export function readLookup(
  request: FastifyRequest,
  plan: 'optional',
): { msgId: string; servicePlanId: string | undefined }
export function readLookup(request: FastifyRequest, plan?: 'optional') {
  const { msgId } = request.params as { msgId: string }
  const query = request.query as Query
  const faults: Fault[] = bracketFaults(query, PARAMETERS)
  if (!isUuid(msgId)) faults.push(fault('msgId', 'INVALID_FORMAT', 'must be a UUID'))
  const servicePlanId = planParameter(query, plan === undefined, faults)
  if (faults.length > 0) throw invalid(faults)
  return { msgId, servicePlanId }
}
