// Made from the OpenAPI document by `npm run generate-client`.

export interface RoutingRule {
  ruleId: number
  servicePlanId: string | null
  from: string | null
  prefix: string | null
  country: string | null
  mccmnc: string | null
  route: string
  createdAt: string
}

export interface RoutingRuleChange {
  /** Name of the route. */
  route: string
}

export interface RoutingRuleCreation {
  /** Id of the service plan, 24 hex digits; null: all plans. */
  servicePlanId?: string | null | undefined
  /** Sender of the messages; null: any. */
  from?: string | null | undefined
  /** Beginning of E.164 numbers. */
  prefix?: string | null | undefined
  /** Country (ISO 3166-1 alpha-2). */
  country?: string | null | undefined
  /** Mobile country code and network code. */
  mccmnc?: string | null | undefined
  /** Name of the route. */
  route: string
}

export interface RoutingRulePage {
  items: RoutingRule[]
  nextAfter: string | null
}

/** Each operation: its input, and its answer when it succeeds. */
export interface RoutingRulesOperations {
  /** Create a routing rule. Overrides the plan's route for messages of a service plan, from a sender, or to a network, prefix or country. The most specific rule applies. */
  createRoutingRule: { input: RoutingRuleCreation; answer: RoutingRule }
  /** List routing rules. Sorted by name or number. */
  listRoutingRules: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId?: string | undefined
      /** Name. */
      route?: string | undefined
    }
    answer: RoutingRulePage
  }
  /** Show a routing rule. Returns what it applies to and its route. */
  getRoutingRule: {
    input: {
      /** Number of the rule, as listed. */
      ruleId: string
    }
    answer: RoutingRule
  }
  /** Update a routing rule. What the rule applies to cannot be changed. */
  updateRoutingRule: {
    input: {
      /** Number of the rule, as listed. */
      ruleId: string
    } & RoutingRuleChange
    answer: RoutingRule
  }
  /** Delete a routing rule. Messages take the next rule that applies, or the route of their plan. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  deleteRoutingRule: {
    input: {
      /** Number of the rule, as listed. */
      ruleId: string
    }
    answer: undefined
  }
}
