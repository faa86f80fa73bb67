import type { BindReport, CarrierReport, LivingNode, NodeReport } from '../../src/domain/nodes.ts'

export const SINCE = '2026-01-01T00:00:00.000Z'

export function aBindReport(changes: Partial<BindReport> = {}): BindReport {
  return {
    number: 0,
    type: 'transceiver',
    state: 'bound',
    since: SINCE,
    retryAt: null,
    window: 10,
    unanswered: 0,
    errors: [],
    ...changes,
  }
}

export function aCarrierReport(changes: Partial<CarrierReport> = {}): CarrierReport {
  return {
    condition: 'usable',
    queued: 0,
    sentLastSecond: 0,
    configuredRate: null,
    measuredRate: null,
    binds: [aBindReport()],
    ...changes,
  }
}

export function aNodeReport(changes: Partial<NodeReport> = {}): NodeReport {
  return {
    version: '0.1.0',
    host: 'host.example.net',
    pid: 4_711,
    worker: null,
    isDraining: false,
    messagesInProgress: 0,
    messagesHeld: 0,
    webhooksHeld: 0,
    carriers: {},
    ...changes,
  }
}

/** One that has not reported yet. */
export function aLivingNode(changes: Partial<LivingNode> = {}): LivingNode {
  return {
    nodeId: 1,
    name: 'node-a',
    role: 'all',
    since: new Date(SINCE),
    lastHeartbeatAt: new Date(SINCE),
    leaseEndsAt: new Date(SINCE),
    buckets: 256,
    binds: 0,
    reportAgeMs: null,
    report: null,
    ...changes,
  }
}
