import { describe, expect, test } from 'vitest'
import { RebindCounts } from '../../src/domain/rebind-counts.ts'

const session = () => ({})

describe('a message whose answers blame the session', () => {
  test('costs three sessions; a fourth is not to blame', () => {
    const counts = new RebindCounts()
    expect([1, 2, 3, 4, 5].map(() => counts.blamesLink('a', session()))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
    expect(counts.blamesLink('b', session())).toBe(true)
  })

  test('several segments of it answered in one session count once', () => {
    const counts = new RebindCounts()
    for (const one of [session(), session(), session()])
      for (let segment = 0; segment < 5; segment += 1) expect(counts.blamesLink('a', one)).toBe(true)
    expect(counts.blamesLink('a', session())).toBe(false)
  })

  test('begins anew once its submission is over', () => {
    const counts = new RebindCounts()
    for (let count = 0; count < 4; count += 1) counts.blamesLink('a', session())
    counts.forget('a')
    expect(counts.blamesLink('a', session())).toBe(true)
  })

  test('no more are kept than the bound: the oldest makes room', () => {
    const counts = new RebindCounts(2)
    for (const msgId of ['a', 'b'])
      for (let count = 0; count < 3; count += 1) counts.blamesLink(msgId, session())
    counts.blamesLink('c', session())
    expect(counts.blamesLink('b', session())).toBe(false)
    expect(counts.blamesLink('a', session())).toBe(true)
  })
})
