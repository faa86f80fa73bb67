import { describe, expect, test } from 'vitest'
import {
  attemptsOf,
  receiptsOf,
  type TravelAttempt,
  type Travelled,
  timelineOf,
} from '../../../src/domain/messages/message-timeline.ts'

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, seconds)).toISOString()

function travelled(changes: Partial<Travelled> = {}): Travelled {
  return {
    status: 'SENT',
    errorCode: '000',
    carrierCode: null,
    segments: 1,
    createdAt: at(0),
    sentAt: at(1),
    updatedAt: at(1),
    attempts: [],
    submissions: [],
    receipts: [],
    webhookAttempts: [],
    webhookEvents: [],
    ...changes,
  }
}

function event(
  changes: Partial<Travelled['webhookEvents'][number]> = {},
): Travelled['webhookEvents'][number] {
  const pending = { state: 'pending', attempts: 0, deliveredAt: null, dueAt: at(20) } as const
  return { event: 1, status: 'SENT', occurredAt: at(2), ...pending, ...changes }
}

/** Of a segment whose record has no times. */
const UNTIMED = { sentAt: null, answeredAt: null }

const lines = (message: Travelled) => timelineOf(message).map(({ what, detail }) => `${what}: ${detail}`)

describe('attemptsOf', () => {
  const retry: TravelAttempt = {
    attemptedAt: at(1),
    endedAt: at(2),
    carrier: 'acme',
    outcome: 'retry',
    commandStatus: 0x58,
    segment: null,
    resubmission: false,
    reason: null,
  }
  const message = { sentAt: at(5), carrier: 'backup', routeReason: 'acme is down', submissions: [] }

  test('a first one that was accepted is told by the message', () => {
    expect(attemptsOf([], message)).toEqual([
      {
        attemptedAt: at(5),
        endedAt: at(5),
        carrier: 'backup',
        outcome: 'accepted',
        commandStatus: null,
        segment: null,
        resubmission: false,
        reason: 'acme is down',
      },
    ])
  })

  test('nothing is made up for a message that was not sent, or whose acceptance is on record', () => {
    expect(attemptsOf([retry], { ...message, sentAt: null })).toEqual([retry])
    const accepted = { ...retry, outcome: 'accepted' } as const
    expect(attemptsOf([retry, accepted], message)).toEqual([retry, accepted])
  })
})

describe('timelineOf', () => {
  test('a waiting message, and one that is SENT', () => {
    expect(lines(travelled({ status: 'QUEUED', sentAt: null }))).toEqual(['status: QUEUED'])
    expect(lines(travelled())).toEqual(['status: QUEUED', 'status: SENT'])
  })

  test('the last status says why, and what the carrier said', () => {
    const failed = travelled({
      status: 'FAILED',
      errorCode: '303',
      carrierCode: 'UNDELIV 006',
      updatedAt: at(9),
    })
    expect(lines(failed).at(-1)).toBe(
      'status: FAILED 303 Subscriber absent or handset off, carrier: UNDELIV 006',
    )
    expect(lines(travelled({ status: 'DELIVERED', updatedAt: at(9) })).at(-1)).toBe('status: DELIVERED')
  })

  test('is in the order of time, whatever the order of the lists', () => {
    const entries = timelineOf(
      travelled({
        status: 'DELIVERED',
        updatedAt: at(9),
        segments: 2,
        submissions: [
          {
            segment: 1,
            carrierMessageId: 'b',
            carrier: null,
            ...UNTIMED,
            outcome: 'DELIVERED',
            errorCode: null,
            carrierCode: null,
            receiptAt: at(9),
          },
          {
            segment: 0,
            carrierMessageId: 'a',
            carrier: null,
            ...UNTIMED,
            outcome: 'UNKNOWN',
            errorCode: null,
            carrierCode: 'UNKNOWN',
            receiptAt: at(8),
          },
          {
            segment: 0,
            carrierMessageId: 'a2',
            carrier: null,
            ...UNTIMED,
            outcome: null,
            errorCode: null,
            carrierCode: null,
            receiptAt: null,
          },
        ],
        webhookAttempts: [
          {
            event: 1,
            attempt: 1,
            attemptedAt: at(2),
            latencyMs: 3,
            responseStatus: 503,
            error: null,
            responseHead: null,
          },
        ],
        webhookEvents: [event({ event: 2, status: 'DELIVERED', occurredAt: at(9) })],
      }),
    )
    const times = entries.map((entry) => Date.parse(entry.at))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(entries.map(({ what }) => what)).toEqual([
      'status',
      'status',
      'webhook',
      'receipt',
      'receipt',
      'status',
      'webhook event',
    ])
  })

  test.each<[Partial<Travelled['webhookEvents'][number]>, string]>([
    [{}, `0 attempts, due ${at(20)}`],
    [{ attempts: 3, dueAt: null }, '3 attempts, waits for its destination'],
    [{ state: 'delivered', attempts: 1, deliveredAt: at(5) }, `delivered ${at(5)} after 1 attempt`],
    [{ state: 'failed', attempts: 12, dueAt: null }, 'failed after 12 attempts'],
    [{ state: 'kept', dueAt: null }, 'kept, for there is no URL'],
  ])('a webhook event: %j', (changes, detail) => {
    const entry = { at: at(2), what: 'webhook event', detail: `event 1 (SENT): ${detail}` }
    expect(timelineOf(travelled({ webhookEvents: [event(changes)] }))).toContainEqual(entry)
  })
})

describe('receipts', () => {
  const submission = {
    segment: 0,
    carrierMessageId: '1f4',
    carrier: 'acme',
    sentAt: at(1),
    answeredAt: at(3),
    outcome: null,
    errorCode: null,
    carrierCode: null,
    receiptAt: null,
  }
  const recorded = {
    receivedAt: at(9),
    matchedAt: null,
    carrier: 'acme',
    carrierMessageId: null,
    outcome: 'FAILED',
    errorCode: '303',
    receipt: { text: 'id:500 stat:UNDELIV err:006', tlvs: { message_state: '5' } },
  } as const

  test('of one segment: the id of its submission, the words of the carrier, and the receipt as it came', () => {
    const receipts = receiptsOf([recorded], [submission])
    expect(receipts).toEqual([
      {
        receivedAt: at(9),
        matchedAt: null,
        carrier: 'acme',
        carrierMessageId: '1f4',
        outcome: 'FAILED',
        errorCode: '303',
        carrierCode: 'UNDELIV 006',
        text: 'id:500 stat:UNDELIV err:006',
        tlvs: { message_state: '5' },
      },
    ])
    expect(receiptsOf([recorded], [])[0]!.carrierMessageId).toBe('500')
    const attempts = attemptsOf([], {
      ...{ sentAt: at(3), carrier: 'acme', routeReason: null },
      submissions: [submission],
    })
    expect(lines(travelled({ sentAt: at(3), attempts, submissions: [submission], receipts }))).toEqual([
      'status: QUEUED',
      'attempt: acme: accepted, id 1f4, after 2000 ms',
      'status: SENT',
      'receipt: id 1f4: FAILED 303, carrier: UNDELIV 006, text: "id:500 stat:UNDELIV err:006", message_state: 5',
    ])
  })

  test('of several segments: which one; one that was not kept is told as far as it was read', () => {
    const second = { ...submission, segment: 1, carrierMessageId: '1f5' }
    const early = {
      ...recorded,
      carrierMessageId: '1f5',
      matchedAt: at(12),
      outcome: 'SENT',
      errorCode: '000',
      receipt: null,
    } as const
    const told = lines(
      travelled({
        segments: 2,
        submissions: [submission, second],
        receipts: receiptsOf([early], [submission, second]),
      }),
    )
    expect(told.at(-1)).toBe(`receipt: segment 2 of 2, id 1f5: SENT, parked until ${at(12)}`)
  })

  test('the answers to several segments, which are each of its own time, and the one that was refused', () => {
    const second = { ...submission, segment: 1, carrierMessageId: '1f5', sentAt: at(3), answeredAt: at(7) }
    const refused = {
      ...{ attemptedAt: at(1), endedAt: at(4), carrier: 'acme', commandStatus: 0x58 },
      outcome: 'retry',
      ...{ segment: 1, resubmission: false, reason: null },
    } as const
    const submissions = [submission, second]
    const attempts = attemptsOf([refused], {
      ...{ sentAt: at(7), carrier: 'acme', routeReason: null, submissions },
    })
    expect(lines(travelled({ segments: 2, sentAt: at(7), attempts, submissions }))).toEqual([
      'status: QUEUED',
      'attempt: acme: retry 0x00000058, segment 2 of 2, after 3000 ms',
      'attempt: acme: accepted, ids 1f4 1f5, after 6000 ms',
      'submit answer: acme: segment 1 of 2, id 1f4, after 2000 ms',
      'submit answer: acme: segment 2 of 2, id 1f5, after 4000 ms',
      'status: SENT',
    ])
  })

  test('the answer to a webhook, cut where it is long', () => {
    const attempt = {
      event: 1,
      attempt: 1,
      attemptedAt: at(2),
      latencyMs: 3,
      responseStatus: 500,
      error: null,
    }
    const webhookAttempts = [{ ...attempt, responseHead: `no\n${'x'.repeat(200)}` }]
    expect(lines(travelled({ webhookAttempts })).at(-1)).toBe(
      `webhook: event 1, attempt 1: HTTP 500 after 3 ms: "no\\n${'x'.repeat(97)}…"`,
    )
  })
})
