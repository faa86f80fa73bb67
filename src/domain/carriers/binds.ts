/** One bind of a carrier that is not stopped, in the whole installation. */
export interface CarrierBind {
  readonly carrierId: number
  /** From 0. */
  readonly bind: number
  /** The node that took it last; free when this is null or not a living node. */
  readonly nodeId: number | null
}

interface BindAssignment extends CarrierBind {
  readonly nodeId: number
}

/**
 * Decides which node is to have each bind. The numbers of binds of two nodes differ by at most one, for each carrier and
 * in total. Within that, binds stay with their node. So every node computes the same result from the same rows, and a
 * node that joins or leaves moves no more binds than it must. Returns an empty list without nodes.
 */
export function assignBinds(binds: readonly CarrierBind[], nodes: readonly number[]): BindAssignment[] {
  if (nodes.length === 0) return []
  const shares = new Assignment(binds, nodes)
  for (const share of shares.free) shares.give(share, shares.least(share.carrierId))
  shares.evenOutCarriers()
  shares.evenOutAll()
  return shares.result()
}

interface AssignedBind {
  readonly carrierId: number
  readonly bind: number
  /** The living node that had it when it was read. A bind that no living node had costs nothing to move. */
  readonly was: number | null
  nodeId: number | null
}

class Assignment {
  readonly #nodes: readonly number[]
  readonly #binds: AssignedBind[]
  readonly #totals: Map<number, number>
  /** By carrier, then node. */
  readonly #counts = new Map<number, Map<number, number>>()

  constructor(binds: readonly CarrierBind[], nodes: readonly number[]) {
    this.#nodes = nodes.toSorted((a, b) => a - b)
    this.#totals = this.#zeros()
    this.#binds = binds
      .toSorted((a, b) => a.carrierId - b.carrierId || a.bind - b.bind)
      .map(({ carrierId, bind, nodeId }) => ({
        carrierId,
        bind,
        was: nodeId !== null && this.#totals.has(nodeId) ? nodeId : null,
        nodeId: null,
      }))
    for (const { carrierId } of this.#binds)
      if (!this.#counts.has(carrierId)) this.#counts.set(carrierId, this.#zeros())
    for (const share of this.#binds) if (share.was !== null) this.give(share, share.was)
  }

  get free(): readonly AssignedBind[] {
    return this.#binds.filter((share) => share.nodeId === null)
  }

  give(share: AssignedBind, nodeId: number): void {
    if (share.nodeId !== null) this.#count(share.carrierId, share.nodeId, -1)
    share.nodeId = nodeId
    this.#count(share.carrierId, nodeId, 1)
  }

  /** The node with the fewest binds of the carrier; among equals, the one with the fewest in all; then the oldest. */
  least(carrierId: number): number {
    const counts = this.#counts.get(carrierId)!
    const totals = this.#totals
    return this.#nodes.reduce((best, node) => {
      const order = counts.get(node)! - counts.get(best)! || totals.get(node)! - totals.get(best)!
      return order < 0 ? node : best
    })
  }

  evenOutCarriers(): void {
    for (const [carrierId, counts] of this.#counts) {
      for (;;) {
        const from = most(counts)
        const to = this.least(carrierId)
        if (counts.get(from)! - counts.get(to)! < 2) break
        this.give(
          this.#movable(from, (share) => share.carrierId === carrierId),
          to,
        )
      }
    }
  }

  /**
   * Moves binds from the node with the most to the node with the fewest, of a carrier that the first has more binds of.
   * Such a carrier exists while their totals differ by two. Each move lowers the sum of their squares, so this ends.
   */
  evenOutAll(): void {
    for (;;) {
      const from = most(this.#totals)
      const to = this.#nodes.reduce((best, node) =>
        this.#totals.get(node)! < this.#totals.get(best)! ? node : best,
      )
      if (this.#totals.get(from)! - this.#totals.get(to)! < 2) return
      const more = ({ carrierId }: AssignedBind) => {
        const counts = this.#counts.get(carrierId)!
        return counts.get(from)! > counts.get(to)!
      }
      this.give(this.#movable(from, more), to)
    }
  }

  result(): BindAssignment[] {
    return this.#binds.map(({ carrierId, bind, nodeId }) => ({ carrierId, bind, nodeId: nodeId! }))
  }

  /** One of the node's binds that has no session, if there is one; otherwise the last. */
  #movable(nodeId: number, fits: (share: AssignedBind) => boolean): AssignedBind {
    const candidates = this.#binds.filter((share) => share.nodeId === nodeId && fits(share))
    return candidates.findLast((share) => share.was !== nodeId) ?? candidates.at(-1)!
  }

  /** In the order of the nodes, so that ties are broken alike everywhere. */
  #zeros(): Map<number, number> {
    return new Map(this.#nodes.map((node) => [node, 0]))
  }

  #count(carrierId: number, nodeId: number, change: 1 | -1): void {
    const counts = this.#counts.get(carrierId)!
    counts.set(nodeId, counts.get(nodeId)! + change)
    this.#totals.set(nodeId, this.#totals.get(nodeId)! + change)
  }
}

function most(counts: ReadonlyMap<number, number>): number {
  let best: [number, number] | null = null
  for (const entry of counts) if (best === null || entry[1] > best[1]) best = entry
  return best![0]
}

/**
 * Why a carrier's link is down:
 * - closed: the carrier ended the session instead of answering the bind, or right after its answer;
 * - unauthorized: it refused the system id or the password;
 * - refused: it refused the bind for another reason, or is reachable but takes no submits;
 * - unreached: anything else.
 */
export type LinkFailure = 'unreached' | 'closed' | 'refused' | 'unauthorized'

/** The longest pause before the next bind, milliseconds. */
const MOST_PAUSE_MS: Readonly<Record<LinkFailure, number>> = {
  // Sending resumes at most this long after the carrier is back.
  unreached: 5_000,
  closed: 60_000,
  refused: 60_000,
  // Some carriers lock an account after too many binds.
  unauthorized: 300_000,
}
/** A restarting carrier also closes sessions, for half a minute or so: this many closes in a row are no refusal. */
const QUICK_CLOSES = 8

/**
 * The longest pause before the next bind, in milliseconds, after a pause of `lastMs`; 0 means that the link was in order.
 * It doubles from `firstMs` up to a bound that depends on the failure. `closes`: how many sessions in a row were closed,
 * this one included. A carrier that was away for long and refuses the first binds on its return is retried soon: while it
 * was away, the pause grew no longer than that of `unreached`.
 */
export function nextPauseMs(
  failure: LinkFailure,
  { lastMs, firstMs, closes }: { lastMs: number; firstMs: number; closes: number },
): number {
  const isQuick = failure === 'closed' && closes <= QUICK_CLOSES
  return Math.min(Math.max(firstMs, 2 * lastMs), MOST_PAUSE_MS[isQuick ? 'unreached' : failure])
}

/** What went wrong with a bind: why its session ended, or how its carrier refused a request. */
export interface BindError {
  /** When last, ISO 8601. */
  readonly at: string
  /** `bind_rejected`, `peer_closed`, or the command that was refused: `submit_sm`. */
  readonly error: string
  /** The command_status, by name; null: there was none. */
  readonly status: string | null
  /** The error of the socket; null: there was none. */
  readonly detail: string | null
  /** How often. */
  readonly count: number
}

type ErrorKind = Pick<BindError, 'error' | 'status' | 'detail'>

/** Different errors that are kept for one bind. */
export const MAX_BIND_ERRORS = 5

/** The last errors of a bind. A repeated error is only counted, so that it does not push out the others. */
export class BindErrors {
  readonly #kept: { readonly kind: ErrorKind; count: number; lastMs: number }[] = []

  /** `nowMs`: Unix milliseconds. */
  note(kind: ErrorKind, nowMs: number): void {
    const known = this.#kept.find(
      ({ kind: { error, status, detail } }) =>
        error === kind.error && status === kind.status && detail === kind.detail,
    )
    if (known === undefined) this.#kept.push({ kind, count: 1, lastMs: nowMs })
    else {
      known.count += 1
      known.lastMs = nowMs
    }
    if (this.#kept.length > MAX_BIND_ERRORS) {
      const oldestMs = Math.min(...this.#kept.map(({ lastMs }) => lastMs))
      this.#kept.splice(
        this.#kept.findIndex(({ lastMs }) => lastMs === oldestMs),
        1,
      )
    }
  }

  /** Newest first. */
  list(): BindError[] {
    return this.#kept
      .toSorted((a, b) => b.lastMs - a.lastMs)
      .map(({ kind, count, lastMs }) => ({ at: new Date(lastMs).toISOString(), ...kind, count }))
  }
}
