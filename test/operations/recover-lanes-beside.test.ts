import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { encodeEntry } from '../../src/domain/journal/entries.ts'
import { recoverLanes } from '../../src/operations/recover-lanes.ts'
import { appendEntry, cutJournal, type Lane, openLane } from '../../src/store/journal.ts'
import { registerNode, removeNode } from '../../src/store/nodes.ts'
import { eventually } from '../support/eventually.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { KeptLog } from '../support/log.ts'
import { acceptedFact } from '../support/messages-in-memory.ts'
import { clearTables, statusOf } from '../support/stored-messages.ts'

/** Lanes of dead nodes do not wait for each other. */

const { db, announcedPlan: plan } = await installedDatabase({ poolSize: 8 })
const NOW_MS = Date.now()
const [dead, living] = await Promise.all(['a', 'b'].map((name) => registerNode(db, name)))
await removeNode(db, dead!)

beforeEach(() => clearTables(db, 'lanes', 'journal', 'messages', 'dispatches', 'events', 'event_deliveries'))

/** A dead lane with one accepted message. */
async function deadLane(): Promise<{ lane: Lane; msgId: string }> {
  const lane = await openLane(db, dead!)
  const msgId = newId(NOW_MS - 1_000)
  await appendEntry(db, lane, 1, encodeEntry([{ msgId, fact: acceptedFact(plan, msgId, { begun: false }) }]))
  return { lane, msgId }
}

const log = new KeptLog()
const recover = () =>
  recoverLanes(db, { nodeId: living!, ambiguityWaitMs: 60_000, delivers: () => true, log })

test('a lane that the database refuses to give holds up no other, and is retried', async () => {
  const [damaged, ...others] = [await deadLane(), await deadLane(), await deadLane()]
  await db.query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'damaged'; end $$;
    create trigger refuse before update on lanes for each row when (old.lane = ${damaged!.lane.lane})
      execute function refuse()`)
  await expect(recover()).rejects.toThrow('damaged')
  for (const { msgId } of others) expect(await statusOf(db, msgId)).toBe('QUEUED')
  expect(log.lines).toContainEqual(expect.objectContaining({ level: 'info', messages: 2 }))
  await db.query('drop function refuse cascade')
  expect(await recover()).toBe(1)
  expect(await statusOf(db, damaged!.msgId)).toBe('QUEUED')
})

test('a lane whose takeover waits holds up no other', async () => {
  const [waiting, other] = [await deadLane(), await deadLane()]
  const client = await db.connect()
  onTestFinished(() => client.release(true))
  await client.query('begin')
  await cutJournal(client, waiting.lane, 0)
  const recovered = recover()
  await eventually(async () => (await statusOf(db, other.msgId)) === 'QUEUED')
  await client.query('commit')
  expect(await recovered).toBe(2)
})
