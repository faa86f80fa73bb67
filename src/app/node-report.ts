import { hostname } from 'node:os'
import type { CarrierReport, NodeReport } from '../domain/nodes.ts'
import type { CarrierLinks } from '../services/links/carrier-links.ts'
import type { SubmitToken } from '../services/sending/submit-job.ts'
import type { Submitter } from '../services/sending/submitter.ts'
import { packageVersion } from './build-info.ts'
import type { AppOptions } from './options.ts'

/** What the report of a node is made of. */
export interface ReportedServices {
  readonly links: CarrierLinks<SubmitToken>
  readonly submitter: Submitter
  readonly inProgress: { readonly size: number }
  readonly deliverer: { readonly held: number }
}

/** Returns what an operator sees of this node, of its binds and of the traffic over them. */
export function nodeReport(
  { worker }: AppOptions,
  services: ReportedServices,
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
    webhooksHeld: services.deliverer.held,
    carriers: carrierReports(services),
  })
}

function carrierReports({ links, submitter }: ReportedServices): Record<string, CarrierReport> {
  const reports = [...links.reports()].map(([carrierId, binds]): [number, CarrierReport] => [
    carrierId,
    {
      condition: submitter.linkCondition(carrierId),
      configuredRate: links.rates(carrierId)?.messagesPerSecond ?? null,
      ...(submitter.queueOf(carrierId)?.report() ?? { queued: 0, sentLastSecond: 0, measuredRate: null }),
      binds,
    },
  ])
  return Object.fromEntries(reports)
}
