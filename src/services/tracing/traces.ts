import type { Attributes } from '@opentelemetry/api'
import type { SubmitResult } from '../../domain/carriers/statuses.ts'
import type { Carrier, Route } from '../../domain/configuration/configuration.ts'
import type { Directory } from '../../domain/configuration/directory.ts'
import { eventId } from '../../domain/identifiers.ts'
import type { Accepted } from '../../domain/journal/message-facts.ts'
import type { Dispatch } from '../../domain/journal/messages-in-progress.ts'
import type { StateChange } from '../../domain/statistics/tallies.ts'
import { isTraced, parseTraceparent, rootSpan, webhookSpan } from '../../domain/trace-context.ts'
import type { OnWritten } from '../../operations/batches.ts'
import type { ReceivedInbound } from '../../operations/receive-inbound.ts'
import type { DeliveryOutcome } from '../../outbound/webhook-post.ts'
import type { WebhookEvent } from '../../store/event-deliveries.ts'
import { type FinishedSpan, SpanQueue, type SpanQueueOptions } from './span-queue.ts'

export interface TracesOptions extends SpanQueueOptions {
  /** Of all messages, from 0 to 1. */
  readonly share: number
  readonly directory: () => Directory
  /** Unix milliseconds. */
  readonly clock: () => number
}

/** One submit_sm, as the submitter knows it. */
interface Submit {
  readonly job: {
    readonly dispatch: Dispatch
    readonly carrier: Carrier
    readonly route: Pick<Route, 'id'>
  }
  /** Index among the PDUs of the text. */
  readonly index: number
  /** By the monotonic clock. */
  readonly sentAtMs: number
}

/** More than a clock of whole milliseconds jitters. */
const MOST_DRIFT_MS = 2
/** Messages of one batch that its span is linked to. */
const MOST_LINKS = 128

/**
 * What spans say of sampled messages (docs/tracing.md). Callers ask `samples` before anything else, so that a message that is not
 * traced costs no more than that. No attribute has a number, a text, a URL or a secret.
 */
export class Traces {
  readonly #options: TracesOptions
  readonly #spans: SpanQueue
  /** Unix time minus the monotonic clock. Kept while it is nearly right, so that spans of this process keep their order. */
  #epochMs = 0

  constructor(options: TracesOptions) {
    this.#options = options
    this.#spans = new SpanQueue(options)
  }

  samples(msgId: string): boolean {
    return isTraced(msgId, this.#options.share)
  }

  /** A send was committed `elapsedMs` after its request. `cause`: the request's own `traceparent`. */
  accepted(msgId: string, accepted: Accepted, elapsedMs: number, cause: string | undefined): void {
    const link = cause === undefined ? null : parseTraceparent(cause)
    this.#spans.add({
      name: 'accept',
      kind: 'SERVER',
      ...this.#since(elapsedMs),
      ids: rootSpan(msgId),
      attributes: { ...this.#about(msgId, accepted.planId), 'aldis.segments': accepted.segments },
      ...(link !== null && { links: [link] }),
    })
  }

  /** `commandStatus`: null without an answer. */
  submitted({ job, index, sentAtMs }: Submit, result: SubmitResult, commandStatus: number | null): void {
    const { msgId, planId, failedAttempts } = job.dispatch
    this.#add(msgId, planId, {
      name: 'submit_sm',
      kind: 'CLIENT',
      ...this.#since(performance.now() - sentAtMs),
      failed: result !== 'accepted',
      attributes: {
        'aldis.carrier': job.carrier.name,
        'aldis.route': this.#routeName(job.route.id),
        'aldis.pdu': index + 1,
        'aldis.attempt': failedAttempts + 1,
        'aldis.result': result,
        ...(commandStatus !== null && { 'smpp.command_status': commandStatus }),
      },
    })
  }

  /** A fact has changed the state of a message. Of these, receipts have spans: from their arrival to their COMMIT. */
  changed({ message: { msgId, accepted }, after, fact }: StateChange): void {
    if (fact.kind !== 'receipt') return
    const { carrierId, receivedAt, outcome, errorCode } = fact.evidence
    this.#add(msgId, accepted.planId, {
      name: 'receipt',
      kind: 'CONSUMER',
      startMs: Date.parse(receivedAt),
      endMs: this.#options.clock(),
      failed: outcome === 'FAILED',
      attributes: {
        'aldis.carrier': this.#carrierName(carrierId),
        'aldis.receipt': outcome,
        'aldis.status': after.status,
        'aldis.error_code': errorCode,
      },
    })
  }

  /** An attempt to deliver an event has ended. */
  attempted(event: WebhookEvent, outcome: DeliveryOutcome): void {
    const { msgId, planId, sequence, earlierAttempts, payload } = event
    const attempt = earlierAttempts + event.failedAttempts + 1
    const { status, error, latencyMs } = outcome
    this.#add(msgId, planId, {
      name: 'webhook',
      kind: 'CLIENT',
      ...this.#since(latencyMs),
      failed: !outcome.ok,
      ids: webhookSpan({ eventId: eventId(event), attempt }),
      attributes: {
        'aldis.sequence': sequence,
        'aldis.attempt': attempt,
        ...(payload.direction === 'MT' && {
          'aldis.status': payload.message.status,
          'aldis.error_code': payload.message.errorCode,
        }),
        ...(status !== null && { 'http.response.status_code': status }),
        ...(error !== null && { 'error.type': error }),
      },
    })
  }

  /** An inbound message was recorded. */
  received({ inbound: { msgId, planId }, carrierId }: ReceivedInbound): void {
    this.#spans.add({
      name: 'receive',
      kind: 'CONSUMER',
      ...this.#since(0),
      ids: rootSpan(msgId),
      attributes: { ...this.#about(msgId, planId), 'aldis.carrier': this.#carrierName(carrierId) },
    })
  }

  /** Has a span if a message of it is traced. */
  readonly written: OnWritten = (batch, messages, sinceMs) => {
    const traced = new Set<string>()
    let size = 0
    for (const { msgId } of messages) {
      size += 1
      if (traced.size < MOST_LINKS && this.samples(msgId)) traced.add(msgId)
    }
    if (traced.size === 0) return
    this.#spans.add({
      name: batch,
      kind: 'INTERNAL',
      ...this.#since(performance.now() - sinceMs),
      attributes: { 'aldis.batch_size': size },
      links: [...traced].map(rootSpan),
    })
  }

  stop(): Promise<void> {
    return this.#spans.stop()
  }

  #add(msgId: string, planId: number, span: FinishedSpan): void {
    const attributes = { ...this.#about(msgId, planId), ...span.attributes }
    this.#spans.add({ ...span, parent: rootSpan(msgId), attributes })
  }

  #since(elapsedMs: number): Pick<FinishedSpan, 'startMs' | 'endMs'> {
    const monotonicMs = performance.now()
    const epochMs = this.#options.clock() - monotonicMs
    if (Math.abs(epochMs - this.#epochMs) > MOST_DRIFT_MS) this.#epochMs = epochMs
    const endMs = this.#epochMs + monotonicMs
    return { startMs: endMs - elapsedMs, endMs }
  }

  #about(msgId: string, planId: number): Attributes {
    const { servicePlanId } = this.#options.directory().planById(planId) ?? {}
    return {
      'aldis.msg_id': msgId,
      ...(servicePlanId !== undefined && { 'aldis.service_plan_id': servicePlanId }),
    }
  }

  #carrierName(id: number): string {
    return this.#options.directory().carrierById(id)?.name ?? String(id)
  }

  #routeName(id: number): string {
    return this.#options.directory().contents.routes.find((route) => route.id === id)?.name ?? String(id)
  }
}
