import { hostname } from 'node:os'
import type { HeldGroup } from '../domain/backlog.ts'
import { lowestIdAt } from '../domain/identifiers.ts'
import type { CarrierReport, NodeReport } from '../domain/nodes.ts'
import type { CarrierLinks } from '../services/links/carrier-links.ts'
import type { SubmitToken } from '../services/sending/submit-job.ts'
import type { Submitter } from '../services/sending/submitter.ts'
import { packageVersion } from './build-info.ts'
import type { AppOptions } from './options.ts'

/** Groups of messages that wait for too long. More would tell nobody more. */
const MAX_LATE = 200

/** What the report of a node is made of. */
export interface ReportedServices {
  readonly links: CarrierLinks<SubmitToken>
  readonly submitter: Submitter
  readonly inProgress: { readonly size: number }
  readonly deliverer: { readonly heldMessages: number }
}

/** Returns what an operator sees of this node, of its binds and of the traffic over them. */
export function nodeReport(
  { worker, alarmBacklogSeconds }: AppOptions,
  services: ReportedServices,
  clock: () => number,
): (isDraining: boolean) => NodeReport {
  const self = {
    version: packageVersion(),
    host: hostname(),
    pid: process.pid,
    worker: worker === undefined ? null : { number: worker.number, workers: worker.workers },
  }
  return (isDraining) => ({
    ...self,
    isDraining,
    messagesInProgress: services.inProgress.size,
    messagesHeld: services.submitter.held,
    webhooksHeld: services.deliverer.heldMessages,
    late: lateMessages(services.submitter, clock() - alarmBacklogSeconds * 1_000),
    carriers: carrierReports(services),
  })
}

function lateMessages(submitter: Submitter, beforeMs: number): HeldGroup[] {
  const groups = submitter.backlog({ before: lowestIdAt(beforeMs) })
  return groups.sort((a, b) => (a.oldestMsgId < b.oldestMsgId ? -1 : 1)).slice(0, MAX_LATE)
}

function carrierReports({ links, submitter }: ReportedServices): Record<string, CarrierReport> {
  const reports = [...links.reports()].map(([carrierId, binds]): [number, CarrierReport] => [
    carrierId,
    {
      condition: submitter.linkCondition(carrierId),
      configuredRate: links.rateLimits(carrierId)?.messagesPerSecond ?? null,
      ...(submitter.queueOf(carrierId)?.report() ?? { queued: 0, sentLastSecond: 0, measuredRate: null }),
      binds,
    },
  ])
  return Object.fromEntries(reports)
}
