import { expect, test } from 'vitest'
import { encodeEntry } from '../../src/domain/journal/entries.ts'
import { AwayServers } from '../../src/services/messages/away-servers.ts'
import { IdRules } from '../../src/services/messages/id-rules.ts'
import { MessagesInProgress } from '../../src/services/messages/messages-in-progress.ts'
import { newlyOwned, type OwnedMessage } from '../../src/services/messages/owned-messages.ts'
import { Projector } from '../../src/services/messages/projector.ts'
import { Recorder } from '../../src/services/messages/recorder.ts'
import { isAway, ServerAwayError, serversOfPlans } from '../../src/store/citus.ts'
import { drawPositions } from '../../src/store/event-feed.ts'
import { appendEntry, openLane } from '../../src/store/journal.ts'
import { findMessage } from '../../src/store/messages.ts'
import { findAtRest } from '../../src/store/projection.ts'
import { signalAll } from '../faults/postgres-server.ts'
import { aDirectory } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { type Around, gatedDatabase, lostAnswer } from '../support/gated-database.ts'
import { newId } from '../support/installation.ts'
import { KeptLog } from '../support/log.ts'
import { acceptedFact, deliveredFacts, inMemory } from '../support/messages-in-memory.ts'
import {
  HOLDER,
  receipt,
  recordOutcomes,
  sent,
  storeMessage,
  submission,
} from '../support/stored-messages.ts'
import { createPlans, migrated, ownCluster, SHARDS, workerOf } from './cluster.ts'

const NODE = 1

const cluster = await ownCluster()
const db = await migrated(cluster, 6)
const plans = await createPlans(db, 8)

/** Plans on the same server as the first, and those on the other. */
async function divided() {
  const servers = await serversOfPlans(db)
  const isGone = (planId: number) => servers.get(planId) === servers.get(plans[0]!)
  const [gone, there] = [new Set(plans.filter(isGone)), new Set(plans.filter((id) => !isGone(id)))]
  expect(there.size).toBeGreaterThan(0)
  return { gone, there, worker: await workerOf(cluster, db, plans[0]!) }
}

/** A projector, and messages in memory that are delivered, whose acceptance is in one entry each. */
async function aProjector(around: Around = (_, run) => run()) {
  const lane = await openLane(db, NODE)
  const ownedMessages = Object.assign(new Map<string, OwnedMessage>(), { excessBytes: 0 })
  let n = 0
  /** This many messages of each plan. */
  async function add(count: number) {
    for (const planId of Array.from({ length: count }, () => plans).flat()) {
      const message = inMemory(planId, deliveredFacts)
      const { msgId } = message
      n += 1
      await appendEntry(db, lane, n, encodeEntry([{ msgId, fact: acceptedFact(planId, msgId) }]))
      ownedMessages.set(msgId, {
        ...newlyOwned(message, { ownerNodeId: NODE, entry: n }),
        delivers: true,
        postponed: true,
      })
    }
  }
  const log = new KeptLog()
  const away = new AwayServers({ db, log, onBack: () => projector.wake() })
  const projector: Projector = new Projector({
    ...{ db: gatedDatabase(db, around, { inTransactions: true }), log, ownedMessages, away },
    lane: () => lane,
    committed: () => n,
    onProjected(gone) {
      for (const owned of gone) {
        ownedMessages.delete(owned.message.msgId)
        owned.awaitedRecord?.resolve()
      }
    },
    renew: async () => undefined,
    onFenced: () => undefined,
  })
  projector.start()
  return {
    ...{ add, projector, lane, ownedMessages, away },
    get keys() {
      return Array.from(ownedMessages.values(), ({ message: { accepted, msgId } }) => ({
        planId: accepted.planId,
        msgId,
      }))
    },
    ofPlans: (ids: ReadonlySet<number>) =>
      [...ownedMessages.values()].filter(({ message }) => ids.has(message.accepted.planId)),
    async [Symbol.asyncDispose]() {
      await away.stop()
      await projector.stop()
    },
  }
}

/** These take no COMMIT, or nothing at all, and answer everything else. */
test.each([
  ['commits wait for a standby that is gone', 'synchronous_standby_names', 'gone'],
  ['nothing can be written', 'default_transaction_read_only', 'on'],
])('a worker is away while %s', async (_, setting, value) => {
  await using it = await aProjector()
  const { gone, there, worker } = await divided()
  const isAwayAsSeen = () => plans.filter((planId) => isAway(db, planId))
  // No plan has a row of feeds yet, which a probe could write.
  const none = await worker.run(`alter system set ${setting} = '${value}'`, 'select pg_reload_conf()')
  expect(none.rows).toHaveLength(1)
  try {
    await eventually(() => it.away.probe())
    expect(isAwayAsSeen()).toEqual([...gone])
    expect(isAwayAsSeen().some((planId) => there.has(planId))).toBe(false)
  } finally {
    await worker.run(
      'set default_transaction_read_only = off',
      `alter system reset ${setting}`,
      'select pg_reload_conf()',
    )
  }
  await eventually(() => isAwayAsSeen().length === 0)
})

test('while a worker is away, plans of the others are recorded, and its own once it is back', async () => {
  await using it = await aProjector()
  await it.add(20)
  const { gone, worker } = await divided()
  const waiting = it.ofPlans(gone)
  const all = it.keys
  await worker.kill()
  for (const owned of it.ownedMessages.values()) it.projector.changed(owned)
  await eventually(() => it.ownedMessages.size === waiting.length)
  expect([...it.ownedMessages.values()]).toEqual(waiting)
  await expect(it.projector.project(waiting)).rejects.toThrow(ServerAwayError)
  // The journal keeps what is not recorded.
  const cutOf = async () =>
    (await db.query('select cut from lanes where lane = $1', [it.lane.lane])).rows[0].cut
  expect(await cutOf()).toBe(waiting[0]!.entry - 1)
  await worker.start()
  await eventually(() => it.ownedMessages.size === 0)
  expect((await findAtRest(db, all)).size).toBe(all.length)
  await it.projector.project([])
  expect(isAway(db, plans[0]!)).toBe(false)
})

test('a plan whose row of feeds is locked does not make its server one that is away', async () => {
  await using it = await aProjector()
  for (const planId of plans) await drawPositions(db, [planId])
  const holder = await db.connect()
  await holder.query('begin')
  for (const planId of plans)
    await holder.query('update feeds set position = position where plan_id = $1', [planId])
  expect(await it.away.probe()).toBe(false)
  await holder.query('rollback')
  holder.release()
})

test('messages that may be written wait for a worker that is away, and hold up no others', async () => {
  const { gone, worker } = await divided()
  let isLost = false
  await using it = await aProjector(async (name, run) => {
    const answer = await run()
    if (name !== 'commit' || isLost) return answer
    isLost = true
    await worker.kill()
    throw lostAnswer()
  })
  await it.add(5)
  const uncertain = it.ofPlans(gone)
  const all = it.keys
  for (const owned of it.ownedMessages.values()) it.projector.changed(owned)
  await eventually(() => it.ownedMessages.size === uncertain.length)
  expect(uncertain.every(({ leaving }) => leaving)).toBe(true)
  await it.add(5)
  const later = it.ofPlans(gone)
  all.push(...it.keys.slice(uncertain.length))
  for (const owned of it.ownedMessages.values()) it.projector.changed(owned)
  await eventually(() => it.ownedMessages.size === later.length)
  await worker.start()
  await eventually(() => it.ownedMessages.size === 0)
  expect((await findAtRest(db, all)).size).toBe(all.length)
})

test('a worker whose disk is full holds up no plans of the other', async () => {
  await using it = await aProjector()
  await it.add(5)
  const all = it.keys
  const { gone, worker } = await divided()
  const waiting = it.ofPlans(gone)
  const { rows } = await worker.run(
    ...SHARDS,
    `create function refuse() returns trigger language plpgsql as $$ begin
       raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`,
    `select relname as table from pg_class where relname ~ '^messages_[0-9]{6}$' and relkind = 'p'`,
  )
  const tables: string[] = rows.map(({ table }) => table)
  const onShards = (statement: (table: string) => string) => worker.run(...SHARDS, ...tables.map(statement))
  await onShards(
    (table) => `create trigger refuse before insert on ${table} for each row execute function refuse()`,
  )
  for (const owned of it.ownedMessages.values()) it.projector.changed(owned)
  await eventually(() => it.ownedMessages.size === waiting.length)
  expect([...it.ownedMessages.values()]).toEqual(waiting)
  await onShards((table) => `drop trigger refuse on ${table}`)
  await eventually(() => it.ownedMessages.size === 0)
  expect((await findAtRest(db, all)).size).toBe(all.length)
})

/** Each at the first statement of this name in a projection. */
test.each([
  ['while records are written', 'draw_positions'],
  ['before the COMMIT', 'commit'],
])('a worker that hangs %s holds up no plans of the other', async (_, moment) => {
  const { there, worker } = await divided()
  let isStopped = false
  await using it = await aProjector(async (name, run) => {
    if (name === moment && !isStopped) {
      isStopped = true
      signalAll(worker.pids, 'SIGSTOP')
    }
    return await run()
  })
  await it.add(5)
  const all = it.keys
  try {
    for (const owned of it.ownedMessages.values()) it.projector.changed(owned)
    await eventually(() => it.away.knowsOfAny)
    await it.add(5)
    all.push(...it.keys.filter(({ msgId }) => !all.some((key) => key.msgId === msgId)))
    const later = it.ofPlans(there).filter(({ leaving }) => !leaving)
    for (const owned of it.ownedMessages.values()) it.projector.changed(owned)
    await eventually(() => later.every(({ message }) => !it.ownedMessages.has(message.msgId)))
  } finally {
    signalAll(worker.pids, 'SIGCONT')
  }
  await eventually(() => it.ownedMessages.size === 0)
  expect((await findAtRest(db, all)).size).toBe(all.length)
})

test('a look-up of a plan whose worker hangs is refused at once, and nothing more is sent there', async () => {
  const { gone, there, worker } = await divided()
  const away = new AwayServers({ db, log: new KeptLog(), onBack: () => undefined })
  signalAll(worker.pids, 'SIGSTOP')
  try {
    expect(await away.probe()).toBe(true)
    const [ofGone, ofThere] = [[...gone][0]!, [...there][0]!]
    await expect(findMessage(db, [ofGone], newId(Date.now()))).rejects.toThrow(ServerAwayError)
    expect(await findMessage(db, [ofThere], newId(Date.now()))).toBeNull()
    // However long it lasts, one session at the coordinator waits for it.
    const waiting = async () => {
      const { rows } = await db.query(`
        select count(*)::integer as n from pg_stat_activity where query like '%insert into feeds%' and state = 'active'
          and pid <> pg_backend_pid()`)
      return rows[0].n
    }
    for (let looks = 0; looks < 3; looks += 1) expect(await away.probe()).toBe(true)
    expect(await waiting()).toBe(1)
  } finally {
    signalAll(worker.pids, 'SIGCONT')
  }
  await eventually(() => !away.knowsOfAny)
  await away.stop()
})

test('receipts for a worker that hangs are left to the carrier, and those of the other are recorded', async () => {
  const log = new KeptLog()
  const node = { db, log, directory: () => aDirectory(), clock: Date.now }
  const inProgress = new MessagesInProgress(node)
  const recorder = new Recorder({
    ...node,
    inProgress,
    idRules: new IdRules({ ...node, isAlone: () => true }),
    writeEvents: (write) => write(HOLDER),
    onChanged: () => undefined,
  })
  const messages = await Promise.all(
    plans.flatMap((planId) =>
      Array.from({ length: 4 }, async () => ({ planId, msgId: await storeMessage(db, planId) })),
    ),
  )
  await recordOutcomes(
    db,
    messages.flatMap(({ planId, msgId }) => [submission(planId, msgId, msgId), sent(planId, msgId)]),
  )
  const answers = () =>
    Promise.all(
      messages.map(
        ({ msgId }) =>
          new Promise<boolean>((done) => recorder.addReceipt({ receipt: receipt(msgId, 'DELIVERED'), done })),
      ),
    )
  const { there, worker } = await divided()
  signalAll(worker.pids, 'SIGSTOP')
  try {
    expect(await inProgress.away.probe()).toBe(true)
    expect(await answers()).toEqual(messages.map(({ planId }) => there.has(planId)))
  } finally {
    signalAll(worker.pids, 'SIGCONT')
  }
  await eventually(() => !inProgress.away.knowsOfAny)
  expect(await answers()).toEqual(messages.map(() => true))
  await inProgress.away.stop()
})
