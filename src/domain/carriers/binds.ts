/** One bind of a carrier that is not stopped, in the whole installation. */
export interface CarrierBind {
  readonly carrierId: number
  /** From 0. */
  readonly bind: number
  /** The node that took it last; free when this is null or not a living node. */
  readonly nodeId: number | null
}

export interface BindAssignment extends CarrierBind {
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
