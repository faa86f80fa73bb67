import type { Route } from '../domain/configuration.ts'
import type { Directory } from '../domain/directory.ts'
import { BUCKETS } from '../domain/message-ids.ts'
import type { Database } from '../store/database.ts'
import { type Dispatch, type DispatchWish, holdDueDispatches } from '../store/dispatches.ts'
import { MAX_BACKLOG } from './carrier-pump.ts'
import type { HeldMessages } from './held-messages.ts'
import type { NodeLease } from './node-lease.ts'
import type { Recorder } from './recorder.ts'

export interface DueDispatchesOptions {
  readonly db: Database
  readonly directory: () => Directory
  readonly lease: Pick<NodeLease, 'nodeId' | 'buckets'>
  readonly recorder: Pick<Recorder, 'failing' | 'backlog'>
  readonly held: HeldMessages
  /** Whether a carrier of the route can be submitted to from this node. */
  readonly canSubmit: (route: Route) => boolean
  readonly take: (dispatch: Dispatch) => void
  readonly onError: (message: string, error: unknown) => void
  readonly pollMs?: number | undefined
  /** Default 60 s. */
  readonly recheckMs?: number | undefined
}

const POLL_MS = 200
/** Messages taken from the database at once; fewer than the least are not worth the statement. */
const MAX_TAKEN = 1_000
const MIN_TAKEN = 100
/** How often messages are looked for whose validity ended while no carrier of theirs was there. */
const EXPIRED_MS = 5_000
/**
 * So long after rules have changed, and after the start, also what waits for closed routes is looked at, a limit at a
 * time: its route may be another now.
 */
const RECHECK_MS = 60_000
/** So long a node leaves it to others to take what is in their buckets. */
const OVERDUE_MS = 2_000

/** Takes what is due from the database into memory, as far as there is room and a carrier for it. */
export class DueDispatches {
  readonly #options: DueDispatchesOptions
  #timer: NodeJS.Timeout | null = null
  #running: Promise<void> = Promise.resolve()
  #expiredAtMs = Number.NEGATIVE_INFINITY
  #recheckUntilMs = Number.NEGATIVE_INFINITY
  /** Null: at the start nobody knows by which rules rows got their labels. */
  #rules: string | null = null
  #stopped = false

  constructor(options: DueDispatchesOptions) {
    this.#options = options
  }

  start(): void {
    this.follow()
    this.#schedule(this.#options.pollMs ?? POLL_MS)
  }

  /** Configuration has changed. */
  follow(): void {
    const rules = describeRules(this.#options.directory())
    if (rules !== this.#rules)
      this.#recheckUntilMs = performance.now() + (this.#options.recheckMs ?? RECHECK_MS)
    this.#rules = rules
  }

  async stop(): Promise<void> {
    this.#stopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#running
  }

  /** One look; true when there is probably more. */
  async runOnce(): Promise<boolean> {
    const { db, held, lease, recorder, take } = this.#options
    const wish: DispatchWish = {
      nodeId: lease.nodeId,
      buckets: lease.buckets,
      plans: this.#plans(),
      limit: Math.min(held.room, MAX_TAKEN),
    }
    const isHeldUp = recorder.failing || recorder.backlog > MAX_BACKLOG
    if (wish.buckets.length === 0 || isHeldUp || wish.limit < MIN_TAKEN) return false
    const expired = performance.now() - this.#expiredAtMs >= EXPIRED_MS
    if (!expired && wish.plans.size === 0) return false
    if (expired) this.#expiredAtMs = performance.now()
    const overdueMs = wish.buckets.length < BUCKETS ? OVERDUE_MS : null
    held.reserved = wish.limit
    try {
      const dispatches = await holdDueDispatches(db, { ...wish, expired, overdueMs })
      // Room that was reserved becomes theirs.
      held.reserved = 0
      for (const dispatch of dispatches) take(dispatch)
      return dispatches.length >= MIN_TAKEN
    } finally {
      held.reserved = 0
    }
  }

  /** Plans that may send over this node, and the room for each of their routes: none for those without a carrier here. */
  #plans(): DispatchWish['plans'] {
    const { canSubmit, directory, held } = this.#options
    const current = directory()
    const rechecks = performance.now() < this.#recheckUntilMs
    const open = new Map<Route, boolean>()
    const isOpen = (route: Route) => {
      const known = open.get(route) ?? canSubmit(route)
      open.set(route, known)
      return known
    }
    const plans = new Map<number, { room: number; routes: Record<number, number> }>()
    for (const plan of current.contents.plans) {
      const routes = plan.active ? [...current.routesOf(plan)] : []
      if (!routes.some(isOpen)) continue
      const roomOf = (routeId: number) => {
        const room = held.roomFor(plan.id, routeId)
        return room >= MIN_TAKEN || held.of(plan.id, routeId) < MIN_TAKEN
          ? Math.min(Math.max(room, 0), MAX_TAKEN)
          : 0
      }
      const rooms = routes.map((route) => (rechecks || isOpen(route) ? roomOf(route.id) : 0))
      // What has no label yet may turn out to be for any of them.
      const room = Math.min(...routes.map((route, index) => (isOpen(route) ? rooms[index]! : MAX_TAKEN)))
      // Only what differs is told: 5,000 plans with 50 routes each would be 4 MB in every look.
      const others = routes.flatMap(({ id }, index) => (rooms[index] === room ? [] : [[id, rooms[index]!]]))
      plans.set(plan.id, { room, routes: Object.fromEntries(others) })
    }
    return plans
  }

  #schedule(delayMs: number): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#running = this.runOnce()
        .catch((error) => {
          this.#options.onError('due messages not read', error)
          return false
        })
        .then((more) => this.#schedule(more ? 0 : (this.#options.pollMs ?? POLL_MS)))
    }, delayMs)
  }
}

function describeRules({ contents }: Directory): string {
  return contents.routingRules
    .map(({ planId, sender, prefix, country, mccmnc, route }) =>
      [planId, sender, prefix, country, mccmnc, route.id].join(),
    )
    .join(';')
}
