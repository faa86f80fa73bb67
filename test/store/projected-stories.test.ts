import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InstantSource } from '../../src/domain/instants.ts'
import { addFact } from '../../src/domain/messages-in-progress.ts'
import { openLane } from '../../src/store/journal.ts'
import { projectMessages } from '../../src/store/projection.ts'
import { recordSubmissions } from '../../src/store/submissions.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { recordFacts, stories, withoutPrice } from '../support/message-stories.ts'
import { projected } from '../support/messages-in-memory.ts'
import { CARRIER_ID, insertMessages, NOBODY, NODE, newMessage } from '../support/stored-messages.ts'
import { HOUR_MS, journaled, newInMemory, possible, rowsOf, submissionsOf } from '../support/story-rows.ts'

/** What is projected is what the statements of the tables would have written, in every column. */

const { db, announcedPlan: plan } = await installedDatabase()
const lane = await openLane(db, NODE)
test('stories of messages leave the same rows, whether told to the tables or projected', async () => {
  await fc.assert(
    fc.asyncProperty(stories, async ({ each, hoursBetween }) => {
      let atMs = Date.now()
      const instants = new InstantSource()
      const changedAt = () => instants.next(atMs)
      const pairs = each.map(({ segments, chances }) => {
        const msgId = newId(atMs)
        return { told: newId(atMs), chances, segments, message: newInMemory(plan, msgId, segments) }
      })
      await insertMessages(
        db,
        pairs.map(({ told, segments }) => newMessage(plan, { msg_id: told, segments, created_ms: atMs })),
      )
      await recordSubmissions(db, {
        settlements: [],
        submissions: pairs.flatMap(({ told, segments }) =>
          submissionsOf(told, segments).map(({ carrierMessageId, ...rest }) => ({
            ...{ carrier_id: CARRIER_ID, carrier_message_id: carrierMessageId, msg_id: told, plan_id: plan },
            ...rest,
          })),
        ),
        changedAt: changedAt(),
        events: NOBODY,
      })
      for (const [step, hours] of hoursBetween.entries()) {
        atMs += hours * HOUR_MS + 1
        const facts = pairs.flatMap(({ told, chances, segments, message }) => {
          const fact = possible(withoutPrice(chances[step]!(message.state, atMs)), segments)
          return fact === null ? [] : [{ told, message, fact }]
        })
        await recordFacts(
          db,
          plan,
          facts.map(({ told, fact }) => ({ msgId: told, fact: journaled(fact, told) as never })),
          changedAt,
        )
        for (const { message, fact } of facts) addFact(message, journaled(fact, message.msgId))
      }
      await projectMessages(
        db,
        lane,
        pairs.map(({ message }) => projected(message)),
        0,
      )
      const rows = await rowsOf(
        db,
        pairs.flatMap(({ told, message }) => [told, message.msgId]),
      )
      for (const { told, message } of pairs) expect(rows.get(message.msgId)).toEqual(rows.get(told))
    }),
    { numRuns: 8, endOnFailure: true },
  )
}, 120_000)
