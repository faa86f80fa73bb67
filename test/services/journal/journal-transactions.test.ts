import { beforeEach, describe, expect, test } from 'vitest'
import type { Queryable } from '../../../src/store/database.ts'
import { openDatabase } from '../../../src/store/database-pool.ts'
import { takeOverLane } from '../../../src/store/journal.ts'
import { eventually } from '../../support/eventually.ts'
import { type Around, type Become, become, gatedDatabase } from '../../support/gated-database.ts'
import { installedDatabase } from '../../support/installation.ts'
import { aToldWriter, namedFact as fact, writtenNames } from '../../support/named-facts.ts'
import { clearTables } from '../../support/stored-messages.ts'

const { db, connectionString } = await installedDatabase({ poolSize: 6 })
const [NODE, OTHER] = [1, 2]

beforeEach(async () => {
  await clearTables(db, 'lanes', 'journal')
  await db.query('create table if not exists decided (name text); truncate decided')
})

/** A writer whose statements of these names wait until they are let go, each with what is to become of it. */
async function aWriter(...gates: string[]) {
  const waiting: { name: string; letGo: (become: Become) => void }[] = []
  const around = async <T>(name: string | undefined, run: () => Promise<T>): Promise<T> =>
    name === undefined || !gates.includes(name)
      ? await run()
      : await become(db, await new Promise<Become>((letGo) => waiting.push({ name, letGo })), run)
  const { writer, told } = aToldWriter({
    db: gatedDatabase(db, around, { inTransactions: true }),
    overdueMs: 60_000,
  })
  await writer.register(NODE)
  const next = (name: string) =>
    eventually(() => {
      const at = waiting.findIndex((each) => each.name === name)
      return at < 0 ? undefined : waiting.splice(at, 1)[0]!.letGo
    })
  /** Appends an entry whose transaction stores the same name in a table. */
  const appendWith = (name: string) => {
    const appended = writer.appendWith(async (tx) => {
      await decide(tx, name)
      return [fact(name)]
    })
    appended.catch(() => undefined)
    return appended
  }
  return { writer, told, waiting, next, appendWith, [Symbol.dispose]: () => void writer.end() }
}

async function decide(tx: Queryable, name: string): Promise<void> {
  await tx.query('insert into decided values ($1)', [name])
}

async function decided(): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>('select name from decided order by name')
  return rows.map(({ name }) => name)
}

const written = (lane: number) => writtenNames(db, lane)

test('an entry before it finds a connection, whatever the others of a pool wait for', async () => {
  const open = (poolSize: number) => openDatabase({ connectionString, poolSize })
  await using pools = new AsyncDisposableStack()
  const [small, appends] = [open(2), open(1)]
  for (const pool of [small, appends]) pools.defer(() => pool.end())
  const first = Promise.withResolvers<void>()
  const around: Around = async (name, run) => {
    if (name === 'append_entry') await first.promise
    return await run()
  }
  const { writer, told } = aToldWriter({ db: small, appends: gatedDatabase(appends, around) })
  using _ = { [Symbol.dispose]: () => void writer.end() }
  await writer.register(NODE)
  await db.query(`insert into decided values ('row')`)
  writer.append(fact('a'))
  const prepared = Promise.withResolvers<void>()
  const renewed = writer.appendWith(async (tx) => {
    await tx.query(`update decided set name = 'renewed'`)
    prepared.resolve()
    return [fact('b')]
  })
  await prepared.promise
  const other = small.query(`update decided set name = name || ', then another'`)
  const waits = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await eventually(async () => (await db.query(waits)).rows.length > 0)
  first.resolve()
  expect(await renewed).toBe('committed')
  await other
  expect([told, await decided()]).toEqual([['committed a 1', 'committed b 2'], ['renewed, then another']])
})

describe('an entry in a shared transaction', () => {
  test('stands with what its transaction stores', async () => {
    using it = await aWriter()
    expect(await it.appendWith('a')).toBe('committed')
    expect([it.told, await written(it.writer.lane!.lane), await decided()]).toEqual([
      ['committed a 1'],
      ['a'],
      ['a'],
    ])
  })

  test('is none where it has no facts', async () => {
    using it = await aWriter()
    expect(await it.writer.appendWith(async () => [])).toBe('committed')
    expect(await it.appendWith('a')).toBe('committed')
    expect(await written(it.writer.lane!.lane)).toEqual(['a'])
  })

  test('takes its number when it is decided: others go before it until then', async () => {
    using it = await aWriter()
    const decision = Promise.withResolvers<void>()
    const appended = it.writer.appendWith(async () => {
      await decision.promise
      return [fact('slow')]
    })
    for (const name of ['a', 'b', 'c', 'd']) {
      it.writer.append(fact(name))
      await eventually(() => it.told.at(-1)?.startsWith(`committed ${name}`))
    }
    decision.resolve()
    expect(await appended).toBe('committed')
    expect(await written(it.writer.lane!.lane)).toEqual(['a', 'b', 'c', 'd', 'slow'])
  })

  test('is committed after all before it, and told before all behind it', async () => {
    using it = await aWriter('append_entry')
    it.writer.append(fact('before'))
    const before = await it.next('append_entry')
    const appended = it.appendWith('own')
    await eventually(() => it.writer.pending === 2)
    it.writer.append(fact('behind'))
    ;(await it.next('append_entry'))('done')
    await eventually(async () => (await db.query('select from journal where n = 3')).rowCount)
    expect([it.told, it.waiting, await decided()]).toEqual([[], [], []])
    before('done')
    ;(await it.next('append_entry'))('done')
    expect(await appended).toBe('committed')
    await eventually(() => it.told.length === 3)
    expect(it.told).toEqual(['committed before 1', 'committed own 2', 'committed behind 3'])
  })

  test('takes a place among those in flight, and waits for one', async () => {
    using it = await aWriter('append_entry')
    for (const [at, name] of ['a', 'b', 'c'].entries()) {
      it.writer.append(fact(name))
      await eventually(() => it.waiting.length === at + 1)
    }
    const appended = it.appendWith('own')
    await eventually(() => it.writer.pending === 4)
    it.writer.append(fact('d'))
    for (let entries = 0; entries < 5; entries += 1) (await it.next('append_entry'))('done')
    expect(await appended).toBe('committed')
    await eventually(() => it.told.length === 5)
    expect(await written(it.writer.lane!.lane)).toEqual(['a', 'b', 'c', 'own', 'd'])
  })

  test('runs alone: the next one is decided when it is told', async () => {
    using it = await aWriter()
    await Promise.all(Array.from({ length: 5 }, (_, n) => it.appendWith(`${n}`)))
    expect(it.told).toEqual([0, 1, 2, 3, 4].map((n) => `committed ${n} ${n + 1}`))
    expect(await decided()).toEqual(['0', '1', '2', '3', '4'])
  })
})

describe('what certainly failed leaves nothing', () => {
  test('and no entry, where it could not be decided', async () => {
    using it = await aWriter()
    const appended = it.writer.appendWith(async (tx) => {
      await decide(tx, 'a')
      throw new Error('undecided')
    })
    await expect(appended).rejects.toThrow('undecided')
    it.writer.append(fact('b'))
    await eventually(() => it.told.length > 0)
    expect([it.told, await written(it.writer.lane!.lane), await decided()]).toEqual([
      ['committed b 1'],
      ['b'],
      [],
    ])
  })

  test.each([
    ['append_entry', 'refused', 'the disk is full'],
    ['append_entry', 'never sent', 'Connection terminated'],
    ['append_entry', 'answer lost', 'Connection terminated'],
    ['commit', 'refused', 'the disk is full'],
  ] as const)('but an empty group under its number, where %s was %s', async (statement, become, error) => {
    using it = await aWriter(statement)
    const appended = it.appendWith('a')
    ;(await it.next(statement))(become)
    await expect(appended).rejects.toThrow(error)
    it.writer.append(fact('b'))
    if (statement === 'append_entry') {
      await eventually(() => it.waiting.length === 2)
      for (let n = 0; n < 2; n += 1) (await it.next(statement))('done')
    }
    await eventually(() => it.told.length > 0)
    expect([it.told, await written(it.writer.lane!.lane), await decided()]).toEqual([
      ['committed b 2'],
      ['', 'b'],
      [],
    ])
  })
})

describe('a COMMIT without an answer', () => {
  test('stands where it was carried out', async () => {
    using it = await aWriter('commit')
    const appended = it.appendWith('a')
    ;(await it.next('commit'))('answer lost')
    expect(await appended).toBe('committed')
    it.writer.append(fact('b'))
    await eventually(() => it.told.length === 2)
    expect([it.told, await written(it.writer.lane!.lane), await decided()]).toEqual([
      ['committed a 1', 'committed b 2'],
      ['a', 'b'],
      ['a'],
    ])
  })

  test('does not stand where it was not', async () => {
    using it = await aWriter('commit')
    const appended = it.appendWith('a')
    ;(await it.next('commit'))('never sent')
    await expect(appended).rejects.toThrow('connection lost during COMMIT')
    it.writer.append(fact('b'))
    await eventually(() => it.told.length > 0)
    expect([it.told, await written(it.writer.lane!.lane), await decided()]).toEqual([
      ['committed b 2'],
      ['', 'b'],
      [],
    ])
  })

  test.each(['answer lost', 'never sent'] as const)(
    'is asked after until there is one: %s',
    async (become) => {
      using it = await aWriter('commit', 'find_entry')
      const appended = it.appendWith('a')
      ;(await it.next('commit'))('answer lost')
      for (let n = 0; n < 3; n += 1) (await it.next('find_entry'))(become)
      for (let n = 0; n < 2; n += 1) (await it.next('find_entry'))('done')
      expect(await appended).toBe('committed')
    },
  )

  test('where the answer to the question is lost too, an empty group is known again', async () => {
    using it = await aWriter('commit', 'append_entry')
    const appended = it.appendWith('a')
    ;(await it.next('append_entry'))('done')
    ;(await it.next('commit'))('never sent')
    ;(await it.next('append_entry'))('answer lost')
    ;(await it.next('append_entry'))('done')
    await expect(appended).rejects.toThrow('connection lost during COMMIT')
    expect(await written(it.writer.lane!.lane)).toEqual([''])
  })
})

describe('a lane that was taken over', () => {
  test('before the entry has its number has nothing of it', async () => {
    using it = await aWriter()
    const decision = Promise.withResolvers<void>()
    const appended = it.writer.appendWith(async (tx) => {
      await decide(tx, 'a')
      await decision.promise
      return [fact('a')]
    })
    it.writer.lose()
    decision.resolve()
    expect([await appended, await it.appendWith('b'), await decided()]).toEqual(['lost', 'lost', []])
  })

  test('before its turn has nothing of it, and neither has the next lane', async () => {
    using it = await aWriter()
    const decision = Promise.withResolvers<void>()
    const before = it.writer.appendWith(async () => {
      await decision.promise
      return []
    })
    const appended = it.appendWith('own')
    it.writer.lose()
    await it.writer.register(OTHER)
    decision.resolve()
    await before
    expect([await appended, await decided(), await written(it.writer.lane!.lane)]).toEqual(['lost', [], []])
  })

  test('before it is appended has nothing of it, nor of what is behind it', async () => {
    using it = await aWriter('append_entry')
    const { lane, epoch } = it.writer.lane!
    const appended = it.appendWith('a')
    const append = await it.next('append_entry')
    it.writer.append(fact('b'))
    await it.next('append_entry')
    await takeOverLane(db, { lane, epoch, nodeId: NODE }, OTHER)
    append('done')
    expect(await appended).toBe('lost')
    expect([it.told, await written(lane), await decided()]).toEqual([['lost b false'], [], []])
  })

  test('while it waits for those before it has nothing of it, wherever these are', async () => {
    using it = await aWriter('append_entry')
    it.writer.append(fact('before'))
    await it.next('append_entry')
    const appended = it.appendWith('own')
    await eventually(() => it.writer.pending === 2)
    it.writer.lose()
    expect([await appended, it.told, await decided()]).toEqual(['lost', ['lost before true'], []])
  })

  test('while its COMMIT has no answer may have it', async () => {
    using it = await aWriter('append_entry', 'commit')
    const { lane, epoch } = it.writer.lane!
    const appended = it.appendWith('a')
    ;(await it.next('append_entry'))('done')
    ;(await it.next('commit'))('never sent')
    const question = await it.next('append_entry')
    await takeOverLane(db, { lane, epoch, nodeId: NODE }, OTHER)
    question('done')
    expect(await appended).toBe('uncertain')
    expect(await decided()).toEqual([])
  })

  test('ends where an entry before it is missing, and the transaction with it', async () => {
    using it = await aWriter('append_entry')
    const { lane, epoch } = it.writer.lane!
    it.writer.append(fact('before'))
    const before = await it.next('append_entry')
    const appended = it.appendWith('own')
    await eventually(() => it.writer.pending === 2)
    await takeOverLane(db, { lane, epoch, nodeId: NODE }, OTHER)
    before('done')
    expect([await appended, await written(lane), await decided()]).toEqual(['lost', [], []])
  })
})

test('a writer that ends releases the connection of a transaction that waits', async () => {
  const it = await aWriter('append_entry')
  it.writer.append(fact('before'))
  await it.next('append_entry')
  const appended = it.appendWith('own')
  await eventually(() => it.writer.pending === 2)
  it.writer.end()
  expect([await appended, await decided()]).toEqual(['lost', []])
})
