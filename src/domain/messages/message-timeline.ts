import { type KeptReceipt, readKept } from '../carriers/receipts.ts'
import { formatCommandStatus } from '../configuration/configuration.ts'
import { receiptErrorMessage } from '../error-codes.ts'
import type { EventState } from '../events.ts'
import type { Attempted } from '../journal/message-facts.ts'
import type { Status } from './messages.ts'

/** What happened to an outbound message, in order, for people. */
export interface TimelineEntry {
  /** ISO 8601. */
  readonly at: string
  readonly what: 'status' | 'attempt' | 'submit answer' | 'receipt' | 'webhook event' | 'webhook'
  readonly detail: string
}

/** Characters of a receiver's answer that a timeline shows. */
const SHOWN_HEAD = 100

/** What a timeline is made of; times are ISO 8601. */
export interface Travelled {
  readonly status: Status
  readonly errorCode: string
  readonly carrierCode: string | null
  readonly segments: number
  readonly createdAt: string
  readonly sentAt: string | null
  readonly updatedAt: string
  readonly attempts: readonly TravelAttempt[]
  readonly submissions: readonly TravelSubmission[]
  readonly receipts: readonly TravelReceipt[]
  readonly webhookAttempts: readonly TravelWebhook[]
  readonly webhookEvents: readonly TravelEvent[]
}

/** What happened at one attempt to submit it. */
export interface TravelAttempt
  extends Pick<Attempted, 'outcome' | 'commandStatus' | 'segment' | 'resubmission' | 'reason'> {
  /** When its first submit_sm was sent. */
  readonly attemptedAt: string
  /** When its last answer came, or was no longer awaited. */
  readonly endedAt: string | null
  readonly carrier: string | null
}

/** A segment that a carrier accepted. What its receipt said is kept when there are several segments. */
export interface TravelSubmission {
  readonly segment: number
  readonly carrierMessageId: string
  readonly carrier: string | null
  /** When its submit_sm was sent, and when its answer came. */
  readonly sentAt: string | null
  readonly answeredAt: string | null
  readonly outcome: Status | null
  readonly errorCode: string | null
  readonly carrierCode: string | null
  readonly receiptAt: string | null
}

/** One POST of an event. */
export interface TravelWebhook {
  readonly event: number
  readonly attempt: number
  readonly attemptedAt: string
  readonly latencyMs: number
  readonly responseStatus: number | null
  /** Name of the error that occurred before there was an answer. */
  readonly error: string | null
  /** The first 1 KiB of the answer. */
  readonly responseHead: string | null
}

/** An event its customer is told of; `dueAt` null: no attempt is planned. */
export interface TravelEvent {
  readonly event: number
  readonly status: Status
  readonly state: EventState
  readonly attempts: number
  readonly occurredAt: string
  readonly deliveredAt: string | null
  readonly dueAt: string | null
}

/** A receipt on record; `receipt` null: it came before receipts were kept. */
export interface TimelineReceipt {
  readonly receivedAt: string
  /** When its message was found; null: it was not parked, or for less than a second. */
  readonly matchedAt: string | null
  readonly carrier: string | null
  /** Null when the message has one segment: the id is that of its submission. */
  readonly carrierMessageId: string | null
  /** The status it was read as; SENT: an intermediate receipt. */
  readonly outcome: Status
  readonly errorCode: string
  readonly receipt: KeptReceipt | null
}

/** A receipt and what it was read as. `text` null: it came before receipts were kept. */
export interface TravelReceipt extends Omit<TimelineReceipt, 'receipt'> {
  readonly carrierCode: string | null
  readonly text: string | null
  readonly tlvs: Readonly<Record<string, string>>
}

/** The receipts as shown: with the carrier's words, and with the id of the only segment when they have none. */
export function receiptsOf(
  recorded: readonly TimelineReceipt[],
  submissions: readonly { readonly carrierMessageId: string }[],
): TravelReceipt[] {
  const [submission] = submissions.length === 1 ? submissions : []
  return recorded.map(({ receipt, ...rest }) => {
    const read = receipt === null ? null : readKept(receipt)
    const carrierMessageId =
      rest.carrierMessageId ?? submission?.carrierMessageId ?? read?.carrierMessageId ?? null
    return {
      ...rest,
      carrierMessageId,
      carrierCode: read?.carrierCode ?? null,
      text: receipt?.text ?? null,
      tlvs: receipt?.tlvs ?? {},
    }
  })
}

/** Every attempt: those on record, and the one that was accepted at once, which only the message itself shows. */
export function attemptsOf(
  recorded: readonly TravelAttempt[],
  message: Pick<Travelled, 'sentAt' | 'submissions'> & {
    readonly carrier: string | null
    readonly routeReason: string | null
  },
): TravelAttempt[] {
  const { sentAt: endedAt, carrier, routeReason: reason, submissions } = message
  if (endedAt === null || recorded.some(({ outcome }) => outcome === 'accepted')) return [...recorded]
  const sent = submissions.flatMap((one) => (one.carrier === carrier ? (one.sentAt ?? []) : []))
  const attemptedAt = sent.sort()[0] ?? endedAt
  const accepted = { outcome: 'accepted', commandStatus: null, segment: null, resubmission: false } as const
  return [...recorded, { attemptedAt, endedAt, carrier, ...accepted, reason }]
}

/** Everything that is known to have happened, oldest first. Entries of one instant are in the order of cause and effect. */
export function timelineOf(message: Travelled): TimelineEntry[] {
  const entries: TimelineEntry[] = [
    { at: message.createdAt, what: 'status', detail: 'QUEUED' },
    ...message.attempts.map((attempt) => attemptEntry(attempt, message)),
    ...(message.segments > 1 ? message.submissions.flatMap((one) => answerEntry(one, message)) : []),
    ...(message.sentAt === null ? [] : [{ at: message.sentAt, what: 'status', detail: 'SENT' } as const]),
    ...(message.receipts.length > 0
      ? message.receipts.map((receipt) => receiptEntry(receipt, message))
      : message.submissions.flatMap((submission) => segmentEntry(submission, message.segments))),
    ...lastStatus(message),
    ...message.webhookEvents.map(eventEntry),
    ...message.webhookAttempts.map(webhookEntry),
  ]
  return entries.sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
}

function attemptEntry(attempt: TravelAttempt, { segments, submissions }: Travelled): TimelineEntry {
  const { attemptedAt, endedAt, carrier, outcome, commandStatus, segment, resubmission, reason } = attempt
  const code = commandStatus === null ? '' : ` ${formatCommandStatus(commandStatus)}`
  const which = segments > 1 && segment !== null ? `, segment ${segment + 1} of ${segments}` : ''
  const took =
    endedAt === null || endedAt === attemptedAt ? '' : `, after ${msBetween(attemptedAt, endedAt)} ms`
  const flag = resubmission ? ', sent again although an earlier attempt may have come through' : ''
  const why = reason === null ? '' : ` (${reason})`
  const ids = outcome === 'accepted' ? acceptedAs(submissions.filter((one) => one.carrier === carrier)) : ''
  return {
    at: attemptedAt,
    what: 'attempt',
    detail: `${carrier ?? 'an unknown carrier'}: ${outcome}${code}${which}${ids}${took}${flag}${why}`,
  }
}

/** The answer to one segment of several. */
function answerEntry(submission: TravelSubmission, { segments }: Travelled): TimelineEntry[] {
  const { segment, carrierMessageId, carrier, sentAt, answeredAt } = submission
  if (sentAt === null || answeredAt === null) return []
  const which = `segment ${segment + 1} of ${segments}, id ${carrierMessageId}`
  const detail = `${carrier ?? 'an unknown carrier'}: ${which}, after ${msBetween(sentAt, answeredAt)} ms`
  return [{ at: answeredAt, what: 'submit answer', detail }]
}

function msBetween(start: string, end: string): number {
  return Date.parse(end) - Date.parse(start)
}

/** The carrier's ids, in the order of the segments. */
function acceptedAs(submissions: readonly TravelSubmission[]): string {
  const ids = [...new Set(submissions.map(({ carrierMessageId }) => carrierMessageId))]
  if (ids.length === 0) return ''
  return `, ${ids.length === 1 ? 'id' : 'ids'} ${ids.join(' ')}`
}

function receiptEntry(receipt: TravelReceipt, { segments, submissions }: Travelled): TimelineEntry {
  const { receivedAt, matchedAt, carrierMessageId, outcome, errorCode, carrierCode, text, tlvs } = receipt
  const numbers = submissions
    .filter((one) => one.carrierMessageId === carrierMessageId)
    .map(({ segment }) => segment + 1)
  const which = segments > 1 && numbers.length > 0 ? `segment ${numbers.join(', ')} of ${segments}, ` : ''
  const code = errorCode === '000' ? '' : ` ${errorCode}`
  const raw = carrierCode === null ? '' : `, carrier: ${carrierCode}`
  const parked = matchedAt === null ? '' : `, parked until ${matchedAt}`
  const kept = text === null ? '' : `, text: ${JSON.stringify(text)}`
  const values = Object.entries(tlvs).map(([name, value]) => `, ${name}: ${value}`)
  const detail = `${which}id ${carrierMessageId ?? '-'}: ${outcome}${code}${raw}${parked}${kept}${values.join('')}`
  return { at: receivedAt, what: 'receipt', detail }
}

/** What the receipt of a segment said, when the receipt itself was not kept. */
function segmentEntry(submission: TravelSubmission, segments: number): TimelineEntry[] {
  const { segment, carrierMessageId, outcome, carrierCode, receiptAt } = submission
  if (outcome === null || receiptAt === null) return []
  const raw = carrierCode === null ? '' : `, carrier: ${carrierCode}`
  const detail = `segment ${segment + 1} of ${segments}, id ${carrierMessageId}: ${outcome}${raw}`
  return [{ at: receiptAt, what: 'receipt', detail }]
}

function lastStatus({ status, errorCode, carrierCode, updatedAt }: Travelled): TimelineEntry[] {
  if (status === 'QUEUED' || status === 'SENT') return []
  const why = errorCode === '000' ? '' : ` ${errorCode} ${receiptErrorMessage(status, errorCode)}`
  const raw = carrierCode === null ? '' : `, carrier: ${carrierCode}`
  return [{ at: updatedAt, what: 'status', detail: `${status}${why}${raw}` }]
}

function webhookEntry(attempt: TravelWebhook): TimelineEntry {
  const answer = attempt.responseStatus === null ? attempt.error : `HTTP ${attempt.responseStatus}`
  const head = attempt.responseHead ?? ''
  const cut = head.length > SHOWN_HEAD ? `${head.slice(0, SHOWN_HEAD).toWellFormed()}…` : head
  const body = cut === '' ? '' : `: ${JSON.stringify(cut)}`
  return {
    at: attempt.attemptedAt,
    what: 'webhook',
    detail: `event ${attempt.event}, attempt ${attempt.attempt}: ${answer ?? 'no answer'} after ${attempt.latencyMs} ms${body}`,
  }
}

function eventEntry(event: TravelEvent): TimelineEntry {
  const detail = `event ${event.event} (${event.status}): ${outcomeOf(event)}`
  return { at: event.occurredAt, what: 'webhook event', detail }
}

function outcomeOf({ state, attempts, deliveredAt, dueAt }: TravelEvent): string {
  if (state === 'kept') return 'kept, for there is no URL'
  const count = `${attempts} attempt${attempts === 1 ? '' : 's'}`
  if (state === 'failed') return `failed after ${count}`
  if (state === 'delivered') return `delivered ${deliveredAt} after ${count}`
  return `${count}, ${dueAt === null ? 'waits for its destination' : `due ${dueAt}`}`
}
