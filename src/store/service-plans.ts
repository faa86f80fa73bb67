import type { ServicePlan } from '../domain/configuration/configuration.ts'
import { canonicalPublicId } from '../domain/identifiers.ts'
import type { SenderType } from '../domain/messages/addresses.ts'
import { SANDBOX } from '../domain/sandbox.ts'
import { byPlan, ofPlan } from './citus.ts'
import { ConfigurationTable, NAME_BEGINS } from './configuration-table.ts'
import type { Queryable } from './database.ts'

/** The settings of a plan that have a column of their own form. */
type SameSettings = Omit<
  ServicePlan,
  'id' | 'servicePlanId' | 'account' | 'sandbox' | 'route' | 'rateLimit' | 'senderTypes' | 'allowedCountries'
>

interface ServicePlanSettings extends SameSettings {
  readonly messagesPerSecond: number | null
  readonly burst: number | null
  readonly senderTypes: readonly SenderType[]
  /** Empty: all. */
  readonly allowedCountries: readonly string[]
}

/** The columns of omitted settings have defaults. */
export type NewServicePlan = Pick<ServicePlanSettings, 'name'> & Partial<ServicePlanSettings>

export interface ServicePlanRecord extends ServicePlanSettings {
  readonly id: number
  readonly servicePlanId: string
  readonly accountId: string
  readonly sandbox: boolean
  /** The route's name. */
  readonly route: string | null
  readonly routeId: number | null
  readonly createdAt: Date
}

export const servicePlans = new ConfigurationTable<
  ServicePlanRecord,
  NewServicePlan & { servicePlanId: string; account: number; routeId: number | null }
>({
  noun: 'service plan',
  table: 'service_plans',
  reads: {
    id: 't.id',
    accountId: 'a.account_id',
    route: 'r.name',
    sandbox: `coalesce(r.name = '${SANDBOX}', false)`,
  },
  joins: 'join accounts a on a.id = t.account_id left join routes r on r.id = t.route_id',
  key: 'service_plan_id',
  keyOf: canonicalPublicId,
  columns: {
    servicePlanId: 'service_plan_id',
    account: 'account_id',
    name: 'name',
    active: 'active',
    routeId: 'route_id',
    inboundUrl: 'inbound_url',
    messagesPerSecond: 'messages_per_second',
    burst: 'burst',
    senderTypes: 'sender_types',
    ambiguousSubmits: 'ambiguous_submits',
    smartEncoding: 'smart_encoding',
    nationalLanguages: 'national_languages',
    optOut: 'opt_out',
    validitySeconds: 'validity_seconds',
    maxValiditySeconds: 'max_validity_seconds',
    allowedCountries: 'allowed_countries',
    texts: 'texts',
    caps: 'caps',
    limitEvents: 'limit_events',
    pumpingGuard: 'pumping_guard',
  },
  hidden: ['account'],
  filters: { accountId: 'a.account_id = lower(?)', route: 'r.name = ?', search: NAME_BEGINS },
})

/**
 * What still needs each of these plans: `live tokens`, `messages`. Plans that nothing needs are left out. Records refer to
 * a plan by number without a foreign key, so that partitions can be dropped freely; senders and inbound numbers have one.
 */
export async function servicePlanUses(
  db: Queryable,
  ids: readonly number[],
  inProgress: ReadonlySet<number>,
): Promise<Map<number, string[]>> {
  const plans: { id: number; tokens: boolean; messages: boolean }[] = []
  for (const { planId, items } of byPlan(db, ids, (id) => id)) {
    const { rows } = await db.query<(typeof plans)[number]>(
      `with live as materialized (select plan_ids from tokens where revoked_at is null)
       select p.id, exists (select from live where p.id = any (plan_ids)) as tokens,
              exists (select from messages m where plan_id = any (array[p.id]) and ${ofPlan('m', '$2')})
                or exists (select from inbound_messages o where plan_id = any (array[p.id]) and ${ofPlan('o', '$2')})
                as messages
       from unnest($1::integer[]) as p (id)`,
      [items, planId],
    )
    plans.push(...rows)
  }
  const uses = plans.map(({ id, tokens, messages }): [number, string[]] => [
    id,
    [...(tokens ? ['live tokens'] : []), ...(messages || inProgress.has(id) ? ['messages'] : [])],
  ])
  return new Map(uses.filter(([, found]) => found.length > 0))
}

/** Senders and inbound numbers of the plans are a foreign-key violation. */
export async function deleteServicePlans(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query(
    'with feed as (delete from feeds where plan_id = any ($1)) delete from service_plans where id = any ($1)',
    [ids],
  )
}

/** Keys of those of these servicePlanIds (lower case) that belong to the account. */
export async function findPlansOfAccount(
  db: Queryable,
  account: number,
  servicePlanIds: readonly string[],
): Promise<{ id: number; servicePlanId: string }[]> {
  const { rows } = await db.query<{ id: number; servicePlanId: string }>(
    `select id, service_plan_id as "servicePlanId" from service_plans
     where account_id = $1 and service_plan_id = any ($2) for share`,
    [account, servicePlanIds],
  )
  return rows
}
