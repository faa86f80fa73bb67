import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LaterFact } from '../../src/domain/journal/message-facts.ts'
import {
  addFact,
  type MessageInProgress,
  messageInProgress,
  messageOf,
} from '../../src/domain/journal/messages-in-progress.ts'
import { newestWanted, wantedOfPage } from '../../src/domain/messages/message-search.ts'
import { MESSAGE_STATUSES } from '../../src/domain/messages/messages.ts'
import { recoverLanes } from '../../src/operations/recover-lanes.ts'
import { withTransaction } from '../../src/store/database.ts'
import { lockMessages } from '../../src/store/messages-at-rest.ts'
import { writeRecords } from '../../src/store/records.ts'
import { installedDatabase } from '../support/installation.ts'
import { accepted, LaneWriter, received, settled } from '../support/lane-writer.ts'
import { NO_FILTERS } from '../support/list-walks.ts'
import { quietLog } from '../support/log.ts'
import { readsOf } from '../support/message-reads.ts'
import { projected } from '../support/messages-in-memory.ts'

const { db, announcedPlan, silentPlan } = await installedDatabase({ poolSize: 8 })

const PLANS = [announcedPlan, silentPlan]
const RECIPIENTS = ['+15551230000', '+15551230001']
const choice = fc.nat(1_000)
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ what: fc.constant('accept' as const), choice, of: choice }) },
  { weight: 5, arbitrary: fc.record({ what: fc.constant('change' as const), choice, of: choice }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('project' as const), choice, of: choice }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('load' as const), choice, of: choice }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('list' as const), choice, of: choice }) },
  { weight: 2, arbitrary: fc.record({ what: fc.constant('find' as const), choice, of: choice }) },
)

/** Two nodes that have messages, one that has none, and all messages as they are known to be. */
class World {
  readonly #known: MessageInProgress[] = []
  readonly #nodes: LaneWriter[]
  readonly #idle = readsOf(db)

  constructor(nodes: LaneWriter[]) {
    this.#nodes = nodes
  }

  async accept(choice: number, of: number): Promise<void> {
    const message = accepted(PLANS[choice % 2]!, { recipient: RECIPIENTS[of % 2]! })
    await this.#nodes[(choice >> 1) % 2]!.write([message])
    this.#known.push(messageInProgress(message.msgId, message.fact))
  }

  /** By its node while it has it; in its record while it is at rest. */
  async change(choice: number, of: number): Promise<void> {
    const message = this.#known.at(-1 - (choice % Math.min(this.#known.length, 12)))
    if (message === undefined) return
    const { msgId } = message
    const fact =
      of % 3 === 0
        ? received(msgId)
        : settled(msgId, of % 3 === 1 ? { mccmnc: '26201' } : { status: 'FAILED', errorCode: '103' })
    const node = this.#nodes.find((one) => one.get(msgId) !== undefined)
    addFact(message, fact.fact as LaterFact)
    if (node !== undefined) return node.write([fact])
    await withTransaction(db, async (tx) => {
      const { messages } = await lockMessages(tx, [keyOf(message)])
      const atRest = messages.get(msgId)!
      addFact(atRest, fact.fact as LaterFact)
      await writeRecords(tx, [projected(atRest)], null)
    })
  }

  /** By either node, some of those that are at rest. */
  async load(choice: number, of: number): Promise<void> {
    const atRest = this.#known.slice(-12).filter(({ msgId }) => this.#nodes.every((node) => !node.get(msgId)))
    const taken = atRest.filter((_, index) => (index + of) % 2 === 0)
    if (taken.length > 0) await this.#nodes[choice % 2]!.load(taken.map(keyOf))
  }

  async project(choice: number, of: number): Promise<void> {
    const node = this.#nodes[choice % 2]!
    const ids = [...node.all()].map(({ msgId }) => msgId)
    await node.project(ids.filter((_, index) => (index + of) % 3 === 0))
  }

  async list(choice: number, of: number): Promise<void> {
    const after = of % 2 === 0 ? null : (this.#known.at(-(of % 20))?.msgId ?? null)
    for (const status of [...MESSAGE_STATUSES, null]) {
      const filters = {
        ...NO_FILTERS,
        status,
        to: [null, null, ...RECIPIENTS][of % 4]!,
        mccmnc: of % 5 === 0 ? '26201' : null,
      }
      const page = { planId: PLANS[choice % 2]!, filters, after, limit: 1 + (of % 7) }
      const expected = newestWanted([this.#known], wantedOfPage(page), page.limit).map(messageOf)
      for (const reads of this.#all())
        expect((await reads.list(page)).map(plain)).toEqual(expected.map(plain))
    }
  }

  async find(choice: number): Promise<void> {
    const message = this.#known.at(-1 - (choice % Math.min(this.#known.length, 40)))
    if (message === undefined) return
    const expected = plain(messageOf(message))
    for (const reads of this.#all())
      expect(plain((await reads.find(PLANS, message.msgId))!)).toEqual(expected)
  }

  #all() {
    return [...this.#nodes.map(({ reads }) => reads), this.#idle]
  }
}

function keyOf({ msgId, accepted }: MessageInProgress) {
  return { planId: accepted.planId, msgId }
}

function plain({ price: _, ptf: __, ...message }: ReturnType<typeof messageOf>) {
  return message
}

test('every node answers as if all messages were in one place, whatever happens in whichever order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 50 }), async (steps) => {
      await db.query('delete from messages')
      await db.query('with gone as (delete from lanes) delete from journal')
      const world = new World([await LaneWriter.open(db, 1), await LaneWriter.open(db, 2)])
      for (const { what, choice, of } of steps) await world[what](choice, of)
    }),
    { numRuns: 8 },
  )
})

test('messages of a dead node are answered before, while and after another recovers its lane', async () => {
  await db.query('delete from messages')
  await db.query('with gone as (delete from lanes) delete from journal')
  const dead = await LaneWriter.open(db, 999)
  const ids: string[] = []
  for (let n = 0; n < 40; n += 1) ids.push(...(await dead.accept(announcedPlan, [{}, {}, {}])))
  await dead.write(ids.filter((_, n) => n % 2 === 0).map((msgId) => settled(msgId)))
  await dead.project(ids.filter((_, n) => n % 5 === 0))
  const expected = new Map(ids.map((msgId, n) => [msgId, n % 2 === 0 ? 'SENT' : 'QUEUED']))
  const reads = readsOf(db)
  let isRecovered = false
  let walks = 0
  const walk = async () => {
    const shown = new Map<string, string>()
    for (let after: string | null = null; ; ) {
      const page = await reads.list({ planId: announcedPlan, filters: NO_FILTERS, after, limit: 7 })
      for (const { msgId, status } of page) shown.set(msgId, status)
      if (page.length < 7) break
      after = page.at(-1)!.msgId
    }
    expect(shown).toEqual(new Map([...expected].reverse()))
    walks += 1
  }
  await walk()
  const recovering = (async () => {
    await recoverLanes(db, { nodeId: 1, ambiguityWaitMs: 0, delivers: () => false, log: quietLog })
    isRecovered = true
  })()
  while (!isRecovered) await walk()
  await recovering
  await walk()
  expect(walks).toBeGreaterThan(2)
  expect((await db.query('select from messages')).rowCount).toBe(ids.length)
})
