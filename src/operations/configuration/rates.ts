import type { RecipientMatch } from '../../domain/configuration/configuration.ts'
import { canonicalPublicId } from '../../domain/identifiers.ts'
import { formatAmount, parseAmount } from '../../domain/routing/rates.ts'
import { recipientMatchFaults } from '../../domain/routing/recipients.ts'
import { checked, type Fault, fault } from '../../errors.ts'
import type { Transaction } from '../../store/database.ts'
import * as store from '../../store/rates.ts'
import { refuseMissingPlans, refuseMore, sayConflicts } from '../manage/configuration-rows.ts'
import { matchOf, ruleKind } from './rule-kind.ts'

/** Every node keeps all rates in memory: some 6 MB. */
export const MAX_RATES = 200_000
/** Per segment. Multiplied by the most segments of a message, it still fits numeric(14, 6). */
const MAX_AMOUNT = 1_000_000n * 1_000_000n

/** Decimal text or a number, exact in both forms up to 6 places. */
type Amount = string | number

export const RATES = ruleKind<store.RateRecord>({
  name: 'rates',
  table: store.rates,
  numberField: 'rateId',
  most: MAX_RATES,
  required: ['price', 'currency'],
  settingsOf({ servicePlanId: plan, prefix, country, mccmnc, price, ptf, currency }) {
    return { plan, prefix, country, mccmnc, price, ptf, currency }
  },
  judge(given, { faults }) {
    const { price, ptf } = given as { price?: Amount; ptf?: Amount }
    faults.push(...recipientMatchFaults(matchOf(given)))
    return {
      ...given,
      ...(price !== undefined && { price: amountOf(price, 'price', faults) }),
      ...(ptf !== undefined && { ptf: amountOf(ptf, 'ptf', faults) }),
    }
  },
})

interface RateInput extends RecipientMatch {
  readonly servicePlanId: string | null
  readonly price: Amount
  readonly ptf: Amount
  readonly currency: string
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

function checkedRates(inputs: readonly RateInput[]): (RateInput & store.RateAmounts)[] {
  const seen = new Set<string>()
  return checked((faults) =>
    inputs.map((input, index) => {
      const path = pathOf(index)
      const servicePlanId = input.servicePlanId === null ? null : canonicalPublicId(input.servicePlanId)
      faults.push(...recipientMatchFaults(input).map((each) => ({ ...each, field: `${path}${each.field}` })))
      const key = JSON.stringify([servicePlanId, input.prefix, input.country, input.mccmnc])
      if (seen.has(key)) {
        faults.push(fault(`rates.${index}`, 'REPEATED', 'has the same plan and recipients as an earlier one'))
      }
      seen.add(key)
      const price = amountOf(input.price, `${path}price`, faults)
      return { ...input, servicePlanId, price, ptf: amountOf(input.ptf, `${path}ptf`, faults) }
    }),
  )
}

function amountOf(input: Amount, field: string, faults: Fault[]): string {
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
