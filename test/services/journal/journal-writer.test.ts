import { beforeEach, describe, expect, test } from 'vitest'
import type { JournalWriterOptions } from '../../../src/services/journal/journal-writer.ts'
import { cutJournal, takeOverLane } from '../../../src/store/journal.ts'
import { eventually } from '../../support/eventually.ts'
import { type Become, become, gatedDatabase } from '../../support/gated-database.ts'
import { installedDatabase } from '../../support/installation.ts'
import { aToldWriter, namedFact as fact, type NamedFact, writtenNames } from '../../support/named-facts.ts'
import { clearTables } from '../../support/stored-messages.ts'

const { db } = await installedDatabase({ poolSize: 6 })
const [NODE, OTHER] = [1, 2]

type Around = <T>(name: string | undefined, run: () => Promise<T>) => Promise<T>

beforeEach(() => clearTables(db, 'lanes', 'journal'))

async function aWriter(
  around: Around = (_, run) => run(),
  changes: Partial<JournalWriterOptions<NamedFact>> = {},
) {
  const { writer, told } = aToldWriter({ db: gatedDatabase(db, around), ...changes })
  await writer.register(NODE)
  return { writer, told, [Symbol.dispose]: () => void writer.end() }
}

const written = (lane: number) => writtenNames(db, lane)

/** Statements of this name wait until they are let go, each with what is to become of it. */
function gate(name: string) {
  const waiting: ((become: Become) => void)[] = []
  const around: Around = async (given, run) => {
    if (given !== name) return await run()
    return await become(db, await new Promise<Become>((resolve) => waiting.push(resolve)), run)
  }
  return { waiting, around, next: () => eventually(() => waiting.shift()) }
}

/** Lets the turns of the event loop pass in which entries are begun. */
const turns = () => eventually(() => true)

describe('group commit', () => {
  test('facts of one turn are one entry, and are told when it is committed', async () => {
    using it = await aWriter()
    for (const name of ['a', 'b', 'c']) it.writer.append(fact(name))
    await eventually(() => it.told.length > 0)
    expect(it.told).toEqual(['committed a,b,c 1'])
    expect(await written(it.writer.lane!.lane)).toEqual(['a,b,c'])
    expect([it.writer.pending, it.writer.committed]).toEqual([0, 1])
  })

  test('of three entries in flight that are answered in reverse, each is told after those before it', async () => {
    const appends = gate('append_entry')
    using it = await aWriter(appends.around)
    const going: ((become: Become) => void)[] = []
    for (const name of ['a', 'b', 'c']) {
      it.writer.append(fact(name))
      going.push(await appends.next())
    }
    it.writer.append(fact('d'))
    await turns()
    expect(appends.waiting).toHaveLength(0)
    const { lane } = it.writer.lane!
    for (const at of [2, 1]) {
      going[at]!('done')
      await eventually(async () => (await db.query('select from journal where n = $1', [at + 1])).rowCount)
    }
    expect([it.told, await written(lane)]).toEqual([[], []])
    going[0]!('done')
    ;(await appends.next())('done')
    await eventually(() => it.told.length === 4)
    expect(it.told).toEqual(['committed a 1', 'committed b 2', 'committed c 3', 'committed d 4'])
  })

  /** A large entry in flight, behind which others gather for an hour. */
  async function gathering() {
    const appends = gate('append_entry')
    const it = await aWriter(appends.around, { gatherMs: 3_600_000 })
    for (let each = 0; each < 24; each += 1) it.writer.append(fact('x'))
    const first = await appends.next()
    return { ...it, appends, first }
  }

  test('behind a large one facts gather, until they are hurried', async () => {
    using it = await gathering()
    it.writer.append(fact('a'))
    await turns()
    it.writer.append(fact('b'))
    expect(it.appends.waiting).toHaveLength(0)
    it.writer.hurry()
    for (const go of [it.first, await it.appends.next()]) go('done')
    await eventually(() => it.told.length === 2)
    expect(it.told[1]).toBe('committed a,b 2')
  })

  test('a fact that nobody waits for goes with the next that is waited for', async () => {
    using it = await aWriter(undefined, { gatherMs: 3_600_000, isAwaited: ({ name }) => name !== 'idle' })
    it.writer.append(fact('idle'))
    await turns()
    it.writer.append(fact('a'))
    await eventually(() => it.told.length > 0)
    expect(it.told).toEqual(['committed idle,a 1'])
  })

  test('a fact that nobody waits for goes alone when no other comes', async () => {
    using it = await aWriter(undefined, { isAwaited: () => false })
    it.writer.append(fact('idle'))
    await eventually(() => it.told.length > 0)
    expect(it.told).toEqual(['committed idle 1'])
  })

  test('facts that are hurried do not wait for the end of the turn', async () => {
    using it = await gathering()
    it.writer.append(fact('a'))
    it.writer.hurry()
    it.writer.append(fact('b'))
    await new Promise(process.nextTick)
    expect(it.appends.waiting).toHaveLength(1)
    for (const go of [it.first, await it.appends.next()]) go('done')
    await eventually(() => it.told.length === 2)
    expect(it.told[1]).toBe('committed a,b 2')
  })

  test('facts that are hurried while three entries are in flight do not gather behind these', async () => {
    using it = await gathering()
    for (const name of ['a', 'b']) {
      for (let each = 0; each < 24; each += 1) it.writer.append(fact(name))
      it.writer.hurry()
      await eventually(() => it.appends.waiting.length > (name === 'a' ? 0 : 1))
    }
    it.writer.append(fact('c'))
    it.writer.hurry()
    it.first('done')
    await eventually(() => it.appends.waiting.length === 3)
    for (const go of it.appends.waiting) go('done')
    await eventually(() => it.told.length === 4)
    expect(it.told[3]).toBe('committed c 4')
  })

  test('a process that stood still does not take its journal for stalled', async () => {
    const appends = gate('append_entry')
    using it = await aWriter(appends.around)
    it.writer.append(fact('a'))
    const go = await appends.next()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100)
    expect(it.writer.isStalled).toBe(false)
    await eventually(() => it.writer.isStalled)
    go('done')
    await eventually(() => !it.writer.isStalled)
  })

  test('an entry has at most a thousand facts', async () => {
    using it = await aWriter()
    for (let each = 0; each < 2_001; each += 1) it.writer.append(fact('x'))
    await eventually(() => it.writer.pending === 0)
    expect((await written(it.writer.lane!.lane)).map((names) => names.split(',').length)).toEqual([
      1_000, 1_000, 1,
    ])
  })
})

describe('an answer that is lost', () => {
  test.each(['answer lost', 'never sent'] as const)(
    'is asked for again, once or more often: %s',
    async (end) => {
      const appends = gate('append_entry')
      using it = await aWriter(appends.around)
      it.writer.append(fact('a', true))
      for (const become of [end, end, 'done'] as const) (await appends.next())(become)
      await eventually(() => it.told.length > 0)
      expect([it.told, await written(it.writer.lane!.lane)]).toEqual([['committed a 1'], ['a']])
    },
  )

  test('keeps what may be committed, and returns what waits behind it', async () => {
    const appends = gate('append_entry')
    using it = await aWriter(appends.around)
    it.writer.append(fact('a', true))
    const first = await appends.next()
    for (const name of ['b', 'c']) {
      it.writer.append(fact(name))
      await appends.next()
    }
    it.writer.append(fact('d', true))
    it.writer.append(fact('e'))
    first('answer lost')
    await eventually(() => it.told.length > 0)
    expect([it.told, it.writer.isOpen, it.writer.isStalled]).toEqual([['retracted d'], false, true])
  })

  test('takes only what goes when its entry is made; an entry of nothing is not made', async () => {
    using it = await aWriter(undefined, { mayStore: ({ name }) => name !== 'late' })
    it.writer.append(fact('late'))
    await eventually(() => it.told.length > 0)
    for (const name of ['a', 'late', 'b']) it.writer.append(fact(name))
    await eventually(() => it.told.length > 2)
    expect(it.told).toEqual(['retracted late', 'retracted late', 'committed a,b 1'])
  })
})

describe('a database that refuses', () => {
  test('has what can be retracted at once, and the rest when it takes facts again', async () => {
    const appends = gate('append_entry')
    using it = await aWriter(appends.around)
    it.writer.append(fact('a', true))
    it.writer.append(fact('b'))
    ;(await appends.next())('refused')
    await eventually(() => it.told.length > 0)
    expect([it.told, it.writer.isOpen, it.writer.isStalled]).toEqual([['retracted a'], false, true])
    ;(await appends.next())('done')
    await eventually(() => it.told.length > 1)
    expect([it.told, it.writer.isOpen]).toEqual([['retracted a', 'committed b 1'], true])
    expect(await written(it.writer.lane!.lane)).toEqual(['b'])
  })
})

describe('the lane', () => {
  const takeOver = async (lane: number, epoch: number) =>
    takeOverLane(db, { lane, epoch, nodeId: NODE }, OTHER)

  test('that was taken over takes nothing more: nothing of what was in flight or waits is in it', async () => {
    using it = await aWriter()
    const { lane, epoch } = it.writer.lane!
    await takeOver(lane, epoch)
    it.writer.append(fact('a'))
    await eventually(() => it.told.length > 0)
    expect([it.told, it.writer.lane, await written(lane)]).toEqual([['lost a false'], null, []])
  })

  test('that was taken over while an answer was lost may have what was in flight', async () => {
    const appends = gate('append_entry')
    using it = await aWriter(appends.around)
    const { lane, epoch } = it.writer.lane!
    it.writer.append(fact('a'))
    ;(await appends.next())('never sent')
    await takeOver(lane, epoch)
    ;(await appends.next())('done')
    await eventually(() => it.told.length > 0)
    expect(it.told).toEqual(['lost a true'])
  })

  test('that was cut meanwhile may have had what was committed behind an answer that was lost', async () => {
    const appends = gate('append_entry')
    using it = await aWriter(appends.around)
    const { lane, epoch } = it.writer.lane!
    it.writer.append(fact('a'))
    const first = await appends.next()
    it.writer.append(fact('b'))
    ;(await appends.next())('done')
    first('answer lost')
    const again = await appends.next()
    const held = (await takeOver(lane, epoch))!
    await cutJournal(db, held, 2)
    again('done')
    await eventually(() => it.told.length > 0)
    expect(it.told).toEqual(['lost a true', 'lost b true'])
  })

  test('goes with a process that is another node, which begins a new one where it was taken over', async () => {
    using it = await aWriter()
    const first = it.writer.lane!
    await it.writer.register(OTHER)
    expect(it.writer.lane).toEqual(first)
    await takeOverLane(db, { ...first, nodeId: OTHER }, NODE)
    await it.writer.register(3)
    it.writer.append(fact('a'))
    await eventually(() => it.told.length > 0)
    const { lane } = it.writer.lane!
    expect([lane === first.lane, it.told, await written(lane)]).toEqual([false, ['committed a 1'], ['a']])
  })

  test('is not taken over by who found it dead before its writer moved it', async () => {
    using it = await aWriter()
    const { lane, epoch } = it.writer.lane!
    await it.writer.register(OTHER)
    expect(await takeOver(lane, epoch)).toBeNull()
  })

  test('is begun anew by the same node where it was lost meanwhile', async () => {
    using it = await aWriter()
    it.writer.lose()
    await it.writer.register(NODE)
    it.writer.append(fact('a'))
    await eventually(() => it.told.length > 0)
    expect(it.told).toEqual(['committed a 1'])
  })

  test('that is lost while the database refuses leaves the next one open', async () => {
    const appends = gate('append_entry')
    using it = await aWriter(appends.around)
    it.writer.append(fact('a'))
    ;(await appends.next())('refused')
    await eventually(() => !it.writer.isOpen)
    it.writer.lose()
    await it.writer.register(NODE)
    expect([it.told, it.writer.isOpen, it.writer.isStalled]).toEqual([['lost a true'], true, false])
  })

  test('that is lost leaves the next one open, also where an answer to the first comes only then', async () => {
    const appends = gate('append_entry')
    const answered = Promise.withResolvers<void>()
    using it = await aWriter(async (name, run) => {
      try {
        return await appends.around(name, run)
      } finally {
        if (name === 'append_entry') answered.resolve()
      }
    })
    it.writer.append(fact('a'))
    const answer = await appends.next()
    it.writer.lose()
    await it.writer.register(NODE)
    answer('refused')
    await answered.promise
    await db.query('select')
    expect([it.told, it.writer.isOpen, it.writer.isStalled]).toEqual([['lost a true'], true, false])
  })

  test('that is not there loses at once what is given', async () => {
    using it = await aWriter()
    it.writer.lose()
    it.writer.append(fact('a'))
    expect([it.told, it.writer.pending]).toEqual([['lost a false'], 0])
  })

  test('is not begun anew once it has ended', async () => {
    using it = await aWriter()
    it.writer.end()
    await it.writer.register(OTHER)
    const { rows } = await db.query('select node_id as node from lanes')
    expect([it.writer.lane, rows]).toEqual([null, [{ node: NODE }]])
  })

  test('is not there when the writer ends while it is opened', async () => {
    let isEnding = false
    using it = await aWriter(async (_, run) => {
      if (isEnding) it.writer.end()
      return await run()
    })
    it.writer.lose()
    isEnding = true
    await it.writer.register(NODE)
    expect(it.writer.lane).toBeNull()
  })
})
