import { expect, test } from 'vitest'
import { encodeEntry } from '../../src/domain/journal/entries.ts'
import { AwayServers, ServerAwayError } from '../../src/services/messages/away-servers.ts'
import { type Live, newLive } from '../../src/services/messages/lives.ts'
import { Projector } from '../../src/services/messages/projector.ts'
import { serversOfPlans } from '../../src/store/citus.ts'
import { appendEntry, openLane } from '../../src/store/journal.ts'
import { findAtRest } from '../../src/store/projection.ts'
import { eventually } from '../support/eventually.ts'
import { KeptLog } from '../support/log.ts'
import { acceptedFact, deliveredFacts, inMemory } from '../support/messages-in-memory.ts'
import { createPlans, migrated, ownCluster, workerOf } from './cluster.ts'

const NODE = 1

const cluster = await ownCluster()
const db = await migrated(cluster, 6)
const plans = await createPlans(db, 8)

/** A projector with this many delivered messages of each plan, whose acceptance is in one entry each. */
async function aProjector(count: number) {
  const lane = await openLane(db, NODE)
  const lives = Object.assign(new Map<string, Live>(), { excessBytes: 0 })
  let n = 0
  for (const planId of Array.from({ length: count }, () => plans).flat()) {
    const message = inMemory(planId, deliveredFacts)
    const { msgId } = message
    n += 1
    await appendEntry(db, lane, n, encodeEntry([{ msgId, fact: acceptedFact(planId, msgId) }]))
    lives.set(msgId, { ...newLive(message, { owner: NODE, entry: n }), delivers: true, postponed: true })
  }
  const log = new KeptLog()
  const away = new AwayServers({ db, log, onBack: () => projector.wake() })
  const projector: Projector = new Projector({
    ...{ db, log, lives, away },
    lane: () => lane,
    committed: () => n,
    onProjected(gone) {
      for (const live of gone) {
        lives.delete(live.message.msgId)
        live.awaitedRecord?.resolve()
      }
    },
    renew: async () => undefined,
    onFenced: () => undefined,
  })
  projector.start()
  return {
    ...{ projector, lane, lives, away },
    ofPlans: (ids: ReadonlySet<number>) =>
      [...lives.values()].filter(({ message }) => ids.has(message.accepted.planId)),
    async [Symbol.asyncDispose]() {
      await away.stop()
      await projector.stop()
    },
  }
}

test('while a worker is away, plans of the others are recorded, and its own once it is back', async () => {
  await using it = await aProjector(20)
  const servers = await serversOfPlans(db)
  const isGone = (planId: number) => servers.get(planId) === servers.get(plans[0]!)
  const [gone, there] = [new Set(plans.filter(isGone)), new Set(plans.filter((id) => !isGone(id)))]
  expect(there.size).toBeGreaterThan(0)
  const waiting = it.ofPlans(gone)
  const all = [...it.lives.values()].map(({ message }) => ({
    planId: message.accepted.planId,
    msgId: message.msgId,
  }))
  const worker = await workerOf(cluster, db, plans[0]!)
  await worker.kill()
  for (const live of it.lives.values()) it.projector.changed(live)
  await eventually(() => it.lives.size === waiting.length)
  expect([...it.lives.values()]).toEqual(waiting)
  await expect(it.projector.project(waiting)).rejects.toThrow(ServerAwayError)
  // The journal keeps what is not recorded.
  const cutOf = async () =>
    (await db.query('select cut from lanes where lane = $1', [it.lane.lane])).rows[0].cut
  expect(await cutOf()).toBe(waiting[0]!.entry - 1)
  await worker.start()
  await eventually(() => it.lives.size === 0)
  expect((await findAtRest(db, all)).size).toBe(all.length)
  await it.projector.project([])
  expect(it.away.has(plans[0]!)).toBe(false)
})
