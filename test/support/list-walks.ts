import { expect } from 'vitest'
import type { MessageFilters } from '../../src/domain/lists.ts'
import type { Status } from '../../src/domain/messages/messages.ts'
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
const ORDER: readonly Status[] = ['QUEUED', 'SENT', 'DELIVERED']

/**
 * Reads pages of 1 to 7 messages, walk after walk, on a node that accepts messages and on one that only takes some out of
 * their records, while both go on with what they have and project it without a pause. Each walk must show what was there
 * when it began, each message once, newest first, and as it was then or later; and every other walk, of what is delivered,
 * all that was. Gives what the walks saw.
 */
export async function walkWhileProjecting(db: Database, planId: number, reads: number) {
  const [node, other] = [await LaneWriter.open(db, 1), await LaneWriter.open(db, 2)]
  const sender = `S${node.lane}`
  const there: string[] = await node.accept(
    planId,
    Array.from({ length: KEPT }, () => ({ sender })),
  )
  /** What is committed of them. */
  const statuses = new Map<string, Status>(there.map((msgId) => [msgId, 'QUEUED']))
  const seen = { pages: 0, rows: 0, inProgress: 0, loaded: 0 }
  let isDone = false
  const change = async (msgId: string, factOf: typeof settled) => {
    const by = [node, other].find((one) => one.get(msgId) !== undefined)
    if (by === undefined) return
    await by.write([factOf(msgId)])
    statuses.set(msgId, by.get(msgId)!.state.status)
  }
  const projectSome = async (by: LaneWriter, round: number, most: number) => {
    const inMemory = [...by.all()].map(({ msgId }) => msgId)
    const from = (round * 7) % Math.max(inMemory.length, 1)
    await by.project(inMemory.slice(from, from + (inMemory.length > most ? 6 : 1)))
  }
  const write = async () => {
    for (let round = 0; !isDone; round += 1) {
      const [fresh = ''] = await node.accept(planId, [{ sender }])
      there.push(fresh)
      statuses.set(fresh, 'QUEUED')
      await change(there.at(-(1 + (round % 9)))!, settled)
      await change(there.at(-(1 + (round % 31)))!, received)
      // Now the newest, now the oldest, now some from the middle: the journal is cut behind the oldest only.
      await projectSome(node, round, KEPT)
      await projectSome(other, round, KEPT / 4)
      const atRest = there.slice(-KEPT).filter((msgId) => !node.get(msgId) && !other.get(msgId))
      const loading = atRest.filter((_, index) => (index + round) % 11 === 0)
      await [node, other][round % 2]!.load(loading.map((msgId) => ({ planId, msgId })))
      seen.loaded += loading.length
      if (there.length > 5 * KEPT) {
        const oldest = there.splice(0, KEPT)
        for (const by of [node, other]) await by.project(oldest)
        await forget(db, planId, oldest)
      }
    }
  }
  const walk = async (by: LaneWriter) => {
    for (let limit = 1; !isDone; limit = (limit % 7) + 1) {
      const status = limit % 2 === 0 ? ('DELIVERED' as const) : null
      const oldest = there.at(-KEPT / 2)!
      const expected = there
        .slice(-KEPT / 2)
        .filter((msgId) => status === null || statuses.get(msgId) === status)
        .sort()
      const shown: string[] = []
      for (let after: string | null = null; shown.at(-1) === undefined || shown.at(-1)! > oldest; ) {
        const before = new Map(statuses)
        const page = await by.reads.list({
          planId,
          filters: { ...NO_FILTERS, from: sender, status },
          limit,
          after,
        })
        seen.pages += 1
        seen.rows += page.length
        shown.push(...page.map(({ msgId }) => msgId))
        for (const message of page)
          expect(ORDER.indexOf(message.status)).toBeGreaterThanOrEqual(
            ORDER.indexOf(before.get(message.msgId) ?? 'QUEUED'),
          )
        if (status !== null) expect(page.filter((message) => message.status !== status)).toEqual([])
        seen.inProgress += page.filter(({ msgId }) => node.get(msgId) !== undefined).length
        after = shown.at(-1)!
        if (page.length < limit) break
      }
      if (seen.pages >= reads && seen.loaded >= reads / 3) isDone = true
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
