import { expect, test } from 'vitest'
import { type FeedPlace, placeBehind } from '../../src/domain/events.ts'
import { feedEnd, readFeed } from '../../src/store/event-feed.ts'
import { eventually } from '../support/eventually.ts'
import { LaneWriter, received, settled } from '../support/lane-writer.ts'
import { createPlans, migrated, ownCluster } from './cluster.ts'

const WRITERS = 4
const PLANS = 6
/** The long form: `FEED_READS=100000`. */
const READS = Number(process.env.FEED_READS ?? 2_000)
const PAGE = 100

const cluster = await ownCluster()
const db = await migrated(cluster, WRITERS + PLANS)
const plans = await createPlans(db, PLANS)

interface Reader {
  readonly planId: number
  place: FeedPlace | null
  readonly seen: Map<string, number>
}

const keyOf = (msgId: string, sequence: number) => `${msgId} ${sequence}`

/** Reads one page behind the last. Returns whether it was the last for now. */
async function readOn(reader: Reader): Promise<boolean> {
  const { planId, place: after, seen } = reader
  const end = await feedEnd(db, planId)
  const events = await readFeed(db, { planId, filters: { since: null }, after, limit: PAGE }, end)
  for (const { msgId, sequence } of events) {
    const key = keyOf(msgId, sequence)
    seen.set(key, (seen.get(key) ?? 0) + 1)
  }
  reader.place = events.length === PAGE ? events.at(-1)!.place : placeBehind(end, 0)
  return events.length < PAGE
}

test(`${READS} reads beside ${WRITERS} writers: every event once`, { timeout: 3_600_000 }, async () => {
  let reads = 0
  let transactions = 0
  const written = new Map(plans.map((planId) => [planId, new Set<string>()]))
  const nodes = await Promise.all(Array.from({ length: WRITERS }, (_, n) => LaneWriter.open(db, n + 1)))
  const write = async (node: LaneWriter, n: number) => {
    for (let round = n; reads < READS; round += 1) {
      // One to four plans together, so that most transactions are over both workers.
      const some = Array.from({ length: 1 + (round % 4) }, (_, k) => plans[(round * 5 + k) % PLANS]!)
      const ids: string[] = []
      for (const planId of some) {
        const [msgId = ''] = await node.accept(planId)
        ids.push(msgId)
        for (const sequence of [1, 2]) written.get(planId)!.add(keyOf(msgId, sequence))
      }
      await node.write(ids.flatMap((msgId) => [settled(msgId), received(msgId)]))
      await node.project(ids)
      transactions += 1
    }
  }
  const readers = plans.map((planId): Reader => ({ planId, place: null, seen: new Map() }))
  const reading = async (reader: Reader) => {
    for (; reads < READS; reads += 1) await readOn(reader)
  }
  const startMs = performance.now()
  await Promise.all([...nodes.map(write), ...readers.map(reading)])
  const seconds = (performance.now() - startMs) / 1_000
  // What was committed last is shown when the second phase has reached its worker.
  for (const reader of readers)
    await eventually(async () => {
      for (let isLast = false; !isLast; ) isLast = await readOn(reader)
      return reader.seen.size >= written.get(reader.planId)!.size
    })
  const events = [...written.values()].reduce((sum, { size }) => sum + size, 0)
  process.stdout.write(
    `${reads} reads, ${transactions} transactions, ${events} events, ${seconds.toFixed(0)} s\n`,
  )
  for (const { planId, seen } of readers) {
    expect([...written.get(planId)!].filter((key) => !seen.has(key))).toEqual([])
    expect([...seen].filter(([, times]) => times > 1)).toEqual([])
  }
})
