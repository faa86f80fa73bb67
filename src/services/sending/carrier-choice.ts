import type { Route, ServicePlan } from '../../domain/configuration/configuration.ts'
import type { Directory } from '../../domain/configuration/directory.ts'
import { drawOf } from '../../domain/identifiers.ts'
import type { Dispatch } from '../../domain/journal/messages-in-progress.ts'
import {
  type CarrierCondition,
  type Choice,
  candidateCarriers,
  chooseCarrier,
  type Routed,
} from '../../domain/routing/routing.ts'
import type { CarrierLinks } from '../links/carrier-links.ts'
import type { QualityWatch } from '../quality/quality-watch.ts'
import type { CarrierConditions } from './carrier-conditions.ts'
import { type SubmitJob, type SubmitToken, submitJob } from './submit-job.ts'

export interface CarrierChoiceOptions {
  readonly directory: () => Directory
  readonly links: Pick<CarrierLinks<SubmitToken>, 'canSubmit' | 'freest'>
  readonly conditions: Pick<CarrierConditions, 'isAlone' | 'of' | 'isHere' | 'isTrialDue' | 'tried'>
  /** Whether the carrier's figures in the route are below its floor. */
  readonly quality: Pick<QualityWatch, 'outOfUse'>
}

/** The fields of a message that the choice depends on. */
type Waiting = Pick<Dispatch, 'msgId' | 'failedAttempts' | 'ambiguous' | 'acceptedPduBits' | 'carrierId'>

interface Chosen {
  readonly carrierId: number
  /** This node submits to that carrier. */
  readonly isHere: boolean
}

const NONE: Chosen = { carrierId: 0, isHere: false }
const NEW: Omit<Waiting, 'msgId'> = {
  failedAttempts: 0,
  ambiguous: false,
  acceptedPduBits: 0n,
  carrierId: null,
}

/**
 * Chooses the carrier that a message goes to now. Every node makes the same choice, because it depends on the message's id
 * and on what the carriers can do on any node.
 */
export class CarrierChoice {
  readonly #options: CarrierChoiceOptions

  constructor(options: CarrierChoiceOptions) {
    this.#options = options
  }

  /** Whether this node may submit messages of the route that have no carrier yet. */
  isOpen(route: Route): boolean {
    const { conditions, links } = this.#options
    // No other node could submit them, so it does not matter which carrier comes first.
    if (conditions.isAlone) return route.carriers.some(({ carrierId }) => links.canSubmit(carrierId))
    const candidates = candidateCarriers(route, (carrierId) => this.conditionOf(carrierId, route.id))
    return candidates.some((carrierId) => conditions.isHere(carrierId))
  }

  /** The condition of a carrier in a route, as every node judges it. */
  conditionOf(carrierId: number, routeId: number): CarrierCondition {
    return this.#conditionOf(carrierId, routeId, false)
  }

  /** Chooses for a message that is being accepted. Carrier 0: none. */
  chooseNew(msgId: string, routed: Routed): Chosen {
    const { conditions, links } = this.#options
    const { carriers } = routed.route
    if (!conditions.isAlone || carriers.length !== 1) return this.choose({ ...NEW, msgId }, routed) ?? NONE
    // The usual case, at less cost.
    const { carrierId } = carriers[0]!
    return links.canSubmit(carrierId) ? { carrierId, isHere: true } : NONE
  }

  /** Null when no node can use any carrier of the route. */
  choose(dispatch: Waiting, routed: Routed): (Choice & Chosen) | null {
    const { conditions } = this.#options
    const choice =
      this.#withSegments(dispatch, routed.route) ??
      chooseCarrier(
        routed,
        (carrierId) => this.#conditionOf(carrierId, routed.route.id, !dispatch.ambiguous),
        drawOf(dispatch.msgId, dispatch.failedAttempts),
      )
    if (choice === null) return null
    const isHere = conditions.isHere(choice.carrierId)
    if (!isHere && conditions.of(choice.carrierId) === 'silent') conditions.tried(choice.carrierId)
    return { ...choice, isHere }
  }

  /** Returns null when the configuration has no such carrier any more. */
  jobFor(dispatch: Dispatch, settings: ServicePlan, route: Route, choice: Choice): SubmitJob | null {
    const carrier = this.#options.directory().carrierById(choice.carrierId)
    if (carrier === undefined) return null
    return submitJob(dispatch, { carrier, route: { id: route.id, reason: choice.reason }, settings })
  }

  /** The carrier that already has segments of the message, if it can be used. */
  #withSegments({ acceptedPduBits, carrierId }: Waiting, route: Route): Choice | null {
    if (acceptedPduBits === 0n || carrierId === null) return null
    if (!route.carriers.some((carrier) => carrier.carrierId === carrierId)) return null
    const condition = this.#sessionsOf(carrierId)
    return condition === 'usable' || condition === 'throttled'
      ? { carrierId, reason: 'has parts of the message' }
      : null
  }

  /**
   * `mayTry`: the message may go to a silent carrier, to find out whether it answers. Only one does at a time, and none queue
   * behind it.
   */
  #conditionOf(carrierId: number, routeId: number, mayTry: boolean): CarrierCondition {
    const condition = this.#sessionsOf(carrierId)
    const isTrial = condition === 'silent' && mayTry && this.#canTry(carrierId)
    if (condition !== 'usable' && condition !== 'throttled' && !isTrial) return condition
    if (this.#options.quality.outOfUse(routeId, carrierId)) return 'out-of-use'
    return condition === 'throttled' ? condition : 'usable'
  }

  /** The carrier's condition in any route: what its sessions can do, or its state if that is not `started`. */
  #sessionsOf(carrierId: number): Exclude<CarrierCondition, 'out-of-use'> {
    const { conditions, directory } = this.#options
    const state = directory().carrierById(carrierId)?.state ?? 'stopped'
    return state === 'started' ? conditions.of(carrierId) : state
  }

  #canTry(carrierId: number): boolean {
    const { conditions, links } = this.#options
    return conditions.isHere(carrierId) ? links.freest(carrierId) !== null : conditions.isTrialDue(carrierId)
  }
}
