import type { Carrier } from '../domain/configuration.ts'
import type { SubmitResult } from '../domain/quality.ts'
import { submitOutcome } from '../domain/submit-outcomes.ts'
import type { LinkEvents } from '../services/links/carrier-link.ts'
import type { MessagesInProgress } from '../services/messages/messages-in-progress.ts'
import type { QualityWatch } from '../services/quality/quality-watch.ts'
import type { Receiver } from '../services/receiving/receiver.ts'
import type { SubmitToken } from '../services/sending/submit-job.ts'
import type { Submitter } from '../services/sending/submitter.ts'

export interface LinkListeners {
  readonly submitter: Pick<Submitter, 'onLateResponse' | 'onLost' | 'onReady' | 'onResponse' | 'onTimeout'>
  readonly receiver: Pick<Receiver, 'onRequest'>
  readonly quality: Pick<QualityWatch, 'submitted'>
  readonly inProgress: Pick<MessagesInProgress, 'hurry'>
  readonly onAnomaly: NonNullable<LinkEvents<SubmitToken>['onAnomaly']>
}

/** Routes link events to their listeners. The result of a submit_sm is counted first. A late answer was counted as none. */
export function linkEvents(listeners: LinkListeners): LinkEvents<SubmitToken> {
  const { submitter, receiver, quality, inProgress, onAnomaly } = listeners
  const count = ({ job }: SubmitToken, result: SubmitResult, latencyMs: number | null) =>
    quality.submitted({ carrierId: job.carrier.id, routeId: job.route.id, result, latencyMs })
  return {
    onReady: (link) => submitter.onReady(link),
    onResponse(token, pdu, link, latencyMs) {
      count(token, resultOf(pdu, token.job.carrier), latencyMs)
      submitter.onResponse(token, pdu, link)
    },
    onTimeout(token) {
      count(token, 'noAnswer', null)
      submitter.onTimeout(token)
    },
    onLateResponse: (token, pdu) => submitter.onLateResponse(token, pdu),
    onLost(tokens, link) {
      for (const token of tokens) count(token, 'noAnswer', null)
      submitter.onLost(tokens, link)
    },
    onRequest(pdu, connection, carrier, toAnswer) {
      receiver.onRequest(pdu, connection, carrier)
      // Most carriers use one window for both directions, and send nothing more until they are answered.
      if (toAnswer === carrier.window) inProgress.hurry()
    },
    onAnomaly,
  }
}

function resultOf(
  { command, status }: { readonly command: string; readonly status: number },
  carrier: Carrier,
): SubmitResult {
  if (command === 'generic_nack' && status === 0) return 'refused'
  const { kind } = submitOutcome(status, carrier.submitOutcomes)
  return kind === 'accepted' || kind === 'throttled' ? kind : 'refused'
}
