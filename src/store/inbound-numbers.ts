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
  reads: { servicePlanId: 'p.service_plan_id' },
  joins: 'join service_plans p on p.id = t.plan_id',
  key: 'number',
  columns: { number: 'number', planId: 'plan_id', keywords: 'keywords' },
  hidden: ['planId'],
  filters: { servicePlanId: 'p.service_plan_id = lower(?)' },
})
