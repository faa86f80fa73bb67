import { messageId } from '../../domain/identifiers.ts'
import type { Placement } from '../../operations/sends/accept-messages.ts'
import type { NodeParts } from '../loops/node-parts.ts'
import type { NodeLease } from '../node/node-lease.ts'
import type { CarrierChoice } from './carrier-choice.ts'
import type { HeldMessages } from './held-messages.ts'

export interface PlacementOptions extends Pick<NodeParts, 'directory' | 'clock'> {
  readonly lease: NodeLease
  readonly random: (bytes: number) => Uint8Array
  readonly held: HeldMessages
  readonly choice: CarrierChoice
  /** Whether this node may take messages into memory. */
  readonly isOpen: () => boolean
  /** Whether the carrier's window has room for another message, and nothing waits before it. */
  readonly mayBegin: (carrierId: number) => boolean
}

/** Decides for each message being accepted whether this node keeps it in memory, and reserves room for it. */
export function placeNew(options: PlacementOptions): Placement['place'] {
  const { choice, directory, held, isOpen, lease, mayBegin, clock, random } = options
  return (plan, { sender, recipient, body }, { segments, isAppended }) => {
    const msgId = messageId(clock(), random(9), lease.nextBucket())
    const routed = directory().routeFor(plan, sender, recipient)
    if (routed === null) return { msgId, owner: null, begun: false, routeId: null }
    const routeId = routed.route.id
    const { carrierId, isHere } = choice.chooseNew(msgId, routed)
    const holds = isHere && isOpen() && held.roomFor(plan.id, routeId) > 0
    if (holds) held.add({ msgId, planId: plan.id, body, segments }, routeId)
    const begun = holds && isAppended && mayBegin(carrierId)
    if (begun) held.countBegun(msgId, carrierId, segments)
    const chosenCarrierId = isHere ? 0 : carrierId
    return { msgId, owner: holds ? lease.nodeId : null, begun, routeId, chosenCarrierId }
  }
}
