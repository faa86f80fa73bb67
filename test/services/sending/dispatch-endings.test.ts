import { describe, expect, test } from 'vitest'
import type { Rate } from '../../../src/domain/configuration/configuration.ts'
import type { Dispatch } from '../../../src/domain/journal/messages-in-progress.ts'
import {
  type Ending,
  endAfterRefusal,
  endBeforeSubmit,
  endingFacts,
} from '../../../src/services/sending/dispatch-endings.ts'
import type { SubmitJob } from '../../../src/services/sending/submit-job.ts'
import { aDirectory } from '../../support/directory.ts'
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
  return endingFacts(dispatch, job, ending, { directory: rates, nowMs: 0 }).facts.at(-1)
}

describe('the end of a message', () => {
  test('SENT has carrier, route, segments, network and price', () => {
    const job = aJob({ body: 'part '.repeat(80) })
    const { facts, ...key } = endingFacts(job.dispatch, job, { status: 'SENT' }, { directory, nowMs: 5 })
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
  const refusal = { commandStatus: 0x0b, pdu: 0 }
  const attempt = { outcome: 'refused', commandStatus: 0x0b, segment: 0 }
  const end = (changes: object) => endAfterRefusal(aJob(changes), nowMs, '301', refusal)
  expect(end({})).toMatchObject({ status: 'FAILED', errorCode: '301', commandStatus: 0x0b, attempt })
  expect(end({ ambiguous: true })).toMatchObject({ status: 'UNKNOWN', errorCode: '103', attempt })
})
