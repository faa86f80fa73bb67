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
