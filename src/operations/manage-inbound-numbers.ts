import { repeatedKeyword } from '../domain/configuration.ts'
import type { Queryable } from '../store/database.ts'
import { type InboundNumberRecord, inboundNumbers } from '../store/inbound-numbers.ts'
import { changeRow, keyOfPlan, PLAN_GONE, refuseField, sayConflicts } from './administration.ts'

/** Gives a number to a plan. One number has one owner. */
export async function createInboundNumber(
  db: Queryable,
  input: { number: string; servicePlanId: string; keywords?: readonly string[] },
): Promise<InboundNumberRecord> {
  checkKeywords(input.keywords ?? [])
  const planId = await keyOfPlan(db, input.servicePlanId)
  return sayConflicts({ taken: `inbound number ${input.number} exists already`, inUse: PLAN_GONE }, () =>
    inboundNumbers.insert(db, { ...input, planId }),
  )
}

/** Settings that are not in `change` keep their values. */
export async function changeInboundNumber(
  db: Queryable,
  number: string,
  { servicePlanId, keywords }: { servicePlanId?: string; keywords?: readonly string[] },
): Promise<InboundNumberRecord> {
  checkKeywords(keywords ?? [])
  const change = {
    ...(servicePlanId !== undefined && { planId: await keyOfPlan(db, servicePlanId) }),
    ...(keywords !== undefined && { keywords }),
  }
  return sayConflicts({ inUse: PLAN_GONE }, () => changeRow(db, inboundNumbers, number, change))
}

function checkKeywords(keywords: readonly string[]): void {
  const repeated = repeatedKeyword(keywords)
  if (repeated === null) return
  throw refuseField('keywords', 'REPEATED', `must differ in more than case: ${repeated} is repeated`)
}
