import { describe, expect, test } from 'vitest'
import { type LinkFailure, nextPauseMs } from '../../../src/domain/carriers/binds.ts'

describe('the pause before another bind', () => {
  const pauses = (failure: LinkFailure, fromMs = 0) => {
    const all: number[] = []
    for (let lastMs = fromMs; all.length < 14; all.push(lastMs / 1_000))
      lastMs = nextPauseMs(failure, { lastMs, firstMs: 1_000, closes: all.length + 1 })
    return all
  }

  test('doubles up to five seconds while the carrier cannot be reached', () => {
    expect(pauses('unreached').slice(0, 5)).toEqual([1, 2, 4, 5, 5])
  })

  test('doubles up to a minute while the carrier refuses, to five while it refuses the credentials', () => {
    expect(pauses('refused').slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    expect(pauses('unauthorized').slice(6, 10)).toEqual([64, 128, 256, 300])
  })

  test('stays short for eight closed sessions, as of a carrier that restarts, and then doubles up to a minute', () => {
    expect(pauses('closed')).toEqual([1, 2, 4, 5, 5, 5, 5, 5, 10, 20, 40, 60, 60, 60])
  })

  test('of a carrier that comes back and refuses the first binds grows from five seconds', () => {
    expect(pauses('refused', pauses('unreached').at(-1)! * 1_000).slice(0, 4)).toEqual([10, 20, 40, 60])
    expect(pauses('unreached', 300_000)[0]).toBe(5)
  })
})
