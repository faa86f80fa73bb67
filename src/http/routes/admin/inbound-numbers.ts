import { Type } from 'typebox'
import {
  changeInboundNumber,
  createInboundNumber,
  removeInboundNumber,
} from '../../../operations/manage-inbound-numbers.ts'
import {
  findInboundNumber,
  type InboundNumberRecord,
  listInboundNumbers,
} from '../../../store/inbound-numbers.ts'
import { canonicalOrNull, InboundNumberField, Keyword, PublicId, pageQuery, Timestamp } from './fields.ts'
import { addChange, addCreate, addDelete, addList, addShow, type Resource } from './resource.ts'
import type { AdminDeps, AdminScope } from './scope.ts'

const Keywords = Type.Array(Keyword, { maxItems: 100 })
const Creation = Type.Object(
  { number: InboundNumberField, servicePlanId: PublicId, keywords: Type.Optional(Keywords) },
  {
    title: 'InboundNumberCreation',
    examples: [{ number: '71234', servicePlanId: '65f0c0ffee65f0c0ffee65f0', keywords: ['JOIN'] }],
    additionalProperties: false,
  },
)
const Change = Type.Object(
  { servicePlanId: Type.Optional(PublicId), keywords: Type.Optional(Keywords) },
  {
    title: 'InboundNumberChange',
    examples: [{ keywords: ['JOIN', 'INFO'] }],
    additionalProperties: false,
    minProperties: 1,
  },
)
const Query = pageQuery(InboundNumberField, { servicePlanId: Type.Optional(PublicId) })
const InboundNumber = Type.Object(
  {
    number: Type.String(),
    servicePlanId: Type.String(),
    keywords: Type.Array(Type.String()),
    createdAt: Timestamp,
  },
  { title: 'InboundNumber' },
)

const NUMBERS: Resource<typeof InboundNumber, InboundNumberRecord> = {
  name: 'inbound number',
  path: '/inbound-numbers',
  key: 'number',
  keyField: InboundNumberField,
  item: InboundNumber,
  keyOf: (record) => record.number,
  present: (record) => ({
    ...record,
    keywords: [...record.keywords],
    createdAt: record.createdAt.toISOString(),
  }),
}

export function registerInboundNumbers(scope: AdminScope, { db, reads }: AdminDeps): void {
  addCreate(scope, NUMBERS, Creation, (body) => createInboundNumber(db, { keywords: [], ...body }))
  addList(scope, NUMBERS, Query, (page, { servicePlanId }) =>
    listInboundNumbers(reads, { ...page, servicePlanId: canonicalOrNull(servicePlanId) }),
  )
  addShow(scope, NUMBERS, (number) => findInboundNumber(reads, number))
  addChange(scope, NUMBERS, Change, (number, body) => changeInboundNumber(db, number, body))
  addDelete(scope, NUMBERS, (number) => removeInboundNumber(db, number))
}
