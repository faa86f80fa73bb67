import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ambiguityWaitMs,
  BackOffs,
  LIMITED_TRIES,
  nextTryMs,
  RebindCounts,
  retryDelayMs,
  SubmissionProgress,
  type SubmitOutcome,
  submitOutcome,
  VALIDITY_MS,
} from '../../src/domain/submit-outcomes.ts'

describe('submitOutcome', () => {
  test.each<[number, SubmitOutcome]>([
    [0x00, 'accepted'],
    [0x58, 'throttled'],
    [0x08, 'retry'],
    [0x14, 'retry'],
    [0x64, 'retry'],
    [0x45, 'limited-retry'],
    [0xfe, 'limited-retry'],
    [0xff, 'limited-retry'],
    [0x400, 'limited-retry'],
    [0x4ff, 'limited-retry'],
    [0x04, 'rebind'],
    [0x05, 'rebind'],
    [0x0d, 'rebind'],
    [0x0e, 'rebind'],
    [0x0f, 'rebind'],
    [0x53, 'rebind'],
    [0x01, 'permanent'],
    [0x0a, 'permanent'],
    [0x0b, 'permanent'],
    [0x3ff, 'permanent'],
    [0x500, 'permanent'],
    [0xffffffff, 'permanent'],
  ])('0x%s is %s', (commandStatus, kind) => {
    expect(submitOutcome(commandStatus)).toBe(kind)
  })

  test("a carrier's own table is asked first", () => {
    const overrides = new Map<number, SubmitOutcome>([[0x0b, 'retry']])
    expect(submitOutcome(0x0b, overrides)).toBe('retry')
    expect(submitOutcome(0x58, overrides)).toBe('throttled')
  })
})

describe('retryDelayMs', () => {
  test.each([
    [1, 5_000],
    [2, 30_000],
    [3, 120_000],
    [4, 600_000],
    [5, 600_000],
    [1000, 600_000],
    [0, 5_000],
  ])('after try %i: %i ms', (attempt, delayMs) => {
    expect(retryDelayMs(attempt, 0.5)).toBe(delayMs)
    expect(retryDelayMs(attempt, 0)).toBe(delayMs * 0.8)
    expect(retryDelayMs(attempt, 1)).toBe(delayMs * 1.2)
  })
})

test('after attempts without an answer the wait doubles; a message goes out 17 times at most', () => {
  expect([0, 1, 2, 6, 7, 20].map((before) => ambiguityWaitMs(120_000, before) / 60_000)).toEqual([
    2, 4, 8, 128, 128, 128,
  ])
  let sent = 0
  for (let ageMs = 0; ageMs < VALIDITY_MS; sent += 1) ageMs += ambiguityWaitMs(120_000, sent)
  expect(sent).toBe(17)
})

describe('nextTryMs', () => {
  test('three tries of the limited kind', () => {
    const next = (attempt: number) =>
      nextTryMs('limited-retry', { attempt, leftMs: VALIDITY_MS, jitter: 0.5 })
    expect(LIMITED_TRIES).toBe(3)
    expect([next(1), next(2), next(3)]).toEqual([5_000, 30_000, null])
  })

  test('no try after validity', () => {
    const next = (leftMs: number) => nextTryMs('retry', { attempt: 4, leftMs, jitter: 0.5 })
    expect(next(600_001)).toBe(600_000)
    expect(next(600_000)).toBeNull()
  })

  test('tries until validity end, whatever the jitter', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (jitter) => {
        let ageMs = 0
        let attempt = 1
        for (;;) {
          const delayMs = nextTryMs('retry', { attempt, leftMs: VALIDITY_MS - ageMs, jitter })
          if (delayMs === null) break
          ageMs += delayMs
          attempt += 1
        }
        expect(ageMs).toBeLessThan(VALIDITY_MS)
        expect(attempt).toBeLessThan(200)
      }),
    )
  })
})

const OK = 0
const THROTTLED = 0x58
const INVALID_DESTINATION = 0x0b
const QUEUE_FULL = 0x14
const SUBMIT_FAILED = 0x45
const BIND_STATUS = 0x04

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
    [INVALID_DESTINATION, 'permanent', { kind: 'failed', errorCode: '301', commandStatus: 0x0b }],
    [QUEUE_FULL, 'retry', { kind: 'retry', limited: false, commandStatus: 0x14 }],
    [SUBMIT_FAILED, 'limited-retry', { kind: 'retry', limited: true, commandStatus: 0x45 }],
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
    progress.refusedItself(BIND_STATUS)
    expect(progress.next).toBeNull()
    expect(progress.end).toEqual({ kind: 'retry', limited: true, commandStatus: BIND_STATUS })
  })

  test('lost: ambiguous', () => {
    const progress = new SubmissionProgress(1, 0n)
    sendAll(progress)
    progress.lost()
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
    expect(progress.accepted).toBe(0b1111n)
    expect(progress.end).toEqual({ kind: 'sent' })
  })

  test('an answer that comes after it was given up, while another is awaited, completes the message', () => {
    const progress = new SubmissionProgress(2, 0n)
    sendAll(progress)
    progress.lost()
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
    expect(progress.end).toMatchObject({ kind: 'failed', errorCode: '301' })
    expect(progress.accepted).toBe(0b10n)
  })

  test('one that fits no PDU fails the message, whatever the carrier means by such a status', () => {
    const progress = new SubmissionProgress(2, 0n, new Map([[0x01, 'throttled']]))
    progress.sent()
    progress.unsendable(0x01)
    expect(progress.next).toBeNull()
    expect(progress.end).toBeNull()
    progress.answered(0, OK)
    expect(progress.end).toMatchObject({ kind: 'failed', commandStatus: 0x01 })
  })

  test('a refusal for good counts more than one lost, and that more than one for now', () => {
    const progress = new SubmissionProgress(3, 0n)
    sendAll(progress)
    progress.answered(0, QUEUE_FULL)
    progress.lost()
    progress.answered(2, INVALID_DESTINATION)
    expect(progress.end).toMatchObject({ kind: 'failed' })
    const other = new SubmissionProgress(2, 0n)
    sendAll(other)
    other.answered(0, QUEUE_FULL)
    other.lost()
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
          let underWay: number[] = []
          for (let step = 0; step < 1_000 && progress.end?.kind !== 'sent'; step += 1) {
            if (progress.end !== null && progress.end.kind !== 'unfinished') break
            underWay.push(...sendAll(progress))
            const [segment] = underWay.splice((seed + step) % underWay.length, 1)
            const status = answers.next().value as number | null
            if (status === null) progress.lost()
            else progress.answered(segment!, status)
            if (status === OK) accepted |= 1n << BigInt(segment!)
            expect(progress.end === null).toBe(underWay.length > 0)
            underWay = [...underWay]
          }
          expect(progress.accepted).toBe(accepted)
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
    progress.lost()
    expect(progress.isIdle).toBe(false)
  })
})

describe('recipients that are backed off from', () => {
  test('nobody is backed off but who was named, and until then', () => {
    const backOffs = new BackOffs(10)
    expect(backOffs.leftMs('a', 0)).toBe(0)
    backOffs.set('a', 500)
    expect(backOffs.leftMs('a', 100)).toBe(400)
    expect(backOffs.leftMs('b', 100)).toBe(0)
    expect(backOffs.leftMs('a', 500)).toBe(0)
    expect(backOffs.size).toBe(0)
  })

  test('may be set anew, and cleared', () => {
    const backOffs = new BackOffs(10)
    backOffs.set('a', 500)
    backOffs.set('a', 300)
    expect(backOffs.leftMs('a', 100)).toBe(200)
    backOffs.delete('a')
    backOffs.delete('never set')
    expect(backOffs.leftMs('a', 100)).toBe(0)
  })
})

const session = () => ({})

describe('a message whose answers blame the session', () => {
  test('costs three sessions; a fourth is not to blame', () => {
    const counts = new RebindCounts()
    expect([1, 2, 3, 4, 5].map(() => counts.blamesLink('a', session()))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
    expect(counts.blamesLink('b', session())).toBe(true)
  })

  test('several segments of it answered in one session count once', () => {
    const counts = new RebindCounts()
    for (const one of [session(), session(), session()])
      for (let segment = 0; segment < 5; segment += 1) expect(counts.blamesLink('a', one)).toBe(true)
    expect(counts.blamesLink('a', session())).toBe(false)
  })

  test('begins anew once its submission is over', () => {
    const counts = new RebindCounts()
    for (let count = 0; count < 4; count += 1) counts.blamesLink('a', session())
    counts.delete('a')
    expect(counts.blamesLink('a', session())).toBe(true)
  })

  test('no more are kept than the bound: the oldest makes room', () => {
    const counts = new RebindCounts(2)
    for (const msgId of ['a', 'b'])
      for (let count = 0; count < 3; count += 1) counts.blamesLink(msgId, session())
    counts.blamesLink('c', session())
    expect(counts.blamesLink('b', session())).toBe(false)
    expect(counts.blamesLink('a', session())).toBe(true)
  })
})
