import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { fillGaps, findGaps, takeOverLane } from '../../../src/store/journal.ts'
import { eventually } from '../../support/eventually.ts'
import { type Become, become, gatedDatabase } from '../../support/gated-database.ts'
import { installedDatabase } from '../../support/installation.ts'
import { aToldWriter, namedFact as fact, writtenNames } from '../../support/named-facts.ts'
import { clearTables } from '../../support/stored-messages.ts'

const { db } = await installedDatabase({ poolSize: 6 })
const [NODE, OTHER] = [1, 2]

beforeEach(() => clearTables(db, 'lanes', 'journal'))

/** A writer in whose lane these entries are committed. `appends`: decides what becomes of each append. */
async function aWriter(names: readonly string[], appends = db) {
  const { writer, told } = aToldWriter({ db, appends })
  await writer.register(NODE)
  for (const [index, name] of names.entries()) {
    writer.append(fact(name))
    await eventually(() => writer.committed === index + 1)
  }
  const lane = writer.lane!
  const it = { writer, told, lane, written: () => writtenNames(db, lane.lane) }
  return { ...it, [Symbol.dispose]: () => void writer.end() }
}

/** A promoted standby has no more than the first entries of the lane, and none of the connections. */
async function failOver(lane: number, replicated: number) {
  await db.query('delete from journal where lane = $1 and n > $2', [lane, replicated])
  await db.query(`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`)
  // Its own connection as well.
  await db.query('select pg_terminate_backend(pg_backend_pid())').catch(() => undefined)
}

test('what a promoted standby lacks is written again before anything behind it is reported', async () => {
  using it = await aWriter(['a', 'b', 'c'])
  await failOver(it.lane.lane, 1)
  it.writer.append(fact('d'))
  await eventually(() => it.writer.committed === 4)
  expect(await it.written()).toEqual(['a', 'b', 'c', 'd'])
  expect(it.told.at(-1)).toBe('committed d 4')
})

test('so is what was answered and not reported yet', async () => {
  const waiting: ((become: Become) => void)[] = []
  let isGated = false
  const appends = gatedDatabase(db, async (name, run) => {
    if (!isGated || name !== 'append_entry') return await run()
    return await become(db, await new Promise<Become>((resolve) => waiting.push(resolve)), run)
  })
  using it = await aWriter(['a'], appends)
  isGated = true
  it.writer.append(fact('b'))
  const b = await eventually(() => waiting.shift())
  it.writer.append(fact('c'))
  ;(await eventually(() => waiting.shift()))('done')
  await eventually(async () => (await db.query('select from journal where n = 3')).rowCount)
  await failOver(it.lane.lane, 1)
  // Its session may have ended with the others: then it is appended again, which nobody decides any more.
  isGated = false
  b('done')
  await eventually(() => it.writer.committed === 3)
  expect(await it.written()).toEqual(['a', 'b', 'c'])
  expect(it.told).toEqual(['committed a 1', 'committed b 2', 'committed c 3'])
})

test('an entry that is not kept any more is replaced by one without facts', async () => {
  const large = () => randomBytes(2 ** 20).toString('base64')
  using it = await aWriter(['a', large(), large(), large(), large(), 'b'])
  await failOver(it.lane.lane, 0)
  it.writer.append(fact('c'))
  await eventually(() => it.writer.committed === 7)
  const names = await it.written()
  expect([names.length, names[0], ...names.slice(-2)]).toEqual([7, '', 'b', 'c'])
})

test('a lane that was taken over is not filled, and nothing behind the gap is reported as committed', async () => {
  using it = await aWriter(['a', 'b'])
  await failOver(it.lane.lane, 1)
  const held = (await takeOverLane(db, { ...it.lane, nodeId: NODE }, OTHER))!
  expect(await findGaps(db, it.lane, 2)).toBeNull()
  expect(await fillGaps(db, it.lane, [{ n: 2, data: Buffer.from('b') }])).toBe(false)
  expect(await findGaps(db, held, 2)).toEqual([])
  it.writer.append(fact('c'))
  await eventually(() => it.told.length === 3)
  expect([it.told.at(-1), await it.written()]).toEqual(['lost c false', ['a']])
})
