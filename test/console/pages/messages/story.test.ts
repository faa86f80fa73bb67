import { expect, it } from 'vitest'
import type { InspectedMessage } from '../../../../client/src/admin-api.ts'
import type { StoryAttempt, StoryEvent } from '../../../../console/src/pages/messages/story/entries.ts'
import { nextLookMs } from '../../../../console/src/pages/messages/story/next-look.ts'
import { operatorStory } from '../../../../console/src/pages/messages/story/operator-story.ts'
import { momentsOf, TimeScale } from '../../../../console/src/pages/messages/story/time-axis.ts'
import { waitEntry } from '../../../../console/src/pages/messages/story/wait-entry.ts'
import { webhookEntries } from '../../../../console/src/pages/messages/story/webhook-entries.ts'

const AT = Date.parse('2026-11-23T12:00:00Z')
const at = (ms: number) => new Date(AT + ms).toISOString()

const EVENT: StoryEvent = {
  eventId: 'id-1',
  status: 'SENT',
  state: 'pending',
  occurredAt: at(9),
  deliveredAt: null,
  attempts: 1,
  nextAttemptAt: at(60_000),
  destination: 'https://hooks.example.com:8443',
  attemptRecords: [
    {
      attempt: 1,
      attemptedAt: at(10),
      latencyMs: 5,
      responseStatus: 500,
      error: 'HTTP 500',
      requestHeaders: { 'user-agent': 'Aldis', 'aldis-attempt': '1' },
      responseHead: 'no',
    },
  ],
}
const MESSAGE = {
  ...{ msgId: 'm-1', accountId: 'a-1', servicePlanId: 'p-1', route: 'main', errorCode: '000' },
  ...{ carrierCode: null, callbackUrl: null, waiting: null },
}
const told = (event: Partial<StoryEvent>) =>
  webhookEntries([{ ...EVENT, ...event }], null).map(({ title, atMs }) => `${atMs - AT} ${title}`)

it('an event is its attempts, and what comes of them', () => {
  expect(told({})).toEqual(['10 SENT → HTTP 500', '60000 SENT waits for attempt 2'])
  expect(told({ state: 'failed', nextAttemptAt: null })).toEqual(['10 SENT → HTTP 500', '15 SENT given up'])
  expect(told({ state: 'kept', attempts: 0, attemptRecords: [] })).toEqual(['9 SENT kept'])
  expect(told({ state: 'delivered', deliveredAt: at(99), attemptRecords: [] })).toEqual(['99 SENT → taken'])
})

it('an attempt has the headers it was sent with, and what was answered', () => {
  const rawOf = (changes: Partial<StoryAttempt>) => {
    const attemptRecords = EVENT.attemptRecords.map((attempt) => ({ ...attempt, ...changes }))
    return webhookEntries([{ ...EVENT, attemptRecords }], null)[0]!.raw
  }
  expect(rawOf({})).toEqual([
    ['Headers of the request', 'user-agent: Aldis\naldis-attempt: 1'],
    ['Head of the answer', 'no'],
  ])
  expect(rawOf({ requestHeaders: null, responseHead: null })).toEqual([])
})

it('a message waits for a carrier, then for its receipt, and then for nothing', () => {
  const words = { 'carrier-unbound': 'waiting for a carrier that is not bound' }
  const wait = (status: string, cause: string | null, nextAttemptAt: string | null = null) =>
    waitEntry(status, { cause, nextAttemptAt }, words, AT).map(
      ({ atMs, tone, title, detail }) => `${atMs - AT} ${tone}: ${title}, ${detail}`,
    )
  expect(wait('QUEUED', 'carrier-unbound')).toEqual([
    '0 warning: Not submitted yet, waiting for a carrier that is not bound',
  ])
  expect(wait('QUEUED', 'retry', at(9_000))).toEqual(['9000 neutral: Not submitted yet, retry'])
  expect(wait('QUEUED', null)).toEqual(['0 neutral: Not submitted yet, about to move between nodes'])
  expect(wait('SENT', null)).toEqual(['0 neutral: Waiting for the receipt, undefined'])
  expect(wait('UNKNOWN', null)).toEqual([])
  expect(waitEntry('QUEUED', null, words, AT)).toEqual([])
})

it('segments are answered each at its own time; a receipt that was parked is matched later', () => {
  const submission = { carrier: 'acme', outcome: null, errorCode: null, carrierCode: null, receiptAt: null }
  const attempt = { carrier: 'acme', resubmission: false, reason: null }
  const story = operatorStory(
    {
      ...({
        ...MESSAGE,
        status: 'DELIVERED',
        segments: 2,
        createdAt: at(0),
        sentAt: at(50),
      } as InspectedMessage),
      updatedAt: at(3_000),
      attempts: [
        {
          ...{ ...attempt, attemptedAt: at(5), endedAt: at(9), outcome: 'retry', commandStatus: 0x58 },
          segment: 1,
        },
        {
          ...{ ...attempt, attemptedAt: at(5), endedAt: at(50), outcome: 'accepted', commandStatus: 0 },
          segment: null,
        },
      ],
      submissions: [
        { ...submission, segment: 0, carrierMessageId: 'a1', sentAt: at(5), answeredAt: at(8) },
        { ...submission, segment: 1, carrierMessageId: 'b2', sentAt: at(30), answeredAt: at(50) },
      ],
      receipts: [
        {
          ...{ receivedAt: at(40), matchedAt: at(3_000), carrier: 'acme', carrierMessageId: 'b2' },
          ...{ outcome: 'DELIVERED', errorCode: '000', carrierCode: null, text: null, tlvs: {} },
        },
      ],
    },
    [],
    AT + 9_000,
  )
  expect(story.entries.map(({ atMs, title, detail }) => `${atMs - AT} ${title}: ${detail}`)).toEqual([
    '0 Accepted: 202, 2 segments',
    '5 acme asked to try later: 0x00000058 · segment 2 of 2 · after 4 ms',
    '5 Accepted by acme: 2 segments · after 45 ms',
    '5 Accepted: segment 1 of 2: a1 · after 3 ms',
    '30 Accepted: segment 2 of 2: b2 · after 20 ms',
    '40 Receipt: DELIVERED: segment 2 of 2 · parked until its message was found',
    '3000 Parked receipt matched: DELIVERED · after 2.96 s',
  ])
})

it('a change of status is shown at what caused it', () => {
  const entry = (atMs: number, isPlanned = false) => ({
    id: String(atMs),
    lane: 'carrier' as const,
    atMs,
    tone: 'info' as const,
    title: '',
    facts: [],
    isPlanned,
  })
  const moments = momentsOf({
    acceptedMs: 0,
    entries: [entry(0), entry(9), entry(9), entry(5_000, true)],
    statuses: [
      { status: 'QUEUED', atMs: 0 },
      { status: 'SENT', atMs: 10 },
    ],
  })
  expect(moments.map(({ offsetMs, gapMs, change }) => [offsetMs, gapMs, change?.status ?? null])).toEqual([
    [0, 0, 'QUEUED'],
    [9, 9, 'SENT'],
    [5_000, 4_991, null],
  ])
})

it('milliseconds and hours both have room', () => {
  const scale = new TimeScale([0, 9, 260, 7_200_000])
  const places = [0, 9, 260, 7_200_000].map((instant) => scale.placeOf(instant))
  expect(places[0]).toBe(0)
  expect(places[1]).toBeGreaterThan(0.1)
  expect(places[2]! - places[1]!).toBeGreaterThan(0.2)
  expect(places[3]).toBe(1)
})

it('is read again while something can change', () => {
  const now = AT + 3_600_000
  const look = (status: string, event: Partial<StoryEvent> = { state: 'delivered' }) =>
    nextLookMs({ status, updatedAt: at(0) }, [{ ...EVENT, status, ...event }], now)
  expect(look('SENT')).toBe(1_500)
  expect(look('DELIVERED')).toBe(false)
  expect(look('UNKNOWN')).toBe(10_000)
  expect(look('DELIVERED', { nextAttemptAt: new Date(now + 3_600_000).toISOString() })).toBe(10_000)
  expect(look('DELIVERED', { nextAttemptAt: null })).toBe(1_500)
  // Its last event is not there yet.
  expect(nextLookMs({ status: 'DELIVERED', updatedAt: at(0) }, [], AT + 100)).toBe(1_500)
})
