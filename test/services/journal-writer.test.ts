import { expect, test } from 'vitest'
import type { JournalFact } from '../../src/domain/journal-entries.ts'
import { JournalWriter } from '../../src/services/journal-writer.ts'
import type { Database } from '../../src/store/database.ts'
import { cutJournal, type Lane, takeOverLane } from '../../src/store/journal.ts'
import { cuttingProxy } from '../support/cutting-proxy.ts'
import { databaseOfFile, openAgain } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'
import { newId } from '../support/installation.ts'
import { acceptedFact } from '../support/messages-in-memory.ts'

const database = await databaseOfFile()
const { db } = database
const NODE = 1
const SUCCESSOR = 2

/** A writer whose appends of a body are committed and never answered, while `isCut` says so. */
async function writerWhoseAnswersAreLost(isCut: (sent: string) => boolean) {
  const proxy = await cuttingProxy(database, isCut)
  const pool = openAgain(proxy.connectionString, 4)
  const errors: unknown[] = []
  const committed: string[] = []
  const lost: { body: string; uncertain: boolean }[] = []
  const writer = new JournalWriter<JournalFact>({
    db: pool,
    onCommitted: (items) => committed.push(...items.map(bodyOf)),
    isRetractable: () => false,
    onRetracted: () => undefined,
    onLost: (items, uncertain) => lost.push(...items.map((item) => ({ body: bodyOf(item), uncertain }))),
    onOverdue: () => undefined,
    onError: (_message, error) => errors.push(error),
  })
  await writer.register(NODE)
  return {
    ...{ writer, errors, committed, lost },
    append(body: string) {
      const msgId = newId(Date.now())
      writer.append({ msgId, fact: acceptedFact(1, msgId, { body }) })
    },
    async [Symbol.asyncDispose]() {
      writer.end()
      await pool.end()
      await proxy[Symbol.asyncDispose]()
    },
  }
}

function bodyOf({ fact }: JournalFact): string {
  return fact.kind === 'accepted' ? fact.body : ''
}

async function entriesOf(pool: Database, lane: Lane): Promise<number> {
  const { rows } = await pool.query<{ count: number }>({
    text: `select count(*)::integer as count from journal where lane = $1 and data <> ''`,
    values: [lane.lane],
  })
  return rows[0]!.count
}

/** Another node finds what is there, writes it into the records, and cuts it. */
async function takeOver(lane: Lane): Promise<void> {
  const held = await takeOverLane(db, { ...lane, nodeId: NODE }, SUCCESSOR)
  await cutJournal(db, held!, await entriesOf(db, lane))
}

test('A writer that lost its lane while the database took nothing takes facts into its next', async () => {
  let isCut = true
  await using held = await writerWhoseAnswersAreLost((sent) => isCut && sent.includes('hello'))
  const { writer } = held
  held.append('hello')
  await eventually(() => held.errors.length > 0)
  await takeOver(writer.lane!)
  await writer.register(3)
  isCut = false
  expect(held.lost).toEqual([{ body: 'hello', uncertain: true }])
  expect([writer.isOpen, writer.isStalled]).toEqual([true, false])
})

test('What was committed behind an entry whose answer was lost is in doubt, too, once the lane is gone', async () => {
  let isCut = true
  await using held = await writerWhoseAnswersAreLost((sent) => isCut && sent.includes('first'))
  const { writer } = held
  const lane = writer.lane!
  held.append('first')
  await eventually(() => held.errors.length > 0)
  held.append('second')
  await eventually(async () => (await entriesOf(db, lane)) === 2)
  await takeOver(lane)
  isCut = false
  await eventually(() => held.lost.length === 2)
  expect([held.committed, held.lost]).toEqual([
    [],
    [
      { body: 'first', uncertain: true },
      { body: 'second', uncertain: true },
    ],
  ])
})

test('A fact that comes while there is no lane is given back at once', async () => {
  await using held = await writerWhoseAnswersAreLost(() => false)
  const { writer } = held
  writer.lose()
  held.append('hello')
  expect([held.lost, writer.pending]).toEqual([[{ body: 'hello', uncertain: false }], 0])
})
