// Made from the OpenAPI document by `npm run generate-client`.

export interface CapUsage {
  per: 'day' | 'month'
  begins: string
  endsAt: string
  used: LimitCount
  cap: LimitCount
  /** of the cap, rounded down. */
  percent: number
}

export interface LimitCount {
  messages: number | null
  cost: string | null
  currency: string | null
}

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
  events: LimitEvent[]
}

/** Each operation: its input, and its answer when it succeeds. */
export interface PlanLimitsOperations {
  /** Show the limits of a service plan. Returns how much of its caps is used, with what nodes hold for messages to come, and its newest events. */
  getPlanLimits: {
    input: {
      /** Id of the service plan, 24 hex digits. */
      servicePlanId: string
    }
    answer: PlanLimits
  }
}
