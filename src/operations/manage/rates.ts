import type { RecipientMatch } from '../../domain/configuration/configuration.ts'
import { canonicalPublicId } from '../../domain/identifiers.ts'
import { formatAmount, parseAmount } from '../../domain/routing/rates.ts'
import { recipientMatchFaults } from '../../domain/routing/recipients.ts'
import { checked, type Fault, fault } from '../../errors.ts'
import type { Transaction } from '../../store/database.ts'
import * as store from '../../store/rates.ts'
import {
  changeRow,
  keyOfPlanOrAll,
  PLAN_GONE,
  refuseMissingPlans,
  refuseMore,
  sayConflicts,
} from './configuration-rows.ts'

/** Every node keeps all rates in memory: some 40 MB. */
export const MAX_RATES = 200_000
/** Per segment. Multiplied by the most segments of a message, it still fits numeric(14, 6). */
const MAX_AMOUNT = 1_000_000n * 1_000_000n

/** As the API takes it: amounts as decimal text or numbers, exact in both forms up to 6 places. */
export interface RateInput extends RecipientMatch {
  readonly servicePlanId: string | null
  readonly price: string | number
  readonly ptf: string | number
  readonly currency: string
}

/** Adds a rate. One of the same plan and recipients is a conflict. */
export async function createRate(transaction: Transaction, input: RateInput): Promise<store.RateRecord> {
  const rate = checked((faults) => canonicalRate(input, '', faults))
  const words = { taken: 'a rate of this plan and these recipients exists already', inUse: PLAN_GONE }
  return sayConflicts(words, async () => {
    const planId = await keyOfPlanOrAll(transaction, rate.servicePlanId)
    const created = await store.rates.insert(transaction, { ...rate, planId })
    await refuseMore(transaction, store.rates, MAX_RATES)
    return created
  })
}

/**
 * Adds rates and changes the amounts of existing ones, all or none. Faults name the field with its place in the list:
 * `rates.3.price`.
 */
export async function importRates(
  transaction: Transaction,
  inputs: readonly RateInput[],
): Promise<{ created: number; changed: number }> {
  const rates = checkedRates(inputs)
  const words = { inUse: 'a service plan was removed in the meantime' }
  return sayConflicts(words, async () => {
    const { created, missingPlans } = await store.upsertRates(transaction, rates)
    refuseMissingPlans(missingPlans, rates, pathOf)
    await refuseMore(transaction, store.rates, MAX_RATES)
    return { created, changed: rates.length - created }
  })
}

/** Settings that are not in `change` keep their values. Plan and recipients identify a rate and cannot change. */
export async function updateRate(
  transaction: Transaction,
  rateId: string,
  change: Partial<Pick<RateInput, 'price' | 'ptf' | 'currency'>>,
): Promise<store.RateRecord> {
  const { price, ptf, currency } = change
  const amounts = checked((faults) => ({
    ...(price !== undefined && { price: amountOf(price, 'price', faults) }),
    ...(ptf !== undefined && { ptf: amountOf(ptf, 'ptf', faults) }),
    ...(currency !== undefined && { currency }),
  }))
  return changeRow(transaction, store.rates, rateId, amounts)
}

type CheckedRate = RateInput & store.RateAmounts

function checkedRates(inputs: readonly RateInput[]): CheckedRate[] {
  const seen = new Set<string>()
  return checked((faults) =>
    inputs.map((input, index) => {
      const rate = canonicalRate(input, pathOf(index), faults)
      const key = JSON.stringify([rate.servicePlanId, rate.prefix, rate.country, rate.mccmnc])
      if (seen.has(key)) {
        faults.push(fault(`rates.${index}`, 'REPEATED', 'has the same plan and recipients as an earlier one'))
      }
      seen.add(key)
      return rate
    }),
  )
}

/** The rate as it is stored. Adds what is wrong with its fields, whose names get `path` in front. */
export function canonicalRate(input: RateInput, path: string, faults: Fault[]): CheckedRate {
  const { servicePlanId } = input
  faults.push(...recipientMatchFaults(input).map((each) => ({ ...each, field: `${path}${each.field}` })))
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

function pathOf(index: number): string {
  return `rates.${index}.`
}
