import { formatAmount, parseAmount } from '../domain/amounts.ts'
import type { Destination } from '../domain/configuration.ts'
import { destinationFaults } from '../domain/destinations.ts'
import { type Fault, fault } from '../domain/faults.ts'
import { canonicalPublicId } from '../domain/identifiers.ts'
import { invalid } from '../errors.ts'
import { type Database, type Queryable, withTransaction } from '../store/database.ts'
import * as store from '../store/rates.ts'
import { keyOfPlanOrAll, refuseMissingPlans } from './named-rows.ts'
import { refuseConflict, refuseMissing, sayConflicts } from './refuse-administration.ts'

/** Every node keeps all rates in memory: some 40 MB. */
export const MAX_RATES = 200_000
/** Of one segment. Times the most segments of a message it is still within numeric(14, 6). */
const MAX_AMOUNT = 1_000_000n * 1_000_000n

/** As the API takes it: amounts as decimal text or numbers, exact either way up to 6 places. */
export interface RateInput extends Destination {
  readonly servicePlanId: string | null
  readonly price: string | number
  readonly ptf: string | number
  readonly currency: string
}

/** Adds a rate. One of the same plan and destination is a conflict. */
export async function createRate(db: Database, input: RateInput): Promise<store.RateRecord> {
  const rate = checkedRate(input)
  return sayConflicts(
    {
      taken: 'a rate of this plan and destination exists already',
      inUse: 'the service plan was removed meanwhile',
    },
    () =>
      withTransaction(db, async (transaction) => {
        const planId = await keyOfPlanOrAll(transaction, rate.servicePlanId)
        const rateId = await store.insertRate(transaction, { ...rate, planId })
        await checkCount(transaction)
        return found(transaction, rateId)
      }),
  )
}

/**
 * Adds rates, and changes the amounts of those that are there, all or none. Faults name the field with its place in the
 * list: `rates.3.price`.
 */
export async function importRates(
  db: Database,
  inputs: readonly RateInput[],
): Promise<{ created: number; changed: number }> {
  const rates = checkedRates(inputs)
  return sayConflicts({ inUse: 'a service plan was removed meanwhile' }, () =>
    withTransaction(db, async (transaction) => {
      const { created, missingPlans } = await store.upsertRates(transaction, rates)
      refuseMissingPlans(missingPlans, rates, placeOf)
      await checkCount(transaction)
      return { created, changed: rates.length - created }
    }),
  )
}

/** Settings that are not in `change` stay; plan and destination are what a rate is. */
export async function changeRate(
  db: Database,
  rateId: number,
  change: Partial<Pick<RateInput, 'price' | 'ptf' | 'currency'>>,
): Promise<store.RateRecord> {
  const faults: Fault[] = []
  const amounts = {
    price: change.price === undefined ? null : amountOf(change.price, 'price', faults),
    ptf: change.ptf === undefined ? null : amountOf(change.ptf, 'ptf', faults),
    currency: change.currency ?? null,
  }
  if (faults.length > 0) throw invalid(faults)
  if (!(await store.updateRate(db, rateId, amounts))) throw refuseMissing('rate')
  return found(db, rateId)
}

export async function removeRate(db: Queryable, rateId: number): Promise<void> {
  if (!(await store.deleteRate(db, rateId))) throw refuseMissing('rate')
}

async function found(db: Queryable, rateId: number): Promise<store.RateRecord> {
  const rate = await store.findRate(db, rateId)
  if (rate === undefined) throw refuseMissing('rate')
  return rate
}

type CheckedRate = RateInput & store.RateAmounts

function checkedRates(inputs: readonly RateInput[]): CheckedRate[] {
  const faults: Fault[] = []
  const seen = new Set<string>()
  const rates = inputs.map((input, index) => {
    const rate = canonical(input, placeOf(index), faults)
    const key = JSON.stringify([rate.servicePlanId, rate.prefix, rate.country, rate.mccmnc])
    if (seen.has(key)) {
      faults.push(fault(`rates.${index}`, 'REPEATED', 'has the plan and destination of an earlier one'))
    }
    seen.add(key)
    return rate
  })
  if (faults.length > 0) throw invalid(faults)
  return rates
}

function checkedRate(input: RateInput): CheckedRate {
  const faults: Fault[] = []
  const rate = canonical(input, '', faults)
  if (faults.length > 0) throw invalid(faults)
  return rate
}

function canonical(input: RateInput, path: string, faults: Fault[]): CheckedRate {
  const { servicePlanId } = input
  faults.push(...destinationFaults(input).map((each) => ({ ...each, field: `${path}${each.field}` })))
  return {
    ...input,
    servicePlanId: servicePlanId === null ? null : canonicalPublicId(servicePlanId),
    price: amountOf(input.price, `${path}price`, faults),
    ptf: amountOf(input.ptf, `${path}ptf`, faults),
  }
}

function amountOf(input: string | number, field: string, faults: Fault[]): string {
  const amount = parseAmount(String(input))
  if (amount !== null && amount <= MAX_AMOUNT) return formatAmount(amount)
  faults.push(
    fault(field, 'INVALID_FORMAT', 'must be an amount from 0 to 1000000 with at most 6 decimal places'),
  )
  return '0'
}

function placeOf(index: number): string {
  return `rates.${index}.`
}

/** After the write: writers of the configuration wait for each other at directory_version, so the count is exact. */
async function checkCount(transaction: Queryable): Promise<void> {
  if ((await store.countRates(transaction)) > MAX_RATES) {
    throw refuseConflict(`there can be at most ${MAX_RATES} rates`)
  }
}
