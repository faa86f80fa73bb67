import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { DEFAULT_OPT_OUT } from '../../../src/domain/opt-outs.ts'
import { recoverLanes } from '../../../src/operations/recover-lanes.ts'
import type { AcceptOutcome } from '../../../src/operations/sends/accept-messages.ts'
import { IDEMPOTENCY_LIFETIME_MS } from '../../../src/operations/sends/idempotency-keys.ts'
import type { Queryable } from '../../../src/store/database.ts'
import { takeIdempotencyKeys } from '../../../src/store/idempotency-keys.ts'
import { takeOverLane } from '../../../src/store/journal.ts'
import { type AcceptingNode, acceptBy, anAcceptingNode } from '../../support/accepting-nodes.ts'
import { eventually } from '../../support/eventually.ts'
import { type Around, type Become, become } from '../../support/gated-database.ts'
import { installedDatabase, newId } from '../../support/installation.ts'
import { quietLog } from '../../support/log.ts'
import { clearTables, NODE } from '../../support/stored-messages.ts'

const { db, directory, announcedPlan } = await installedDatabase({ poolSize: 10 })
const OTHER = 2
const plan = directory.planById(announcedPlan)!
const nodes: AcceptingNode[] = []

beforeEach(() =>
  clearTables(db, 'lanes', 'journal', 'messages', 'dispatches', 'idempotency_keys', 'opt_outs'),
)
afterEach(async () => {
  for (const { inProgress } of nodes.splice(0)) await inProgress.stop(5_000)
})

async function aNode(options: Parameters<typeof anAcceptingNode>[1] = {}): Promise<AcceptingNode> {
  const node = await anAcceptingNode(db, options)
  nodes.push(node)
  return node
}

/** The first so many of the statements of this name have this outcome. */
function firstOf(name: string, outcome: Become, count = 1): Around {
  let left = count
  return async (given, run) => (given === name && left-- > 0 ? await become(db, outcome, run) : await run())
}

/** The first so many statements of this name wait until they are to go on. */
function firstHeld(name: string, count = 1) {
  const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let left = count
  const around: Around = async (given, run) => {
    if (given === name && left-- > 0) {
      asked.resolve()
      await goOn.promise
    }
    return await run()
  }
  return { around, asked, goOn }
}

const accept = (node: AcceptingNode, body = 'hello', key: string | null = null, as = plan) =>
  acceptBy(node, as, { body, key })

/** The records of messages, and whether they wait in the tables to be submitted. */
async function stored(): Promise<{ body: string; status: string; waits: boolean }[]> {
  const { rows } = await db.query(`
    select m.body, m.status, d.msg_id is not null as waits
    from messages m left join dispatches d on d.msg_id = m.msg_id order by m.body`)
  return rows
}

const kindsOf = (outcomes: readonly AcceptOutcome[]) => outcomes.map(({ kind }) => kind)

describe('a message that this node keeps', () => {
  test('is in its lane and has no record, with a key and without', async () => {
    const node = await aNode()
    const outcomes = await Promise.all(
      Array.from({ length: 450 }, (_, n) => accept(node, `body ${n}`, n % 2 === 0 ? null : `key ${n}`)),
    )
    expect(new Set(kindsOf(outcomes))).toEqual(new Set(['queued']))
    expect([await stored(), node.inProgress.size, node.released]).toEqual([[], 450, []])
    expect(new Set(node.kept).size).toBe(450)
    // What has a key is appended when its transaction is, and whoever judged its room does not know behind what.
    const begun = [...node.inProgress.all(plan.id)].filter(({ accepted }) => accepted.begun)
    expect(begun).toHaveLength(225)
    const { rows } = await db.query('select count(*)::integer as keys from idempotency_keys')
    expect(rows).toEqual([{ keys: 225 }])
  })

  test('goes into the records where its lane was taken over before', async () => {
    const node = await aNode()
    const { rows } = await db.query('select lane, epoch from lanes')
    await takeOverLane(db, { ...rows[0], nodeId: NODE }, OTHER)
    const outcomes = await Promise.all([accept(node, 'a'), accept(node, 'b', 'key')])
    expect(kindsOf(outcomes)).toEqual(['queued', 'queued'])
    expect(await stored()).toEqual([
      { body: 'a', status: 'QUEUED', waits: true },
      { body: 'b', status: 'QUEUED', waits: true },
    ])
    expect([node.kept.length, node.released.length]).toEqual([0, 2])
    expect(await accept(node, 'b', 'key')).toEqual({ ...outcomes[1], kind: 'replayed' })
  })

  test.each([null, 'key'])('is failed where the database takes no entry; key: %s', async (key) => {
    const node = await aNode({ around: firstOf('append_entry', 'refused') })
    expect(await accept(node, 'a', key)).toMatchObject({ kind: 'failed', message: { errorCode: '100' } })
    await eventually(() => node.inProgress.takes(plan.id))
    expect(await accept(node, 'a', key)).toMatchObject({ kind: 'queued' })
    expect([await stored(), node.inProgress.size, node.kept.length]).toEqual([[], 1, 1])
  })
})

describe('a message that this node does not keep', () => {
  test('is written into the records, due at once, with a key and without', async () => {
    const node = await aNode({ keeps: false })
    const outcomes = await Promise.all(
      Array.from({ length: 450 }, (_, n) => accept(node, `body ${n}`, n % 2 === 0 ? null : `key ${n}`)),
    )
    expect(new Set(kindsOf(outcomes))).toEqual(new Set(['queued']))
    const rows = await stored()
    expect(rows).toHaveLength(450)
    expect(rows.every(({ status, waits }) => status === 'QUEUED' && waits)).toBe(true)
    const dispatches = await db.query('select distinct route_id from dispatches')
    expect(dispatches.rows).toEqual([{ route_id: 7 }])
    expect(node.kept).toEqual([])
  })

  test('nor can keep, because it has no lane, gives its room back', async () => {
    const node = await aNode({ hasLane: false })
    expect(await accept(node)).toMatchObject({ kind: 'queued' })
    expect([(await stored()).length, node.kept, node.released.length]).toEqual([1, [], 1])
  })

  test.each([true, false])('fails alone where the database refuses it; in the journal: %s', async (keeps) => {
    const node = await aNode({ keeps })
    const table = keeps ? 'idempotency_keys' : 'messages'
    const column = keeps ? 'request_hash' : 'body'
    const bad = keeps ? `'\\x${Buffer.from('bad'.padEnd(32)).toString('hex')}'::bytea` : "'bad'"
    await db.query(`alter table ${table} add constraint no_bad check (${column} <> ${bad})`)
    try {
      const bodies = Array.from({ length: 20 }, (_, n) => (n === 7 ? 'bad' : `good ${n}`))
      const outcomes = await Promise.all(bodies.map((body) => accept(node, body, keeps ? body : null)))
      expect(kindsOf(outcomes)).toEqual(bodies.map((body) => (body === 'bad' ? 'failed' : 'queued')))
      expect(outcomes[7]).toMatchObject({ message: { status: 'FAILED', errorCode: '100' } })
      expect(node.inProgress.size + (await stored()).length).toBe(19)
    } finally {
      await db.query(`alter table ${table} drop constraint no_bad`)
    }
  })

  test('is failed where the database cannot take it, and not stored', async () => {
    const node = await aNode({ keeps: false })
    await db.query('alter table dispatches rename to hidden')
    const outcomes = await Promise.all([accept(node), accept(node, 'keyed', 'key')])
    await db.query('alter table hidden rename to dispatches')
    expect(kindsOf(outcomes)).toEqual(['failed', 'failed'])
    expect(await stored()).toEqual([])
    expect(await accept(node, 'keyed', 'key')).toMatchObject({ kind: 'queued' })
  })
})

test.each([true, false])(
  'a text that PostgreSQL cannot store is refused at once, kept: %s',
  async (keeps) => {
    const node = await aNode({ keeps })
    expect(await accept(node, 'bad \0')).toMatchObject({ kind: 'failed', message: { errorCode: '100' } })
    expect([await stored(), node.inProgress.size, node.kept]).toEqual([[], 0, []])
  },
)

describe('an answer to the COMMIT that never comes', () => {
  test.each([null, 'key'])('it stands in the journal: queued, once; key: %s', async (key) => {
    const node = await aNode({ around: firstOf(key === null ? 'append_entry' : 'commit', 'answer lost') })
    expect(await accept(node, 'a', key)).toMatchObject({ kind: 'queued' })
    expect([await stored(), node.inProgress.size, node.kept.length]).toEqual([[], 1, 1])
  })

  test('it does not stand in the journal: failed, and the key is free', async () => {
    const node = await aNode({ around: firstOf('commit', 'never sent') })
    expect(await accept(node, 'a', 'key')).toMatchObject({ kind: 'failed' })
    expect([await stored(), node.inProgress.size, node.released.length]).toEqual([[], 0, 1])
    expect(await accept(node, 'a', 'key')).toMatchObject({ kind: 'queued' })
  })

  test('it stands in the records: queued, once', async () => {
    const node = await aNode({ keeps: false, around: firstOf('commit', 'answer lost') })
    const outcomes = await Promise.all([accept(node, 'a'), accept(node, 'b', 'key')])
    expect(kindsOf(outcomes)).toEqual(['queued', 'queued'])
    expect(await stored()).toEqual([
      { body: 'a', status: 'QUEUED', waits: true },
      { body: 'b', status: 'QUEUED', waits: true },
    ])
  })

  test('it does not stand in the records: failed, with a FAILED record and no dispatch', async () => {
    const node = await aNode({ keeps: false, around: firstOf('commit', 'never sent') })
    expect(await accept(node, 'gone', 'key')).toMatchObject({ kind: 'failed', message: { status: 'FAILED' } })
    expect(await stored()).toEqual([{ body: 'gone', status: 'FAILED', waits: false }])
    expect(await accept(node, 'gone', 'key')).toMatchObject({ kind: 'queued' })
  })

  test('nor that to the question after it: failed all the same', async () => {
    let settled = 0
    const lost = firstOf('commit', 'never sent')
    const around: Around = async (name, run) => {
      if (name !== 'decide_uncertain_messages') return await lost(name, run)
      settled += 1
      return settled === 1 ? await become(db, 'answer lost', run) : await run()
    }
    const node = await aNode({ keeps: false, around })
    expect(await accept(node, 'gone')).toMatchObject({ kind: 'failed' })
    expect([settled, await stored()]).toEqual([2, [{ body: 'gone', status: 'FAILED', waits: false }]])
  })

  test.each([
    [true, null],
    [true, 'key'],
    [false, null],
  ])(
    'the database stays away: nobody is told a lie, and what stands is sent; in the journal: %s, key: %s',
    async (keeps, key) => {
      const away = { from: keeps && key === null ? 'append_entry' : 'commit', now: false }
      const around: Around = async (name, run) => {
        if (away.now) return await become(db, 'never sent', run)
        away.now = name === away.from
        return await become(db, away.now ? 'answer lost' : 'done', run)
      }
      const node = await aNode({ keeps, around, answerWithinMs: 1_500 })
      expect(await accept(node, 'too late', key)).toEqual({ kind: 'unknown' })
      away.from = 'nothing'
      away.now = false
      await eventually(() => node.inProgress.pending === 0)
      if (keeps) await eventually(() => node.kept.length)
      expect([node.inProgress.size, node.released]).toEqual([keeps ? 1 : 0, []])
      expect(await stored()).toEqual(keeps ? [] : [{ body: 'too late', status: 'QUEUED', waits: true }])
      if (key !== null) expect(await accept(node, 'too late', key)).toMatchObject({ kind: 'replayed' })
    },
  )

  test.each([null, 'key'])(
    'it turns out not to stand when its sender has gone: it is not stored; key: %s',
    async (key) => {
      const { around, asked, goOn } = firstHeld('append_entry')
      const node = await aNode({ around, answerWithinMs: 1_500 })
      const outcome = accept(node, 'too late', key)
      await asked.promise
      expect(await outcome).toEqual({ kind: 'unknown' })
      const { rows } = await db.query('select lane, epoch from lanes')
      await takeOverLane(db, { ...rows[0], nodeId: NODE }, OTHER)
      goOn.resolve()
      await eventually(() => node.released.length === 1)
      expect([await stored(), node.inProgress.size, node.kept]).toEqual([[], 0, []])
    },
  )

  test('what waits behind it is failed: nothing of it has gone to the database', async () => {
    const asked = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    let left = 3
    const around: Around = async (name, run) => {
      if (name === 'append_entry' && left-- > 0) {
        if (left === 0) asked.resolve()
        await goOn.promise
      }
      return await run()
    }
    const node = await aNode({ around, overdueMs: 500, answerWithinMs: 2_000 })
    const stuck: Promise<AcceptOutcome>[] = []
    for (const body of ['a', 'b', 'c']) {
      const before = left
      stuck.push(accept(node, body))
      await eventually(() => left < before)
    }
    await asked.promise
    const behind = ['a', 'b'].map((key) => accept(node, 'e', key))
    await eventually(() => node.inProgress.pending === 5)
    behind.push(accept(node, 'd'), accept(node, 'e', 'key'))
    expect(kindsOf(await Promise.all(behind))).toEqual(Array(4).fill('failed'))
    expect(kindsOf(await Promise.all(stuck))).toEqual(['unknown', 'unknown', 'unknown'])
    goOn.resolve()
    await eventually(() => node.kept.length === 3)
    expect([node.inProgress.size, node.released.length, await stored()]).toEqual([3, 4, []])
    expect(await accept(node, 'e', 'key')).toMatchObject({ kind: 'queued' })
  })

  test.each([null, 'key'])(
    'the lane is taken over meanwhile: what is in it is queued, for whoever has it now; key: %s',
    async (key) => {
      const recovered = Promise.withResolvers<void>()
      const lost = firstOf(key === null ? 'append_entry' : 'commit', 'answer lost')
      let isLost = false
      const around: Around = async (name, run) => {
        if (isLost) await recovered.promise
        return await lost(name, run).catch((error) => {
          isLost = true
          throw error
        })
      }
      const node = await aNode({ around })
      const accepting = accept(node, 'a', key)
      await eventually(() => isLost)
      await recoverLanes(db, { nodeId: OTHER, ambiguityWaitMs: 1_000, delivers: () => true, log: quietLog })
      recovered.resolve()
      expect(await accepting).toMatchObject({ kind: 'queued' })
      expect(await stored()).toEqual([{ body: 'a', status: 'QUEUED', waits: true }])
      expect([node.kept.length, node.released.length]).toEqual([0, 1])
    },
  )
})

describe('each sender is answered in its time, and nothing comes of what was answered 5xx', () => {
  const answerWithinMs = 1_500
  const lockWaits = async () => {
    const { rows } = await db.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return rows.length
  }

  test('behind a table that is locked', async () => {
    const node = await aNode({ keeps: false, answerWithinMs })
    const lock = await db.connect()
    await lock.query('begin; lock table messages in access exclusive mode')
    const sends = [accept(node, 'first')]
    await eventually(async () => (await lockWaits()) === 1)
    sends.push(accept(node, 'second', 'second'))
    await eventually(async () => (await lockWaits()) === 2)
    sends.push(accept(node, 'behind'), accept(node, 'keyed', 'key'))
    expect(kindsOf(await Promise.all(sends))).toEqual(['unknown', 'unknown', 'failed', 'unavailable'])
    await lock.query('commit')
    lock.release()
    expect(await accept(node, 'keyed', 'key')).toMatchObject({ kind: 'queued' })
    await eventually(async () => (await stored()).length === 3)
    expect((await stored()).map(({ body }) => body)).toEqual(['first', 'keyed', 'second'])
    expect(await accept(node, 'second', 'second')).toMatchObject({ kind: 'replayed' })
  })

  test('while there is no connection', async () => {
    const { around, goOn } = firstHeld('connect', 2)
    const nodes = [
      await aNode({ keeps: false, around, answerWithinMs }),
      await aNode({ around, answerWithinMs }),
    ]
    const sends = [accept(nodes[0]!, 'a'), accept(nodes[0]!, 'b', 'b'), accept(nodes[1]!, 'c', 'c')]
    expect(kindsOf(await Promise.all(sends))).toEqual(['failed', 'unavailable', 'unavailable'])
    goOn.resolve()
    await eventually(() => nodes[1]!.released.length === 1)
    const again = [accept(nodes[0]!, 'b', 'b'), accept(nodes[1]!, 'c', 'c')]
    expect(kindsOf(await Promise.all(again))).toEqual(['queued', 'queued'])
    expect([(await stored()).map(({ body }) => body), nodes[1]!.inProgress.size]).toEqual([['b'], 1])
  })

  test.each([true, false])('while opt-outs cannot be looked up; in the journal: %s', async (keeps) => {
    const { around, goOn } = firstHeld('find_opt_outs')
    const node = await aNode({ keeps, hasLane: true, around, answerWithinMs })
    const sends = [null, 'key'].map((key) => accept(node, 'a', key, { ...plan, optOut: DEFAULT_OPT_OUT }))
    expect(kindsOf(await Promise.all(sends))).toEqual(['failed', 'unavailable'])
    goOn.resolve()
    expect(await accept(node, 'after', 'key')).toMatchObject({ kind: 'queued' })
    await eventually(() => !keeps || node.released.length === 2)
    expect([(await stored()).length, node.inProgress.size]).toEqual(keeps ? [0, 1] : [1, 0])
  })

  test('but by what the database said while the process stood still', async () => {
    const { around, asked, goOn } = firstHeld('append_entry')
    const node = await aNode({ around, answerWithinMs })
    const outcome = accept(node)
    await asked.promise
    goOn.resolve()
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000)
    expect(await outcome).toMatchObject({ kind: 'queued' })
  })
})

describe('a recipient who has opted out', () => {
  const listening = { ...plan, optOut: DEFAULT_OPT_OUT }

  beforeEach(() =>
    db.query(`insert into opt_outs (plan_id, sender, recipient) values ($1, 'Aldis', '+15551230000')`, [
      plan.id,
    ]),
  )

  test('is told to whom the message is kept for, with a key and without; the caller hears nothing', async () => {
    const node = await aNode()
    const outcomes = await Promise.all([
      accept(node, 'plain', null, listening),
      accept(node, 'keyed', 'key', listening),
      accept(node, 'not listening'),
    ])
    expect(outcomes).toMatchObject(
      outcomes.map(() => ({ kind: 'queued', message: { status: 'QUEUED', errorCode: '000' } })),
    )
    const kept = node.kept.map((msgId) => node.inProgress.get(msgId)!.accepted)
    expect(new Map(kept.map(({ body, optedOut }) => [body, optedOut]))).toEqual(
      new Map([
        ['plain', true],
        ['keyed', true],
        ['not listening', false],
      ]),
    )
    expect(await accept(node, 'keyed', 'key', listening)).toMatchObject({ kind: 'replayed' })
  })

  test('is not asked for where that fails: nothing is accepted', async () => {
    const node = await aNode({ around: firstOf('find_opt_outs', 'refused') })
    const outcomes = [null, 'key'].map((key) => accept(node, 'plain', key, listening))
    expect(kindsOf(await Promise.all(outcomes))).toEqual(['failed', 'unavailable'])
    expect([node.inProgress.size, node.released.length]).toEqual([0, 2])
  })
})

describe('Idempotency-Key', () => {
  test.each([true, false])(
    'the same request again gives the first record; another one is told so; in the journal: %s',
    async (keeps) => {
      const node = await aNode({ keeps })
      const first = await accept(node, 'once', 'key')
      expect(first.kind).toBe('queued')
      const replayed = { kind: 'replayed', message: 'message' in first && first.message }
      expect(await accept(node, 'once', 'key')).toEqual(replayed)
      await node.inProgress.project([first].flatMap((one) => ('message' in one ? one.message.msgId : [])))
      await db.query(
        `update messages set status = 'DELIVERED', error_code = '000', mccmnc = '310260', sent_at = now()`,
      )
      expect(await accept(node, 'once', 'key')).toEqual(replayed)
      expect(await accept(node, 'other', 'key')).toEqual({ kind: 'key-reused' })
      expect([(await stored()).length, node.kept.length]).toEqual([1, keeps ? 1 : 0])
    },
  )

  test.each([
    [true, true],
    [true, false],
    [false, false],
  ])('at once on two nodes: one message; in their journals: %s, %s', async (...keep) => {
    const both = await Promise.all(keep.map((keeps) => aNode({ keeps })))
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, n) => accept(both[n % 2]!, 'once', 'key')),
    )
    expect(kindsOf(outcomes).sort()).toEqual(['queued', ...Array(39).fill('replayed')])
    const ids = new Set(outcomes.map((outcome) => 'message' in outcome && outcome.message.msgId))
    expect(ids.size).toBe(1)
    const inProgress = both.reduce((sum, { inProgress: { size } }) => sum + size, 0)
    expect(inProgress + (await stored()).length).toBe(1)
  })

  test.each([true, false])(
    'that a transaction of a process that stands still has delays no other key; in the journal: %s',
    async (keeps) => {
      const node = await aNode({ keeps })
      const hash = (text: string) => Buffer.from(text.padEnd(32))
      const take = (tx: Queryable) =>
        takeIdempotencyKeys(
          tx,
          [{ planId: plan.id, keyHash: hash('held'), requestHash: hash('a'), msgId: newId(Date.now()) }],
          IDEMPOTENCY_LIFETIME_MS,
          '100',
        )
      const held = await db.connect()
      await held.query('begin')
      await take(held)
      const waiting = accept(node, 'a', 'held')
      const others = ['a', 'b', 'c'].map((key) => accept(node, 'a', key))
      expect(kindsOf(await Promise.all(others))).toEqual(['queued', 'queued', 'queued'])
      expect(await accept(node, 'a')).toMatchObject({ kind: 'queued' })
      await held.query('rollback')
      expect(await waiting).toMatchObject({ kind: 'queued' })
      await held.query('begin')
      await db.query('truncate idempotency_keys')
      await take(held)
      const impatient = await aNode({ keeps, answerWithinMs: 1_500 })
      expect(['unknown', 'unavailable']).toContain((await accept(impatient, 'a', 'held')).kind)
      await held.query('rollback')
      held.release()
    },
  )

  test('its first message is in the lane of a node that died', async () => {
    const [dead, living] = [await aNode(), await aNode()]
    const first = await accept(dead, 'once', 'key')
    expect(await accept(living, 'once', 'key')).toEqual({ ...first, kind: 'replayed' })
    await recoverLanes(db, { nodeId: OTHER, ambiguityWaitMs: 1_000, delivers: () => true, log: quietLog })
    expect(await accept(living, 'once', 'key')).toEqual({ ...first, kind: 'replayed' })
  })

  test.each([true, false])(
    'while nobody knows of its first message, nobody is told that it failed; in the journal: %s',
    async (keeps) => {
      const { around, asked, goOn } = firstHeld('commit')
      const node = await aNode({ keeps, around, answerWithinMs: 1_500 })
      // No other transaction has this key: one that finds nothing to store is answered before it has ended.
      const first = accept(node, 'once', 'unsettled')
      await asked.promise
      const again = accept(node, 'once', 'unsettled')
      expect(await first).toEqual({ kind: 'unknown' })
      expect(await again).toEqual({ kind: keeps ? 'unavailable' : 'unknown' })
      goOn.resolve()
      await eventually(() => node.inProgress.pending === 0)
      expect(await accept(node, 'once', 'unsettled')).toMatchObject({ kind: 'replayed' })
      expect(node.inProgress.size + (await stored()).length).toBe(1)
    },
  )

  test('its repetition waits no longer for another message than that does', async () => {
    const held = firstHeld('commit')
    let around: Around = (_, run) => run()
    const node = await aNode({ around: (...given) => around(...given), answerWithinMs: 1_500 })
    await accept(node, 'once', 'key')
    around = held.around
    const batch = [accept(node, 'once', 'key'), accept(node, 'new', 'new'), accept(node, 'other', 'new')]
    expect(kindsOf(await Promise.all(batch))).toEqual(Array(3).fill('unknown'))
    held.goOn.resolve()
    await eventually(() => node.inProgress.pending === 0)
    const alone = firstHeld('commit')
    around = alone.around
    expect(await accept(node, 'once', 'key')).toMatchObject({ kind: 'replayed' })
    await alone.asked.promise
    alone.goOn.resolve()
    expect(await accept(node, 'new', 'new')).toMatchObject({ kind: 'replayed' })
  })

  test.each([
    [true, 'commit'],
    [false, 'commit'],
    [true, 'take_idempotency_keys'],
    [false, 'take_idempotency_keys'],
  ])('of a batch that fails is answered by what is known of it; in the journal: %s, at %s', async (...at) => {
    const [keeps, name] = at
    let refusing = false
    const around: Around = async (given, run) =>
      await become(db, refusing && given === name ? 'refused' : 'done', run)
    const node = await aNode({ keeps, around })
    await accept(node, 'once', 'key')
    refusing = true
    const batch = [accept(node, 'once', 'key'), accept(node, 'new', 'new'), accept(node, 'new', 'new')]
    const known = name === 'commit' ? ['replayed', 'failed', 'unavailable'] : Array(3).fill('unavailable')
    expect(kindsOf(await Promise.all(batch))).toEqual(known)
    refusing = false
    expect(await accept(node, 'new', 'new')).toMatchObject({ kind: 'queued' })
  })

  test('the first record cannot be read: nobody is told that it failed, and nothing is stored', async () => {
    const node = await aNode({ around: firstOf('find_idempotency_keys', 'refused') })
    const outcomes = await Promise.all([accept(node, 'a', 'key'), accept(node, 'a', 'key')])
    expect(kindsOf(outcomes)).toEqual(['queued', 'unavailable'])
    expect([node.inProgress.size, node.kept.length, node.released.length]).toEqual([1, 1, 1])
  })

  test('after 24 hours a key is free', async () => {
    const node = await aNode()
    await accept(node, 'yesterday', 'key')
    await db.query(`update idempotency_keys set created_at = created_at - interval '24 hours 1 second'`)
    expect(await accept(node, 'today', 'key')).toMatchObject({ kind: 'queued' })
    expect(await accept(node, 'today', 'key')).toMatchObject({ kind: 'replayed' })
  })

  test.each([true, false])('a transaction takes at most 100 of them; in the journal: %s', async (keeps) => {
    let transactions = 0
    const around: Around = async (name, run) => {
      if (name === 'take_idempotency_keys') transactions += 1
      return await run()
    }
    const node = await aNode({ keeps, around })
    await Promise.all(Array.from({ length: 250 }, (_, n) => accept(node, 'same', `key ${n}`)))
    expect(transactions).toBe(3)
  })

  test('different keys in one batch are different messages', async () => {
    const node = await aNode()
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, n) => accept(node, 'same', `key ${n % 10}`)),
    )
    expect(kindsOf(outcomes).filter((kind) => kind === 'queued')).toHaveLength(10)
    expect(node.inProgress.size).toBe(10)
  })
})
