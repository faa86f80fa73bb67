import type { Carrier, CarrierBinds, Node, QualityPause, Queue } from '../../../../client/src/admin-api.ts'
import { count, duration } from '../../kit/formats.ts'

/** Something that a person should look at. */
export interface Concern {
  readonly tone: 'bad' | 'warning'
  readonly title: string
  readonly detail: string | null
  /** The page that helps. */
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
}

/** What is known of the installation. */
export interface Installation {
  readonly carriers: readonly Carrier[]
  /** Of the carriers that may not be bound as they should be. */
  readonly binds: readonly CarrierBinds[]
  readonly queue: Queue
  readonly nodes: readonly Node[]
  readonly pauses: readonly QualityPause[]
}

/** Empty when nothing needs a person; the worst first. */
export function concernsOf({ binds, queue, nodes, pauses }: Installation, nowMs: number): Concern[] {
  const concerns = [
    ...binds.flatMap(ofBinds),
    ...queue.messages.flatMap((waiting) => ofMessages(waiting, nowMs)),
    ...pauses.map(ofPause),
    ...queue.destinations.map(ofDestination),
    ...nodes.flatMap((node) => ofNode(node, nowMs)),
  ]
  return [...concerns.filter(({ tone }) => tone === 'bad'), ...concerns.filter(({ tone }) => tone !== 'bad')]
}

/** The node that answers knows its own binds; whether a carrier is well if it has others, only their nodes know. */
export function mayBeUnbound({ state, link, leases }: Carrier): boolean {
  if (state === 'stopped') return false
  if (link === null || leases.length > link.links.length) return true
  return !link.state.startsWith('BOUND') || link.links.some((bind) => !bind.state.startsWith('BOUND'))
}

function ofBinds({ carrier, state, binds }: CarrierBinds): Concern[] {
  if (state === 'stopped') return []
  const down = binds.filter((bind) => bind.state !== 'bound' && bind.state !== 'unreported')
  if (down.length === 0) return []
  const error = down.flatMap(({ errors }) => errors)[0]
  const isDown = down.length === binds.length
  return [
    {
      tone: isDown ? 'bad' : 'warning',
      title: isDown
        ? `Carrier ${carrier} is not bound`
        : `${down.length} of ${binds.length} binds of carrier ${carrier} are down`,
      detail:
        error === undefined ? null : [error.error, error.status ?? error.detail].filter(Boolean).join(': '),
      to: `/admin/carriers/${encodeURIComponent(carrier)}`,
    },
  ]
}

/** Why messages wait, as the rest of "12 messages of route default …". */
export const MESSAGE_CAUSES: Readonly<Record<string, string>> = {
  queued: 'wait for their turn',
  'in-flight': "wait for the carrier's answer",
  throttled: 'wait because the carrier throttles',
  'sender-rate': 'wait for the rate of their sender',
  'no-route': 'have no route with a carrier',
  'plan-inactive': 'belong to an inactive service plan',
  'carrier-stopped': 'wait for a carrier that is stopped',
  'carrier-draining': 'wait for a carrier that is draining',
  'carrier-unbound': 'wait for a carrier that is not bound',
  'carrier-silent': 'wait for a carrier that does not answer',
  'recipient-full': 'wait behind others to the same recipient',
  retry: 'wait for another attempt',
  ambiguous: 'may have been sent, and wait for a receipt',
  'no-room': 'wait for room in memory',
}

/** They do not end by themselves. */
const STUCK = new Set([
  'no-route',
  'plan-inactive',
  'carrier-stopped',
  'carrier-draining',
  'carrier-unbound',
  'carrier-silent',
])
const LATE_MS = 15 * 60_000

function ofMessages(waiting: Queue['messages'][number], nowMs: number): Concern[] {
  const { cause, route, carrier, oldestAt } = waiting
  const ageMs = nowMs - Date.parse(oldestAt)
  if (!STUCK.has(cause) && ageMs < LATE_MS) return []
  const messages = waiting.count === 1 ? '1 message' : `${count(waiting.count)} messages`
  return [
    {
      tone: STUCK.has(cause) ? 'bad' : 'warning',
      title: `${messages}${route === null ? '' : ` of route ${route}`} ${MESSAGE_CAUSES[cause] ?? cause}`,
      detail: `the oldest for ${duration(Math.max(0, ageMs))}`,
      to: '/admin/messages',
      search: { status: 'QUEUED', ...(carrier !== null && { carrier }) },
    },
  ]
}

function ofPause({ route, carrier, reason }: QualityPause): Concern {
  return {
    tone: 'warning',
    title: `Carrier ${carrier} is paused in route ${route}`,
    detail: reason,
    to: '/admin/quality',
  }
}

const DESTINATION_STATES: Readonly<Record<string, string>> = {
  open: 'does not accept webhooks',
  paused: 'is paused',
  recovering: 'is recovering',
}

function ofDestination(troubled: Queue['destinations'][number]): Concern {
  const { servicePlanId, destination, state, error } = troubled
  const waiting = `${count(troubled.count)} webhook events wait`
  return {
    tone: state === 'open' ? 'bad' : 'warning',
    title: `${destination} ${DESTINATION_STATES[state] ?? state}`,
    detail: error === null ? waiting : `${error}; ${waiting}`,
    to: '/admin/webhooks',
    search: { servicePlanId, destination },
  }
}

function ofNode({ name, draining, leaseEndsAt }: Node, nowMs: number): Concern[] {
  if (Date.parse(leaseEndsAt) < nowMs)
    return [{ tone: 'bad', title: `Node ${name} has lost its lease`, detail: null, to: '/admin/nodes' }]
  if (draining === true)
    return [{ tone: 'warning', title: `Node ${name} is draining`, detail: null, to: '/admin/nodes' }]
  return []
}
