import type { SenderType } from '../../domain/messages/addresses.ts'
import { recipientMatchFaults } from '../../domain/routing/recipients.ts'
import { refuseAny } from '../../errors.ts'
import type { Transaction } from '../../store/database.ts'
import { type SenderRuleRecord, senderRules } from '../../store/sender-rules.ts'
import { keyOfPlanOrAll, refuseMore } from './configuration-rows.ts'
import { PLAN_GONE, sayConflicts } from './write-conflicts.ts'

/** A rule for each country, for some hundred plans. Every node keeps all in memory. */
export const MAX_SENDER_RULES = 50_000

/** Says which types of sender a plan (null: every plan without a rule of its own) may use towards a country. */
export async function createSenderRule(
  transaction: Transaction,
  input: { servicePlanId: string | null; country: string; senderTypes: readonly SenderType[] },
): Promise<SenderRuleRecord> {
  refuseAny(recipientMatchFaults({ prefix: null, mccmnc: null, country: input.country }))
  const words = { taken: 'a sender rule of this plan and country exists already', inUse: PLAN_GONE }
  return sayConflicts(words, async () => {
    const planId = await keyOfPlanOrAll(transaction, input.servicePlanId)
    const rule = await senderRules.insert(transaction, { ...input, planId })
    await refuseMore(transaction, senderRules, MAX_SENDER_RULES)
    return rule
  })
}
