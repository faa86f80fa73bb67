import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  addFact,
  loadedMessage,
  type MessageInProgress,
} from '../../src/domain/journal/messages-in-progress.ts'
import { withTransaction } from '../../src/store/database.ts'
import { openLane } from '../../src/store/journal.ts'
import { lockMessages } from '../../src/store/messages-at-rest.ts'
import { findAtRest, findRecorded, projectMessages } from '../../src/store/projection.ts'
import { writeRecords } from '../../src/store/records.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { idOf, stories } from '../support/message-stories.ts'
import {
  deliveredFacts,
  inMemory,
  projected,
  settledFact,
  submittedFact,
} from '../support/messages-in-memory.ts'
import { NODE } from '../support/stored-messages.ts'
import { HOUR_MS, journaled, newInMemory, possible, rowsOf } from '../support/story-rows.ts'

const { db, announcedPlan: plan } = await installedDatabase()
const lane = await openLane(db, NODE)

const keyOf = (msgId: string) => ({ planId: plan, msgId })

/** Changes these at rest: each is locked, told of what happened, and written back. */
async function changeAtRest(
  msgIds: readonly string[],
  change: (message: MessageInProgress) => void,
): Promise<Set<string>> {
  return withTransaction(db, async (tx) => {
    const { messages, elsewhere } = await lockMessages(tx, msgIds.map(keyOf))
    for (const message of messages.values()) change(message)
    await writeRecords(
      tx,
      [...messages.values()].map((message) => projected(message)),
      null,
    )
    return elsewhere
  })
}

test('stories of messages leave the same rows, in memory throughout or at rest between any two facts', async () => {
  await fc.assert(
    fc.asyncProperty(stories, async ({ each, hoursBetween }) => {
      let atMs = Date.now()
      const pairs = each.map(({ segments, chances }) => {
        const [inMemory, atRest] = [newId(atMs), newId(atMs)]
        return {
          ...{ chances, segments, atRest },
          message: newInMemory(plan, inMemory, segments),
          record: newInMemory(plan, atRest, segments),
        }
      })
      await projectMessages(
        db,
        lane,
        pairs.map(({ record }) => projected(record)),
        0,
      )
      for (const [step, hours] of hoursBetween.entries()) {
        atMs += hours * HOUR_MS + 1
        const facts = new Map(
          pairs.flatMap(({ atRest, chances, segments, message }) => {
            const fact = possible(chances[step]!(message.state, atMs), segments)
            if (fact !== null) addFact(message, journaled(fact, message.msgId))
            return fact === null ? [] : [[atRest, fact] as const]
          }),
        )
        await changeAtRest([...facts.keys()], (message) => {
          const fact = facts.get(message.msgId)!
          if (fact.kind === 'receipt') {
            const segment = Math.log2(Number(fact.segmentBits))
            const carrierMessageId = idOf(message.msgId, fact.segmentation, fact.segmentBits)
            message.submissions.push({
              ...submittedFact(carrierMessageId, segment, fact.segmentation),
              receipt: null,
            })
          }
          addFact(message, journaled(fact, message.msgId))
        })
      }
      await projectMessages(
        db,
        lane,
        pairs.map(({ message }) => projected(message)),
        0,
      )
      const rows = await rowsOf(
        db,
        pairs.flatMap(({ atRest, message }) => [atRest, message.msgId]),
      )
      for (const { atRest, message } of pairs) expect(rows.get(atRest)).toEqual(rows.get(message.msgId))
    }),
    { numRuns: 8, endOnFailure: true },
  )
})

/** A message in its record, of which nothing is submitted; taken out of it by a lane. */
async function loaded(by: number): Promise<MessageInProgress> {
  const message = inMemory(plan)
  await projectMessages(db, lane, [projected(message)], 0)
  const { messages } = await withTransaction(db, (tx) => lockMessages(tx, [keyOf(message.msgId)]))
  await db.query('update messages set lane = $2 where msg_id = $1', [message.msgId, by])
  await db.query('delete from dispatches where msg_id = $1', [message.msgId])
  const { accepted, loaded: as } = messages.get(message.msgId)!
  return loadedMessage(message.msgId, { accepted, ...as! })
}

test('what a lane has in progress is not changed at rest, and is written back by that lane alone', async () => {
  const message = await loaded(lane.lane)
  const { msgId } = message
  expect(await changeAtRest([msgId], () => undefined)).toEqual(new Set([msgId]))
  expect(await findAtRest(db, [keyOf(msgId)])).toEqual(new Set())
  const other = await openLane(db, NODE)
  for (const fact of deliveredFacts(msgId, Date.now())) addFact(message, fact)
  await projectMessages(db, other, [projected(message)], 0)
  expect(await findRecorded(db, [keyOf(msgId)])).toEqual(new Map([[msgId, lane.lane]]))
  expect(await projectMessages(db, lane, [projected(message)], 0)).toBe('written')
  expect(await findAtRest(db, [keyOf(msgId)])).toEqual(new Set([msgId]))
  const rows = (await rowsOf(db, [msgId])).get(msgId)!
  expect(rows.map((row) => row.split(' ')[0])).toEqual(['events', 'events', 'messages', 'submissions'])
})

test('written again after an outcome that is not known, it is written once', async () => {
  const message = await loaded(lane.lane)
  addFact(message, settledFact(Date.now()))
  const records = [projected(message), projected(inMemory(plan))]
  expect(await projectMessages(db, lane, records, 0)).toBe('written')
  const before = await rowsOf(db, [message.msgId])
  expect(await projectMessages(db, lane, records, 0)).toBe('written')
  expect(await rowsOf(db, [message.msgId])).toEqual(before)
})

test('who changes a message at rest goes on from what others have made of it', async () => {
  const message = inMemory(plan)
  const { msgId } = message
  await projectMessages(db, lane, [projected(message)], 0)
  const attempt = (atRest: MessageInProgress) => {
    const { begun: _, ...before } = atRest.state.dispatch!
    addFact(atRest, {
      ...before,
      kind: 'postponed',
      atMs: Date.now(),
      failedAttempts: before.failedAttempts + 1,
    })
  }
  await Promise.all(Array.from({ length: 8 }, () => changeAtRest([msgId], attempt)))
  const { rows } = await db.query('select failed_attempts from dispatches where msg_id = $1', [msgId])
  expect(rows).toEqual([{ failed_attempts: 8 }])
})
