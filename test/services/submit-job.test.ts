import { describe, expect, test } from 'vitest'
import { submitSm } from '../../src/services/submit-job.ts'
import { aCarrier } from '../support/directory.ts'
import { aJob } from '../support/submit-jobs.ts'

const THREE_PARTS = { body: 'part '.repeat(80), segments: 3 }

describe('what was accepted before', () => {
  const state = (job: ReturnType<typeof aJob>) => [job.progress.accepted, job.isResubmission]

  test('is not sent again where the message is cut as it was', () => {
    expect(
      state(aJob({ ...THREE_PARTS, submittedSegments: 0b101n }, aCarrier(), { formBefore: 'udh' })),
    ).toEqual([0b101n, false])
  })

  test.each([
    ['another form', 0b1n, aCarrier({ longMessages: 'udh16' }), 'udh'],
    ['one PDU for all', 0b1n, aCarrier({ longMessages: 'payload' }), 'payload'],
    ['more parts than there are', 0b1000n, aCarrier(), 'udh'],
    ['nobody knows how', 0b1n, aCarrier(), undefined],
  ] as const)('is sent again otherwise: %s', (_name, submittedSegments, carrier, formBefore) => {
    const job = aJob({ ...THREE_PARTS, submittedSegments }, carrier, formBefore && { formBefore })
    expect(state(job)).toEqual([0n, true])
  })

  test('nothing: whatever the form, it is no resubmission unless an attempt had no answer', () => {
    expect(state(aJob(THREE_PARTS))).toEqual([0n, false])
    expect(state(aJob({ ...THREE_PARTS, ambiguous: true }))).toEqual([0n, true])
  })
})

test('the parts of a message have the same reference whenever they are cut, and ask for a receipt', () => {
  const one = aJob(THREE_PARTS)
  const cutAgain = aJob(one.dispatch)
  expect(submitSm(cutAgain, 1)).toEqual(submitSm(one, 1))
  expect(submitSm(one, 0)).toMatchObject({ command: 'submit_sm', registered_delivery: 1, esm_class: 0x40 })
})
