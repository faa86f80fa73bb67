import type { ServicePlan } from '../../domain/configuration/configuration.ts'
import type { LimitRefusal } from '../../domain/limits/plan-limits.ts'
import { countSegments } from '../../domain/text/segments.ts'
import type { Log } from '../../log.ts'
import type { AcceptOutcome, AcceptRequest, GroupAccepter } from './accept-messages.ts'
import { UNAVAILABLE } from './pending-sends.ts'

export type LimitedOutcome =
  | AcceptOutcome
  /** A limit of its plan does not let it through: 429. Nothing was counted or stored. */
  | { readonly kind: 'refused'; readonly refusal: LimitRefusal }

type Message = Pick<AcceptRequest, 'plan' | 'draft'>

interface LimitedMessage {
  readonly plan: ServicePlan
  readonly recipient: string
  readonly segments: number
}

/** `undo` takes the message out of the count again. */
export type LimitVerdict =
  | { readonly kind: 'counted'; readonly undo: () => void }
  | { readonly kind: 'refused'; readonly refusal: LimitRefusal }

/** Counts messages towards the limits of their plans. */
export interface SendLimits {
  /** Counts the message, unless a limit refuses it. Rejects if that cannot be told. */
  take(message: LimitedMessage): Promise<LimitVerdict>
  /** The message is accepted. */
  accepted(message: Omit<LimitedMessage, 'segments'>): void
}

export interface LimitedAccepterOptions {
  readonly accepter: Pick<GroupAccepter, 'accept' | 'repeatedAnswer'>
  readonly limits: SendLimits
  readonly log: Log
}

/** Accepts messages that the limits of their plans let through. Those of a plan without limits cost nothing here. */
export class LimitedAccepter {
  readonly #options: LimitedAccepterOptions

  constructor(options: LimitedAccepterOptions) {
    this.#options = options
  }

  accept(request: AcceptRequest): Promise<LimitedOutcome> {
    return isLimited(request.plan) ? this.#acceptWithin(request) : this.#options.accepter.accept(request)
  }

  /** Why the limits of its plan would refuse the message; null: they would not. Rejects if that cannot be told. */
  async refusalOf(message: Message): Promise<LimitRefusal | null> {
    if (!isLimited(message.plan)) return null
    const verdict = await this.#take(message, segmentsOf(message))
    if (verdict.kind === 'refused') return verdict.refusal
    verdict.undo()
    return null
  }

  async #acceptWithin(request: AcceptRequest): Promise<LimitedOutcome> {
    const { accepter, limits, log } = this.#options
    const segments = segmentsOf(request)
    let verdict: LimitVerdict
    try {
      verdict = await this.#take(request, segments)
      // A repeated send counts nothing, so no limit keeps its answer back.
      const repeated = verdict.kind === 'counted' ? null : await accepter.repeatedAnswer(request)
      if (repeated !== null) return repeated
    } catch (error) {
      log.error({ err: error }, 'message not counted towards the limits of its plan')
      return UNAVAILABLE
    }
    if (verdict.kind === 'refused') return verdict
    const outcome = await accepter.accept(request, segments)
    if (outcome.kind === 'queued') limits.accepted({ plan: request.plan, recipient: request.draft.recipient })
    else if (outcome.kind !== 'unknown') verdict.undo()
    return outcome
  }

  #take({ plan, draft }: Message, segments: number): Promise<LimitVerdict> {
    return this.#options.limits.take({ plan, recipient: draft.recipient, segments })
  }
}

function segmentsOf({ plan, draft }: Message): number {
  return countSegments(draft.body, plan).segments
}

function isLimited({ caps, pumpingGuard }: ServicePlan): boolean {
  return caps !== null || pumpingGuard !== null
}
