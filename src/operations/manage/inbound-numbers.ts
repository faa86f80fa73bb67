import { repeatedKeyword } from '../../domain/configuration/configuration.ts'
import { type Fault, fault, refuseAny } from '../../errors.ts'
import type { Transaction } from '../../store/database.ts'
import { type InboundNumberRecord, inboundNumbers } from '../../store/inbound-numbers.ts'
import { changeRow, keyOfPlan, PLAN_GONE, sayConflicts } from './configuration-rows.ts'

/** Gives a number to a plan. One number has one owner. */
export async function createInboundNumber(
  transaction: Transaction,
  input: { number: string; servicePlanId: string; keywords?: readonly string[] },
): Promise<InboundNumberRecord> {
  refuseAny(keywordFaults(input.keywords ?? []))
  const planId = await keyOfPlan(transaction, input.servicePlanId)
  return sayConflicts({ taken: `inbound number ${input.number} exists already`, inUse: PLAN_GONE }, () =>
    inboundNumbers.insert(transaction, { ...input, planId }),
  )
}

/** Settings that are not in `change` keep their values. */
export async function updateInboundNumber(
  transaction: Transaction,
  number: string,
  { servicePlanId, keywords }: { servicePlanId?: string; keywords?: readonly string[] },
): Promise<InboundNumberRecord> {
  refuseAny(keywordFaults(keywords ?? []))
  const change = {
    ...(servicePlanId !== undefined && { planId: await keyOfPlan(transaction, servicePlanId) }),
    ...(keywords !== undefined && { keywords }),
  }
  return sayConflicts({ inUse: PLAN_GONE }, () => changeRow(transaction, inboundNumbers, number, change))
}

export function keywordFaults(keywords: readonly string[]): Fault[] {
  const repeated = repeatedKeyword(keywords)
  if (repeated === null) return []
  return [fault('keywords', 'REPEATED', `must differ in more than case: ${repeated} is repeated`)]
}
