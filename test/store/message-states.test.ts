import { describe, expect, test } from 'vitest'
import {
  aggregate,
  type MessageEvent,
  nextStatus,
  UNKNOWN_REVERSIBLE_MS,
} from '../../src/domain/message-states.ts'
import { recordReceipts } from '../../src/store/receipts.ts'
import { recordedMessages } from '../support/recorded-messages.ts'
import { HOLDER, NEWEST, receipt, statusOf } from '../support/stored-messages.ts'

/** The statements decide the same as the table of domain/message-states.ts. */

const OUTCOMES = ['DELIVERED', 'FAILED', 'UNKNOWN'] as const
type Outcome = (typeof OUTCOMES)[number]

const EVENT: Record<Outcome, MessageEvent> = { DELIVERED: 'delivered', FAILED: 'failed', UNKNOWN: 'unknown' }

const { db, changedAt, submitted } = await recordedMessages()

async function apply(msgId: string, segment: number, outcome: Outcome): Promise<void> {
  await recordReceipts(db, {
    receipts: [receipt(`${msgId}/${segment}`, outcome)],
    unknownReversibleMs: UNKNOWN_REVERSIBLE_MS,
    newestMsgId: NEWEST,
    changedAt: changedAt(),
    events: HOLDER,
  })
}

const status = (msgId: string) => statusOf(db, msgId)

const pairs = OUTCOMES.flatMap((first) => OUTCOMES.map((second) => [first, second] as const))

describe('one segment, two receipts', () => {
  test.each(pairs)('%s, then %s', async (first, second) => {
    const msgId = await submitted(1)
    await apply(msgId, 0, first)
    expect(await status(msgId)).toBe(nextStatus('SENT', EVENT[first]))
    await apply(msgId, 0, second)
    expect(await status(msgId)).toBe(nextStatus(nextStatus('SENT', EVENT[first]), EVENT[second]))
  })
})

describe('two segments, a receipt for each', () => {
  test.each(pairs)('%s and %s', async (first, second) => {
    const msgId = await submitted(2)
    await apply(msgId, 0, first)
    expect(await status(msgId)).toBe(aggregate([first, 'SENT']))
    await apply(msgId, 1, second)
    expect(await status(msgId)).toBe(aggregate([first, second]))
  })
})
