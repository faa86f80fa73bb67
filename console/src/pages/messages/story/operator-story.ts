import type {
  InspectedMessage,
  Receipt,
  SegmentSubmission,
  SubmitAttempt,
} from '../../../../../client/src/admin-api.ts'
import { meaningOf } from '../../../kit/error-codes.ts'
import { duration } from '../../../kit/formats.ts'
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
    ...(message.segments > 1 ? message.submissions.flatMap((one) => answerEntry(message, one)) : []),
    ...(message.receipts.length > 0
      ? message.receipts.flatMap((receipt, index) => [
          receiptEntry(message, receipt, index),
          ...matchEntry(receipt, index),
        ])
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
  const { attemptedAt, endedAt, outcome, commandStatus, segment, resubmission, reason } = attempt
  const { segments } = message
  const carrier = attempt.carrier ?? 'an unknown carrier'
  const known = OUTCOMES[outcome as keyof typeof OUTCOMES]
  const code = commandStatus ? `0x${commandStatus.toString(16).padStart(8, '0')}` : null
  const only =
    outcome === 'accepted' && segments === 1
      ? message.submissions.find((one) => one.carrier === attempt.carrier)
      : undefined
  const which = segments > 1 && segment !== null ? nameOf(message, segment) : null
  return {
    id: `attempt ${index}`,
    lane: 'carrier',
    tone: known?.tone ?? 'neutral',
    title: known?.title(carrier) ?? `${carrier}: ${outcome}`,
    ...timed(
      attemptedAt,
      endedAt,
      code ?? only?.carrierMessageId ?? (segments > 1 ? `${segments} segments` : null),
      which,
    ),
    facts: [
      ['Route', message.route],
      ['Why', reason],
      ['Carrier', attempt.carrier],
      ['command_status', code],
      ['Refused', which],
      ['Sent again', resubmission ? 'An earlier attempt may have reached the carrier' : null],
      ["Carrier's id", only?.carrierMessageId ?? null],
    ],
  }
}

/** What the carrier answered to one segment of several. */
function answerEntry(message: InspectedMessage, submission: SegmentSubmission): StoryEntry[] {
  const { segment, carrier, carrierMessageId, sentAt, answeredAt } = submission
  if (sentAt === null) return []
  return [
    {
      id: `answer ${segment} ${carrierMessageId}`,
      lane: 'carrier',
      tone: 'info',
      title: `Accepted: ${nameOf(message, segment)}`,
      ...timed(sentAt, answeredAt, carrierMessageId),
      facts: [
        ['Carrier', carrier],
        ["Carrier's id", carrierMessageId],
      ],
    },
  ]
}

/** When it was sent, when its answer came, and how long that took. */
function timed(sentAt: string, answeredAt: string | null, ...said: (string | null)[]) {
  const atMs = Date.parse(sentAt)
  const endMs = answeredAt === null ? atMs : Date.parse(answeredAt)
  const after = endMs > atMs ? `after ${duration(endMs - atMs)}` : null
  const detail = [...said, after].filter((part) => part !== null).join(' · ')
  return { atMs, ...(endMs > atMs && { endMs }), detail: detail || null }
}

function nameOf({ segments }: InspectedMessage, segment: number): string {
  return `segment ${segment + 1} of ${segments}`
}

/** A receipt that says SENT is an intermediate one. */
function receiptEntry(message: InspectedMessage, receipt: Receipt, index: number): StoryEntry {
  const { receivedAt, matchedAt, carrier, carrierMessageId, outcome, errorCode, carrierCode, text, tlvs } =
    receipt
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
      [
        isPart ? `segment ${numbers.join(', ')} of ${message.segments}` : null,
        carrierCode,
        matchedAt === null ? null : 'parked until its message was found',
      ]
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

/** A parked receipt has its effect only from now on. */
function matchEntry({ receivedAt, matchedAt, outcome }: Receipt, index: number): StoryEntry[] {
  if (matchedAt === null) return []
  const atMs = Date.parse(matchedAt)
  return [
    {
      id: `match ${index}`,
      lane: 'carrier',
      atMs,
      tone: TONES[outcome as Status] ?? 'neutral',
      title: 'Parked receipt matched',
      detail: `${outcome} · after ${duration(atMs - Date.parse(receivedAt))}`,
      facts: [],
    },
  ]
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
      detail: nameOf(message, segment),
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
