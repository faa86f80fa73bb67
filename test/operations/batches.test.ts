import fc from 'fast-check'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { Batcher, writeInHalves } from '../../src/operations/batches.ts'

/** An error as the server gives it. */
function serverError(code: string): pg.DatabaseError {
  const error = new pg.DatabaseError('refused', 0, 'error')
  error.code = code
  return error
}

describe('Batcher', () => {
  test('what is added in one turn is written together, each answered with its own result', async () => {
    const batches: number[][] = []
    const batcher = new Batcher<number, string>({
      write: async (items) => {
        batches.push([...items])
        return items.map((item) => `done ${item}`)
      },
      maxBatch: 3,
      maxInFlight: 1,
    })
    const added = [1, 2, 3, 4, 5].map((item) => batcher.add(item))
    expect(batcher.waiting).toBe(5)
    expect(await Promise.all(added)).toEqual(['done 1', 'done 2', 'done 3', 'done 4', 'done 5'])
    expect(batches).toEqual([
      [1, 2, 3],
      [4, 5],
    ])
    expect(batcher.waiting).toBe(0)
  })

  test('what has no turn in time is rejected, and never written', async () => {
    const gate = Promise.withResolvers<void>()
    const written: number[] = []
    const batcher = new Batcher<number, number>({
      write: async (items) => {
        written.push(...items)
        await gate.promise
        return items
      },
      maxBatch: 1,
      maxInFlight: 1,
      maxWaitMs: 300,
    })
    const first = batcher.add(1)
    const late = [2, 3].map((item) => batcher.add(item))
    for (const each of late) await expect(each).rejects.toThrow('no turn within 300 ms')
    gate.resolve()
    expect([await first, await batcher.add(4), written]).toEqual([1, 4, [1, 4]])
  })

  test('what comes while batches are under way gathers, and no more than maxInFlight run', async () => {
    const gates: PromiseWithResolvers<void>[] = []
    let most = 0
    let running = 0
    const batcher = new Batcher<number, number>({
      write: async (items) => {
        running += 1
        most = Math.max(most, running)
        const gate = Promise.withResolvers<void>()
        gates.push(gate)
        await gate.promise
        running -= 1
        return items
      },
      maxBatch: 2,
      maxInFlight: 2,
    })
    const added = Array.from({ length: 9 }, (_, item) => batcher.add(item))
    for (let opened = 0; opened < 5; opened += 1) {
      await expect.poll(() => gates.length).toBeGreaterThan(opened)
      gates[opened]!.resolve()
    }
    expect(await Promise.all(added)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    expect(most).toBe(2)
  })

  test('a batch that fails fails its own items alone', async () => {
    const batcher = new Batcher<number, number>({
      write: async (items) => {
        if (items.includes(1)) throw new Error('bad batch')
        return items
      },
      maxBatch: 1,
      maxInFlight: 1,
    })
    const [good, bad, after] = await Promise.allSettled([batcher.add(0), batcher.add(1), batcher.add(2)])
    expect([good!.status, bad!.status, after!.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })
})

describe('writeInHalves', () => {
  test('every bad row fails alone, every other is written once, results keep their order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }), async (bad) => {
        const items = bad.map((isBad, index) => ({ isBad, index }))
        const written: number[] = []
        const write = async (part: readonly (typeof items)[number][]) => {
          if (part.some(({ isBad }) => isBad)) throw serverError('22P05')
          written.push(...part.map(({ index }) => index))
          return part.map(({ index }) => `written ${index}`)
        }
        const results = await writeInHalves(items, write, ({ index }) => `refused ${index}`)
        expect(results).toEqual(items.map(({ isBad, index }) => `${isBad ? 'refused' : 'written'} ${index}`))
        expect(written).toEqual(items.filter(({ isBad }) => !isBad).map(({ index }) => index))
      }),
    )
  })

  test.each([
    ['a lost connection', new Error('Connection terminated unexpectedly')],
    ['a database that takes no sessions', serverError('55000')],
    ['no privilege', serverError('42501')],
    ['no such table', serverError('42P01')],
    ['a full disk', serverError('53100')],
    ['a deadlock', serverError('40P01')],
    ['a defect of ours', new TypeError('undefined is not a function')],
  ])('%s says nothing about the rows: thrown, nothing refused', async (_name, error) => {
    const refused: number[] = []
    const write = () => Promise.reject(error)
    await expect(writeInHalves([1, 2, 3], write, (item) => refused.push(item))).rejects.toBe(error)
    expect(refused).toEqual([])
  })
})
