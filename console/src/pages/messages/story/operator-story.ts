import type {
  InspectedMessage,
  Receipt,
  SegmentSubmission,
  SubmitAttempt,
} from '../../../../../client/src/admin-api.ts'
import { meaningOf } from '../../../kit/error-codes.ts'
import { MESSAGE_CAUSES } from '../../../kit/waiting.ts'
import { acceptedEntry } from './customer-story.ts'
import {
  inOrder,
  type Status,
  type StatusChange,
  type Story,
  type StoryEntry,
  type StoryEvent,
  statusesOf,
  TONES,
} from './entries.ts'
import { waitEntry } from './wait-entry.ts'
import { webhookEntries } from './webhook-entries.ts'

/** A message with everything that the carriers had said at `nowMs`. */
export function operatorStory(
  message: InspectedMessage,
  events: readonly StoryEvent[],
  nowMs: number,
): Story {
  const statuses = statusesOf(message, events)
  const carrier = [
    ...message.attempts.map((attempt, index) => submitEntry(message, attempt, index)),
    ...(message.receipts.length > 0
      ? message.receipts.map((receipt, index) => receiptEntry(message, receipt, index))
      : message.submissions.flatMap((submission) => segmentEntry(message, submission))),
  ]
  return {
    acceptedMs: Date.parse(message.createdAt),
    statuses,
    entries: inOrder([
      acceptedEntry(message),
      ...carrier,
      ...unexplained(message, statuses),
      ...waitEntry(message.status, message.waiting, MESSAGE_CAUSES, nowMs),
      ...webhookEntries(events, message.callbackUrl),
    ]),
  }
}

const OUTCOMES = {
  accepted: { tone: 'info', title: (carrier: string) => `Accepted by ${carrier}` },
  refused: { tone: 'bad', title: (carrier: string) => `Refused by ${carrier}` },
  retry: { tone: 'warning', title: (carrier: string) => `${carrier} asked to try later` },
  'no-answer': { tone: 'warning', title: (carrier: string) => `In doubt: no answer from ${carrier}` },
} as const

function submitEntry(message: InspectedMessage, attempt: SubmitAttempt, index: number): StoryEntry {
  const { attemptedAt, outcome, commandStatus, resubmission, reason } = attempt
  const carrier = attempt.carrier ?? 'a carrier that is gone'
  const known = OUTCOMES[outcome as keyof typeof OUTCOMES]
  const accepted =
    outcome === 'accepted' ? message.submissions.filter((one) => one.carrier === attempt.carrier) : []
  const code = commandStatus === null ? null : `0x${commandStatus.toString(16).padStart(8, '0')}`
  const ids = [...new Set(accepted.map(({ carrierMessageId }) => carrierMessageId))]
  return {
    id: `attempt ${index}`,
    lane: 'carrier',
    atMs: Date.parse(attemptedAt),
    tone: known?.tone ?? 'neutral',
    title: known?.title(carrier) ?? `${carrier}: ${outcome}`,
    detail: code ?? (message.segments === 1 ? (ids[0] ?? null) : `${message.segments} segments`),
    facts: [
      ['Route', message.route],
      ['Why', reason],
      ['Carrier', attempt.carrier],
      ['command_status', code],
      ['Sent again', resubmission ? 'An earlier attempt may have reached the carrier' : null],
      ...accepted.map((one) => [segmentName(message, one.segment), one.carrierMessageId] as const),
    ],
  }
}

function segmentName({ segments }: InspectedMessage, segment: number): string {
  return segments === 1 ? "Carrier's id" : `Segment ${segment + 1} of ${segments}`
}

/** A receipt that says SENT is an intermediate one. */
function receiptEntry(message: InspectedMessage, receipt: Receipt, index: number): StoryEntry {
  const { receivedAt, carrier, carrierMessageId, outcome, errorCode, carrierCode, text, tlvs } = receipt
  const numbers = message.submissions
    .filter((one) => one.carrierMessageId === carrierMessageId)
    .map(({ segment }) => segment + 1)
  const isPart = message.segments > 1 && numbers.length > 0
  const raw = [
    ...(text === null ? [] : [['Text', text] as const]),
    ...Object.entries(tlvs).map(([name, octets]) => [name, octets] as const),
  ]
  return {
    id: `receipt ${index}`,
    lane: 'carrier',
    atMs: Date.parse(receivedAt),
    tone: TONES[outcome as Status] ?? 'neutral',
    title: outcome === 'SENT' ? 'Intermediate receipt' : `Receipt: ${outcome}`,
    detail:
      [isPart ? `segment ${numbers.join(', ')} of ${message.segments}` : null, carrierCode]
        .filter((part) => part !== null)
        .join(' · ') || null,
    facts: [
      ['Read as', outcome],
      ['Error code', codeOf(errorCode)],
      ['Carrier', carrier],
      ["Carrier's id", carrierMessageId],
      ["Carrier's code", carrierCode],
    ],
    ...(raw.length > 0 && { raw }),
  }
}

function codeOf(errorCode: string | null): string | null {
  if (errorCode === null || errorCode === '000') return null
  return [errorCode, meaningOf(errorCode)?.title].join(' ')
}

/** What the receipt of a segment said, where the receipt itself was not kept. */
function segmentEntry(message: InspectedMessage, submission: SegmentSubmission): StoryEntry[] {
  const { segment, carrierMessageId, outcome, errorCode, carrierCode, carrier, receiptAt } = submission
  if (outcome === null || receiptAt === null) return []
  return [
    {
      id: `segment ${segment} ${carrierMessageId}`,
      lane: 'carrier',
      atMs: Date.parse(receiptAt),
      tone: TONES[outcome as Status] ?? 'neutral',
      title: `Receipt: ${outcome}`,
      detail: `segment ${segment + 1} of ${message.segments}`,
      facts: [
        ['Carrier', carrier],
        ["Carrier's id", carrierMessageId],
        ["Carrier's code", carrierCode],
        ['Error code', codeOf(errorCode)],
      ],
    },
  ]
}

/** Changes that no carrier caused: the recipient has opted out, the validity has ended, no receipt came in time. */
function unexplained(message: InspectedMessage, statuses: readonly StatusChange[]): StoryEntry[] {
  const isCaused = ({ status }: StatusChange) =>
    status === 'QUEUED' ||
    message.receipts.some(({ outcome }) => outcome === status) ||
    message.submissions.some(({ outcome }) => outcome === status) ||
    message.attempts.some(({ outcome }) => CAUSES[outcome as keyof typeof CAUSES] === status)
  return statuses
    .filter((change) => !isCaused(change))
    .map(({ status, atMs }) => ({
      id: status,
      lane: 'carrier',
      atMs,
      tone: TONES[status],
      title: status === message.status ? (meaningOf(message.errorCode)?.title ?? status) : status,
      detail: message.carrierCode,
      facts: [
        ['Status', status],
        ['Error code', status === message.status ? codeOf(message.errorCode) : null],
      ],
    }))
}

const CAUSES = { accepted: 'SENT', refused: 'FAILED', 'no-answer': 'UNKNOWN' } as const
