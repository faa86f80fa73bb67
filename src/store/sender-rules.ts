import type { SenderType } from '../domain/messages/addresses.ts'
import { ConfigurationTable } from './configuration-table.ts'

export interface SenderRuleRecord {
  readonly ruleId: number
  /** Null: for every plan without a rule of its own. */
  readonly servicePlanId: string | null
  readonly country: string
  readonly senderTypes: readonly SenderType[]
  readonly createdAt: Date
}

export const senderRules = new ConfigurationTable<
  SenderRuleRecord,
  { planId: number | null; country: string; senderTypes: readonly SenderType[] }
>({
  noun: 'sender rule',
  table: 'sender_rules',
  select: `t.id as "ruleId", p.service_plan_id as "servicePlanId", t.country, t.sender_types as "senderTypes",
    t.created_at as "createdAt"`,
  joins: 'left join service_plans p on p.id = t.plan_id',
  key: 'id',
  keyOf: Number,
  columns: { planId: 'plan_id', country: 'country', senderTypes: 'sender_types' },
  filters: { servicePlanId: 'p.service_plan_id = lower(?)', country: 't.country = ?' },
})
