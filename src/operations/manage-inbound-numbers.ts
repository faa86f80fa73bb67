import { repeatedKeyword } from '../domain/settings.ts'
import type { Queryable } from '../store/database.ts'
import * as store from '../store/inbound-numbers.ts'
import { keyOfPlan } from './named-rows.ts'
import { refuseField, refuseMissing, sayConflicts } from './refuse-administration.ts'

const PLAN_GONE = 'the service plan was removed meanwhile'

/** Gives a number to a plan. One number has one owner. */
export async function createInboundNumber(
  db: Queryable,
  input: { number: string; servicePlanId: string; keywords: readonly string[] },
): Promise<store.InboundNumberRecord> {
  checkKeywords(input.keywords)
  const planId = await keyOfPlan(db, input.servicePlanId)
  await sayConflicts({ taken: `inbound number ${input.number} exists already`, inUse: PLAN_GONE }, () =>
    store.insertInboundNumber(db, { number: input.number, planId, keywords: input.keywords }),
  )
  return found(db, input.number)
}

/** Settings that are not in `change` stay. */
export async function changeInboundNumber(
  db: Queryable,
  number: string,
  change: { servicePlanId?: string; keywords?: readonly string[] },
): Promise<store.InboundNumberRecord> {
  checkKeywords(change.keywords ?? [])
  const planId = change.servicePlanId === undefined ? null : await keyOfPlan(db, change.servicePlanId)
  const changed = await sayConflicts({ inUse: PLAN_GONE }, () =>
    store.updateInboundNumber(db, number, { planId, keywords: change.keywords ?? null }),
  )
  if (!changed) throw refuseMissing('inbound number')
  return found(db, number)
}

export async function removeInboundNumber(db: Queryable, number: string): Promise<void> {
  if (!(await store.deleteInboundNumber(db, number))) throw refuseMissing('inbound number')
}

async function found(db: Queryable, number: string): Promise<store.InboundNumberRecord> {
  const record = await store.findInboundNumber(db, number)
  if (record === undefined) throw refuseMissing('inbound number')
  return record
}

function checkKeywords(keywords: readonly string[]): void {
  const repeated = repeatedKeyword(keywords)
  if (repeated === null) return
  throw refuseField('keywords', 'REPEATED', `must differ in more than case: ${repeated} is there twice`)
}
