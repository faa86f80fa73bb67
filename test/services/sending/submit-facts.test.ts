import { describe, expect, test } from 'vitest'
import type { SubmitRefusal } from '../../../src/domain/carriers/submission-progress.ts'
import type { Rate } from '../../../src/domain/configuration/configuration.ts'
import type { Dispatch } from '../../../src/domain/journal/messages-in-progress.ts'
import {
  attemptOf,
  type Ending,
  endAfterRefusal,
  endBeforeSubmit,
  postponementOf,
  restOf,
  settlementOf,
  submittedWith,
} from '../../../src/services/sending/submit-facts.ts'
import type { SubmitJob } from '../../../src/services/sending/submit-job.ts'
import { aCarrier, aDirectory } from '../../support/directory.ts'
import { aDispatch, aJob } from '../../support/submit-jobs.ts'

const nowMs = Date.now()

describe('an attempt', () => {
  test('is not written when it is the first and was accepted', () => {
    expect(attemptOf(aJob(), nowMs, 'accepted')).toBeNull()
    expect(attemptOf(aJob(), nowMs, 'no-answer')).toMatchObject({
      atMs: nowMs,
      tookMs: 0,
      commandStatus: null,
    })
  })

  test('names the segment that was refused, unless one PDU has them all', () => {
    const refusal = { outcome: 'permanent', commandStatus: 0x0b, pdu: 1 } as const
    const body = 'part '.repeat(80)
    const refused = attemptOf(aJob({ body }), nowMs, 'refused', { refusal })
    expect(refused).toMatchObject({ outcome: 'refused', commandStatus: 0x0b, segment: 1 })
    const whole = aJob({ body }, aCarrier({ longMessages: 'payload' }))
    expect(attemptOf(whole, nowMs, 'refused', { refusal: { ...refusal, pdu: 0 } })).toMatchObject({
      segment: null,
    })
  })

  test.each([
    [{ failedAttempts: 1 }, false],
    [{ carrierId: 1 }, false],
    [{ ambiguous: true }, true],
  ])('is, of a message with %j', (changes, resubmission) => {
    const job = aJob(changes)
    job.startedAtMs = nowMs - 40
    expect(attemptOf(job, nowMs, 'accepted')).toEqual({
      kind: 'attempted',
      atMs: nowMs - 40,
      tookMs: 40,
      carrierId: 1,
      outcome: 'accepted',
      commandStatus: 0,
      segment: null,
      resubmission,
      reason: 'only carrier',
    })
  })
})

describe('what is left of a job', () => {
  const body = 'part '.repeat(80)

  test('without an attempt names no carrier, unless that has parts of the message', () => {
    const job = aJob({ body })
    expect(restOf(job)).toBe(job.dispatch)
    job.progress.acceptedEarlier(1)
    expect(restOf(job)).toMatchObject({ carrierId: 1, acceptedPduBits: 2n })
  })

  test('after an attempt names its carrier', () => {
    expect(restOf(aJob(), true)).toMatchObject({ carrierId: 1, acceptedPduBits: 0n })
  })

  test('keeps the parts that another carrier has until parts of it are accepted anew', () => {
    const begun = { acceptedPduBits: 0b1n, segmentation: 'udh GSM7 3', carrierId: 1 }
    const job = aJob({ body, segments: 3, ...begun }, aCarrier({ id: 2, longMessages: 'sar' }))
    expect(job).toMatchObject({ startedOver: true, isResubmission: true })
    for (const wasTried of [false, true])
      expect(restOf(job, wasTried)).toMatchObject({ ...begun, startedOver: false })
    job.progress.acceptedEarlier(2)
    const anew = { acceptedPduBits: 0b100n, segmentation: 'sar GSM7 3', startedOver: true, carrierId: 2 }
    for (const wasTried of [false, true]) expect(restOf(job, wasTried)).toMatchObject(anew)
    // Wherever it goes on from there, it is flagged.
    expect(aJob(restOf(job), aCarrier({ longMessages: 'sar' }))).toMatchObject({ isResubmission: true })
  })
})

test('a message that waits has what its attempt has changed', () => {
  const waiting = aDispatch({ failedAttempts: 2 })
  expect(postponementOf(waiting, { delayMs: 4.2, ambiguous: true, routeId: 7 }, 1_000)).toMatchObject({
    dueAtMs: 1_005,
    failedAttempts: 2,
    ambiguous: true,
    routeId: 7,
    carrierId: null,
  })
  const change = { delayMs: 5_000, failedAttempts: 3 }
  expect(postponementOf(waiting, change, 0)).toMatchObject({
    failedAttempts: 3,
    ambiguous: false,
    routeId: null,
  })
})

describe('what a PDU brings', () => {
  const body = 'part '.repeat(80)
  const of = (job: ReturnType<typeof aJob>, index: number) =>
    submittedWith({ job, index }, { carrierMessageId: 'id', atMs: nowMs, latencyMs: 3 }).map(
      ({ segment, segmentation }) => [segment, segmentation],
    )

  test('a row for each segment that it carries', () => {
    expect(of(aJob({ body }), 1)).toEqual([[1, null]])
    const whole = aJob({ body }, aCarrier({ longMessages: 'payload' }))
    expect(of(whole, 0)).toEqual([0, 1, 2].map((segment) => [segment, null]))
  })

  test('with the segmentation, where the message started over', () => {
    const job = aJob({ body, acceptedPduBits: 1n, segmentation: 'sar GSM7 3' })
    expect(of(job, 2)).toEqual([[2, 'udh GSM7 3']])
  })
})

const rate: Rate = {
  id: 1,
  planId: null,
  prefix: null,
  country: 'US',
  mccmnc: null,
  price: '0.0075',
  ptf: '0.003',
  currency: 'USD',
}
const directory = aDirectory({ rates: [rate], numberRanges: new Map([['+1555', '310260']]) })

function settled(dispatch: Dispatch, job: SubmitJob | null, ending: Ending, rates = directory) {
  return settlementOf(dispatch, job, ending, { directory: rates, nowMs: 5 })
}

describe('the end of a message', () => {
  test('SENT has carrier, route, segments, network and price', () => {
    const job = aJob({ body: 'part '.repeat(80) })
    expect(settled(job.dispatch, job, { status: 'SENT' })).toEqual({
      kind: 'settled',
      atMs: 5,
      status: 'SENT',
      carrierId: 1,
      errorCode: '000',
      carrierCode: null,
      routeId: 1,
      routeReason: 'only carrier',
      segments: 3,
      segmentation: null,
      mccmnc: '310260',
      charge: { price: '0.0225', ptf: '0.009', currency: 'USD' },
    })
  })

  test('without a rate it has no price; what was not sent costs nothing', () => {
    const job = aJob()
    const none = { charge: null }
    expect(settled(job.dispatch, job, { status: 'SENT' }, aDirectory())).toMatchObject(none)
    const failed = { status: 'FAILED', errorCode: '301', commandStatus: 0x0b } as const
    expect(settled(job.dispatch, job, failed)).toMatchObject({
      ...none,
      errorCode: '301',
      carrierCode: '0x0000000b',
    })
    expect(settled(aDispatch(), null, { status: 'UNKNOWN', errorCode: '103' })).toMatchObject({
      ...none,
      carrierId: null,
      routeId: null,
      segments: null,
    })
  })
})

test('the end of a message that started over has its segmentation', () => {
  const job = aJob({ body: 'part '.repeat(80), acceptedPduBits: 1n, segmentation: 'sar GSM7 3' })
  expect(settled(job.dispatch, job, { status: 'SENT' })).toMatchObject({ segmentation: 'udh GSM7 3' })
})

describe('what ends a message before it is sent', () => {
  const over = { expiresAtMs: nowMs }
  const FAILED = { status: 'FAILED' }
  const IN_DOUBT = { status: 'UNKNOWN', errorCode: '103' }
  test.each([
    ['nothing', {}, 'resubmit', null],
    ['nothing, though it is in doubt', { ambiguous: true }, 'resubmit', null],
    ['the policy of its plan', { ambiguous: true }, 'unknown', IN_DOUBT],
    ['its validity', over, 'resubmit', { ...FAILED, errorCode: '501' }],
    ['its validity, in doubt', { ...over, ambiguous: true }, 'resubmit', IN_DOUBT],
    ['STOP', { ...over, optedOut: true }, 'resubmit', { ...FAILED, errorCode: '307' }],
    ['STOP, in doubt', { optedOut: true, ambiguous: true }, 'resubmit', IN_DOUBT],
    ['a receipt', { ...over, status: 'DELIVERED', ambiguous: true }, 'unknown', { status: 'SENT' }],
    ['a receipt of its failure', { status: 'FAILED' }, 'resubmit', FAILED],
  ] as const)('%s', (_name, changes, policy, ending) => {
    expect(endBeforeSubmit(aDispatch(changes), { policy, isRouted: true, nowMs })).toEqual(ending)
  })

  test.each([
    ['its validity, without a route', over, { ...FAILED, errorCode: '101' }],
    ['its validity, in doubt, without a route', { ...over, ambiguous: true }, IN_DOUBT],
    ['nothing, as long as it may get a route again', {}, null],
  ] as const)('%s', (_name, changes, ending) => {
    const now = { policy: 'resubmit', isRouted: false, nowMs } as const
    expect(endBeforeSubmit(aDispatch(changes), now)).toEqual(ending)
  })

  test('over a carrier that nobody knows it costs what was counted when it was accepted', () => {
    const dispatch = aDispatch({ segments: 2, status: 'DELIVERED' })
    const charge = { price: '0.015', ptf: '0.006', currency: 'USD' }
    expect(settled(dispatch, null, { status: 'SENT' })).toMatchObject({
      carrierId: null,
      segments: null,
      charge,
    })
  })
})

test('a refusal is no failure when an earlier attempt may have come through', () => {
  const refusal = { outcome: 'permanent', commandStatus: 0x0b, pdu: 0 } as const
  const attempt = { outcome: 'refused', commandStatus: 0x0b, segment: 0 }
  const end = (changes: object, outcome: SubmitRefusal['outcome'] = 'permanent') =>
    endAfterRefusal(aJob(changes), { ...refusal, outcome }, nowMs)
  expect(end({})).toMatchObject({ status: 'FAILED', errorCode: '301', commandStatus: 0x0b, attempt })
  expect(end({}, 'limited-retry')).toMatchObject({ status: 'FAILED', errorCode: '301' })
  expect(end({}, 'retry')).toMatchObject({ status: 'FAILED', errorCode: '501' })
  expect(end({ ambiguous: true })).toMatchObject({ status: 'UNKNOWN', errorCode: '103', attempt })
  expect(end({})).toMatchObject({ unanswered: null })
})

test('a refusal of one segment says that another was not answered', () => {
  const job = aJob({ body: 'part '.repeat(80) })
  job.progress.sent()
  job.progress.unanswered()
  const refusal = { outcome: 'permanent', commandStatus: 0x0b, pdu: 1 } as const
  expect(endAfterRefusal(job, refusal, nowMs)).toMatchObject({
    status: 'FAILED',
    attempt: { outcome: 'refused', segment: 1 },
    unanswered: { outcome: 'no-answer', carrierId: 1 },
  })
})
