import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { DEFAULT_OPT_OUT } from '../../src/domain/opt-outs.ts'
import { type AcceptOutcome, GroupAccepter, type Placement } from '../../src/operations/accept-messages.ts'
import type { Database } from '../../src/store/database.ts'
import type { Dispatch } from '../../src/store/dispatches.ts'
import { nothingInProgress } from '../support/in-progress.ts'
import { installedDatabase, newId } from '../support/installation.ts'
import { eventually } from '../support/service.ts'
import { clearTables, NODE } from '../support/stored-messages.ts'

const { db, directory, announcedPlan } = await installedDatabase({ poolSize: 6 })
const plan = directory.planById(announcedPlan)!
let kept: Dispatch[]
let released: number
let refused: Set<string>

beforeEach(async () => {
  kept = []
  released = 0
  refused = new Set()
  await clearTables(db, 'messages', 'dispatches', 'idempotency_keys')
})

const PLACEMENT: Placement = {
  place: () => ({ msgId: newId(Date.now()), holder: NODE, begun: true, routeId: null }),
  keep: (dispatch) => void kept.push(dispatch),
  release: () => {
    released += 1
  },
  refuse: (msgId) => void refused.add(msgId),
  refused: (msgId) => void refused.delete(msgId),
}

const CONNECTION_LOST = 'Connection terminated unexpectedly'

/** The statements of `db`, of which a test may lose the answer (after) or the statement itself (before). */
function failing(fault: (text: string) => 'before' | 'after' | null): Database {
  return new Proxy(db, {
    get(target, property) {
      if (property !== 'query') return Reflect.get(target, property, target)
      return async (statement: { text: string }) => {
        const when = fault(statement.text)
        if (when === 'before') throw new Error(CONNECTION_LOST)
        const result = await target.query(statement as never)
        if (when === 'after') throw new Error(CONNECTION_LOST)
        return result
      }
    },
  })
}

function accepter(pool = db, lostCommitMs = 2_000): GroupAccepter {
  return new GroupAccepter({
    db: pool,
    journal: nothingInProgress(pool),
    placement: PLACEMENT,
    secretKey: randomBytes(32),
    random: randomBytes,
    lostCommitMs,
  })
}

function accept(
  to: GroupAccepter,
  body = 'hello',
  key: string | null = null,
  as = plan,
): Promise<AcceptOutcome> {
  const hash = (text: string) => Buffer.from(text.padEnd(32).slice(0, 32))
  return to.accept({
    plan: as,
    draft: { planId: plan.id, sender: 'Aldis', recipient: '+15551230000', body, callbackUrl: null },
    idempotency: key === null ? null : { keyHash: hash(key), requestHash: hash(body) },
  })
}

async function stored(): Promise<{ body: string; status: string; waits: boolean }[]> {
  const { rows } = await db.query(`
    select m.body, m.status, d.msg_id is not null as waits
    from messages m left join dispatches d on d.msg_id = m.msg_id order by m.body`)
  return rows
}

describe('accepting', () => {
  test('many at once: each stored once, with its dispatch, and kept by this node', async () => {
    const group = accepter()
    const outcomes = await Promise.all(Array.from({ length: 450 }, (_, n) => accept(group, `body ${n}`)))
    expect(outcomes.every(({ kind }) => kind === 'queued')).toBe(true)
    const rows = await stored()
    expect(rows).toHaveLength(450)
    expect(rows.every(({ status, waits }) => status === 'QUEUED' && waits)).toBe(true)
    expect(new Set(kept.map(({ body }) => body)).size).toBe(450)
    expect(released).toBe(0)
  })

  test('a row that the database refuses fails alone', async () => {
    const group = accepter()
    const bodies = Array.from({ length: 20 }, (_, n) => (n === 7 ? 'bad \0' : `good ${n}`))
    const outcomes = await Promise.all(bodies.map((body) => accept(group, body)))
    expect(outcomes.map(({ kind }) => kind)).toEqual(bodies.map((_, n) => (n === 7 ? 'failed' : 'queued')))
    expect(outcomes[7]).toMatchObject({ message: { status: 'FAILED', errorCode: '100' } })
    expect(await stored()).toHaveLength(19)
    expect([kept.length, released]).toEqual([19, 1])
  })

  test('what the database cannot take is failed, not stored, not kept', async () => {
    const group = accepter()
    await db.query('alter table dispatches rename to hidden')
    const outcomes = await Promise.all([accept(group), accept(group, 'keyed', 'key')])
    await db.query('alter table hidden rename to dispatches')
    expect(outcomes.map(({ kind }) => kind)).toEqual(['failed', 'failed'])
    expect(await stored()).toEqual([])
    expect(await accept(group, 'keyed', 'key')).toMatchObject({ kind: 'queued' })
  })
})

describe('an answer to the COMMIT that never comes', () => {
  test('it stands: queued, once', async () => {
    let losses = 1
    const group = accepter(
      failing((text) => (text.includes('into dispatches') && losses-- > 0 ? 'after' : null)),
    )
    const outcomes = await Promise.all([accept(group, 'a'), accept(group, 'b')])
    expect(outcomes.map(({ kind }) => kind)).toEqual(['queued', 'queued'])
    expect(await stored()).toEqual([
      { body: 'a', status: 'QUEUED', waits: true },
      { body: 'b', status: 'QUEUED', waits: true },
    ])
    expect(kept).toHaveLength(2)
  })

  test('it does not stand: failed, with a FAILED record and no dispatch', async () => {
    const group = accepter(failing((text) => (text.includes('into dispatches') ? 'before' : null)))
    expect(await accept(group, 'gone')).toMatchObject({ kind: 'failed', message: { status: 'FAILED' } })
    expect(await stored()).toEqual([{ body: 'gone', status: 'FAILED', waits: false }])
    expect([kept.length, released]).toEqual([0, 1])
  })

  test('nor that to the question after it: failed all the same', async () => {
    let settled = 0
    const group = accepter(
      failing((text) => {
        if (text.includes('into dispatches')) return 'before'
        if (text.includes("'FAILED', $2") && settled++ === 0) return 'after'
        return null
      }),
    )
    expect(await accept(group, 'gone')).toMatchObject({ kind: 'failed' })
    expect(settled).toBe(2)
    expect(await stored()).toEqual([{ body: 'gone', status: 'FAILED', waits: false }])
    expect([kept.length, released]).toEqual([0, 1])
  })

  test('half of a split batch stands: that half is queued', async () => {
    let statements = 0
    const group = accepter(
      failing((text) => {
        if (!text.includes('into dispatches')) return null
        statements += 1
        return statements === 3 ? 'before' : null
      }),
    )
    // Refused as a whole; the first half is written, the second meets a lost connection.
    const outcomes = await Promise.all(['a', 'b', 'c', 'bad \0'].map((body) => accept(group, body)))
    expect(outcomes.map(({ kind }) => kind)).toEqual(['queued', 'queued', 'failed', 'failed'])
    const rows = await stored()
    expect(rows.filter(({ waits }) => waits).map(({ body }) => body)).toEqual(['a', 'b'])
    expect(rows.filter(({ waits }) => !waits).every(({ status }) => status === 'FAILED')).toBe(true)
  })

  test('the database stays away: failed in time, and refused there as soon as it is back', async () => {
    let away = false
    const group = accepter(
      failing((text) => {
        if (away) return 'before'
        away = text.includes('into dispatches')
        return away ? 'after' : null
      }),
      100,
    )
    expect(await accept(group, 'too late')).toMatchObject({ kind: 'failed' })
    expect(await stored()).toEqual([{ body: 'too late', status: 'QUEUED', waits: true }])
    // Meanwhile this node must not submit it, should it find the dispatch.
    expect(refused.size).toBe(1)
    away = false
    await eventually(async () => (await stored())[0]!.status === 'FAILED' && refused.size === 0)
    expect(await stored()).toEqual([{ body: 'too late', status: 'FAILED', waits: false }])
    expect(kept).toEqual([])
  })
})

describe('a recipient who has opted out', () => {
  const kinds = () => kept.map(({ body, optedOut }) => [body, optedOut]).sort()

  beforeEach(async () => {
    await clearTables(db, 'opt_outs')
    await db.query(`insert into opt_outs (plan_id, sender, recipient) values ($1, 'Aldis', '+15551230000')`, [
      plan.id,
    ])
  })
  const listening = () => ({ ...plan, optOut: DEFAULT_OPT_OUT })

  test('is told to whom the message is kept for, with a key and without; the caller hears nothing', async () => {
    const group = accepter()
    const outcomes = await Promise.all([
      accept(group, 'plain', null, listening()),
      accept(group, 'keyed', 'key', listening()),
      accept(group, 'not listening'),
    ])
    expect(outcomes.map(({ kind }) => kind)).toEqual(['queued', 'queued', 'queued'])
    expect(outcomes).toMatchObject(outcomes.map(() => ({ message: { status: 'QUEUED', errorCode: '000' } })))
    expect(kinds()).toEqual([
      ['keyed', true],
      ['not listening', false],
      ['plain', true],
    ])
    expect(await accept(group, 'keyed', 'key', listening())).toMatchObject({ kind: 'replayed' })
  })

  test('is found out also where the answer to the COMMIT never came', async () => {
    let losses = 1
    const group = accepter(
      failing((text) => (text.includes('into dispatches') && losses-- > 0 ? 'after' : null)),
    )
    await Promise.all([accept(group, 'a', null, listening()), accept(group, 'b')])
    expect(kinds()).toEqual([
      ['a', true],
      ['b', false],
    ])
  })
})

describe('Idempotency-Key', () => {
  test('the same request again gives the first record; another one is told so', async () => {
    const group = accepter()
    const first = await accept(group, 'once', 'key')
    expect(first.kind).toBe('queued')
    await db.query(
      `update messages set status = 'DELIVERED', error_code = '000', mccmnc = '310260', sent_at = now()`,
    )
    const again = await accept(group, 'once', 'key')
    expect(again).toEqual({ kind: 'replayed', message: 'message' in first && first.message })
    expect(await accept(group, 'other', 'key')).toEqual({ kind: 'key-reused' })
    expect(await stored()).toHaveLength(1)
    expect([kept.length, released]).toEqual([1, 2])
  })

  test('at once on two nodes: one message', async () => {
    const groups = [accepter(), accepter()]
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, n) => accept(groups[n % 2]!, 'once', 'key')),
    )
    const kinds = outcomes.map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'queued')).toHaveLength(1)
    expect(kinds.filter((kind) => kind === 'replayed')).toHaveLength(39)
    expect(await stored()).toHaveLength(1)
    expect([kept.length, released]).toEqual([1, 39])
  })

  test('after 24 hours a key is free', async () => {
    const group = accepter()
    await accept(group, 'yesterday', 'key')
    await db.query(`update idempotency_keys set created_at = created_at - interval '24 hours 1 second'`)
    expect(await accept(group, 'today', 'key')).toMatchObject({ kind: 'queued' })
    expect(await accept(group, 'today', 'key')).toMatchObject({ kind: 'replayed' })
  })

  test('a key whose message was answered 500 is free again', async () => {
    const first = await accept(accepter(), 'refused', 'key')
    expect(first.kind).toBe('queued')
    await db.query(`update messages set status = 'FAILED', error_code = '100'`)
    const again = await accept(accepter(), 'refused', 'key')
    expect(again.kind).toBe('queued')
    expect(await stored()).toHaveLength(2)
  })

  test('different keys in one batch are different messages', async () => {
    const group = accepter()
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, n) => accept(group, 'same', `key ${n % 10}`)),
    )
    expect(outcomes.filter(({ kind }) => kind === 'queued')).toHaveLength(10)
    expect(await stored()).toHaveLength(10)
  })
})
