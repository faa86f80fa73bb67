import type { SenderKind } from '../domain/addresses.ts'
import { isCountryCode } from '../domain/countries.ts'
import { type Database, type Queryable, withTransaction } from '../store/database.ts'
import * as store from '../store/sender-rules.ts'
import { keyOfPlanOrAll } from './named-rows.ts'
import { refuseConflict, refuseField, refuseMissing, sayConflicts } from './refuse-administration.ts'

/** A rule for each country, for some hundred plans. Every node keeps all in memory. */
export const MAX_SENDER_RULES = 50_000

/** Says which kinds of sender a plan (null: every plan without a rule of its own) may use towards a country. */
export async function createSenderRule(
  db: Database,
  input: { servicePlanId: string | null; country: string; senderTypes: readonly SenderKind[] },
): Promise<store.SenderRuleRecord> {
  if (!isCountryCode(input.country)) {
    throw refuseField('country', 'NOT_FOUND', 'must be a country code of ISO 3166-1')
  }
  const words = {
    taken: 'a sender rule of this plan and country exists already',
    inUse: 'the service plan was removed meanwhile',
  }
  return sayConflicts(words, () =>
    withTransaction(db, async (transaction) => {
      const planId = await keyOfPlanOrAll(transaction, input.servicePlanId)
      const ruleId = await store.insertSenderRule(transaction, { ...input, planId })
      if ((await store.countSenderRules(transaction)) > MAX_SENDER_RULES) {
        throw refuseConflict(`there can be at most ${MAX_SENDER_RULES} sender rules`)
      }
      return (await store.findSenderRule(transaction, ruleId))!
    }),
  )
}

export async function changeSenderRule(
  db: Queryable,
  ruleId: number,
  senderTypes: readonly SenderKind[],
): Promise<store.SenderRuleRecord> {
  await store.updateSenderRule(db, ruleId, senderTypes)
  const rule = await store.findSenderRule(db, ruleId)
  if (rule === undefined) throw refuseMissing('sender rule')
  return rule
}

export async function removeSenderRule(db: Queryable, ruleId: number): Promise<void> {
  if (!(await store.deleteSenderRule(db, ruleId))) throw refuseMissing('sender rule')
}
