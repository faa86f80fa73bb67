import { describe, expect, it } from 'vitest'
import { chooseCarrier } from '../../src/domain/routing.ts'
import { aRoute } from '../support/directory.ts'

const route = aRoute({
  carriers: [
    { carrierId: 1, priority: 0, weight: 3 },
    { carrierId: 2, priority: 0, weight: 1 },
    { carrierId: 3, priority: 1, weight: 1 },
  ],
})

function shares(isUsable: (id: number) => boolean): Record<string, number> {
  const counts: Record<string, number> = {}
  for (let step = 0; step < 1000; step += 1) {
    const chosen = String(chooseCarrier(route, isUsable, step / 1000))
    counts[chosen] = (counts[chosen] ?? 0) + 1
  }
  return counts
}

describe('chooseCarrier', () => {
  it('shares by weight within the first priority', () => {
    expect(shares(() => true)).toEqual({ 1: 750, 2: 250 })
  })

  it('passes over what is not usable, and then falls to the next priority', () => {
    expect(shares((id) => id !== 1)).toEqual({ 2: 1000 })
    expect(shares((id) => id === 3)).toEqual({ 3: 1000 })
  })

  it('gives none where none is usable', () => {
    expect(shares(() => false)).toEqual({ null: 1000 })
    expect(chooseCarrier({ ...route, carriers: [] }, () => true, 0)).toBeNull()
  })
})
