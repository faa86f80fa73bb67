import { canonicalPublicId } from '../../domain/identifiers.ts'
import { fieldFaults } from '../../domain/messages/send-requests.ts'
import { type Fault, notFound, refuseAny } from '../../errors.ts'
import type { Queryable, Transaction } from '../../store/database.ts'
import * as store from '../../store/opt-outs.ts'
import { keyOfPlan, refuseMissingPlans, sayConflicts } from './configuration-rows.ts'

/** A person, as `to` of a send, who wants nothing more from a sender of the plan. */
interface OptOutInput {
  readonly servicePlanId: string
  readonly from: string
  readonly to: string
}

/** Adds an opt-out, or returns the existing one. */
export async function createOptOut(
  transaction: Transaction,
  input: OptOutInput,
): Promise<store.OptOutRecord & { created: boolean }> {
  const { created } = await insert(transaction, [input], () => '')
  const pair = { sender: input.from, recipient: input.to }
  const planId = await keyOfPlan(transaction, input.servicePlanId)
  const [record] = await store.listOptOuts(transaction, planId, { ...pair, after: NOBODY, limit: 1 })
  if (record === undefined) throw notFound('opt-out')
  return { ...record, created: created === 1 }
}

/** Adds the opt-outs that do not exist yet, all or none. Faults name the field with its place: `optOuts.3.to`. */
export async function importOptOuts(
  transaction: Transaction,
  inputs: readonly OptOutInput[],
): Promise<{ created: number; known: number }> {
  const { created } = await insert(transaction, inputs, (index) => `optOuts.${index}.`)
  return { created, known: inputs.length - created }
}

async function insert(
  transaction: Transaction,
  inputs: readonly OptOutInput[],
  path: (index: number) => string,
): Promise<{ created: number }> {
  refuseAny(inputs.flatMap(({ from, to }, index) => addressFaults({ from, to }, path(index))))
  const rows = inputs.map(({ servicePlanId, from, to }) => {
    return { servicePlanId: canonicalPublicId(servicePlanId), sender: from, recipient: to }
  })
  const words = { inUse: 'a service plan was removed in the meantime' }
  return sayConflicts(words, async () => {
    const { created, missingPlans } = await store.insertOptOuts(transaction, rows)
    refuseMissingPlans(missingPlans, rows, path)
    return { created }
  })
}

const NOBODY = { sender: '', recipient: '' }

/** The opt-outs of a plan, by sender and recipient. */
export async function listOptOuts(
  db: Queryable,
  query: {
    servicePlanId: string
    from?: string
    to?: string
    after: { sender: string; recipient: string } | null
    limit: number
  },
): Promise<store.OptOutRecord[]> {
  const { from, to } = query
  refuseAny(addressFaults({ from, to }, ''))
  const planId = await keyOfPlan(db, query.servicePlanId)
  return store.listOptOuts(db, planId, {
    sender: from ?? null,
    recipient: to ?? null,
    after: query.after ?? NOBODY,
    limit: query.limit,
  })
}

/** The person may be sent to again. */
export async function deleteOptOut(transaction: Transaction, query: OptOutInput): Promise<void> {
  const { from, to } = query
  refuseAny(addressFaults({ from, to }, ''))
  const planId = await keyOfPlan(transaction, query.servicePlanId)
  if (!(await store.deleteOptOut(transaction, planId, from, to))) throw notFound('opt-out')
}

/** The same faults as those of a send. */
function addressFaults(addresses: { from: unknown; to: unknown }, path: string): Fault[] {
  return fieldFaults(addresses).map((each) => ({ ...each, field: `${path}${each.field}` }))
}
