import { ConfigurationTable } from './configuration-table.ts'

export interface InboundNumberRecord {
  readonly number: string
  readonly servicePlanId: string
  readonly keywords: readonly string[]
  readonly createdAt: Date
}

export const inboundNumbers = new ConfigurationTable<
  InboundNumberRecord,
  { number: string; planId: number; keywords?: readonly string[] }
>({
  noun: 'inbound number',
  table: 'inbound_numbers',
  select: 't.number, p.service_plan_id as "servicePlanId", t.keywords, t.created_at as "createdAt"',
  joins: 'join service_plans p on p.id = t.plan_id',
  key: 'number',
  columns: { number: 'number', planId: 'plan_id', keywords: 'keywords' },
  filters: { servicePlanId: 'p.service_plan_id = lower(?)' },
})
