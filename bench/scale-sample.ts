import { assignBinds, type CarrierBind } from '../src/domain/carriers/binds.ts'
import { COSTS, type Layout } from './scale-costs.ts'
import { SeededRandom } from './seeded-random.ts'

/** A sample of messages on their way through nodes, carriers and binds: what each costs on which node. */

const MESSAGES = 200_000
/** Shares of a message's work that are accepting it and telling its webhooks (ADR 33). */
const ACCEPT_SHARE = 0.27
const TELL_SHARE = 0.33

/** For an average message of the sample. */
export interface Sample {
  /** Node's milliseconds on the busiest process, and on all. */
  readonly busiestMs: number
  readonly nodesMs: number
  /** Share of the busiest bind. */
  readonly busiestBind: number
  /** Shares of messages that another node submits, and of receipts that come to another node than the submitting one. */
  readonly handed: number
  readonly foreign: number
}

/** What the way of messages depends on. */
type Ways = Pick<Layout, 'nodes' | 'workers' | 'roles' | 'carriers' | 'bindsPerCarrier'>

/** Many layouts of one page differ in other things only. */
const samples = new Map<string, Sample>()

export function sampleMessages(layout: Layout, seed: number): Sample {
  const { nodes, workers, roles, carriers, bindsPerCarrier } = layout
  const ways: Ways = { nodes, workers, roles, carriers, bindsPerCarrier }
  const key = JSON.stringify([ways, seed])
  const sample = samples.get(key) ?? sampleOf(ways, seed)
  samples.set(key, sample)
  return sample
}

function sampleOf(ways: Ways, seed: number): Sample {
  const sampler = new Sampler(ways, seed)
  for (let n = 0; n < MESSAGES; n += 1) sampler.message()
  return sampler.result()
}

class Sampler {
  readonly #layout: Ways
  readonly #duties: Duties
  readonly #random: SeededRandom
  /** The process that has each bind, by carrier. */
  readonly #binds: number[][]
  /** Sums of the carriers' shares. They are not alike: the nth has 1/n of the first one's messages. */
  readonly #shares: number[] = []
  readonly #nodeMs: Float64Array
  /** Messages over each bind: those of the first carrier first. */
  readonly #bindUses: Float64Array
  #handed = 0
  #foreign = 0

  constructor(layout: Ways, seed: number) {
    const { carriers, bindsPerCarrier, nodes, workers } = layout
    this.#layout = layout
    this.#duties = dutiesOf(layout)
    this.#random = new SeededRandom(seed)
    this.#nodeMs = new Float64Array(nodes * workers)
    this.#bindUses = new Float64Array(carriers * bindsPerCarrier)
    const free: CarrierBind[] = Array.from({ length: carriers * bindsPerCarrier }, (_, index) => {
      return { carrierId: Math.floor(index / bindsPerCarrier), bind: index % bindsPerCarrier, nodeId: null }
    })
    const owners = Map.groupBy(assignBinds(free, this.#duties.bind), ({ carrierId }) => carrierId)
    this.#binds = [...owners.values()].map((binds) => binds.map(({ nodeId }) => nodeId))
    for (let nth = 1; nth <= carriers; nth += 1) this.#shares.push((this.#shares.at(-1) ?? 0) + 1 / nth)
  }

  message(): void {
    const { roles, bindsPerCarrier } = this.#layout
    const [work] = COSTS.message
    const carrier = this.#carrier()
    const binds = this.#binds[carrier]!
    const accepts = this.#random.pick(this.#duties.accept)
    const own = binds.indexOf(accepts)
    const isHere = own >= 0
    const bind = isHere ? own : this.#random.below(binds.length)
    const submits = binds[bind]!
    this.#bindUses[carrier * bindsPerCarrier + bind]! += 1
    if (!isHere) {
      this.#handed += 1
      this.#add(accepts, work * ACCEPT_SHARE + COSTS.handed[0] / 2)
      this.#add(submits, COSTS.handed[0] / 2 - work * ACCEPT_SHARE)
    }
    this.#add(submits, work)
    if (roles) {
      this.#add(submits, -work * TELL_SHARE)
      this.#add(this.#random.pick(this.#duties.tell), work * TELL_SHARE + COSTS.toldElsewhere[0])
    }
    this.#receipt(submits, this.#random.pick(binds))
  }

  #receipt(submits: number, receives: number): void {
    const { workers } = this.#layout
    if (receives === submits) return
    const isSibling = Math.floor(receives / workers) === Math.floor(submits / workers)
    const [cost] = isSibling ? COSTS.siblingReceipt : COSTS.foreignReceipt
    if (!isSibling) this.#foreign += 1
    for (const process of [receives, submits]) this.#add(process, cost / 2)
  }

  result(): Sample {
    return {
      busiestMs: Math.max(...this.#nodeMs) / MESSAGES,
      nodesMs: this.#nodeMs.reduce((sum, ms) => sum + ms, 0) / MESSAGES,
      busiestBind: Math.max(...this.#bindUses) / MESSAGES,
      handed: this.#handed / MESSAGES,
      foreign: this.#foreign / MESSAGES,
    }
  }

  #add(process: number, ms: number): void {
    this.#nodeMs[process]! += ms
  }

  #carrier(): number {
    const place = (this.#random.next() / 2 ** 32) * this.#shares.at(-1)!
    let [low, high] = [0, this.#shares.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#shares[middle]! < place) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Which processes may do what. */
interface Duties {
  readonly accept: readonly number[]
  readonly bind: readonly number[]
  readonly tell: readonly number[]
}

/** Nodes of one role are as many as their share of the work (ADR 33: 0.25, 0.36 and 0.30 ms). */
function dutiesOf({ nodes, workers, roles }: Ways): Duties {
  const all = Array.from({ length: nodes * workers }, (_, index) => index)
  if (!roles) return { accept: all, bind: all, tell: all }
  const accepts = Math.max(1, Math.round(nodes * 0.27))
  const binds = Math.max(1, Math.round(nodes * 0.4))
  return {
    accept: all.slice(0, accepts),
    bind: all.slice(accepts, accepts + binds),
    tell: all.slice(accepts + binds),
  }
}
