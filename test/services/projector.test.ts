import { expect, test } from 'vitest'
import { type Live, Projector } from '../../src/services/projector.ts'
import { type Lane, openLane } from '../../src/store/journal.ts'
import { eventually } from '../support/eventually.ts'
import { installedDatabase } from '../support/installation.ts'
import { inMemory } from '../support/messages-in-memory.ts'

const { db, announcedPlan } = await installedDatabase({ poolSize: 6 })
const NODE = 1

/** A projector that waits for a lock that `statement` takes, in its first try to write its one message. */
async function waitingProjector(statement: (lane: Lane) => string) {
  const lane = await openLane(db, NODE)
  const blocker = await db.connect()
  await blocker.query('begin')
  await blocker.query(statement(lane))
  const message = inMemory(announcedPlan)
  const lives = new Map([[message.msgId, liveOf(message)]])
  const held = { lane, fenced: 0, projected: 0, errors: [] as unknown[] }
  const projector = new Projector({
    ...{ db, lives },
    lane: () => held.lane,
    committed: () => 1,
    onProjected(written) {
      held.projected += written.length
    },
    onFenced() {
      held.fenced += 1
    },
    onError: (_message, error) => held.errors.push(error),
  })
  projector.urge(lives.get(message.msgId)!)
  const pid = await eventually(waiter)
  return Object.assign(held, {
    ...{ projector, pid, msgId: message.msgId },
    async end(ending: 'commit' | 'rollback') {
      await blocker.query(ending)
      blocker.release()
    },
  })
}

function liveOf(message: Live['message']): Live {
  return {
    ...{ message, holder: NODE, entry: 1, sinceMs: performance.now(), pending: 0, leaving: false },
    ...{ delivers: false, released: null, ids: [], gone: null },
  }
}

/** Whose statement waits for a lock. */
async function waiter(): Promise<number | null> {
  const { rows } = await db.query<{ pid: number }>(
    `select pid from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()`,
  )
  return rows[0]?.pid ?? null
}

test('Messages of a lane that was lost between two tries are left to its new owner', async () => {
  const held = await waitingProjector(() => 'lock table messages in share mode')
  held.lane = await openLane(db, NODE)
  await db.query('select pg_terminate_backend($1)', [held.pid])
  await eventually(() => held.errors.length > 0)
  await held.end('rollback')
  await held.projector.stop()
  const { rows } = await db.query('select from messages where msg_id = $1', [held.msgId])
  expect([rows.length, held.projected, held.fenced]).toEqual([0, 0, 0])
})

test('That a lane was taken over does not end the next one, which this process has by then', async () => {
  const held = await waitingProjector(({ lane }) => `update lanes set epoch = epoch + 1 where lane = ${lane}`)
  held.lane = await openLane(db, NODE)
  await held.end('commit')
  await held.projector.stop()
  expect([held.projected, held.fenced]).toEqual([0, 0])
})

test('Of a lane that was taken over the process is told', async () => {
  const held = await waitingProjector(({ lane }) => `update lanes set epoch = epoch + 1 where lane = ${lane}`)
  await held.end('commit')
  await eventually(() => held.fenced > 0)
  held.lane = await openLane(db, NODE)
  await held.projector.stop()
})
