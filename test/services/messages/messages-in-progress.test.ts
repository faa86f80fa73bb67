import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Directory } from '../../../src/domain/configuration/directory.ts'
import type { EventHolder } from '../../../src/domain/events.ts'
import type { Accepted, EventTaken } from '../../../src/domain/journal/message-facts.ts'
import type { ChangedMessage } from '../../../src/domain/journal/messages-in-progress.ts'
import { recoverLanes } from '../../../src/operations/recover-lanes.ts'
import { takeOverLane } from '../../../src/store/journal.ts'
import { registerNode, removeNode } from '../../../src/store/nodes.ts'
import { aCarrier, aDirectory, anAccount, aPlan } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { type Around, gatedDatabase, refusedByServer } from '../../support/gated-database.ts'
import { inProgressAt, MESSAGE_TABLES } from '../../support/in-progress.ts'
import { CARRIER_ID, installedDatabase, newId } from '../../support/installation.ts'
import { quietLog } from '../../support/log.ts'
import { acceptedFact, inMemory, submittedFact } from '../../support/messages-in-memory.ts'
import {
  clearTables,
  eventsOf,
  HOLDER,
  NOBODY,
  NODE,
  receipt,
  sent,
  startingOver,
  statusOf,
  submission,
} from '../../support/stored-messages.ts'

const { db, announcedPlan: plan } = await installedDatabase({ poolSize: 6 })
const OTHER = 2

let directory: Directory
let holder: EventHolder
let node: Node

type Node = Awaited<ReturnType<typeof aNode>>

beforeEach(async () => {
  await clearTables(db, ...MESSAGE_TABLES)
  directory = aDirectory({ plans: [aPlan({ id: plan })] })
  holder = HOLDER
  node = await aNode()
})

afterEach(() => node.inProgress.stop(1_000))

const aNode = (around?: Around, overdueMs?: number) =>
  inProgressAt(
    NODE,
    { directory: () => directory, eventHolder: () => holder },
    { db: around ? gatedDatabase(db, around) : db, overdueMs },
  )

async function accept(changes: Partial<Accepted> = {}): Promise<string> {
  const msgId = newId(Date.now())
  const accepted = acceptedFact(plan, msgId, { begun: true, ...changes })
  expect(await node.inProgress.accept({ msgId, owner: NODE, accepted })).toBe('committed')
  return msgId
}

/** A message that a carrier has under its own id. */
async function acceptedByCarrier(changes: Partial<Accepted> = {}): Promise<string> {
  const msgId = await accept(changes)
  expect(node.inProgress.addOutcome(submission(plan, msgId, msgId))).toBe(true)
  expect(node.inProgress.addOutcome(sent(plan, msgId))).toBe(true)
  await told(1, msgId)
  return msgId
}

/** Resolves when so many changes of the message were told; gives them. */
function told(count: number, msgId: string): Promise<ChangedMessage[]> {
  return eventually(() => {
    const changes = node.changed.filter((change) => change.msgId === msgId)
    return changes.length >= count && changes
  })
}

/** What the carrier is answered. */
function delivered(id: string, changes: Parameters<typeof receipt>[2] = {}): Promise<boolean> {
  return new Promise((done, fail) => {
    const row = receipt(id, 'DELIVERED', { mccmnc: null, ...changes })
    if (node.inProgress.receipts.match(row, done) !== 'matched')
      fail(new Error('the receipt was not matched'))
  })
}

function taken(sequence: number): EventTaken {
  const answer = { latencyMs: 5, responseStatus: 200, responseHead: null }
  const destination = 'https://example.com'
  return { kind: 'event-taken', sequence, attemptedAtMs: Date.now(), ...answer, destination }
}

const gone = (msgId: string) => eventually(() => node.inProgress.get(msgId) === undefined)

test('memory is bounded by bytes: at first nothing is taken out of records any more, then nothing is accepted', async () => {
  const { inProgress } = await inProgressAt(
    OTHER,
    { directory: () => directory, eventHolder: () => holder },
    { db, mostBytes: 100_000 },
  )
  const msgIds: string[] = []
  const rooms = async (messages: number) => {
    for (let n = 0; n < messages; n += 1) {
      const msgId = newId(Date.now())
      const accepted = acceptedFact(plan, msgId, { segments: 9 })
      msgIds.push(msgId)
      await inProgress.accept({ msgId, owner: OTHER, accepted })
    }
    return [inProgress.hasRoom, inProgress.takes(plan)]
  }
  expect([await rooms(3), await rooms(1), await rooms(2)]).toEqual([
    [true, true],
    [false, true],
    [false, false],
  ])
  for (const msgId of msgIds) inProgress.addOutcome(sent(plan, msgId))
  await inProgress.project(msgIds)
  expect(await rooms(0)).toEqual([true, true])
  await inProgress.stop(1_000)
})

describe('the facts of a message', () => {
  test('a segment that is told as a fact has its receipt matched in memory, like any other', async () => {
    const msgId = await accept()
    expect(node.inProgress.addFacts(msgId, [submittedFact(msgId)])).toBe(true)
    expect(node.inProgress.addOutcome(sent(plan, msgId))).toBe(true)
    await told(1, msgId)
    expect(await delivered(msgId)).toBe(true)
  })

  test('are told as they are committed, and become its record when its receiver has all events', async () => {
    const msgId = await acceptedByCarrier()
    expect(await delivered(msgId)).toBe(true)
    const changes = await told(2, msgId)
    expect(changes.map(({ status, sequence, held }) => [status, sequence, held])).toEqual([
      ['SENT', 1, true],
      ['DELIVERED', 2, true],
    ])
    expect(await statusOf(db, msgId)).toBeUndefined()
    for (const sequence of [1, 2]) expect(node.inProgress.eventTaken(msgId, taken(sequence))).toBe(true)
    await gone(msgId)
    expect([await statusOf(db, msgId), await eventsOf(db, msgId)]).toEqual([
      'DELIVERED',
      [
        { sequence: 1, status: 'SENT', holder: null },
        { sequence: 2, status: 'DELIVERED', holder: null },
      ],
    ])
  })

  test('go on from its record, where it is taken out of there in one transaction', async () => {
    const msgId = newId(Date.now())
    const { accepted, state } = inMemory(plan, () => [], {}, msgId)
    const load = (fails: boolean) =>
      node.inProgress.load(NODE, async (tx) => {
        await tx.query('insert into lanes (node_id) values (77)')
        if (fails) throw new Error('not now')
        return [{ msgId, accepted, state, hasWaitingEvents: false }]
      })
    await expect(load(true)).rejects.toThrow('not now')
    expect(node.inProgress.get(msgId)).toBeUndefined()
    expect(await load(false)).toMatchObject([{ msgId }])
    expect(node.inProgress.get(msgId)).toMatchObject({ accepted, state })
    const { rowCount } = await db.query('select from lanes where node_id = 77')
    expect(rowCount).toBe(1)
    expect(node.inProgress.addOutcome(sent(plan, msgId))).toBe(true)
    expect(await told(1, msgId)).toMatchObject([{ status: 'SENT', sequence: 1 }])
  })

  test('are left to its record once that is being written', async () => {
    await node.inProgress.stop(1_000)
    const going = Promise.withResolvers<void>()
    const around = async <T>(name: string | undefined, run: () => Promise<T>) => {
      if (name === 'connect') await going.promise
      return await run()
    }
    node = await aNode(around)
    const msgId = await acceptedByCarrier()
    const projected = node.inProgress.project([msgId])
    await eventually(() => node.inProgress.isLeaving(msgId))
    const { inProgress } = node
    expect(inProgress.addOutcome(sent(plan, msgId))).toBe(false)
    expect(inProgress.addOutcome(submission(plan, msgId, 'another'))).toBe(false)
    expect(inProgress.eventTaken(msgId, taken(1))).toBe(false)
    expect(inProgress.receipts.match(receipt(msgId, 'DELIVERED'), null)).toEqual({ unrecorded: [msgId] })
    going.resolve()
    await projected
    expect([inProgress.has(msgId), await statusOf(db, msgId), node.projected]).toEqual([
      false,
      'SENT',
      [msgId],
    ])
  })

  test('of one that starts over count by its new segmentation, also before its submission has ended', async () => {
    const msgId = await accept({ segments: 2 })
    const { inProgress } = node
    const segmentation = 'udh gsm7 2'
    expect(inProgress.addOutcome(startingOver(plan, msgId, segmentation))).toBe(true)
    for (const segment of [0, 1])
      inProgress.addOutcome(submission(plan, msgId, `${msgId}-${segment}`, segment, segmentation))
    await delivered(`${msgId}-0`)
    inProgress.addOutcome(sent(plan, msgId, { segments: 2, segmentation }))
    await delivered(`${msgId}-1`)
    expect((await told(2, msgId)).map(({ status }) => status)).toEqual(['SENT', 'DELIVERED'])
  })
})

describe('a receipt', () => {
  test('is refused when the entries before it are overdue, and waits for its own entry', async () => {
    await node.inProgress.stop(1_000)
    const goOn = Promise.withResolvers<void>()
    let isSlow = false
    let waiting = 0
    const around = async <T>(name: string | undefined, run: () => Promise<T>) => {
      if (isSlow && name === 'append_entry') {
        waiting += 1
        await goOn.promise
      }
      return await run()
    }
    node = await aNode(around, 100)
    const ids: string[] = []
    for (let count = 0; count < 5; count += 1) ids.push(await acceptedByCarrier())
    isSlow = true
    const answers: Promise<boolean>[] = []
    for (const id of ids.slice(0, 3)) {
      answers.push(delivered(id))
      await eventually(() => waiting === answers.length)
    }
    expect(await delivered(ids[3]!)).toBe(false)
    expect(await delivered(ids[4]!)).toBe(false)
    goOn.resolve()
    expect(await Promise.all(answers)).toEqual([true, true, true])
    expect(await delivered(ids[4]!)).toBe(true)
  })

  test('that came before its answer has the message recorded, so that both are found there', async () => {
    const msgId = await accept()
    expect(node.inProgress.receipts.match(receipt(msgId, 'DELIVERED'), null)).toBe('unknown')
    node.inProgress.addOutcome(submission(plan, msgId, msgId))
    node.inProgress.addOutcome(sent(plan, msgId))
    await gone(msgId)
    expect(node.projected).toEqual([msgId])
  })

  test('that another node has parked does so, too', async () => {
    const msgId = await acceptedByCarrier()
    node.inProgress.receipts.receiptParked({ carrierId: CARRIER_ID, carrierMessageId: msgId })
    await gone(msgId)
    expect(node.projected).toEqual([msgId])
  })

  test('that comes again, or to another number, is left to the record', async () => {
    const msgId = await acceptedByCarrier()
    const other = receipt(msgId, 'DELIVERED', { addresses: ['4930'] })
    expect(node.inProgress.receipts.match(other, null)).toEqual({ unrecorded: [msgId] })
    await delivered(msgId)
    expect(node.inProgress.receipts.match(receipt(msgId, 'FAILED'), null)).toEqual({ unrecorded: [msgId] })
  })

  test('of an id that two messages have is left to their records, where they go at once', async () => {
    const [one, other] = [await accept(), await accept()]
    const known = { carrierId: CARRIER_ID, carrierMessageId: 'twice' }
    for (const msgId of [one, other]) node.inProgress.addOutcome(submission(plan, msgId, 'twice'))
    // As long as they are being submitted the receipt waits for them.
    expect(node.inProgress.receipts.urgeNamesakes(known)).toEqual([])
    expect(node.inProgress.receipts.match(receipt('twice', 'DELIVERED'), null)).toEqual({ unrecorded: [] })
    for (const msgId of [one, other]) node.inProgress.addOutcome(sent(plan, msgId))
    await Promise.all([one, other].map(gone))
    expect(node.inProgress.receipts.urgeNamesakes(known)).toEqual([])
  })

  test('of a carrier whose id rule is not learned is left to the records of those it may be for', async () => {
    const [one, other] = [await accept(), await accept()]
    for (const [msgId, id] of [
      [one, 'af'],
      [other, 'b0'],
    ] as const) {
      node.inProgress.addOutcome(submission(plan, msgId, id))
      node.inProgress.addOutcome(sent(plan, msgId))
      await told(1, msgId)
    }
    const untranslated = (id: string) =>
      node.inProgress.receipts.match(receipt(id, 'DELIVERED', { untranslated: true, idRule: 'auto' }), null)
    expect(['0AF', '175', 'c1'].map(untranslated)).toEqual([
      { unrecorded: [one] },
      { unrecorded: [one] },
      'unknown',
    ])
    await gone(one)
    expect(node.projected).toEqual(['af'])
  })

  test('of a carrier whose id rule is not learned waits for its message, which is recorded when it is submitted', async () => {
    directory = aDirectory({
      carriers: [aCarrier({ id: CARRIER_ID, idRule: 'auto', learnedIdRule: null })],
      plans: [aPlan({ id: plan })],
    })
    const msgId = await accept()
    node.inProgress.addOutcome(submission(plan, msgId, msgId))
    expect(node.inProgress.receipts.match(receipt('0AF', 'DELIVERED', { untranslated: true }), null)).toBe(
      'unknown',
    )
    node.inProgress.addOutcome(sent(plan, msgId))
    await gone(msgId)
    expect(node.projected).toEqual([msgId])
  })
})

describe('an event', () => {
  test('that finds no room in memory is due in its record, and so are those behind it', async () => {
    holder = NOBODY
    const msgId = await accept()
    node.inProgress.addOutcome(submission(plan, msgId, msgId))
    node.inProgress.addOutcome(sent(plan, msgId))
    const [first] = await told(1, msgId)
    await gone(msgId)
    expect(first!.held).toBe(false)
    expect(await eventsOf(db, msgId)).toEqual([{ sequence: 1, status: 'SENT', holder: null }])
  })

  test('of a message that was accepted under a lease before is not held: its record names that node', async () => {
    const msgId = await acceptedByCarrier()
    holder = { ...HOLDER, nodeId: OTHER }
    await delivered(msgId)
    expect((await told(2, msgId)).map(({ held }) => held)).toEqual([true, false])
    await gone(msgId)
    expect((await eventsOf(db, msgId)).map((event) => event.holder)).toEqual([NODE, null])
  })

  test('from before there was a URL is not delivered when there is one', async () => {
    const msgId = await acceptedByCarrier({ callbackUrl: null })
    directory = aDirectory({
      plans: [aPlan({ id: plan, account: anAccount({ defaultDlrUrl: 'https://example.com/all' }) })],
    })
    await delivered(msgId)
    expect((await told(2, msgId)).map(({ held }) => held)).toEqual([false, true])
    expect(node.inProgress.eventTaken(msgId, taken(2))).toBe(true)
    await gone(msgId)
    const { rows } = await db.query('select sequence from event_deliveries where msg_id = $1', [msgId])
    expect([await eventsOf(db, msgId), rows]).toEqual([
      [
        { sequence: 1, status: 'SENT', holder: null },
        { sequence: 2, status: 'DELIVERED', holder: null },
      ],
      [],
    ])
  })

  test('is due in its record when the lease is over', async () => {
    const msgId = await acceptedByCarrier()
    node.inProgress.release()
    await gone(msgId)
    expect((await eventsOf(db, msgId)).map((event) => event.holder)).toEqual([null])
  })
})

describe('the end', () => {
  test('leaves everything in the records, and no lane', async () => {
    const msgId = await acceptedByCarrier()
    await node.inProgress.stop(5_000)
    const { rows } = await db.query('select from lanes')
    expect([await statusOf(db, msgId), rows.length]).toEqual(['SENT', 0])
  })

  test('comes also while the database takes no records, and leaves them in the journal', async () => {
    await node.inProgress.stop(1_000)
    const around = <T>(name: string | undefined, run: () => Promise<T>) =>
      name === 'connect' ? refusedByServer(db) : run()
    node = await aNode(around)
    const msgId = await acceptedByCarrier()
    await node.inProgress.stop(5_000)
    const { rows } = await db.query('select lane from lanes')
    expect([await statusOf(db, msgId), rows.length]).toEqual([undefined, 1])
  })
})

describe('a lane that is lost', () => {
  test('returns what is not in it, and its messages are waited for until another node has recorded them', async () => {
    const [dead, living] = await Promise.all(['dead', 'living'].map((name) => registerNode(db, name)))
    await removeNode(db, dead!)
    await node.inProgress.register(dead!)
    const msgId = await acceptedByCarrier()
    const held = { lane: node.inProgress.lane!, epoch: 1, nodeId: dead! }
    await takeOverLane(db, held, living!)
    expect(node.inProgress.addOutcome(sent(plan, msgId))).toBe(true)
    const latePart = {
      kind: 'pdus-accepted',
      atMs: Date.now(),
      pduBits: 1n,
      segmentation: 'udh GSM7 1',
    } as const
    expect(node.inProgress.addOutcome({ planId: plan, msgId, facts: [latePart] })).toBe(true)
    await eventually(() => node.returned.length > 1)
    const { inProgress } = node
    expect([inProgress.get(msgId), inProgress.has(msgId), node.returned]).toEqual([
      undefined,
      true,
      ['settled', 'pdus-accepted'],
    ])
    const projected = inProgress.project([msgId])
    const recovery = { nodeId: living!, ambiguityWaitMs: 60_000, delivers: () => true, log: quietLog }
    await eventually(async () => (await recoverLanes(db, recovery)) > 0)
    await projected
    expect([inProgress.has(msgId), await statusOf(db, msgId)]).toEqual([false, 'SENT'])
  })
})
