import { describe, expect, test } from 'vitest'
import {
  attemptOf,
  postponementOf,
  postponementOfJob,
  restOf,
  submittedWith,
} from '../../../src/services/sending/submit-facts.ts'
import { aCarrier } from '../../support/directory.ts'
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
    const refusal = { commandStatus: 0x0b, pdu: 1 }
    const body = 'part '.repeat(80)
    const refused = attemptOf(aJob({ body }), nowMs, 'refused', { refusal })
    expect(refused).toMatchObject({ outcome: 'refused', commandStatus: 0x0b, segment: 1 })
    const whole = aJob({ body }, aCarrier({ longMessages: 'payload' }))
    expect(attemptOf(whole, nowMs, 'refused', { refusal: { ...refusal, pdu: 0 } })).toMatchObject({
      segment: null,
    })
  })

  test.each([
    [{ attempt: 1 }, false],
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

describe('a message that is requeued', () => {
  const UNTRIED = { wasTried: false, nowMs: 1_000 }
  const TRIED = { wasTried: true, nowMs: 1_000 }

  test('without an attempt names no carrier, unless that has parts of the message', () => {
    const job = aJob({ body: 'part '.repeat(80) })
    expect(postponementOfJob(job, { delayMs: 5 }, UNTRIED)).toMatchObject({
      carrierId: null,
      routeId: 1,
      acceptedPduBits: 0n,
      dueAtMs: UNTRIED.nowMs + 5,
    })
    job.progress.acceptedEarlier(1)
    expect(postponementOfJob(job, { delayMs: 0 }, UNTRIED)).toMatchObject({
      carrierId: 1,
      acceptedPduBits: 2n,
    })
    expect(restOf(job)).toMatchObject({ carrierId: 1, acceptedPduBits: 2n })
  })

  test('keeps the parts that another carrier has until parts of it are accepted anew', () => {
    const begun = { acceptedPduBits: 0b1n, segmentation: 'udh GSM7 3', carrierId: 1 }
    const dispatch = { body: 'part '.repeat(80), segments: 3, ...begun }
    const job = aJob(dispatch, aCarrier({ id: 2, longMessages: 'sar' }))
    expect(job).toMatchObject({ startedOver: true, isResubmission: true })
    expect(restOf(job)).toMatchObject({ ...begun, startedOver: false })
    expect(postponementOfJob(job, { delayMs: 0 }, TRIED)).toMatchObject({
      acceptedPduBits: 1n,
      segmentation: 'udh GSM7 3',
      startedOver: false,
      carrierId: 1,
    })
    job.progress.acceptedEarlier(2)
    const rest = restOf(job)
    expect(rest).toMatchObject({
      acceptedPduBits: 0b100n,
      segmentation: 'sar GSM7 3',
      startedOver: true,
      carrierId: 2,
    })
    expect(postponementOfJob(job, { delayMs: 0 }, UNTRIED)).toMatchObject({
      acceptedPduBits: 4n,
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
