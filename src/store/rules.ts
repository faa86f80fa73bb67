import type { RecipientMatch } from '../domain/configuration/configuration.ts'
import type { SenderType } from '../domain/messages/addresses.ts'
import { ConfigurationTable } from './configuration-table.ts'

export interface RoutingRuleRecord extends RecipientMatch {
  readonly ruleId: number
  readonly servicePlanId: string | null
  readonly from: string | null
  /** The route's name. */
  readonly route: string
  readonly createdAt: Date
}

export const routingRules = new ConfigurationTable<
  RoutingRuleRecord,
  RecipientMatch & { planId: number | null; from: string | null; routeId: number }
>({
  noun: 'routing rule',
  table: 'routing_rules',
  reads: { ruleId: 't.id', servicePlanId: 'p.service_plan_id', route: 'r.name' },
  joins: 'join routes r on r.id = t.route_id left join service_plans p on p.id = t.plan_id',
  key: 'id',
  keyOf: Number,
  columns: {
    planId: 'plan_id',
    from: 'sender',
    prefix: 'prefix',
    country: 'country',
    mccmnc: 'mccmnc',
    routeId: 'route_id',
  },
  hidden: ['planId', 'routeId'],
  filters: { servicePlanId: 'p.service_plan_id = lower(?)', route: 'r.name = ?' },
})

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
  reads: { ruleId: 't.id', servicePlanId: 'p.service_plan_id' },
  joins: 'left join service_plans p on p.id = t.plan_id',
  key: 'id',
  keyOf: Number,
  columns: { planId: 'plan_id', country: 'country', senderTypes: 'sender_types' },
  hidden: ['planId'],
  filters: { servicePlanId: 'p.service_plan_id = lower(?)', country: 't.country = ?' },
})
