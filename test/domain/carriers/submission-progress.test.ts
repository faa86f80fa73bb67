import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SubmissionProgress } from '../../../src/domain/carriers/submission-progress.ts'

const OK = 0
const THROTTLED = 0x58
const INVALID_DESTINATION = 0x0b
const QUEUE_FULL = 0x14
const SUBMIT_FAILED = 0x45
const BIND_STATUS = 0x04

const refused = (outcome: string, commandStatus: number, pdu = 0) => ({
  kind: 'refused',
  refusal: { outcome, commandStatus, pdu },
})

/** Sends every segment that is to be sent; gives their numbers. */
function sendAll(progress: SubmissionProgress): number[] {
  const sent: number[] = []
  for (let next = progress.next; next !== null; next = progress.next) {
    sent.push(next)
    progress.sent()
  }
  return sent
}

describe('one segment', () => {
  test.each([
    [OK, 'accepted', { kind: 'sent' }],
    [INVALID_DESTINATION, 'permanent', refused('permanent', INVALID_DESTINATION)],
    [QUEUE_FULL, 'retry', refused('retry', QUEUE_FULL)],
    [SUBMIT_FAILED, 'limited-retry', refused('limited-retry', SUBMIT_FAILED)],
    [THROTTLED, 'throttled', { kind: 'unfinished' }],
    [BIND_STATUS, 'rebind', { kind: 'unfinished' }],
  ])('answered 0x%s', (status, kind, end) => {
    const progress = new SubmissionProgress(1, 0n)
    expect(progress.end).toEqual({ kind: 'unfinished' })
    expect(sendAll(progress)).toEqual([0])
    expect(progress.end).toBeNull()
    expect(progress.answered(0, status)).toBe(kind)
    expect(progress.end).toEqual(end)
  })

  test('answered with a bind status that is its own fault: a refusal for now, thrice at most', () => {
    const progress = new SubmissionProgress(1, 0n)
    sendAll(progress)
    progress.answered(0, BIND_STATUS)
    progress.foundAtFault(0, BIND_STATUS)
    expect(progress.next).toBeNull()
    expect(progress.end).toEqual(refused('limited-retry', BIND_STATUS))
  })

  test('lost: ambiguous', () => {
    const progress = new SubmissionProgress(1, 0n)
    sendAll(progress)
    progress.unanswered()
    expect(progress.end).toEqual({ kind: 'ambiguous' })
    expect(progress.next).toBeNull()
  })
})

describe('several segments', () => {
  test('those accepted before are not sent again', () => {
    const progress = new SubmissionProgress(4, 0b1010n)
    expect(sendAll(progress)).toEqual([0, 2])
    progress.answered(2, OK)
    progress.answered(0, OK)
    expect(progress.acceptedPduBits).toBe(0b1111n)
    expect(progress.end).toEqual({ kind: 'sent' })
  })

  test('an answer that comes after it was given up, while another is awaited, completes the message', () => {
    const progress = new SubmissionProgress(2, 0n)
    sendAll(progress)
    progress.unanswered()
    progress.acceptedEarlier(0)
    expect(progress.end).toBeNull()
    progress.answered(1, OK)
    expect(progress.end).toEqual({ kind: 'sent' })
  })

  test('a refusal stops what is not sent, and waits for what is', () => {
    const progress = new SubmissionProgress(4, 0n)
    progress.sent()
    progress.sent()
    progress.answered(0, INVALID_DESTINATION)
    expect(progress.next).toBeNull()
    expect(progress.end).toBeNull()
    progress.answered(1, OK)
    expect(progress.end).toEqual(refused('permanent', INVALID_DESTINATION))
    expect(progress.acceptedPduBits).toBe(0b10n)
  })

  test('one that fits no PDU fails the message, whatever the carrier means by such a status', () => {
    const progress = new SubmissionProgress(2, 0n, new Map([[0x01, 'throttled']]))
    progress.sent()
    progress.unsendable(1, 0x01)
    expect(progress.next).toBeNull()
    expect(progress.end).toBeNull()
    progress.answered(0, OK)
    expect(progress.end).toEqual(refused('permanent', 0x01, 1))
  })

  test('a refusal for good counts more than one lost, and that more than one for now', () => {
    const progress = new SubmissionProgress(3, 0n)
    sendAll(progress)
    progress.answered(0, QUEUE_FULL)
    progress.unanswered()
    progress.answered(2, INVALID_DESTINATION)
    expect(progress.end).toEqual(refused('permanent', INVALID_DESTINATION, 2))
    const other = new SubmissionProgress(2, 0n)
    sendAll(other)
    other.answered(0, QUEUE_FULL)
    other.unanswered()
    expect(other.end).toEqual({ kind: 'ambiguous' })
  })

  test('a throttled one is sent again, the others are not', () => {
    const progress = new SubmissionProgress(3, 0n)
    sendAll(progress)
    progress.answered(1, THROTTLED)
    expect(progress.end).toBeNull()
    progress.answered(0, OK)
    progress.answered(2, OK)
    expect(progress.end).toEqual({ kind: 'unfinished' })
    expect(sendAll(progress)).toEqual([1])
    progress.answered(1, OK)
    expect(progress.end).toEqual({ kind: 'sent' })
  })

  test('whatever the answers and their order: it ends, and accepted is what was answered ESME_ROK', () => {
    const statuses = fc.constantFrom(
      OK,
      THROTTLED,
      INVALID_DESTINATION,
      QUEUE_FULL,
      SUBMIT_FAILED,
      BIND_STATUS,
      null,
    )
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 49 }),
        fc.infiniteStream(statuses),
        fc.nat(),
        (total, answers, seed) => {
          const progress = new SubmissionProgress(total, 0n)
          let accepted = 0n
          let inFlight: number[] = []
          for (let step = 0; step < 1_000 && progress.end?.kind !== 'sent'; step += 1) {
            if (progress.end !== null && progress.end.kind !== 'unfinished') break
            inFlight.push(...sendAll(progress))
            const [segment] = inFlight.splice((seed + step) % inFlight.length, 1)
            const status = answers.next().value as number | null
            if (status === null) progress.unanswered()
            else progress.answered(segment!, status)
            if (status === OK) accepted |= 1n << BigInt(segment!)
            expect(progress.end === null).toBe(inFlight.length > 0)
            inFlight = [...inFlight]
          }
          expect(progress.acceptedPduBits).toBe(accepted)
          if (progress.end?.kind === 'sent') expect(accepted).toBe((1n << BigInt(total)) - 1n)
        },
      ),
    )
  })
})

describe('what the carrier alone tells', () => {
  test('its own table is asked first', () => {
    const progress = new SubmissionProgress(1, 0n, new Map([[INVALID_DESTINATION, 'throttled']]))
    sendAll(progress)
    expect(progress.answered(0, INVALID_DESTINATION)).toBe('throttled')
    expect(progress.end).toEqual({ kind: 'unfinished' })
  })

  test('a segment that turns out to have been accepted earlier is not sent', () => {
    const progress = new SubmissionProgress(3, 0b010n)
    progress.acceptedEarlier(0)
    expect([progress.isIdle, progress.isComplete]).toEqual([true, false])
    expect(sendAll(progress)).toEqual([2])
    expect(progress.isIdle).toBe(false)
    progress.answered(2, OK)
    expect(progress.isComplete).toBe(true)
    expect(progress.end).toEqual({ kind: 'sent' })
  })

  test('an attempt that has an end is not idle', () => {
    const progress = new SubmissionProgress(1, 0n)
    sendAll(progress)
    progress.unanswered()
    expect(progress.isIdle).toBe(false)
  })
})
