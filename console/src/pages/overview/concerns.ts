import type { Alarm, ListedCarrier, Node, Queue } from '../../../../client/src/admin-api.ts'
import { counted, duration } from '../../kit/formats.ts'

interface Address {
  /** The page that helps. */
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  /** Of the service plan that it concerns. */
  readonly planId?: string
}

/** Something that a person should look at. */
export interface Concern extends Address {
  readonly tone: 'bad' | 'warning'
  readonly title: string
  readonly detail?: string
}

/** What is known of the installation. */
export interface Installation {
  readonly carriers: readonly ListedCarrier[]
  readonly queue: Queue
  readonly nodes: readonly Node[]
  readonly alarms: readonly Alarm[]
}

/** The alarms and lesser troubles, the worst first. Empty when nothing needs a person. */
export function concernsOf({ carriers, queue, nodes, alarms }: Installation, nowMs: number): Concern[] {
  const concerns = [
    ...alarms.map((alarm) => ofAlarm(alarm, nowMs)),
    ...carriers.flatMap(ofBinds),
    ...queue.destinations.flatMap(ofDestination),
    ...nodes.flatMap((node) => ofNode(node, nowMs)),
  ]
  return [...concerns.filter(({ tone }) => tone === 'bad'), ...concerns.filter(({ tone }) => tone !== 'bad')]
}

const WORST: readonly string[] = ['carrier-unbound', 'messages-wait', 'breaker-open']

function ofAlarm({ name, object, summary, since }: Alarm, nowMs: number): Concern {
  const tone = WORST.includes(name) ? 'bad' : 'warning'
  const detail = `for ${duration(Math.max(0, nowMs - Date.parse(since)))}`
  return { tone, title: summary, detail, ...ADDRESSES[name](object.split(' ')) }
}

/** By the words of the alarm's object. */
const ADDRESSES: Readonly<Record<Alarm['name'], (words: readonly string[]) => Address>> = {
  'carrier-unbound': carrierPage,
  'messages-wait': () => ({ to: '/admin/messages', search: { status: 'QUEUED' } }),
  'breaker-open': ([servicePlanId = '', destination = '']) => destinationPage({ servicePlanId, destination }),
  'floor-reached': () => ({ to: '/admin/quality' }),
  'receipts-missing': carrierPage,
  'cap-reached': ([plan = '']) => ({ to: '/admin/plans', search: { open: plan }, planId: plan }),
  'unowned-inbound': () => ({ to: '/admin/inbound/unowned' }),
}

function carrierPage([carrier = '']: readonly string[]): Address {
  return { to: `/admin/carriers/${encodeURIComponent(carrier)}` }
}

function destinationPage(search: { servicePlanId: string; destination: string }): Address {
  return { to: '/admin/webhooks', search, planId: search.servicePlanId }
}

/** A carrier without any bound link is an alarm. */
function ofBinds({ name, state, bindStates: binds }: ListedCarrier): Concern[] {
  const down = binds.filter((bind) => bind.state !== 'bound' && bind.state !== 'unreported')
  if (state === 'stopped' || down.length === 0 || !binds.some((bind) => bind.state === 'bound')) return []
  const title = `${down.length} of ${counted(binds.length, 'bind')} of carrier ${name} ${down.length === 1 ? 'is' : 'are'} down`
  const error = down.flatMap(({ errors }) => errors)[0]
  const detail = error && [error.error, error.status ?? error.detail].filter(Boolean).join(': ')
  return [{ tone: 'warning', title, ...(detail && { detail }), ...carrierPage([name]) }]
}

/** One that fails is an alarm. */
function ofDestination({
  servicePlanId,
  destination,
  state,
  count,
}: Queue['destinations'][number]): Concern[] {
  if (state === 'open') return []
  const title = `${destination} is ${state}`
  const detail = `${counted(count, 'webhook event')} waiting`
  return [{ tone: 'warning', title, detail, ...destinationPage({ servicePlanId, destination }) }]
}

function ofNode({ name, draining, leaseEndsAt }: Node, nowMs: number): Concern[] {
  if (Date.parse(leaseEndsAt) < nowMs)
    return [{ tone: 'bad', title: `Node ${name} has lost its lease`, to: '/admin/nodes' }]
  if (draining === true) return [{ tone: 'warning', title: `Node ${name} is draining`, to: '/admin/nodes' }]
  return []
}
