// Made from the OpenAPI document by `npm run generate-client`.

import type { CapUsage, CountryPause } from '../api.ts'

export interface LimitEvent {
  at: string
  type: string
  text: string
  /** to push it. */
  attempts: number
  /** when its receiver took it. */
  takenAt: string | null
}

export interface PlanLimits {
  usage: CapUsage[]
  pauses: CountryPause[]
  events: LimitEvent[]
}

/** Each operation: its input, and its answer when it succeeds. */
export interface PlanLimitsOperations {
  /** Show the limits of a service plan. Returns how much of its caps is used, with what nodes hold for messages to come, the countries that its pumping guard has paused, and its newest events. */
  getPlanLimits: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
    }
    answer: PlanLimits
  }
  /** Delete a country pause. The plan may send to the country again. Only messages from now on are judged. */
  endCountryPause: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
      /** Country (ISO 3166-1 alpha-2). */
      country: string
    }
    answer: undefined
  }
}
