// Made from the OpenAPI document by `npm run generate-client`.

import type { SenderType } from './several-tags.ts'

export interface SenderRule {
  ruleId: number
  /** null: every plan without a rule of its own. */
  servicePlanId: string | null
  country: string
  senderTypes: string[]
  createdAt: string
}

export interface SenderRuleChange {
  /** Types of sender to allow; empty: allow no sender in this country. */
  senderTypes: SenderType[]
}

export interface SenderRuleCreation {
  /** Id of the service plan, 24 hex digits; null: all plans. */
  servicePlanId?: string | null | undefined
  /** Country (ISO 3166-1 alpha-2). */
  country: string
  /** Types of sender to allow; empty: allow no sender in this country. */
  senderTypes: SenderType[]
}

export interface SenderRulePage {
  items: SenderRule[]
  nextAfter: string | null
}

/** Each operation: its input, and its answer when it succeeds. */
export interface SenderRulesOperations {
  /** Create a sender rule. Sets which types of sender are allowed for recipients in a country. */
  createSenderRule: { input: SenderRuleCreation; answer: SenderRule }
  /** List sender rules. Sorted by name or number. */
  listSenderRules: {
    input: {
      /** Maximum number of items; default: 100. */
      limit?: string | undefined
      /** nextAfter of the previous page. */
      after?: string | undefined
      /** Id of the service plan, 24 hex digits. */
      servicePlanId?: string | undefined
      /** Country (ISO 3166-1 alpha-2). */
      country?: string | undefined
    }
    answer: SenderRulePage
  }
  /** Show a sender rule. Returns its country and the types of sender that it allows. */
  getSenderRule: {
    input: {
      /** Number of the rule, as listed. */
      ruleId: string
    }
    answer: SenderRule
  }
  /** Update a sender rule. The change takes effect at once on the node that answers, and within 5 seconds on every other node. */
  updateSenderRule: {
    input: {
      /** Number of the rule, as listed. */
      ruleId: string
    } & SenderRuleChange
    answer: SenderRule
  }
  /** Delete a sender rule. Senders are judged by the next rule that applies, if any, and by the service plan. */
  deleteSenderRule: {
    input: {
      /** Number of the rule, as listed. */
      ruleId: string
    }
    answer: undefined
  }
}
