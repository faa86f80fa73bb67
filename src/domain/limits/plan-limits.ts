import { type Fault, fault } from '../../errors.ts'
import type { PlanCaps, PumpingGuard, ServicePlan } from '../configuration/configuration.ts'
import { countryOf, isCountryCode } from '../routing/recipients.ts'
import { capFaults } from './plan-caps.ts'
import { guardFaults } from './pumping-guard.ts'

/** What a service plan may send at most (docs/limits.md). */

/** Why a plan does not take a message. The text names the limit. */
export interface LimitRefusal {
  readonly code: 'COUNTRY_NOT_ALLOWED' | 'CAP_REACHED' | 'COUNTRY_PAUSED'
  readonly message: string
  /** When it may be tried again; absent: not before the plan is changed. */
  readonly retryAfterMs?: number
}

/** Why the plan may not send to this recipient; null when it may. */
export function judgeRecipient({ allowedCountries }: ServicePlan, to: string): LimitRefusal | null {
  if (allowedCountries === null) return null
  const country = countryOf(to)
  if (country !== null && allowedCountries.has(country)) return null
  const where = country === null ? 'this number, which belongs to no country' : `recipients in ${country}`
  return { code: 'COUNTRY_NOT_ALLOWED', message: `The service plan may not send to ${where}` }
}

/** How long a message may wait for a carrier. `wanted`: by its sender; undefined: as long as usual. */
export function validityMs(plan: ServicePlan, wanted = plan.validitySeconds): number {
  return Math.min(wanted, plan.maxValiditySeconds) * 1_000
}

interface LimitSettings {
  readonly allowedCountries?: readonly string[] | undefined
  readonly caps?: PlanCaps | null | undefined
  readonly pumpingGuard?: PumpingGuard | null | undefined
}

/** Faults that the form of each field does not show. */
export function limitFaults({ allowedCountries = [], caps, pumpingGuard }: LimitSettings): Fault[] {
  const countries = allowedCountries.flatMap((country, index) =>
    isCountryCode(country)
      ? []
      : [fault(`allowedCountries.${index}`, 'NOT_FOUND', 'must be a country code of ISO 3166-1')],
  )
  return [...countries, ...(caps ? capFaults(caps) : []), ...(pumpingGuard ? guardFaults(pumpingGuard) : [])]
}
