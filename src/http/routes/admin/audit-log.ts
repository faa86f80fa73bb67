import { parseWindow } from '../../../domain/lists.ts'
import { checked } from '../../../errors.ts'
import { listAuditLog } from '../../../store/audit-log.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { titled } from '../../schemas/shapes.ts'
import { patterned } from '../../validate.ts'
import { AnyState, pageQuery, plainText, Timestamp, WINDOW } from './fields.ts'
import type { AdminDeps, AdminScope } from './operations.ts'
import { addList } from './resource.ts'

const AuditId = patterned(/^[1-9][0-9]{0,14}$/, 'must be the number of a row', {
  description: 'Number of the row, as listed',
  examples: ['1'],
})
const Query = pageQuery(AuditId, {
  objectType: plainText('Kind of the object: account, service-plan, carrier, …', 'carrier'),
  objectId: plainText('Name or number of the object, as listed', 'acme'),
  token: plainText('Name of the operator token; that of OPERATOR_TOKEN is environment', 'environment'),
  operation: plainText('operationId in the OpenAPI document: updateCarrier', 'updateCarrier'),
  ...WINDOW,
})
const AuditEntry = titled('AuditEntry', {
  auditId: Type.Integer(),
  at: Timestamp,
  token: Type.String({ description: 'name of the operator token' }),
  address: Type.String({ description: 'where the connection came from: behind a proxy, its address' }),
  operation: Type.String({ description: 'operationId in the OpenAPI document' }),
  objectType: Type.String(),
  objectId: Type.String({ description: 'name or number before the change; empty for imports and secrets' }),
  before: AnyState('the object before, without secrets; null: there was none'),
  after: AnyState('the object after, without secrets; null: there is none any more'),
})

/** Every change through the admin API. */
export function registerAuditLog(scope: AdminScope, { reads }: AdminDeps): void {
  addList(scope, '/audit-log', {
    operationId: 'listAuditLog',
    summary: 'List changes through the admin API',
    description: 'Who changed what, from where and when, newest first. Secrets are not in it.',
    tags: ['Audit log'],
    query: Query,
    item: AuditEntry,
    fetch: ({ query }, limit) => {
      const { objectType = null, objectId = null, token = null, operation = null, after = null } = query
      const window = checked((faults) => parseWindow(query, faults))
      const filters = { objectType, objectId, token, operation, ...window }
      return listAuditLog(reads, filters, { after: after === null ? null : Number(after), limit })
    },
    keyOf: ({ auditId }) => String(auditId),
    present: (entry) => entry,
  })
}
