import { expect } from 'vitest'
import type { MessageFilters } from '../../src/domain/message-filters.ts'
import type { Database } from '../../src/store/database.ts'
import { LaneWriter, received, settled } from './lane-writer.ts'

export const NO_FILTERS: MessageFilters = {
  from: null,
  to: null,
  status: null,
  country: null,
  mccmnc: null,
  fromDate: null,
  toDate: null,
}

/** So many messages are there at first, and several times as many later: a slow walk still finds what it began with. */
const KEPT = 60

/**
 * Reads pages of 1 to 7 messages, walk after walk, on the node that has the messages and on one that has none, while the first
 * accepts, goes on with and projects messages without a pause. Each walk must show what was there when it began, each
 * message once and newest first. Gives what the walks saw.
 */
export async function walkWhileProjecting(db: Database, planId: number, reads: number) {
  const [node, other] = [await LaneWriter.open(db, 1), await LaneWriter.open(db, 2)]
  const sender = `S${node.lane}`
  const there: string[] = await node.accept(
    planId,
    Array.from({ length: KEPT }, () => ({ sender })),
  )
  const seen = { pages: 0, rows: 0, inProgress: 0 }
  let isDone = false
  const write = async () => {
    for (let round = 0; !isDone; round += 1) {
      const [fresh = ''] = await node.accept(planId, [{ sender }])
      there.push(fresh)
      await node.write([settled(there.at(-(1 + (round % 9)))!)])
      await node.write([received(there.at(-(1 + (round % 17)))!)])
      // Now the newest, now the oldest, now some from the middle: the journal is cut behind the oldest only.
      const inMemory = [...node.all()].map(({ msgId }) => msgId)
      const from = (round * 7) % inMemory.length
      await node.project(inMemory.slice(from, from + (inMemory.length > KEPT ? 6 : 1)))
      if (there.length > 5 * KEPT) await forget(db, planId, there.splice(0, KEPT))
    }
  }
  const walk = async (by: LaneWriter) => {
    for (let limit = 1; !isDone; limit = (limit % 7) + 1) {
      const expected = there.slice(-KEPT / 2).sort()
      const shown: string[] = []
      for (let after: string | null = null; shown.at(-1) === undefined || shown.at(-1)! > expected[0]!; ) {
        const page = await by.reads.list({ planId, filters: { ...NO_FILTERS, from: sender }, limit, after })
        seen.pages += 1
        seen.rows += page.length
        shown.push(...page.map(({ msgId }) => msgId))
        seen.inProgress += page.filter(({ msgId }) => node.get(msgId) !== undefined).length
        after = shown.at(-1)!
        if (page.length < limit) break
      }
      if (seen.pages >= reads) isDone = true
      expect(shown).toEqual([...new Set(shown)].sort().reverse())
      expect(expected.filter((msgId) => !shown.includes(msgId))).toEqual([])
    }
  }
  const ended = (work: Promise<void>) => work.finally(() => (isDone = true))
  await Promise.all([ended(write()), ended(walk(node)), ended(walk(other))])
  return seen
}

/** As retention does it, so that a walk stays short. Nobody expects these any more. */
async function forget(db: Database, planId: number, msgIds: readonly string[]): Promise<void> {
  await db.query('delete from messages where plan_id = $1 and msg_id = any ($2::uuid[])', [planId, msgIds])
}
