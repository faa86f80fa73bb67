import type { NodeReport } from '../../domain/nodes.ts'
import { publishReport } from '../../store/node-reports.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import { PeriodicTask } from '../loops/periodic-task.ts'
import type { NodeLease } from './node-lease.ts'

export interface NodeReportsOptions extends Pick<NodeParts, 'db' | 'log'> {
  readonly lease: Pick<NodeLease, 'nodeId' | 'alive'>
}

const INTERVAL_MS = 2_000
/** A report is repeated after this time even if it is the same, so its age tells whether the node still reports. */
const REPEAT_MS = 10_000
/** The pause after a report is this many times as long as it took, so that reports take at most 2 % of a connection. */
const PAUSE_PER_COST = 50

/**
 * Reports the state of this node and its binds to the other nodes and to `aldis doctor`: in one row, which is written when
 * the state has changed, and every 10 s.
 */
export class NodeReports {
  readonly #options: NodeReportsOptions
  readonly #task: PeriodicTask
  #read: ((isDraining: boolean) => NodeReport) | null = null
  #isDraining = false
  /** What was written last, under which node id, and when. */
  #published = ''
  #publishedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: NodeReportsOptions) {
    this.#options = options
    this.#task = new PeriodicTask(options.log, 'report of this node not written', INTERVAL_MS, () =>
      this.runOnce(),
    )
  }

  /** Sets the function that makes a report. Before this call there is no report. */
  setSource(read: (isDraining: boolean) => NodeReport): void {
    this.#read = read
  }

  /** This node as it is now; null: it has nothing to report yet. */
  own(): { nodeId: number; report: NodeReport } | null {
    const report = this.#read?.(this.#isDraining) ?? null
    return report === null ? null : { nodeId: this.#options.lease.nodeId, report }
  }

  start(): void {
    this.#task.start(0)
  }

  /** Writes the report if it has changed, or is to be repeated. Returns when to look again, if not after the interval. */
  async runOnce(): Promise<number | undefined> {
    const { db, lease } = this.#options
    if (!lease.alive) return undefined
    const own = this.own()
    if (own === null) return undefined
    const startedAtMs = performance.now()
    const report = JSON.stringify(own.report)
    const text = `${own.nodeId} ${report}`
    if (text === this.#published && startedAtMs - this.#publishedAtMs < REPEAT_MS) return undefined
    await publishReport(db, own.nodeId, report)
    this.#published = text
    this.#publishedAtMs = startedAtMs
    return Math.max(INTERVAL_MS, PAUSE_PER_COST * (performance.now() - startedAtMs))
  }

  /** The node is stopping. Tells the others without waiting for the database. */
  drain(): void {
    this.#isDraining = true
    this.#task.wake()
  }

  async stop(): Promise<void> {
    await this.#task.stop()
  }
}
