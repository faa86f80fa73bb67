import { beforeEach, describe, expect, test } from 'vitest'
import { DeliveryLanes } from '../../../src/domain/delivery-lanes.ts'
import { type Lane, laneKey } from '../../../src/domain/lanes.ts'
import { WebhookMemory } from '../../../src/services/webhooks/webhook-memory.ts'

const MOST = 1_000

let lanes: DeliveryLanes<number>
let recovering: Lane[]
let open: Lane[]
let memory: WebhookMemory

/** `perWaiting`: events in memory for each that waits in a lane; the others are behind it. */
function remember(perWaiting: number): void {
  memory = new WebhookMemory({
    lanes,
    destinations: {
      inState: (state) => (state === 'recovering' ? recovering : open),
      stateOf: (lane) => (isIn(open, lane) ? 'open' : isIn(recovering, lane) ? 'recovering' : null),
    },
    held: () => perWaiting * lanes.size,
    maxHeld: MOST,
  })
}

beforeEach(() => {
  lanes = new DeliveryLanes()
  recovering = []
  open = []
  remember(1)
})

const laneOf = (planId: number, host: string): Lane => ({ planId, destination: `https://${host}` })

const isIn = (some: readonly Lane[], lane: Lane) => some.map(laneKey).includes(laneKey(lane))

/** Adds events while there is room; gives how many. */
function fill(lane: Lane, most = MOST): number {
  let count = 0
  for (; count < most && memory.admits(lane); count += 1) lanes.add(lane.planId, lane.destination, count)
  return count
}

describe('room', () => {
  test('a lane leaves as much to another of its plan as it takes; a plan to another plan', () => {
    const first = fill(laneOf(1, 'a'))
    expect(first).toBeLessThanOrEqual(MOST / 4)
    const second = fill(laneOf(1, 'b'))
    expect(second).toBeGreaterThan(0)
    expect(fill(laneOf(2, 'a'))).toBeGreaterThan(MOST / 8)
    expect(memory.room.free).toBe(MOST - lanes.size)
  })

  test.each([2, 3, 5])('%i events of each message leave room to others', (perWaiting) => {
    remember(perWaiting)
    fill(laneOf(1, 'a'))
    expect(fill(laneOf(1, 'b'))).toBeGreaterThan(MOST / perWaiting / 16)
    expect(fill(laneOf(2, 'a'))).toBeGreaterThan(MOST / perWaiting / 16)
    expect(memory.admits(laneOf(3, 'a'))).toBe(true)
    expect(memory.room.free).toBeGreaterThan(0)
  })
})

test('room is planned for as many messages as one destination admits the events of, less a quarter', () => {
  expect([memory.roomFor(1), memory.roomFor(2)]).toEqual([187, 187])
  const planned = memory.roomFor(1)
  expect(fill(laneOf(1, 'a'), planned)).toBe(planned)
  expect([memory.roomFor(1) <= 0, memory.admits(laneOf(1, 'a'))]).toEqual([true, true])
  expect(memory.roomFor(2)).toBeGreaterThan(100)
})

describe('what is fetched', () => {
  const crowded = laneOf(1, 'a')

  beforeEach(() => {
    fill(crowded)
    memory.parked(crowded)
  })

  test('for a crowded lane, once few of its events wait: no more than it has room for', () => {
    expect(memory.hungry()).toEqual([])
    lanes.takeLane(crowded.planId, crowded.destination)
    const [hungry, ...others] = memory.hungry()
    expect(others).toEqual([])
    expect(hungry!.lane).toEqual(crowded)
    expect(fill(crowded, hungry!.limit)).toBe(hungry!.limit)
  })

  test('nothing where there is no room in its plan', () => {
    lanes.takeLane(crowded.planId, crowded.destination)
    for (let host = 0; host < 10; host += 1)
      for (let count = 0; count < 60; count += 1) lanes.add(1, `https://${host}`, count)
    expect(memory.hungry()).toEqual([])
  })

  test('not for one in trouble; again when it recovers; no more once it is emptied', () => {
    lanes.takeLane(crowded.planId, crowded.destination)
    open = [crowded]
    // The same lane, as others say it.
    expect(memory.hungry()).toEqual([])
    open = []
    recovering = [crowded]
    expect(memory.hungry()).toHaveLength(1)
    recovering = []
    memory.emptied(memory.hungry()[0]!.lane)
    expect(memory.hungry()).toEqual([])
  })

  test('again when something was parked for the lane while it was fetched', () => {
    lanes.takeLane(crowded.planId, crowded.destination)
    const [fetched] = memory.hungry()
    memory.parked(crowded)
    memory.emptied(fetched!.lane)
    expect(memory.hungry()).toHaveLength(1)
  })

  test('for many lanes: some each round, all in turn', () => {
    recovering = Array.from({ length: 40 }, (_, host) => laneOf(2, String(host)))
    const seen = new Set<string>()
    for (let round = 0; round < 5; round += 1) {
      const hungry = memory.hungry()
      expect(hungry).toHaveLength(16)
      for (const { lane } of hungry) seen.add(lane.destination)
    }
    expect(seen.size).toBe(40)
  })
})
