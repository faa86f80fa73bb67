import { Batcher } from '../operations/batches.ts'
import type { Database } from '../store/database.ts'
import { beginDispatches, type Dispatch } from '../store/dispatches.ts'
import type { CarrierQueue } from './carrier-queue.ts'
import type { HeldMessages } from './held-messages.ts'
import type { MessagesInProgress } from './messages-in-progress.ts'
import type { SubmitJob } from './submit-job.ts'

/** `go`: the database knows that it is sent. `again`: it does not take that now. `gone`: the message is another node's. */
type Beginning = 'go' | 'again' | 'gone'

export interface BeginningsOptions {
  readonly db: Database
  readonly inProgress: Pick<MessagesInProgress, 'begin' | 'project'>
  readonly held: HeldMessages
  readonly pump: (carrierId: number) => void
  readonly onError: (message: string, error: unknown) => void
}

interface Begun {
  readonly job: SubmitJob
  readonly queue: CarrierQueue
}

const MAX_BATCH = 500
/** Pause of a queue while the database does not take it. */
const HOLD_MS = 200

/**
 * Before a message is sent to a carrier the database knows that it will be. So only what was begun is in doubt when its
 * node dies: as many messages as the windows have room for.
 */
export class Beginnings {
  readonly #options: BeginningsOptions
  readonly #stored: Batcher<Dispatch, Beginning>
  #begun: Begun[] = []

  constructor(options: BeginningsOptions) {
    this.#options = options
    this.#stored = new Batcher({
      write: (dispatches) => this.#write(dispatches),
      maxBatch: MAX_BATCH,
      maxInFlight: 2,
    })
  }

  /** Whether the head of the queue may be sent now. If not, it leaves the queue until the database knows that it is. */
  begin(job: SubmitJob, queue: CarrierQueue): boolean {
    const { held, inProgress, onError } = this.#options
    const { dispatch } = job
    if (held.isBegun(dispatch.msgId)) return true
    queue.begin(job)
    const done = (beginning: Beginning) => this.#done({ job, queue }, beginning)
    if (inProgress.begin(dispatch.msgId, (begun) => done(begun ? 'go' : 'again'))) return false
    this.#stored.add(dispatch).then(done, (error) => {
      onError('messages not begun yet', error)
      done('again')
    })
    return false
  }

  async #write(dispatches: readonly Dispatch[]): Promise<readonly Beginning[]> {
    const { db, inProgress } = this.#options
    await inProgress.project(dispatches.map(({ msgId }) => msgId))
    const rows = dispatches.map(({ msgId, holder }) => ({ msg_id: msgId, holder }))
    const begun = new Set(await beginDispatches(db, rows))
    return dispatches.map(({ msgId }) => (begun.has(msgId) ? 'go' : 'gone'))
  }

  #done(begun: Begun, beginning: Beginning): void {
    const { held } = this.#options
    const { job, queue } = begun
    const { msgId } = job.dispatch
    if (beginning === 'gone') {
      queue.remove(job)
      if (held.jobOf(msgId) === job) held.delete(msgId)
      return
    }
    if (beginning === 'again') queue.pauseFor(HOLD_MS)
    else if (held.has(msgId)) held.begin(msgId)
    // Those of one COMMIT go back together, so that they keep their order.
    if (this.#begun.length === 0) setImmediate(() => this.#resume())
    this.#begun.push(begun)
  }

  #resume(): void {
    const begun = Map.groupBy(this.#begun, ({ queue }) => queue)
    this.#begun = []
    for (const [queue, jobs] of begun) {
      queue.begun(jobs.map(({ job }) => job))
      this.#options.pump(jobs[0]!.job.carrier.id)
    }
  }
}
