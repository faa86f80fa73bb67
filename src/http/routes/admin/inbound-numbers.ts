import { NUMBERS } from '../../../operations/configuration/inbound-numbers.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { changeBody, requestBody, titled } from '../../schemas/shapes.ts'
import { InboundNumberField, Keyword, pageQuery, ServicePlanId, Timestamp } from './fields.ts'
import type { AdminDeps, AdminScope } from './operations.ts'
import { addConfigured } from './resource.ts'

const Keywords = Type.Array(Keyword, {
  maxItems: 100,
  description: 'Keywords that are reported with a message; empty: none',
})
export const InboundNumberCreation = requestBody(
  'InboundNumberCreation',
  { number: InboundNumberField, servicePlanId: ServicePlanId, keywords: Type.Optional(Keywords) },
  { number: '71234', servicePlanId: '65f0c0ffee65f0c0ffee65f0', keywords: ['JOIN'] },
)
const Change = changeBody('InboundNumberChange', InboundNumberCreation, ['number'], {
  keywords: ['JOIN', 'INFO'],
})
const Query = pageQuery(InboundNumberField, { servicePlanId: Type.Optional(ServicePlanId) })
const InboundNumber = titled('InboundNumber', {
  number: Type.String(),
  servicePlanId: Type.String(),
  keywords: Type.Array(Type.String()),
  createdAt: Timestamp,
})

export function registerInboundNumbers(scope: AdminScope, deps: AdminDeps): void {
  addConfigured(scope, deps, {
    kind: NUMBERS,
    path: '/inbound-numbers',
    texts: {
      create: 'Messages to this number belong to the service plan.',
      show: 'Returns its service plan and its keywords.',
      remove: 'Messages to it belong to nobody from now on; they are kept as unowned.',
    },
    key: 'number',
    keyField: InboundNumberField,
    item: InboundNumber,
    creation: InboundNumberCreation,
    change: Change,
    query: Query,
    present: (record) => record,
  })
}
