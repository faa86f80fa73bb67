import { describe, expect, test } from 'vitest'
import { addFact, messageInProgress, messageOf } from '../../src/domain/journal/messages-in-progress.ts'
import type { MessageFilters } from '../../src/domain/lists.ts'
import type { Status } from '../../src/domain/messages/messages.ts'
import { removeServicePlan } from '../../src/operations/configuration/service-plans.ts'
import { type Queryable, withTransaction } from '../../src/store/database.ts'
import { lockMessages } from '../../src/store/messages-at-rest.ts'
import { writeRecords } from '../../src/store/records.ts'
import { eventually } from '../support/eventually.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { accepted, LaneWriter, received, settled } from '../support/lane-writer.ts'
import { NO_FILTERS, walkWhileProjecting } from '../support/list-walks.ts'
import { NO_OWN_MESSAGES, readsOf } from '../support/message-reads.ts'
import { projected, settledFact, submittedFact } from '../support/messages-in-memory.ts'

const { db, announcedPlan: plan, silentPlan } = await installedDatabase({ poolSize: 8 })

const nodes = async () => [await LaneWriter.open(db, 1), await LaneWriter.open(db, 2)] as const

/** A sender of its own for each test, so that no list shows what another left. */
let senders = 0
const newSender = () => `Test${++senders}`

async function listed({ reads }: Pick<LaneWriter, 'reads'>, filters: Partial<MessageFilters>, limit = 100) {
  const page = { planId: plan, filters: { ...NO_FILTERS, ...filters }, after: null, limit }
  return (await reads.list(page)).map(({ msgId }) => msgId)
}

async function searched({ reads }: Pick<LaneWriter, 'reads'>, filters: object, whose: object = {}) {
  const asked = { ...NO_FILTERS, errorCode: null, carrierMessageId: null, ...filters }
  const { rows } = await reads.search({
    ...{ planId: null, carrierId: null, after: null, limit: 100 },
    ...whose,
    filters: asked,
  })
  return rows
}

async function addCarrier(name: string): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `insert into carriers (name, host, port, system_id, password)
     values ($1, 'localhost', 2775, 'aldis', 'secret') returning id`,
    [name],
  )
  return rows[0]!.id
}

/** `db`, whose statements of this name wait until they are let go. */
function heldAt(name: string) {
  const held: (() => void)[] = []
  const query = async (statement: { name?: string; text: string }) => {
    if (statement.name === name || statement.text.includes(name))
      await new Promise<void>((go) => held.push(go))
    return db.query(statement)
  }
  return { db: { query } as unknown as Queryable, held }
}

/** `db`, which does something before each of its statements of this name. */
function dbWith(name: string, act: () => Promise<void>): Queryable {
  const query = async (statement: { name?: string; text: string }) => {
    if (statement.name === name || statement.text.includes(name)) await act()
    return db.query(statement)
  }
  return { query } as unknown as Queryable
}

test('a look-up of an own message asks the database nothing', async () => {
  const [node] = await nodes()
  const [msgId = ''] = await node.accept(plan)
  const { reads } = { reads: readsOf({ query: () => Promise.reject(new Error('asked')) } as Queryable, node) }
  expect(await reads.find([plan], msgId)).toEqual(messageOf(node.get(msgId)!))
  expect(await reads.find([plan], msgId.toUpperCase())).toMatchObject({ msgId, status: 'QUEUED' })
})

test("a look-up of an id that nobody has, or that is another plan's, reads the lanes once, and the records before and after", async () => {
  const asked: (string | undefined)[] = []
  const query = (statement: { name?: string; text: string }) => {
    asked.push(statement.name)
    return db.query(statement)
  }
  const [node, other] = await nodes()
  const [inMemory = ''] = await node.accept(plan)
  const [elsewhere = ''] = await other.accept(plan)
  const [recorded = ''] = await node.accept(plan)
  await node.project([recorded])
  for (const id of [newId(Date.now()), inMemory, elsewhere, recorded]) {
    asked.length = 0
    expect(await readsOf({ query } as unknown as Queryable, node).find([silentPlan], id)).toBe(null)
    expect(asked).toEqual([undefined, 'read_lanes', undefined])
  }
})

test('a plan whose messages are only in progress is not removed, by whichever node', async () => {
  const [node, other] = await nodes()
  const { rows } = await db.query(`
      insert into service_plans (service_plan_id, account_id, name)
      select repeat('a', 24), account_id, 'Only in progress' from service_plans limit 1
      returning id, service_plan_id as "servicePlanId"`)
  const [{ id, servicePlanId }] = rows
  const [msgId = ''] = await node.accept(id)
  const remove = ({ reads }: LaneWriter) =>
    withTransaction(db, (transaction) => removeServicePlan(transaction, servicePlanId, reads))
  for (const each of [node, other]) await expect(remove(each)).rejects.toThrow(/still has messages/)
  await node.project([msgId])
  await expect(remove(other)).rejects.toThrow(/still has messages/)
  await db.query('delete from messages where msg_id = $1', [msgId])
  await remove(other)
})

test('what one journal says the other node answers at once, until and after it is in the records', async () => {
  const [node, other] = await nodes()
  const sender = newSender()
  const [msgId = ''] = await node.accept(plan, [{ sender }])
  const expectStatus = async (status: 'QUEUED' | 'SENT' | 'DELIVERED') => {
    for (const one of [node, other]) {
      expect(await one.reads.find([silentPlan, plan], msgId)).toMatchObject({ msgId, sender, status })
      expect(await one.reads.find([silentPlan], msgId)).toBe(null)
      for (const filtered of ['QUEUED', 'SENT', 'DELIVERED'] as const)
        expect(await listed(one, { from: sender, status: filtered })).toEqual(
          filtered === status ? [msgId] : [],
        )
    }
  }
  await expectStatus('QUEUED')
  await node.write([settled(msgId)])
  await expectStatus('SENT')
  await node.write([received(msgId)])
  await expectStatus('DELIVERED')
  await node.project([msgId])
  await expectStatus('DELIVERED')
})

test('a record that has moved on counts, and not what a lane said before', async () => {
  const [node, other] = await nodes()
  const sender = newSender()
  // The first stays, so that the lane is not cut.
  const [oldest = '', moved = '', newest = ''] = [
    ...(await node.accept(plan, [{ sender }])),
    ...(await node.accept(plan, [{ sender }])),
    ...(await node.accept(plan, [{ sender }])),
  ]
  expect(await listed(other, { from: sender, status: 'QUEUED' })).toEqual([newest, moved, oldest])
  await node.project([moved, newest])
  await db.query("update messages set status = 'SENT' where plan_id = $1 and msg_id = any ($2)", [
    plan,
    [moved, newest],
  ])
  // Of a page of one the newest that are still QUEUED: both above it have a newer record.
  expect(await listed(other, { from: sender, status: 'QUEUED' }, 1)).toEqual([oldest])
  expect(await listed(other, { from: sender, status: 'SENT' }, 1)).toEqual([newest])
  expect(await other.reads.find([plan], moved)).toMatchObject({ status: 'SENT' })
  expect((await searched(other, { from: sender, status: 'SENT' })).map(({ msgId }) => msgId)).toEqual([
    newest,
    moved,
  ])
})

test('a message whose record is being written is answered by the record, where there is one', async () => {
  const [node] = await nodes()
  const sender = newSender()
  const [written = '', unwritten = ''] = await node.accept(plan, [{ sender }, { sender }])
  const messages = [written, unwritten].map((msgId) => node.get(msgId)!)
  await node.project([written])
  await db.query("update messages set status = 'SENT' where plan_id = $1 and msg_id = $2", [plan, written])
  const own = {
    ...NO_OWN_MESSAGES,
    get: (msgId: string) => messages.find((message) => message.msgId === msgId),
    all: () => messages,
    isLeaving: () => true,
    lane: node.lane,
  }
  const reads = readsOf(db, own)
  expect(await reads.find([plan], written)).toMatchObject({ status: 'SENT' })
  expect(await reads.find([plan], unwritten)).toMatchObject({ status: 'QUEUED' })
  expect(await listed({ reads }, { from: sender, status: 'QUEUED' })).toEqual([unwritten])
  expect(await listed({ reads }, { from: sender, status: 'SENT' })).toEqual([written])
})

test.each(['m.msg_id = $2', 'select k.day'])(
  'a journal that is cut before %s is answered loses nothing',
  async (at) => {
    const [node] = await nodes()
    const sender = newSender()
    const [msgId = ''] = await node.accept(plan, [{ sender }])
    const gate = heldAt(at)
    const reads = readsOf(gate.db)
    const reading = at === 'm.msg_id = $2' ? reads.find([plan], msgId) : listed({ reads }, { from: sender })
    await eventually(() => gate.held.length === 1)
    await node.project([msgId])
    // Another request reads on, and its node forgets the message.
    void reads.find([plan], msgId)
    await eventually(
      async () => (await db.query('select from journal where lane = $1', [node.lane])).rowCount === 0,
    )
    gate.held.shift()!()
    const read = await reading
    expect(Array.isArray(read) ? read : [read?.msgId]).toEqual([msgId])
    for (const go of gate.held) go()
  },
)

describe('a message that was taken out of its record', () => {
  /** One that is at rest, and QUEUED, while its lane still has its acceptance. */
  async function atRest({ keepsLane = true } = {}) {
    const [node, other] = await nodes()
    const sender = newSender()
    if (keepsLane) await node.accept(plan)
    const [msgId = ''] = await node.accept(plan, [{ sender }])
    await node.project([msgId])
    const isShown = async (by: Pick<LaneWriter, 'reads'>, status: Status) => {
      for (const one of ['QUEUED', 'SENT', 'DELIVERED'] as const) {
        expect(await listed(by, { from: sender, status: one })).toEqual(one === status ? [msgId] : [])
        const found = await searched(by, { from: sender, status: one })
        expect(found.map((row) => row.msgId)).toEqual(one === status ? [msgId] : [])
      }
      expect(await by.reads.find([plan], msgId)).toMatchObject({ status })
    }
    return { node, other, sender, msgId, key: { planId: plan, msgId }, isShown }
  }

  test('is as its lane says, on every node, also when that loads it again', async () => {
    const { node, other, msgId, key, isShown } = await atRest()
    const everywhere = async (status: Status) => {
      for (const one of [node, other]) await isShown(one, status)
    }
    await everywhere('QUEUED')
    await other.load([key])
    await everywhere('QUEUED')
    await other.project([msgId])
    await node.load([key])
    await node.write([settled(msgId)])
    await everywhere('SENT')
    await node.project([msgId])
    await everywhere('SENT')
    await node.load([key])
    await everywhere('SENT')
    await node.write([received(msgId)])
    await everywhere('DELIVERED')
    await node.project([msgId])
    await everywhere('DELIVERED')
  })

  test('is answered by its lane also where a process has not heard yet that it is recorded', async () => {
    const { node, other, msgId, key, isShown } = await atRest()
    const stale = messageInProgress(msgId, accepted(plan).fact)
    await other.load([key])
    await other.write([settled(msgId)])
    const own = {
      ...NO_OWN_MESSAGES,
      get: (id: string) => (id === msgId ? stale : undefined),
      all: () => [stale],
      isLeaving: () => true,
      lane: node.lane,
    }
    await isShown({ reads: readsOf(db, own) }, 'SENT')
  })

  test.each([
    ['find', 1],
    ['list', 3],
    ['search', 3],
  ] as const)('is as it was recorded, where that happens while its lane is read: %s', async (ask, nth) => {
    const { node, msgId, key, sender } = await atRest({ keepsLane: false })
    await node.load([key])
    await node.write([settled(msgId)])
    let times = 0
    const reads = readsOf(
      dbWith('read_lanes', async () => {
        times += 1
        if (times === nth) await node.project([msgId])
      }),
    )
    const page = { planId: plan, filters: { ...NO_FILTERS, from: sender }, after: null, limit: 5 }
    if (ask === 'find') expect(await reads.find([plan], msgId)).toMatchObject({ status: 'SENT' })
    else if (ask === 'list') expect(await reads.list(page)).toMatchObject([{ msgId, status: 'SENT' }])
    else expect(await searched({ reads }, { from: sender })).toMatchObject([{ msgId, status: 'SENT' }])
    expect(times).toBeGreaterThanOrEqual(nth)
  })

  test.each([
    ['find_recorded', 'QUEUED', 0],
    ['from messages m', 'SENT', 1],
  ] as const)(
    'counts as it was when it was loaded, where its lane has it from before too: at %s',
    async (at, status, shown) => {
      const [node] = await nodes()
      const sender = newSender()
      // The first stays, so that the lane is not cut.
      const [, msgId = ''] = await node.accept(plan, [{}, { sender }])
      const key = { planId: plan, msgId }
      let isAsked = false
      const reads = readsOf(
        dbWith(at, async () => {
          if (!isAsked) return
          isAsked = false
          await node.load([key])
        }),
      )
      expect(await listed({ reads }, { from: sender, status: 'QUEUED' })).toEqual([msgId])
      await node.project([msgId])
      await withTransaction(db, async (tx) => {
        const message = (await lockMessages(tx, [key])).messages.get(msgId)!
        addFact(message, settledFact(Date.now()))
        await writeRecords(tx, [projected(message)], null)
      })
      isAsked = true
      expect(await listed({ reads }, { from: sender, status })).toHaveLength(shown)
      expect([isAsked, await listed({ reads }, { from: sender, status: 'SENT' })]).toEqual([false, [msgId]])
    },
  )

  test('leaves no page short where it is no more what its record says', async () => {
    const [node, other] = await nodes()
    const sender = newSender()
    const ids = await node.accept(
      plan,
      Array.from({ length: 12 }, () => ({ sender })),
    )
    await node.project(ids)
    await node.load(ids.slice(4).map((msgId) => ({ planId: plan, msgId })))
    await node.write(ids.slice(4).map((msgId) => settled(msgId)))
    const newest = ids.slice(0, 4).reverse()
    for (const one of [node, other]) {
      expect(await listed(one, { from: sender, status: 'QUEUED' }, 3)).toEqual(newest.slice(0, 3))
      const found = await searched(one, { from: sender, status: 'QUEUED' }, { limit: 3 })
      expect(found.map(({ msgId }) => msgId)).toEqual(newest.slice(0, 3))
      expect(await listed(one, { from: sender, status: 'QUEUED' })).toEqual(newest)
    }
  })

  test('is found by the id of a segment that was accepted before, and of one since', async () => {
    const [node, other] = await nodes()
    const carrierId = await addCarrier(newSender())
    const submitted = (segment: number) => ({
      ...submittedFact(`${msgId.slice(0, 8)}${segment}`, segment),
      carrierId,
    })
    const [msgId = ''] = await node.accept(plan, [{ segments: 2 }])
    await node.write([{ msgId, fact: submitted(0) }])
    await node.project([msgId])
    await other.load([{ planId: plan, msgId }])
    await other.write([{ msgId, fact: submitted(1) }])
    for (const one of [node, other])
      for (const segment of [0, 1]) {
        const { carrierMessageId } = submitted(segment)
        expect(await searched(one, { carrierMessageId })).toMatchObject([{ msgId }])
        expect(await searched(one, { carrierMessageId }, { carrierId })).toMatchObject([{ msgId }])
      }
  })

  test('is waited for as one that was accepted is, until it is at rest', async () => {
    const { node, other, msgId, key } = await atRest()
    await other.load([key])
    let polls = 0
    const wait = async () => {
      polls += 1
      if (polls === 3) await other.project([msgId])
    }
    await readsOf(db, node, { wait }).untilRecorded([msgId])
    expect(polls).toBe(3)
    await node.load([key])
    await node.reads.untilRecorded([msgId])
    expect(node.get(msgId)).toBe(undefined)
  })
})

test('why a message waits in the memory of another node: for its turn, or for an answer', async () => {
  const [node, other] = await nodes()
  const [waiting = '', begun = ''] = await node.accept(plan, [{}, { begun: true }])
  const causes = () => Promise.all([waiting, begun].map((msgId) => other.reads.causeElsewhere(msgId)))
  expect(await causes()).toEqual(['queued', 'in-flight'])
  await node.write([{ msgId: waiting, fact: { kind: 'begun', atMs: Date.now() } }, settled(begun)])
  expect(await causes()).toEqual(['in-flight', null])
  expect(await node.reads.causeElsewhere(waiting)).toBe(null)
})

test("the operator's list has messages in progress with the names of what they belong to", async () => {
  const [node, other] = await nodes()
  const sender = newSender()
  const carrierId = await addCarrier('acme')
  const [first = ''] = await node.accept(plan, [{ sender }])
  const [second = ''] = await node.accept(silentPlan, [{ sender, segments: 2 }])
  await node.write([
    {
      msgId: first,
      fact: { ...submittedFact('abc1'), carrierId },
    },
    settled(first, { carrierId, errorCode: '000' }),
  ])
  const shown = [
    {
      msgId: second,
      servicePlanId: '222222222222222222222222',
      carrier: null,
      status: 'QUEUED',
      segments: 2,
    },
    { msgId: first, servicePlanId: '111111111111111111111111', carrier: 'acme', status: 'SENT', route: null },
  ]
  for (const one of [node, other]) {
    expect(await searched(one, { from: sender })).toMatchObject(shown)
    expect(await searched(one, { from: sender }, { carrierId })).toMatchObject([shown[1]!])
    expect(await searched(one, { from: sender }, { planId: silentPlan })).toMatchObject([shown[0]!])
    expect(await searched(one, { carrierMessageId: 'ABC1' })).toMatchObject([shown[1]!])
    expect(await searched(one, { from: sender }, { limit: 1 })).toMatchObject([shown[0]!])
    expect(await searched(one, { from: sender }, { after: second })).toMatchObject([shown[1]!])
  }
  const before = await searched(node, { from: sender })
  await node.project([first])
  expect(await searched(node, { from: sender })).toEqual(before)
  await node.project([second])
  expect(await searched(node, { from: sender })).toEqual(before)
})

test('a message is waited for until it is recorded: the own ones are at once', async () => {
  const [node, other] = await nodes()
  const [msgId = '', next = ''] = await node.accept(plan, [{}, {}])
  const isRecorded = async () =>
    (await db.query('select from messages where plan_id = $1 and msg_id = $2', [plan, msgId])).rowCount === 1
  await node.reads.untilRecorded([msgId], silentPlan)
  expect([await isRecorded(), node.size]).toEqual([false, 2])
  await node.reads.untilRecorded([msgId], plan)
  expect([await isRecorded(), node.size]).toEqual([true, 1])
  let polls = 0
  const wait = async () => {
    polls += 1
    if (polls === 3) await node.project([next])
  }
  await readsOf(db, other, { wait }).untilRecorded([next.toUpperCase()])
  expect([polls, node.size]).toEqual([3, 0])
  await other.reads.untilRecorded([next, msgId])
})

test('a message of another node is not waited for for ever', async () => {
  const [node, other] = await nodes()
  const [msgId = ''] = await node.accept(plan)
  let nowMs = 0
  const wait = async (ms: number) => {
    nowMs += ms
  }
  const reads = readsOf(db, other, { wait, clock: () => nowMs })
  await reads.untilRecorded([msgId], silentPlan)
  expect(nowMs).toBe(0)
  await reads.untilRecorded([msgId], plan)
  expect(nowMs).toBe(12_000)
})

test('what this node has told of a plan is recorded before its events are listed', async () => {
  const [node] = await nodes()
  const [msgId = ''] = await node.accept(plan)
  const [untold = ''] = await node.accept(plan)
  const [another = ''] = await node.accept(silentPlan)
  await node.write([settled(msgId), settled(another)])
  await node.reads.untilEventsRecorded(plan, null)
  expect([msgId, untold, another].filter((each) => node.get(each) !== undefined)).toEqual([untold, another])
  await node.reads.untilEventsRecorded(silentPlan, another)
  expect(node.size).toBe(1)
})

test('where the lane is lost while others are read, its messages are read in it', async () => {
  const [node] = await nodes()
  const sender = newSender()
  const [msgId = ''] = await node.accept(plan, [{ sender }])
  const message = node.get(msgId)!
  let lane: number | null = node.lane
  const own = {
    ...NO_OWN_MESSAGES,
    get: () => (lane === null ? undefined : message),
    all: () => (lane === null ? [] : [message]),
    project: async () => {
      lane = null
    },
    get lane() {
      return lane
    },
  }
  const gate = heldAt('read_lanes')
  const reading = listed({ reads: readsOf(gate.db, own) }, { from: sender })
  await eventually(() => gate.held.length === 1)
  lane = null
  gate.held.shift()!()
  await eventually(() => gate.held.length === 1)
  gate.held.shift()!()
  expect(await reading).toEqual([msgId])
  lane = node.lane
  let waits = 0
  const wait = async () => {
    waits += 1
    await node.project([msgId])
  }
  await readsOf(db, own, { wait }).untilRecorded([msgId])
  expect(waits).toBe(1)
})

test('pages show each message once and in order while messages move into the records and out of them', async () => {
  const seen = await walkWhileProjecting(db, plan, 150)
  expect(seen.inProgress).toBeGreaterThan(50)
  expect(seen.rows - seen.inProgress).toBeGreaterThan(50)
})
