import type { FastifyRequest } from 'fastify'
import type { ServicePlan } from '../domain/configuration/configuration.ts'
import { DAY_MS } from '../domain/instants.ts'
import {
  contradictions,
  DEFAULT_PAGE,
  type FilterRules,
  type ListName,
  MAX_PAGE,
  openCursor,
  type Page,
  sealCursor,
} from '../domain/lists.ts'
import { IV_BYTES } from '../domain/secrets.ts'
import { invalidField, refuseAny } from '../errors.ts'
import type { Queryable } from '../store/database.ts'
import { planToRead } from './authentication.ts'
import type { DirectorySource } from './outages.ts'

/** Keys of 32 bytes. `cursor` seals new cursors; the old keys still open those sealed before a rotation. */
interface CursorKeys {
  readonly cursor: Buffer
  readonly oldCursors?: readonly Buffer[]
}

/** What the lists of the customers' API need. */
export interface ListDeps {
  readonly directory: DirectorySource
  readonly db: Queryable
  /** For lists, look-ups and statistics of what is at rest: perhaps a read replica, and never for what decides. */
  readonly records: Queryable
  readonly keys: CursorKeys
  readonly clock: () => number
  readonly random: (bytes: number) => Buffer
}

/** One page as it is sent. */
export interface PageResponse<Item> {
  readonly items: Item[]
  readonly pagination: {
    readonly limit: number
    readonly hasMore: boolean
    readonly nextCursor: string | null
  }
}

/** A query as `parseFields` has read it, by a schema that `listQuery` made. */
type ListQuery<Filters> = Readonly<Partial<Filters>> & {
  readonly servicePlanId: string
  readonly limit?: number
  readonly cursor?: string
}

interface PageBounds {
  /** Null: cursors do not expire. */
  readonly lifetimeMs: number | null
  readonly defaultLimit: number
  readonly maxLimit: number
}

const USUAL: PageBounds = { lifetimeMs: DAY_MS, defaultLimit: DEFAULT_PAGE, maxLimit: MAX_PAGE }

/** A list that a plan's token reads page by page, where each page names the next by a cursor. */
export class CursorPages<Filters extends object, Position> {
  readonly #deps: ListDeps
  readonly #list: ListName
  readonly #rules: FilterRules<Filters>
  readonly #bounds: PageBounds

  constructor(deps: ListDeps, list: ListName, rules: FilterRules<Filters>, bounds: PageBounds = USUAL) {
    this.#deps = deps
    this.#list = list
    this.#rules = rules
    this.#bounds = bounds
  }

  /**
   * Returns the plan and the page that a request asks for. Throws 403 if its token may not read the plan, and 400 if the
   * cursor is not for it.
   */
  async read(request: FastifyRequest): Promise<{ plan: ServicePlan; page: Page<Filters, Position> }> {
    const query = request.query as ListQuery<Filters>
    const plan = planToRead(await this.#deps.directory(), request, query.servicePlanId)
    return { plan, page: this.#pageOf(plan.id, query) }
  }

  /**
   * Builds the response. `fetch` returns at most `limit` rows behind `after`. It is asked for one more than is shown, which
   * tells whether there is another page. `positionOf` returns the position behind which the next page begins.
   */
  async answer<Row, Item>(
    page: Page<Filters, Position>,
    fetch: (page: Page<Filters, Position>) => Promise<readonly Row[]>,
    positionOf: (row: Row) => Position,
    present: (row: Row) => Item,
  ): Promise<PageResponse<Item>> {
    const rows = await fetch({ ...page, limit: page.limit + 1 })
    const shown = rows.slice(0, page.limit)
    const last = shown.at(-1)
    const hasMore = rows.length > shown.length
    const nextCursor = hasMore && last !== undefined ? this.cursorBehind(page, positionOf(last)) : null
    return { items: shown.map(present), pagination: { limit: page.limit, hasMore, nextCursor } }
  }

  /** A cursor that continues this page's query behind `after`. */
  cursorBehind(page: Page<Filters, Position>, after: Position): string {
    const { keys, clock, random } = this.#deps
    const { lifetimeMs } = this.#bounds
    const expiresAtMs = lifetimeMs === null ? null : clock() + lifetimeMs
    const cursor = { ...page, list: this.#list, after, expiresAtMs }
    return sealCursor(cursor, keys.cursor, random(IV_BYTES))
  }

  /** The query itself, or the page at which its cursor continues. */
  #pageOf(planId: number, query: ListQuery<Filters>): Page<Filters, Position> {
    const { maxLimit, defaultLimit } = this.#bounds
    const names = Object.keys(this.#rules) as (keyof Filters)[]
    const filters = Object.fromEntries(names.map((name) => [name, query[name] ?? null])) as Filters
    const limit = query.limit === undefined ? null : Math.min(query.limit, maxLimit)
    const { cursor: sealed } = query
    if (sealed === undefined) return { planId, filters, limit: limit ?? defaultLimit, after: null }
    const { keys, clock } = this.#deps
    const opening = [keys.cursor, ...(keys.oldCursors ?? [])]
    const cursor = openCursor<Filters, Position>(sealed, { list: this.#list, planId }, opening, clock())
    if (cursor === null) {
      throw invalidField('cursor', 'INVALID_CURSOR', 'is invalid or expired; restart without a cursor')
    }
    refuseAny(contradictions(cursor.filters, filters))
    return { planId, filters: cursor.filters, limit: limit ?? cursor.limit, after: cursor.after }
  }
}
