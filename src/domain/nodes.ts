import type { HeldGroup } from './backlog.ts'
import type { BindError } from './carriers/binds.ts'
import { BIND_TYPES, type BindType, type Carrier } from './configuration/configuration.ts'
import type { LinkCondition } from './routing/routing.ts'

/**
 * What a node says of itself, because only its own process knows it. Other nodes read it from the database, where it is
 * some seconds old.
 */
export interface NodeReport {
  readonly version: string
  readonly host: string
  readonly pid: number
  /** Null: the process is not one of several workers. */
  readonly worker: { readonly number: number; readonly workers: number } | null
  readonly isDraining: boolean
  readonly messagesInProgress: number
  readonly messagesHeld: number
  readonly webhooksHeld: number
  /** Messages in its memory that have waited for ALARM_BACKLOG_SECONDS. Older releases do not report them. */
  readonly late?: readonly HeldGroup[]
  /** Those that it has binds of, by carrier id. */
  readonly carriers: Readonly<Record<string, CarrierReport>>
}

/** A carrier as one node uses it. Rates are in segments a second. */
export interface CarrierReport {
  readonly condition: LinkCondition
  /** Messages that wait for their turn, in the memory of the node. */
  readonly queued: number
  readonly sentLastSecond: number
  /** The node's share of the configured rate; null: there is none. */
  readonly configuredRate: number | null
  /** What throttled answers have taught; null: the carrier does not throttle. */
  readonly measuredRate: number | null
  readonly binds: readonly BindReport[]
}

/** What a node can do with a carrier. A draining or stopped carrier takes nothing, even if its sessions could. */
export function nodeCondition(
  { state }: Pick<Carrier, 'state'>,
  { condition }: CarrierReport,
): LinkCondition | 'draining' | 'stopped' {
  return state === 'started' ? condition : state
}

/** The session of one bind of a carrier, on the node that answers. */
export interface LinkStatus {
  /** Which of the carrier's binds, from 0. */
  readonly number: number
  readonly bind: string
  readonly state: string
  /** ISO 8601. */
  readonly boundSince: string | null
  readonly lastClose: string | null
  readonly unanswered: number
}

/** The sessions of a carrier on the node that answers. */
export interface LinkSummary {
  readonly state: string
  /** ISO 8601: when the last of them was bound. Null unless all are bound. */
  readonly since: string | null
  readonly lastError: string | null
  readonly unanswered: number
  readonly links: LinkStatus[]
}

const LINK_STATES = ['bound', 'connecting', 'backing-off', 'unbinding'] as const

export interface BindReport {
  /** Which of the carrier's binds, from 0. */
  readonly number: number
  readonly type: BindType
  readonly state: (typeof LINK_STATES)[number]
  /** ISO 8601: since when it is bound, or has not been. */
  readonly since: string
  /** ISO 8601: when it connects again; null: it is not backing off. */
  readonly retryAt: string | null
  readonly window: number
  /** Places of the window that are taken. */
  readonly unanswered: number
  readonly errors: readonly BindError[]
}

/** A living node, with its last report. */
export interface LivingNode {
  readonly nodeId: number
  readonly name: string
  readonly role: NodeRole
  readonly since: Date
  readonly lastHeartbeatAt: Date
  readonly leaseEndsAt: Date
  readonly buckets: number
  /** Binds that belong to it. */
  readonly binds: number
  /** How old its report is; both are null until the first. */
  readonly reportAgeMs: number | null
  readonly report: NodeReport | null
}

/** stopped: the carrier is; unassigned: no node has the bind; unreported: its node has not said how it is. */
export const BIND_STATES = [...LINK_STATES, 'stopped', 'unassigned', 'unreported'] as const

/** A bind of a carrier, on any node. Fields that only its node knows are null until that node has reported them. */
export interface CarrierBindState {
  readonly number: number
  readonly type: BindType
  /** Null: no node has it. */
  readonly node: string | null
  readonly state: (typeof BIND_STATES)[number]
  readonly since: string | null
  readonly retryAt: string | null
  readonly window: number
  readonly unanswered: number | null
  readonly errors: readonly BindError[]
}

interface BindingCarrier extends Pick<Carrier, 'state' | 'bindMode' | 'binds' | 'window'> {
  readonly carrierId: number
  readonly leases: readonly { readonly bind: number; readonly node: string }[]
}

/**
 * Every bind that the carrier should have, and those that are about to end, by number. A bind that moves or is
 * replaced is listed twice while its last session ends.
 */
export function bindStates(carrier: BindingCarrier, nodes: readonly LivingNode[]): CarrierBindState[] {
  const reported = nodes.flatMap(({ name, report }) =>
    (report?.carriers[carrier.carrierId]?.binds ?? []).map((bind) => ({ ...bind, node: name })),
  )
  const numbers = Array.from({ length: carrier.binds }, (_, number) => number)
  const missing = numbers.flatMap((number) => {
    const types = BIND_TYPES[carrier.bindMode].filter(
      (type) => !reported.some((bind) => bind.number === number && bind.type === type),
    )
    return types.map((type) => unreportedBind(carrier, number, type))
  })
  return [...reported, ...missing].sort((a, b) => a.number - b.number)
}

function unreportedBind(carrier: BindingCarrier, number: number, type: BindType): CarrierBindState {
  const node = carrier.leases.find(({ bind }) => bind === number)?.node ?? null
  const unassigned = node === null ? 'unassigned' : 'unreported'
  const state = carrier.state === 'stopped' ? 'stopped' : unassigned
  const { window } = carrier
  return { number, type, node, state, since: null, retryAt: null, window, unanswered: null, errors: [] }
}

/**
 * What a node does besides what every node does (docs/adr/0033-roles.md):
 *
 *   api      serves `/v1` and the console to customers, and has the simulator of sandbox plans
 *   carrier  makes binds to carriers
 *   webhook  owns buckets: delivers webhooks, ends messages that nobody could submit, tells alarms
 */
const DUTIES = ['api', 'carrier', 'webhook'] as const

type Duty = (typeof DUTIES)[number]

export const NODE_ROLES = ['all', ...DUTIES] as const

export type NodeRole = (typeof NODE_ROLES)[number]

export function hasDuty(role: NodeRole, duty: Duty): boolean {
  return role === 'all' || role === duty
}

const LACKING: Readonly<Record<Duty, string>> = {
  api: 'no living node serves /v1: start one with NODE_ROLE=api or all',
  carrier: 'no living node binds to carriers, so messages wait: start one with NODE_ROLE=carrier or all',
  webhook: 'no living node delivers webhooks, so they wait: start one with NODE_ROLE=webhook or all',
}

/** What none of these nodes does, one sentence each. */
export function lackingDuties(nodes: readonly { readonly role: NodeRole }[]): string[] {
  return DUTIES.filter((duty) => !nodes.some(({ role }) => hasDuty(role, duty))).map((duty) => LACKING[duty])
}
