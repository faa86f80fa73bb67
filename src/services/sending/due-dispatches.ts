import type { Route } from '../../domain/configuration/configuration.ts'
import type { Directory } from '../../domain/configuration/directory.ts'
import type { MessageInProgress } from '../../domain/journal/messages-in-progress.ts'
import {
  findWaitingPlans,
  lockDueDispatches,
  type PlanRequest,
  type TakeRequest,
  takeDispatches,
} from '../../store/dispatches.ts'
import { DueLoader } from '../loops/due-loader.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import type { MessagesInProgress } from '../messages/messages-in-progress.ts'
import type { Recorder } from '../messages/recorder.ts'
import type { NodeLease } from '../node/node-lease.ts'
import { MAX_BACKLOG } from './carrier-pump.ts'
import { type HeldMessages, MOST_PLACES } from './held-messages.ts'

export interface DueDispatchesOptions extends Pick<NodeParts, 'db' | 'directory' | 'log'> {
  readonly inProgress: Pick<MessagesInProgress, 'load' | 'hasRoom' | 'away'>
  readonly lease: Pick<NodeLease, 'nodeId' | 'buckets' | 'alive' | 'isAlone'>
  readonly recorder: Pick<Recorder, 'backlog' | 'isStalled'>
  readonly held: HeldMessages
  /** How many more messages of a plan have room in memory for their webhooks. */
  readonly webhookRoom: (planId: number) => number
  /** Whether this node may submit messages of the route that have no carrier yet. */
  readonly isRouteOpen: (route: Route) => boolean
  /** Carriers that this node submits to, and those that it leaves to other nodes. */
  readonly carriers: () => { readonly here: readonly number[]; readonly elsewhere: readonly number[] }
  readonly enqueue: (message: MessageInProgress) => void
  readonly pollMs?: number | undefined
  /** Default 60 s. */
  readonly recheckMs?: number | undefined
}

const POLL_MS = 200
/** Messages taken from the database at once. Fewer than MIN_TAKEN are not worth the statement. */
const MAX_TAKEN = 1_000
const MIN_TAKEN = 100
/**
 * A plan whose webhooks are slower than its carriers may still have this many messages on a route. Their webhooks wait in the
 * records.
 */
const MIN_OF_PLAN = 200
/** How often to look for messages whose validity ended while none of their carriers was available. */
const EXPIRED_MS = 5_000
/**
 * For this long after the start, and after rules, number ranges or the route of a plan have changed, messages that wait for closed
 * routes are looked at too, a limit at a time: they may have another route now.
 */
const RECHECK_MS = 60_000
/** How long a node leaves due messages in other nodes' buckets to those nodes. */
const OVERDUE_MS = 2_000

/** Takes due messages from the database into memory, as far as there is room and a carrier for them. */
export class DueDispatches extends DueLoader {
  readonly #options: DueDispatchesOptions
  #expiredAtMs = Number.NEGATIVE_INFINITY
  #recheckUntilMs = Number.NEGATIVE_INFINITY
  /** Null at the start, when nobody knows by which configuration the rows got the routes that they name. */
  #adopted: Directory | null = null

  constructor(options: DueDispatchesOptions) {
    const { held, inProgress, lease, log, pollMs = POLL_MS, recorder } = options
    const isFailing = () => recorder.isStalled
    const mayTake = () => lease.alive
    // If one of several database servers (Citus) is down, the next look leaves its plans out.
    const onFailed = () => inProgress.away.probeFindsNew()
    const failure = 'due messages not read'
    const isAlone = () => lease.isAlone
    super({ mayTake, isAlone, log, pollMs, isFailing, room: held.room, failure, onFailed })
    this.#options = options
  }

  override start(): void {
    this.adopt()
    super.start()
  }

  /** Configuration has changed. */
  adopt(): void {
    const { directory, recheckMs = RECHECK_MS } = this.#options
    const adopted = directory()
    if (this.#adopted === null || isRoutedAnew(this.#adopted, adopted))
      this.#recheckUntilMs = performance.now() + recheckMs
    this.#adopted = adopted
  }

  protected async look(): Promise<number | 'nothing queued' | undefined> {
    const { db, inProgress, enqueue, lease, recorder } = this.#options
    if (!this.isOpen || recorder.backlog > MAX_BACKLOG || this.#limit < MIN_TAKEN) return undefined
    const waiting = await findWaitingPlans(db)
    if (waiting.length === 0) return 'nothing queued'
    const expired = performance.now() - this.#expiredAtMs >= EXPIRED_MS
    const request = this.#request(waiting, expired)
    if (!this.isOpen || request.limit < MIN_TAKEN) return undefined
    if (!expired && request.plans.size === 0) return undefined
    if (expired) this.#expiredAtMs = performance.now()
    const load = () =>
      inProgress.load(lease.nodeId, async (tx, lane, isInMemory) => {
        const due = (await lockDueDispatches(tx, request)).filter(({ msgId }) => !isInMemory(msgId))
        return due.length === 0 ? [] : takeDispatches(db, tx, lane, due)
      })
    const taken = await this.take(request.limit, load, (messages) => messages.forEach(enqueue))
    return taken >= MIN_TAKEN ? 0 : undefined
  }

  /** All of them have room even if each is of the longest, unless the limit had to be raised to the minimum. */
  get #limit(): number {
    const { free } = this.#options.held.room
    return Math.min(free, Math.max(Math.floor(free / MOST_PLACES), MIN_TAKEN), MAX_TAKEN)
  }

  #request(waiting: readonly number[], expired: boolean): TakeRequest {
    const { carriers, directory, isRouteOpen, lease } = this.#options
    const { here, elsewhere } = carriers()
    const rechecks = performance.now() < this.#recheckUntilMs
    const closed = directory().contents.routes.filter((route) => !isRouteOpen(route))
    return {
      buckets: lease.buckets,
      plans: this.#plans(waiting, new Set(closed), new Set(here), new Set(elsewhere)),
      closedRoutes: rechecks ? [] : closed.map(({ id }) => id),
      carriers: here,
      limit: this.#limit,
      expired,
      overdueMs: OVERDUE_MS,
    }
  }

  /** Those of the plans that may send over this node, and the room on each of their routes. */
  #plans(
    waiting: readonly number[],
    closed: ReadonlySet<Route>,
    here: ReadonlySet<number>,
    elsewhere: ReadonlySet<number>,
  ): TakeRequest['plans'] {
    const { directory, held, inProgress, webhookRoom } = this.#options
    const isReached = (route: Route) => route.carriers.some(({ carrierId }) => here.has(carrierId))
    const plans = new Map<number, PlanRequest>()
    for (const id of waiting) {
      const plan = directory().planById(id)
      const routes = plan?.active ? [...directory().routesOf(plan)] : []
      if (!routes.some((route) => !closed.has(route) || isReached(route))) continue
      // Long texts of some plans that wait for slow carriers can fill memory. The minimum lets other plans go on.
      const most = inProgress.hasRoom ? Math.max(webhookRoom(id), MIN_OF_PLAN) : MIN_TAKEN
      const roomOf = (routeId: number) => {
        const own = held.of(id, routeId)
        const room = Math.min(held.roomFor(id, routeId), most - own)
        return room >= MIN_TAKEN || own < MIN_TAKEN ? Math.min(Math.max(room, 0), MAX_TAKEN) : 0
      }
      const rooms = routes.map((route) => roomOf(route.id))
      // A message whose row names no route may turn out to belong to any of these routes.
      const room = Math.min(...routes.map((route, index) => (closed.has(route) ? MAX_TAKEN : rooms[index]!)))
      // Only rooms that differ are listed: 5,000 plans with 50 routes each would be 4 MB in every look.
      const others = routes.flatMap((route, index) =>
        rooms[index] === room ? [] : [[route.id, rooms[index]!]],
      )
      const left = elsewhere.size === 0 ? [] : carriersAmong(elsewhere, routes)
      plans.set(id, {
        room,
        routes: Object.fromEntries(others),
        ...(left.length > 0 && { elsewhere: left }),
      })
    }
    return plans
  }
}

/** Whether messages of a plan may have another route than before. */
function isRoutedAnew(before: Directory, { contents: { plans, rules, networks } }: Directory): boolean {
  if (rules.table.fingerprint !== before.contents.rules.table.fingerprint) return true
  // A rule may name a network. The table is the same object until a number range changes.
  if (networks !== before.contents.networks) return true
  if (plans === before.contents.plans) return false
  return plans.some(({ id, route }) => {
    const known = before.planById(id)
    return known !== undefined && known.route?.id !== route?.id
  })
}

/** The carriers that belong to one of these routes. */
function carriersAmong(carriers: ReadonlySet<number>, routes: readonly Route[]): number[] {
  const ofRoutes = new Set(routes.flatMap((route) => route.carriers.map(({ carrierId }) => carrierId)))
  return [...carriers].filter((carrierId) => ofRoutes.has(carrierId))
}
