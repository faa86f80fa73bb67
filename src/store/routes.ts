import type { QualityFloor } from '../domain/configuration.ts'
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

const SELECT = `select r.id as "routeId", r.name, r.quality_floor as "qualityFloor", r.created_at as "createdAt",
  coalesce((
    select json_agg(json_build_object('carrier', c.name, 'priority', rc.priority, 'weight', rc.weight)
                    order by rc.priority, c.name)
    from route_carriers rc join carriers c on c.id = rc.carrier_id where rc.route_id = r.id
  ), '[]') as carriers
  from routes r`

/** Gives the route's number. A taken name is a unique violation. */
export async function insertRoute(
  db: Queryable,
  route: { name: string; qualityFloor: QualityFloor | null },
): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    'insert into routes (name, quality_floor) values ($1, $2) returning id',
    [route.name, route.qualityFloor],
  )
  return rows[0]!.id
}

/**
 * By name, or by number in decimal: a name begins with a letter. `lock`: holds the row against other writers until the
 * transaction ends.
 */
export async function findRoute(
  db: Queryable,
  nameOrId: string,
  lock: '' | 'for update of r' = '',
): Promise<RouteRecord | undefined> {
  const { rows } = await db.query<RouteRecord>(`${SELECT} where r.name = $1 or r.id::text = $1 ${lock}`, [
    nameOrId,
  ])
  return rows[0]
}

/** By name, from the one behind `after`. */
export async function listRoutes(
  db: Queryable,
  page: { after: string; limit: number },
): Promise<RouteRecord[]> {
  const { rows } = await db.query<RouteRecord>(`${SELECT} where r.name > $1 order by r.name limit $2`, [
    page.after,
    page.limit,
  ])
  return rows
}

/** Writes the settings of a route, all of them. A taken name is a unique violation. */
export async function updateRoute(
  db: Queryable,
  routeId: number,
  route: { name: string; qualityFloor: QualityFloor | null },
): Promise<void> {
  await db.query('update routes set name = $2, quality_floor = $3 where id = $1', [
    routeId,
    route.name,
    route.qualityFloor,
  ])
}

/** Puts these carriers, known by name, in the place of the route's. Gives the names that no carrier has. */
export async function replaceRouteCarriers(
  db: Queryable,
  routeId: number,
  carriers: readonly RouteCarrierRecord[],
): Promise<string[]> {
  await db.query('delete from route_carriers where route_id = $1', [routeId])
  const names = carriers.map((entry) => entry.carrier)
  const { rows } = await db.query<{ name: string }>(
    `with wanted as (
       select * from unnest($2::text[], $3::integer[], $4::integer[]) as w (name, priority, weight)
     ), added as (
       insert into route_carriers (route_id, carrier_id, priority, weight)
       select $1, c.id, w.priority, w.weight from wanted w join carriers c using (name)
     )
     select name from wanted where name not in (select c.name from carriers c) order by name`,
    [routeId, names, carriers.map((entry) => entry.priority), carriers.map((entry) => entry.weight)],
  )
  return rows.map((row) => row.name)
}

/** A plan or a rule that uses it is a foreign-key violation. False when there is none. */
export async function deleteRoute(db: Queryable, nameOrId: string): Promise<boolean> {
  const { rowCount } = await db.query('delete from routes where name = $1 or id::text = $1', [nameOrId])
  return rowCount === 1
}
