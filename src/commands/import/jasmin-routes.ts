import {
  type ImportedConfiguration,
  type ImportFault,
  importedSender,
  textsOfRegex,
} from './imported-configuration.ts'
import type { JasminRow } from './jasmin-text.ts'
import { internationalPrefix, prefixesOfRegex, type RouteCarrier } from './prefix-routing.ts'

/** MT routes of Jasmin, as `mtrouter -l` prints them. */

export interface JasminUser {
  readonly uid: string
  readonly gid: string
}

/** What a route asks of a message; null: anything. */
export interface JasminRoute {
  readonly order: number
  readonly carriers: readonly RouteCarrier[]
  readonly uids: ReadonlySet<string> | null
  readonly gids: ReadonlySet<string> | null
  readonly senders: ReadonlySet<string> | null
  readonly prefixes: ReadonlySet<string> | null
}

const ROW = /^([0-9]{1,6}) +([A-Za-z]{1,40}) +([0-9.]{1,20}(?: \(!\))?) +(.*)$/
const CONNECTORS = /^(?:[a-z]+\([^()]*\)(?:, |\s*$|\s+(?=<)))+/
/** `<DA (dst_addr=^44)>` */
const FILTER = /^<([A-Za-z]+)(?: \((?:[a-z_]+=)?(.*)\))?>$/

/** Routes in the order in which Jasmin asks them; those that cannot be carried over are reported. */
export function readRoutes(
  imported: ImportedConfiguration,
  rows: readonly JasminRow[],
  carriers: ReadonlyMap<string, string>,
  faults: ImportFault[],
): JasminRoute[] {
  const routes = rows.flatMap((row) => readRoute(imported, row, carriers, faults) ?? [])
  return routes.sort((a, b) => b.order - a.order)
}

function readRoute(
  imported: ImportedConfiguration,
  row: JasminRow,
  names: ReadonlyMap<string, string>,
  faults: ImportFault[],
): JasminRoute | null {
  const [, order, type = '', rate = '', rest = ''] = ROW.exec(row.text) ?? []
  const [connectors = ''] = CONNECTORS.exec(rest) ?? []
  const cids = [...connectors.matchAll(/smppc\(([^()]*)\)/g)].map(([, cid]) => cid!)
  const unknown = cids.find((cid) => !names.has(cid))
  if (order === undefined || cids.length === 0 || unknown !== undefined) {
    const message =
      unknown === undefined ? 'is no MT route' : `names ${unknown}: its smppccm -s ${unknown} is missing`
    faults.push({ file: row.file, line: row.line, message })
    return null
  }
  const what = `mtrouter ${order}`
  if (Number.parseFloat(rate) > 0)
    imported.drop(
      row,
      what,
      `the rate ${rate} has no currency: aldis rate create, for the recipients of this route`,
    )
  const isFailover = type.startsWith('Failover')
  const route = {
    order: Number(order),
    carriers: cids.map((cid, index) => ({
      carrier: names.get(cid)!,
      priority: isFailover ? index : 0,
      weight: 1,
    })),
    ...NO_FILTER,
  }
  const filters = rest.slice(connectors.length).trim()
  const filtered = withFilters(route, filters === '' ? [] : filters.split(/(?<=>), (?=<)/))
  if (typeof filtered === 'string') imported.drop(row, what, filtered)
  else imported.carry(row, what, 'routes', 'routes and rules of the plans')
  return typeof filtered === 'string' ? null : filtered
}

const NO_FILTER = { uids: null, gids: null, senders: null, prefixes: null }

/** The route with its filters, all of which a message must pass; or why it cannot be carried over. */
function withFilters(route: JasminRoute, filters: readonly string[]): JasminRoute | string {
  let result = route
  for (const filter of filters) {
    const [, kind, value = ''] = FILTER.exec(filter) ?? []
    if (kind === 'T') continue
    if (kind === 'U') result = { ...result, uids: both(result.uids, [value]) }
    else if (kind === 'G') result = { ...result, gids: both(result.gids, [value]) }
    else if (kind === 'SA') {
      const senders = textsOfRegex(value)?.map((text) => importedSender(text) ?? text)
      if (senders === undefined)
        return `${filter} is no list of senders; messages take the next route that matches`
      result = { ...result, senders: both(result.senders, senders) }
    } else if (kind === 'DA' && result.prefixes === null) {
      const prefixes = prefixesIn(value)
      if (prefixes === null)
        return `${filter} is no list of prefixes; messages take the next route that matches`
      result = { ...result, prefixes }
    } else
      return `routing knows plan, sender and recipient, not ${filter}; messages take the next route that matches`
  }
  return result
}

function both(present: ReadonlySet<string> | null, values: readonly string[]): ReadonlySet<string> {
  return new Set(values.filter((value) => present === null || present.has(value)))
}

/** The prefixes of an expression for recipients, in E.164. Null: it is no list of prefixes. */
export function prefixesIn(pattern: string): ReadonlySet<string> | null {
  const prefixes = prefixesOfRegex(pattern, true)?.map((prefix) =>
    prefix === '' ? '' : internationalPrefix(prefix),
  )
  if (prefixes === undefined || prefixes.includes(null)) return null
  return new Set(prefixes as string[])
}

/** The carriers of the first route that a message passes. */
export function carriersFor(
  routes: readonly JasminRoute[],
  { uid, gid }: JasminUser,
  beginsWith: (prefixes: ReadonlySet<string>) => boolean,
  sender: string | null,
): readonly RouteCarrier[] {
  const route = routes.find(
    ({ uids, gids, senders, prefixes }) =>
      (uids === null || uids.has(uid)) &&
      (gids === null || gids.has(gid)) &&
      (senders === null || (sender !== null && senders.has(sender))) &&
      (prefixes === null || beginsWith(prefixes)),
  )
  return route?.carriers ?? []
}
