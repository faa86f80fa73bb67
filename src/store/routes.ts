import type { QualityFloor } from '../domain/configuration/configuration.ts'
import { ConfigurationTable } from './configuration-table.ts'
import type { Queryable } from './database.ts'

export interface RouteCarrierRecord {
  /** The carrier's name. */
  readonly carrier: string
  readonly priority: number
  readonly weight: number
}

export interface RouteRecord {
  readonly routeId: number
  readonly name: string
  readonly carriers: readonly RouteCarrierRecord[]
  readonly qualityFloor: QualityFloor | null
  readonly createdAt: Date
}

/** A key is a name, or a number in decimal: names begin with a letter. */
export const routes = new ConfigurationTable<
  RouteRecord,
  { name: string; qualityFloor?: QualityFloor | null }
>({
  noun: 'route',
  table: 'routes',
  reads: {
    routeId: 't.id',
    carriers: `coalesce((
      select json_agg(json_build_object('carrier', c.name, 'priority', rc.priority, 'weight', rc.weight)
                      order by rc.priority, c.name)
      from route_carriers rc join carriers c on c.id = rc.carrier_id where rc.route_id = t.id
    ), '[]')`,
  },
  key: 'name',
  named: '(t.name = $1 or t.id::text = $1)',
  columns: { name: 'name', qualityFloor: 'quality_floor' },
  filters: {
    carrier:
      'exists (select from route_carriers rc join carriers c on c.id = rc.carrier_id where rc.route_id = t.id and c.name = ?)',
  },
})

/** Replaces the carriers of these routes. Returns names that do not exist. */
export async function replaceRouteCarriers(
  db: Queryable,
  routes: readonly { readonly routeId: number; readonly carriers: readonly RouteCarrierRecord[] }[],
): Promise<string[]> {
  await db.query('delete from route_carriers where route_id = any ($1)', [
    routes.map(({ routeId }) => routeId),
  ])
  const entries = routes.flatMap(({ routeId, carriers }) => carriers.map((entry) => ({ routeId, ...entry })))
  const { rows } = await db.query<{ name: string }>(
    `with wanted as (
       select * from json_to_recordset($1)
         as w ("routeId" integer, carrier text, priority integer, weight integer)
     ), added as (
       insert into route_carriers (route_id, carrier_id, priority, weight)
       select w."routeId", c.id, w.priority, w.weight from wanted w join carriers c on c.name = w.carrier
     )
     select distinct carrier as name from wanted
     where carrier not in (select c.name from carriers c) order by name`,
    [JSON.stringify(entries)],
  )
  return rows.map((row) => row.name)
}
