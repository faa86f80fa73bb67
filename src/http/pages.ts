import type { FastifyRequest } from 'fastify'
import type { ServicePlan } from '../domain/configuration.ts'
import { CURSOR_IV_BYTES, type ListName, openCursor, type Page, sealCursor } from '../domain/cursors.ts'
import { fault } from '../domain/faults.ts'
import {
  contradictions,
  DEFAULT_PAGE,
  type ListQuery,
  type ListQueryVerdict,
} from '../domain/list-queries.ts'
import { invalid } from '../errors.ts'
import type { Queryable } from '../store/database.ts'
import { planToRead } from './authentication.ts'
import type { DirectorySource } from './fresh-directory.ts'

/** Keys of 32 bytes. `cursor` seals new cursors; the old keys still open those sealed before a rotation. */
interface CursorKeys {
  readonly cursor: Buffer
  readonly oldCursors?: readonly Buffer[]
}

/** What the lists of the customers' API need. */
export interface ListDeps {
  readonly directory: DirectorySource
  readonly db: Queryable
  readonly keys: CursorKeys
  readonly clock: () => number
  readonly random: (bytes: number) => Buffer
}

/** One page as it is sent. */
export interface PageAnswer<Item> {
  readonly items: Item[]
  readonly pagination: {
    readonly limit: number
    readonly hasMore: boolean
    readonly nextCursor: string | null
  }
}

const DAY_MS = 24 * 3_600_000

/** A list that a plan's token reads page by page, where each page names the next by a cursor. */
export class CursorPages<Filters extends object, Position> {
  readonly #deps: ListDeps
  readonly #list: ListName
  readonly #lifetimeMs: number | null
  readonly #defaultLimit: number

  /** `lifetimeMs` null: its cursors do not expire. */
  constructor(
    deps: ListDeps,
    list: ListName,
    lifetimeMs: number | null = DAY_MS,
    defaultLimit: number = DEFAULT_PAGE,
  ) {
    this.#deps = deps
    this.#list = list
    this.#lifetimeMs = lifetimeMs
    this.#defaultLimit = defaultLimit
  }

  /** What a request wants to read of a plan that its token may read; otherwise 400 or 403. */
  async read(
    request: FastifyRequest,
    verdict: ListQueryVerdict<Filters>,
  ): Promise<{ plan: ServicePlan; page: Page<Filters, Position> }> {
    if (!verdict.ok) throw invalid(verdict.faults)
    const plan = planToRead(await this.#deps.directory(), request, verdict.query.servicePlanId)
    return { plan, page: this.#pageOf(plan.id, verdict.query) }
  }

  /**
   * Builds the answer. `fetch` returns at most `limit` rows behind `after`. It is asked for one more than is shown, which
   * tells whether there is another page. `positionOf` returns the position behind which the next page begins.
   */
  async answer<Row, Item>(
    page: Page<Filters, Position>,
    fetch: (page: Page<Filters, Position>) => Promise<readonly Row[]>,
    positionOf: (row: Row) => Position,
    present: (row: Row) => Item,
  ): Promise<PageAnswer<Item>> {
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
    const expiresAtMs = this.#lifetimeMs === null ? null : clock() + this.#lifetimeMs
    const cursor = { ...page, list: this.#list, after, expiresAtMs }
    return sealCursor(cursor, keys.cursor, random(CURSOR_IV_BYTES))
  }

  /** The query itself, or the page at which its cursor continues. */
  #pageOf(planId: number, query: ListQuery<Filters>): Page<Filters, Position> {
    const { filters, limit, cursor: sealed } = query
    if (sealed === null) return { planId, filters, limit: limit ?? this.#defaultLimit, after: null }
    const { keys, clock } = this.#deps
    const opening = [keys.cursor, ...(keys.oldCursors ?? [])]
    const cursor = openCursor<Filters, Position>(sealed, { list: this.#list, planId }, opening, clock())
    if (cursor === null) {
      throw invalid([fault('cursor', 'INVALID_CURSOR', 'is invalid or expired; restart without a cursor')])
    }
    const faults = contradictions(cursor.filters, filters)
    if (faults.length > 0) throw invalid(faults)
    return { planId, filters: cursor.filters, limit: limit ?? cursor.limit, after: cursor.after }
  }
}
