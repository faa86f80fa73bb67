import { CAP_STEPS, publicCount } from '../../domain/limits/plan-limits.ts'
import type { CapUsage } from '../../operations/read-plan-limits.ts'
import { Type } from './schema-builder.ts'
import { instant, nullableInteger, nullableString, oneOf, titled } from './shapes.ts'

/** What a service plan has used of its caps, and the countries that it may not send to now: the same in both APIs. */

const Count = titled('LimitCount', {
  messages: nullableInteger(),
  cost: nullableString({ description: 'decimal; null: messages are counted' }),
  currency: nullableString(),
})

export const CapUsageSchema = titled('CapUsage', {
  per: oneOf(CAP_STEPS),
  begins: Type.String({ format: 'date' }),
  endsAt: instant(),
  used: Count,
  cap: Count,
  percent: Type.Integer({ description: 'of the cap, rounded down' }),
})

export const CountryPauseSchema = titled('CountryPause', {
  country: Type.String(),
  since: instant(),
  until: instant(),
  reason: Type.String(),
})

export function presentUsage({ unit, step, begins, endsMs, most, taken }: CapUsage) {
  return {
    per: step,
    begins,
    endsAt: new Date(endsMs),
    used: publicCount(unit, taken),
    cap: publicCount(unit, most),
    percent: Math.floor((100 * taken) / most),
  }
}
