import { resealSecrets, type SealedStore } from '../../../operations/reseal-secrets.ts'
import { Type } from '../../schemas/schema-builder.ts'
import { Nullable, requestBody, titled } from '../../schemas/shapes.ts'
import { patterned } from '../../validate.ts'
import { described } from './fields.ts'
import { type AdminDeps, type AdminScope, addOperation, type OperatorRequest } from './operations.ts'

const Position = patterned(
  /^\d{1,9}\.[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/,
  'must be nextAfter of the previous response',
)
const Body = requestBody(
  'ResealRequest',
  { after: Type.Optional(described(Position, 'Continue at this position')) },
  {},
)
const Progress = titled('ResealProgress', {
  resealed: Type.Integer({ description: 'Secrets that this request encrypted with SECRET_KEY' }),
  unreadable: Type.Integer({
    description:
      'Secrets that no key opens; they are left unchanged. The last response counts those of the configuration',
  }),
  pending: Type.Integer({
    description:
      'Secrets that are still encrypted with another key, because they kept changing. The last response counts those of the configuration',
  }),
  scanned: Type.Integer({ description: 'Messages that were looked at' }),
  keyId: Type.String({
    description: 'Identifies the SECRET_KEY of the node that answers, without revealing it',
  }),
  nextAfter: Nullable(Type.String({ description: 'Where to continue; null when everything is done' })),
})

/** Change of SECRET_KEY: each request handles a stretch, so that none takes long. */
export function registerSecrets(scope: AdminScope, { change, secretKey }: AdminDeps): void {
  addOperation(scope, 'POST /secrets/reseal', {
    operationId: 'resealSecrets',
    summary: 'Re-encrypt stored secrets with the current SECRET_KEY',
    description:
      'The first request does the configuration, each further one 10,000 messages from `nextAfter` on; the last does the configuration again. It may be repeated.',
    tags: ['Secrets'],
    body: Body,
    answer: Progress,
    run: async (request) => {
      const { after } = request.body
      const [planId, msgId] = after?.split('.') ?? []
      const position = msgId === undefined ? null : { planId: Number(planId), msgId }
      const { next, ...progress } = await resealSecrets(sealedStore(change, request), secretKey, {
        after: position,
      })
      return { ...progress, nextAfter: next === null ? null : `${next.planId}.${next.msgId}` }
    },
  })
}

/** Each batch of replaced secrets is a change of its own. */
function sealedStore(change: AdminDeps['change'], request: OperatorRequest): SealedStore {
  return {
    read: (find) => change(request, async (db) => ({ value: await find(db), entry: null })),
    replace: (replacement) =>
      change(request, async (transaction) => {
        const resealed = await replacement(transaction)
        const made = { objectType: 'secrets', objectId: '', before: null, after: { resealed } }
        return { value: resealed, entry: resealed === 0 ? null : made }
      }),
  }
}
