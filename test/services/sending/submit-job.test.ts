import { describe, expect, test } from 'vitest'
import { submitSm } from '../../../src/services/sending/submit-job.ts'
import type { PduInput } from '../../../src/smpp/pdu.ts'
import { aCarrier } from '../../support/directory.ts'
import { aJob } from '../../support/submit-jobs.ts'

const NOW_MS = Date.UTC(2026, 0, 31, 23, 59, 58, 900)
const THREE_PARTS = { body: 'part '.repeat(80), segments: 3 }

describe('what was accepted before', () => {
  const state = (job: ReturnType<typeof aJob>) => [job.progress.acceptedPduBits, job.isResubmission]

  test('is not sent again where the message is divided as it was', () => {
    const { segmentation } = aJob(THREE_PARTS)
    expect(state(aJob({ ...THREE_PARTS, acceptedPduBits: 0b101n, segmentation }))).toEqual([0b101n, false])
  })

  test.each([
    ['another form', aCarrier({ longMessages: 'udh16' }), 'udh GSM7 3'],
    ['one PDU for all', aCarrier({ longMessages: 'payload' }), 'udh GSM7 3'],
    ['another number of parts', aCarrier(), 'udh GSM7 4'],
    ['another alphabet', aCarrier(), 'udh UCS2 3'],
    ['nobody knows how', aCarrier(), null],
  ])('is sent again otherwise: %s', (_name, carrier, segmentation) => {
    const job = aJob({ ...THREE_PARTS, acceptedPduBits: 0b1n, segmentation }, carrier)
    expect(state(job)).toEqual([0n, true])
  })

  test.each(['udh', 'payload'] as const)(
    'nothing is, in form %s, when all of it is delivered',
    (longMessages) => {
      const delivered = { ...THREE_PARTS, ambiguous: true, deliveredBits: 0b111n }
      expect(aJob(delivered, aCarrier({ longMessages })).progress.isComplete).toBe(true)
    },
  )

  test('and is so although parts of either segmentation are delivered', () => {
    const delivered = { ...THREE_PARTS, acceptedPduBits: 0b1n, deliveredBits: 0b111n }
    expect(aJob({ ...delivered, segmentation: 'udh16 GSM7 3' }).progress.isComplete).toBe(false)
    const goesOn = { ...delivered, segmentation: 'udh GSM7 3', startedOver: true }
    expect(aJob(goesOn).progress.acceptedPduBits).toBe(0b1n)
  })

  test('nothing: whatever the form, it is no resubmission unless an attempt had no answer', () => {
    expect(state(aJob(THREE_PARTS))).toEqual([0n, false])
    expect(state(aJob({ ...THREE_PARTS, ambiguous: true }))).toEqual([0n, true])
  })
})

test('the parts of a message have the same reference whenever it is divided, and ask for a receipt', () => {
  const one = aJob(THREE_PARTS)
  const cutAgain = aJob(one.dispatch)
  expect(submitSm(cutAgain, 1, NOW_MS)).toEqual(submitSm(one, 1, NOW_MS))
  expect(submitSm(one, 0, NOW_MS)).toMatchObject({
    command: 'submit_sm',
    registered_delivery: 1,
    esm_class: 0x40,
  })
})

describe('validity_period is what is left of the message', () => {
  const period = (leftMs: number, carrier = aCarrier()) =>
    (submitSm(aJob({ expiresAtMs: NOW_MS + leftMs }, carrier), 0, NOW_MS) as PduInput<'submit_sm'>)
      .validity_period

  test.each([
    [86_400_000, '000001000000000R'],
    [86_399_999, '000000235959000R'],
    [3_661_000, '000000010101000R'],
    [60_000, '000000000100000R'],
    [999, '000000000001000R'],
    [-5_000, '000000000001000R'],
  ])('%i ms: %s', (leftMs, expected) => {
    expect(period(leftMs)).toBe(expected)
  })

  test('at most what its carrier is given', () => {
    const carrier = aCarrier({ validitySeconds: 600 })
    expect([period(86_400_000, carrier), period(300_000, carrier)]).toEqual([
      '000000001000000R',
      '000000000500000R',
    ])
  })

  test('as a moment in UTC, or not at all', () => {
    expect(period(62_000, aCarrier({ validityFormat: 'absolute' }))).toBe('260201000100000+')
    expect(period(62_000, aCarrier({ validityFormat: 'none' }))).toBe('')
  })
})
