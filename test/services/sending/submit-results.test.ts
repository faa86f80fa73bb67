import { describe, expect, test } from 'vitest'
import type { Rate } from '../../../src/domain/configuration.ts'
import type { Dispatch } from '../../../src/domain/messages-in-progress.ts'
import type { SubmitJob } from '../../../src/services/sending/submit-job.ts'
import {
  attemptOf,
  type Ending,
  endBeforeSubmit,
  outcomeOf,
  postponementOf,
  postponementOfJob,
  refusalOf,
  restOf,
  submittedWith,
} from '../../../src/services/sending/submit-results.ts'
import { aCarrier, aDirectory } from '../../support/directory.ts'
import { aDispatch, aJob } from '../../support/submit-jobs.ts'

const nowMs = Date.now()

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
  return outcomeOf(dispatch, job, ending, { directory: rates, nowMs: 0 }).facts.at(-1)
}

describe('the end of a message', () => {
  test('SENT has carrier, route, segments, network and price', () => {
    const job = aJob({ body: 'part '.repeat(80) })
    const { facts, ...key } = outcomeOf(job.dispatch, job, { status: 'SENT' }, { directory, nowMs: 5 })
    expect(key).toEqual({ planId: 1, msgId: job.dispatch.msgId })
    expect(facts).toEqual([
      {
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
      },
    ])
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
  const attempt = { outcome: 'refused', commandStatus: 0x0b }
  const end = (changes: object) => refusalOf(aJob(changes), nowMs, '301', 0x0b)
  expect(end({})).toMatchObject({ status: 'FAILED', errorCode: '301', commandStatus: 0x0b, attempt })
  expect(end({ ambiguous: true })).toMatchObject({ status: 'UNKNOWN', errorCode: '103', attempt })
})

describe('an attempt', () => {
  test('is not written when it is the first and was accepted', () => {
    expect(attemptOf(aJob(), nowMs, 'accepted', 0)).toBeNull()
    expect(attemptOf(aJob(), nowMs, 'refused', 0x0b)).toMatchObject({
      atMs: nowMs,
      outcome: 'refused',
      commandStatus: 0x0b,
    })
  })

  test.each([
    [{ attempt: 1 }, false],
    [{ carrierId: 1 }, false],
    [{ ambiguous: true }, true],
  ])('is, of a message with %j', (changes, resubmission) => {
    const job = aJob(changes)
    job.startedAtMs = 1_700_000_000_000
    expect(attemptOf(job, nowMs, 'accepted', 0)).toEqual({
      kind: 'attempted',
      atMs: 1_700_000_000_000,
      carrierId: 1,
      outcome: 'accepted',
      commandStatus: 0,
      resubmission,
      reason: 'only carrier',
    })
  })
})

describe('a message that is requeued', () => {
  const UNTRIED = { wasTried: false, nowMs: 1_000 }
  const TRIED = { wasTried: true, nowMs: 1_000 }

  test('without an attempt names no carrier, unless that has parts of the message', () => {
    const job = aJob({ body: 'part '.repeat(80) })
    expect(postponementOfJob(job, { delayMs: 5 }, UNTRIED)).toMatchObject({
      carrierId: null,
      routeId: 1,
      acceptedPdus: 0n,
      dueAtMs: UNTRIED.nowMs + 5,
    })
    job.progress.acceptedEarlier(1)
    expect(postponementOfJob(job, { delayMs: 0 }, UNTRIED)).toMatchObject({
      carrierId: 1,
      acceptedPdus: 2n,
    })
    expect(restOf(job)).toMatchObject({ carrierId: 1, acceptedPdus: 2n })
  })

  test('keeps the parts that another carrier has until parts of it are accepted anew', () => {
    const begun = { acceptedPdus: 0b1n, segmentation: 'udh GSM7 3', carrierId: 1 }
    const dispatch = { body: 'part '.repeat(80), segments: 3, ...begun }
    const job = aJob(dispatch, aCarrier({ id: 2, longMessages: 'sar' }))
    expect(job).toMatchObject({ startedOver: true, isResubmission: true })
    expect(restOf(job)).toMatchObject({ ...begun, startedOver: false })
    expect(postponementOfJob(job, { delayMs: 0 }, TRIED)).toMatchObject({
      acceptedPdus: 1n,
      segmentation: 'udh GSM7 3',
      startedOver: false,
      carrierId: 1,
    })
    job.progress.acceptedEarlier(2)
    const rest = restOf(job)
    expect(rest).toMatchObject({
      acceptedPdus: 0b100n,
      segmentation: 'sar GSM7 3',
      startedOver: true,
      carrierId: 2,
    })
    expect(postponementOfJob(job, { delayMs: 0 }, UNTRIED)).toMatchObject({
      acceptedPdus: 4n,
      segmentation: 'sar GSM7 3',
      startedOver: true,
      carrierId: 2,
    })
    // Wherever it goes on from there, it is flagged.
    expect(aJob(rest, aCarrier({ longMessages: 'sar' }))).toMatchObject({ isResubmission: true })
  })

  test('after an attempt has what it changed', () => {
    const job = aJob()
    const change = { delayMs: 5_000, attempt: 1 }
    expect(postponementOfJob(job, change, TRIED)).toMatchObject({
      attempt: 1,
      ambiguous: false,
      carrierId: 1,
    })
    expect(
      postponementOf(aDispatch({ attempt: 2 }), { delayMs: 0, ambiguous: true, routeId: 7 }, 1),
    ).toMatchObject({
      attempt: 2,
      ambiguous: true,
      routeId: 7,
      carrierId: null,
    })
  })
})

describe('what a PDU brings', () => {
  const body = 'part '.repeat(80)
  const of = (job: ReturnType<typeof aJob>, index: number) =>
    submittedWith(job, index, 'id').map(({ segment, segmentation }) => [segment, segmentation])

  test('a row for each segment that it carries', () => {
    expect(of(aJob({ body }), 1)).toEqual([[1, null]])
    const whole = aJob({ body }, aCarrier({ longMessages: 'payload' }))
    expect(of(whole, 0)).toEqual([0, 1, 2].map((segment) => [segment, null]))
  })

  test('with the segmentation, where the message started over; its end has it too', () => {
    const job = aJob({ body, acceptedPdus: 1n, segmentation: 'sar GSM7 3' })
    expect(of(job, 2)).toEqual([[2, 'udh GSM7 3']])
    expect(settled(job.dispatch, job, { status: 'SENT' })).toMatchObject({ segmentation: 'udh GSM7 3' })
  })
})
