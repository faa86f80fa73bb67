import type { Static } from 'typebox'
import { canonicalPublicId } from '../../../domain/identifiers.ts'
import { maskedNumber } from '../../../domain/messages/addresses.ts'
import {
  createOptOut,
  deleteOptOut,
  importOptOuts,
  listOptOuts,
} from '../../../operations/manage/opt-outs.ts'
import type { OptOutRecord } from '../../../store/opt-outs.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { requestBody, titled } from '../../schemas/shapes.ts'
import { withPlus } from '../../validate.ts'
import { octetString, pageQuery, ServicePlanId, Timestamp } from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation } from './operations.ts'
import { addImport, addList, type DocumentedRows } from './resource.ts'

/** Any text that a sender or recipient may be; the domain judges its form. */
const From = octetString(16, 1, {
  description: 'Sender that the person has opted out of',
  examples: ['Aldis'],
})
const To = octetString(16, 1, { description: 'Recipient', examples: ['+15551230001'] })
const Key = requestBody(
  'OptOutCreation',
  { servicePlanId: ServicePlanId, from: From, to: To },
  { servicePlanId: '65f0c0ffee65f0c0ffee65f0', from: 'Aldis', to: '+15551230001' },
)
const Import = requestBody(
  'OptOutImport',
  { optOuts: Type.Array(Key, { minItems: 1, maxItems: 1_000 }) },
  { optOuts: [{ servicePlanId: '65f0c0ffee65f0c0ffee65f0', from: 'Aldis', to: '+15551230002' }] },
)
/** 1,000 of some 100 bytes. */
const IMPORT_BYTES = 256 * 1024
const Imported = titled('OptOutImportResult', { created: Type.Integer(), known: Type.Integer() })
const OptOut = titled('OptOut', {
  servicePlanId: Type.String(),
  from: Type.String(),
  to: Type.String(),
  createdAt: Timestamp,
})

const tags = ['Opt-outs']
const ROWS: DocumentedRows = {
  table: { noun: 'opt-out' },
  path: '/opt-outs',
  texts: { import: 'Up to 1,000 at once, all or none. Opt-outs that exist already are kept.' },
}

export function registerOptOuts(scope: AdminScope, deps: AdminDeps): void {
  const { change } = deps

  addOperation(scope, 'POST /opt-outs', {
    operationId: 'createOptOut',
    summary: 'Create an opt-out',
    description:
      'The service plan sends nothing more from this sender to this recipient. An opt-out that exists already is kept.',
    tags,
    body: Key,
    answer: OptOut,
    statuses: [200, 201],
    run: async (request, reply) => {
      const { body } = request
      const record = await change(request, async (transaction) => {
        const value = await createOptOut(transaction, body)
        const masked = maskedOptOut(body)
        return { value, entry: { ...masked, before: value.created ? null : masked.after } }
      })
      reply.code(record.created ? 201 : 200)
      return present(body.servicePlanId)(record)
    },
  })

  const imported = { body: Import, bodyLimit: IMPORT_BYTES, answer: Imported }
  addImport(scope, deps, ROWS, imported, (transaction, { optOuts }) => importOptOuts(transaction, optOuts))
  registerList(scope, deps)

  addOperation(scope, 'DELETE /opt-outs', {
    operationId: 'deleteOptOut',
    summary: 'Delete an opt-out',
    description: 'The recipient may get messages from this sender again.',
    tags,
    query: Key,
    run: async (request) => {
      const { query } = request
      await change(request, async (transaction) => {
        await deleteOptOut(transaction, query)
        const masked = maskedOptOut(query)
        return { value: null, entry: { ...masked, before: masked.after, after: null } }
      })
    },
  })
}

function registerList(scope: AdminScope, { reads }: AdminDeps): void {
  addList(scope, '/opt-outs', {
    operationId: 'listOptOuts',
    summary: 'List the opt-outs of a service plan',
    description: 'Sorted by sender, then by recipient.',
    tags,
    query: pageQuery(octetString(33, 3), {
      servicePlanId: ServicePlanId,
      from: Type.Optional(From),
      to: Type.Optional(To),
    }),
    item: OptOut,
    fetch: ({ query }, limit) => {
      const after = query.after === undefined ? null : positionOf(query.after)
      return listOptOuts(reads, { ...query, after, limit })
    },
    keyOf: ({ sender, recipient }) => `${sender}/${recipient}`,
    present: (optOut, { query }) => present(query.servicePlanId)(optOut),
  })
}

/** Neither address contains a slash; a plus may have arrived as a space. */
function positionOf(after: string): { sender: string; recipient: string } {
  const [sender = '', recipient = ''] = after.split('/')
  return { sender: withPlus(sender), recipient: withPlus(recipient) }
}

/** The audit log keeps too few digits of the person's number to call them. */
function maskedOptOut({ servicePlanId, from, to }: Static<typeof Key>) {
  const after = { servicePlanId: canonicalPublicId(servicePlanId), from, to: maskedNumber(to) }
  return { objectType: 'opt-out', objectId: Object.values(after).join('/'), after }
}

function present(servicePlanId: string) {
  return ({ sender, recipient, createdAt }: OptOutRecord) => ({
    servicePlanId: canonicalPublicId(servicePlanId),
    from: sender,
    to: recipient,
    createdAt,
  })
}
