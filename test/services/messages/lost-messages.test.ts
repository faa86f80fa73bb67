import { beforeEach, expect, test } from 'vitest'
import { LostMessages } from '../../../src/services/messages/lost-messages.ts'
import { openLane } from '../../../src/store/journal.ts'
import { projectMessages } from '../../../src/store/projection.ts'
import { eventually } from '../../support/eventually.ts'
import { gatedDatabase, refusedByServer } from '../../support/gated-database.ts'
import { installedDatabase } from '../../support/installation.ts'
import { KeptLog } from '../../support/log.ts'
import { inMemory, projected } from '../../support/messages-in-memory.ts'

const { db, announcedPlan: plan } = await installedDatabase()
const LONG_MS = 61_000

let nowMs: number
let looks: number
let isAway: boolean
let log: KeptLog
let lost: LostMessages

beforeEach(() => {
  nowMs = LONG_MS
  looks = 0
  isAway = false
  log = new KeptLog()
  const gated = gatedDatabase(db, async (_, run) => {
    if (isAway) return await refusedByServer(db)
    const answer = await run()
    looks += 1
    return answer
  })
  lost = new LostMessages({
    db: gated,
    clock: () => nowMs,
    log,
  })
})

/** One that was in a lane that was lost, and how its new owner records it. */
function lostMessage() {
  const message = inMemory(plan)
  const { msgId } = message
  lost.add(msgId, plan)
  const record = async () => projectMessages(db, await openLane(db, 1), [projected(message)], 0)
  return { msgId, record }
}

test('who writes of a lost message waits until its new owner has recorded it', async () => {
  const [{ msgId, record }, other] = [lostMessage(), lostMessage()]
  const recorded = lost.untilRecorded([msgId])
  await eventually(() => looks > 0)
  await record()
  await recorded
  expect([lost.has(msgId), lost.has(other.msgId), log.lines]).toEqual([false, true, []])
})

test('the time in which the database is away does not count', async () => {
  const { msgId, record } = lostMessage()
  isAway = true
  await expect(lost.untilRecorded([msgId])).rejects.toThrow('the disk is full')
  nowMs += LONG_MS
  isAway = false
  const recorded = lost.untilRecorded([msgId])
  await eventually(() => looks > 0)
  expect(lost.has(msgId)).toBe(true)
  await record()
  await recorded
  expect(log.lines).toEqual([])
})

test('one that nobody records is given up after a minute, and no other', async () => {
  const [{ msgId }, other] = [lostMessage(), lostMessage()]
  const recorded = lost.untilRecorded([msgId])
  await eventually(() => looks > 0)
  nowMs += LONG_MS
  await recorded
  expect([lost.has(msgId), lost.has(other.msgId)]).toEqual([false, true])
  expect(log.errors).toEqual(['messages of a lost lane without a record'])
  expect(log.causes).toEqual([new Error('1 messages')])
})

test('those of a lane that was lost long before are dropped with the next', () => {
  const before = lostMessage()
  nowMs += LONG_MS
  const now = lostMessage()
  expect([lost.has(before.msgId), lost.has(now.msgId)]).toEqual([false, true])
})
