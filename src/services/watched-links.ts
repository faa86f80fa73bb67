import type { Carrier } from '../domain/directory.ts'
import type { SubmitResult } from '../domain/quality.ts'
import { submitOutcome } from '../domain/submit-outcomes.ts'
import type { ResponsePdu } from '../smpp/pdu.ts'
import type { LinkEvents } from './carrier-link.ts'
import type { SubmitObservation } from './quality-watch.ts'
import type { SubmitToken } from './submit-job.ts'

/** What came of each submit_sm is told before anything is made of it. An answer that comes too late was counted as none. */
export function watchedLinks(
  events: LinkEvents<SubmitToken>,
  quality: { submitted(observation: SubmitObservation): void },
  routeIdOf: (job: SubmitToken['job']) => number | null,
): LinkEvents<SubmitToken> {
  const tell = ({ job }: SubmitToken, result: SubmitResult, latencyMs: number | null) =>
    quality.submitted({ carrierId: job.carrier.id, routeId: routeIdOf(job), result, latencyMs })
  return {
    ...events,
    onResponse(token, pdu, link, latencyMs) {
      tell(token, resultOf(pdu, token.job.carrier), latencyMs)
      events.onResponse(token, pdu, link, latencyMs)
    },
    onTimeout(token) {
      tell(token, 'noAnswer', null)
      events.onTimeout(token)
    },
    onLost(tokens, link) {
      for (const token of tokens) tell(token, 'noAnswer', null)
      events.onLost(tokens, link)
    },
  }
}

function resultOf(pdu: ResponsePdu, carrier: Carrier): SubmitResult {
  if (pdu.command === 'generic_nack' && pdu.status === 0) return 'refused'
  const { kind } = submitOutcome(pdu.status, carrier.submitOutcomes)
  return kind === 'accepted' || kind === 'throttled' ? kind : 'refused'
}
