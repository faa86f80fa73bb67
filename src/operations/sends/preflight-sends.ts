import { type Preflight, type PreflightQuestion, preflight } from '../../domain/messages/preflight.ts'
import type { Queryable } from '../../store/database.ts'
import { areOptedOut, type OptOutPair } from '../../store/opt-outs.ts'
import { Batcher } from '../batches.ts'

/** `isOptedOut`: the message would be accepted, and fail at once. Null when that cannot be told. */
export type CheckedPreflight = Preflight & { readonly isOptedOut: boolean | null }

const MAX_BATCH = 200
const MAX_WAIT_MS = 5_000

/** Tells what sends would do. All of them together take one connection of `reads`. */
export class Preflights {
  readonly #optOuts: Batcher<OptOutPair, boolean>

  constructor(reads: Queryable) {
    this.#optOuts = new Batcher({
      write: (pairs) => areOptedOut(reads, pairs),
      maxBatch: MAX_BATCH,
      maxInFlight: 1,
      maxWaitMs: MAX_WAIT_MS,
    })
  }

  async answer(question: PreflightQuestion): Promise<CheckedPreflight> {
    const judged = preflight(question)
    return { ...judged, isOptedOut: await this.#isOptedOut(question, judged) }
  }

  async #isOptedOut({ plan, fields }: PreflightQuestion, { sender }: Preflight): Promise<boolean | null> {
    // The sender is judged only if it and the recipient are valid.
    if (plan === null || sender.isAllowed === null) return null
    if (plan.optOut === null) return false
    return await this.#optOuts.add({
      planId: plan.id,
      sender: fields.from as string,
      recipient: fields.to as string,
    })
  }
}
