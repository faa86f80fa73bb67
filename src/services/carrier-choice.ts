import type { Route, ServicePlan } from '../domain/configuration.ts'
import type { Directory } from '../domain/directory.ts'
import { type CarrierCondition, chooseCarrier, type Routed } from '../domain/routing.ts'
import type { Dispatch } from '../store/dispatches.ts'
import type { CarrierLinks } from './carrier-links.ts'
import { type SubmitJob, type SubmitToken, submitJob } from './submit-job.ts'

export interface CarrierChoiceOptions {
  readonly directory: () => Directory
  readonly links: () => Pick<CarrierLinks<SubmitToken>, 'canSubmit' | 'isDoubtful' | 'freest'>
  /** It throttles, and what is queued for it takes long. */
  readonly isCongested: (carrierId: number) => boolean
  readonly outOfUse?: (routeId: number, carrierId: number) => boolean
}

/** Which carrier a message goes to, from this node and now. */
export class CarrierChoice {
  readonly #options: CarrierChoiceOptions

  constructor(options: CarrierChoiceOptions) {
    this.#options = options
  }

  /** Whether any carrier of the route can be submitted to. */
  canSubmit(route: Route): boolean {
    const links = this.#options.links()
    return route.carriers.some(({ carrierId }) => links.canSubmit(carrierId))
  }

  /** `mayTry`: a message may go to a carrier that was silent, to find out; one at a time, which nobody waits behind. */
  conditionOf(carrierId: number, routeId: number, mayTry = true): CarrierCondition {
    const { directory, isCongested, links, outOfUse } = this.#options
    if (!links().canSubmit(carrierId)) {
      const state = directory().carrierById(carrierId)?.state ?? 'stopped'
      return state === 'started' ? 'unbound' : state
    }
    if (links().isDoubtful(carrierId) && !(mayTry && links().freest(carrierId) !== null)) return 'silent'
    if (outOfUse?.(routeId, carrierId)) return 'out-of-use'
    return isCongested(carrierId) ? 'throttled' : 'usable'
  }

  /** Null when no carrier of the route can be used. One that has parts of the message already is preferred. */
  jobFor(dispatch: Dispatch, settings: ServicePlan, routed: Routed): SubmitJob | null {
    const directory = this.#options.directory()
    const { id, carriers } = routed.route
    const before = dispatch.submittedSegments === 0n ? null : dispatch.carrierId
    const prefers =
      before !== null &&
      carriers.some(({ carrierId }) => carrierId === before) &&
      this.#options.links().canSubmit(before) &&
      !this.#options.links().isDoubtful(before)
    const choice = prefers
      ? { carrierId: before, reason: 'has parts of the message' }
      : chooseCarrier(routed, (one) => this.conditionOf(one, id, !dispatch.ambiguous), Math.random())
    const carrier = choice === null ? undefined : directory.carrierById(choice.carrierId)
    if (choice === null || carrier === undefined) return null
    return submitJob(dispatch, { carrier, route: { id, reason: choice.reason }, settings })
  }
}
