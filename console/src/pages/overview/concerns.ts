import type { Alarm, ListedCarrier, Node, Queue } from '../../../../client/src/admin-api.ts'
import { counted, duration } from '../../kit/formats.ts'
import { MESSAGE_CAUSES } from '../../kit/waiting.ts'

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
  readonly carriers: readonly ListedCarrier[]
  readonly queue: Queue
  readonly nodes: readonly Node[]
  readonly alarms: readonly Alarm[]
}

/** Empty when nothing needs a person; the worst first. */
export function concernsOf({ carriers, queue, nodes, alarms }: Installation, nowMs: number): Concern[] {
  const concerns = [
    ...carriers.flatMap(ofBinds),
    ...queue.messages.flatMap((waiting) => ofMessages(waiting, nowMs)),
    ...alarms.flatMap(ofAlarm),
    ...queue.destinations.map(ofDestination),
    ...nodes.flatMap((node) => ofNode(node, nowMs)),
  ]
  return [...concerns.filter(({ tone }) => tone === 'bad'), ...concerns.filter(({ tone }) => tone !== 'bad')]
}

function ofBinds({ name: carrier, state, bindStates: binds }: ListedCarrier): Concern[] {
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

/** They do not end by themselves. Draining is what an operator wants: no fault, but these messages stay. */
const STUCK: Readonly<Record<string, Concern['tone']>> = {
  'no-route': 'bad',
  'plan-inactive': 'bad',
  'carrier-stopped': 'bad',
  'carrier-unbound': 'bad',
  'carrier-silent': 'bad',
  'carrier-draining': 'warning',
}
const LATE_MS = 15 * 60_000

function ofMessages(waiting: Queue['messages'][number], nowMs: number): Concern[] {
  const { cause, route, carrier, oldestAt } = waiting
  const ageMs = nowMs - Date.parse(oldestAt)
  const tone = STUCK[cause] ?? 'warning'
  if (!(cause in STUCK) && ageMs < LATE_MS) return []
  return [
    {
      tone,
      title: `${counted(waiting.count, 'message')}${route === null ? '' : ` of route ${route}`} ${MESSAGE_CAUSES[cause] ?? cause}`,
      detail: `the oldest for ${duration(Math.max(0, ageMs))}`,
      to: '/admin/messages',
      search: { status: 'QUEUED', ...(carrier !== null && { carrier }) },
    },
  ]
}

/** Pages that help with alarms about which nothing else here speaks. */
const ALARM_PAGES: Readonly<Record<string, string>> = {
  'floor-reached': '/admin/quality',
  'receipts-missing': '/admin/quality',
  'cap-reached': '/admin/plans',
  'unowned-inbound': '/admin/inbound/unowned',
}

function ofAlarm({ name, summary }: Alarm): Concern[] {
  const to = ALARM_PAGES[name]
  return to === undefined ? [] : [{ tone: 'warning', title: summary, detail: null, to }]
}

const DESTINATION_STATES: Readonly<Record<string, string>> = {
  open: 'does not accept webhooks',
  paused: 'is paused',
  recovering: 'is recovering',
}

function ofDestination(troubled: Queue['destinations'][number]): Concern {
  const { servicePlanId, destination, state, error } = troubled
  const waiting = `${counted(troubled.count, 'webhook event')} waiting`
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
