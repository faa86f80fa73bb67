import { beforeEach, describe, expect, test } from 'vitest'
import { DeliveryScheduler, type Scheduled } from '../../../src/domain/webhooks/delivery-scheduler.ts'
import { type Endpoint, endpointKey } from '../../../src/domain/webhooks/targets.ts'
import { EventMemory } from '../../../src/services/webhooks/event-memory.ts'

const MOST = 1_000

interface Waiting extends Scheduled<Waiting> {}

let scheduler: DeliveryScheduler<Waiting>
let recovering: Endpoint[]
let open: Endpoint[]
let memory: EventMemory

/** Places that each event takes. */
let places: number

function remember(placesOfEach: number): void {
  places = placesOfEach
  memory = new EventMemory({
    scheduler,
    destinations: {
      inState: (state) => (state === 'recovering' ? recovering : open),
      stateOf: (endpoint) =>
        isIn(open, endpoint) ? 'open' : isIn(recovering, endpoint) ? 'recovering' : null,
    },
    maxHeld: MOST,
  })
}

beforeEach(() => {
  scheduler = new DeliveryScheduler()
  recovering = []
  open = []
  remember(1)
})

const endpointOf = (planId: number, host: string): Endpoint => ({ planId, destination: `https://${host}` })

const isIn = (some: readonly Endpoint[], endpoint: Endpoint) =>
  some.map(endpointKey).includes(endpointKey(endpoint))

function addTo(endpoint: Endpoint): void {
  scheduler.add({ ...endpoint, next: null, previous: null })
  memory.room.change(places)
}

function empty(endpoint: Endpoint): void {
  memory.room.change(-places * scheduler.takeFrom(endpoint).length)
}

/** Adds events while there is room; gives how many. */
function fill(endpoint: Endpoint, most = MOST): number {
  let count = 0
  for (; count < most && memory.admits(endpoint); count += 1) addTo(endpoint)
  return count
}

describe('room', () => {
  test('an endpoint leaves as much to another of its plan as it takes; a plan to another plan', () => {
    const first = fill(endpointOf(1, 'a'))
    expect(first).toBeLessThanOrEqual(MOST / 4)
    const second = fill(endpointOf(1, 'b'))
    expect(second).toBeGreaterThan(0)
    expect(fill(endpointOf(2, 'a'))).toBeGreaterThan(MOST / 8)
    expect(memory.room.free).toBe(MOST - scheduler.waitingInPlan(1) - scheduler.waitingInPlan(2))
  })

  test.each([2, 3, 5])('events of %i places leave room to others', (each) => {
    remember(each)
    fill(endpointOf(1, 'a'))
    expect(fill(endpointOf(1, 'b'))).toBeGreaterThan(MOST / each / 16)
    expect(fill(endpointOf(2, 'a'))).toBeGreaterThan(MOST / each / 16)
    expect(memory.admits(endpointOf(3, 'a'))).toBe(true)
    expect(memory.room.free).toBeGreaterThan(0)
  })
})

test('room is planned for as many messages as one destination admits the events of, less a quarter', () => {
  expect([memory.roomFor(1), memory.roomFor(2)]).toEqual([187, 187])
  const planned = memory.roomFor(1)
  expect(fill(endpointOf(1, 'a'), planned)).toBe(planned)
  expect([memory.roomFor(1) <= 0, memory.admits(endpointOf(1, 'a'))]).toEqual([true, true])
  expect(memory.roomFor(2)).toBeGreaterThan(100)
})

describe('what is fetched', () => {
  const crowded = endpointOf(1, 'a')

  beforeEach(() => {
    fill(crowded)
    memory.parked(crowded)
  })

  test('for a crowded endpoint, once few of its events wait: no more than it has room for', () => {
    expect(memory.endpointsToRefill()).toEqual([])
    empty(crowded)
    const [refilled, ...others] = memory.endpointsToRefill()
    expect(others).toEqual([])
    expect(refilled!.endpoint).toEqual(crowded)
    expect(fill(crowded, refilled!.limit)).toBe(refilled!.limit)
  })

  test('nothing where there is no room in its plan', () => {
    empty(crowded)
    for (let host = 0; host < 10; host += 1)
      for (let count = 0; count < 60; count += 1) addTo(endpointOf(1, String(host)))
    expect(memory.endpointsToRefill()).toEqual([])
  })

  test('not for one in trouble; again when it recovers; no more once it is emptied', () => {
    empty(crowded)
    open = [crowded]
    // The same endpoint, as others say it.
    expect(memory.endpointsToRefill()).toEqual([])
    open = []
    recovering = [crowded]
    expect(memory.endpointsToRefill()).toHaveLength(1)
    recovering = []
    memory.emptied(memory.endpointsToRefill()[0]!.endpoint)
    expect(memory.endpointsToRefill()).toEqual([])
  })

  test('again when something was parked for the endpoint while it was fetched', () => {
    empty(crowded)
    const [fetched] = memory.endpointsToRefill()
    memory.parked(crowded)
    memory.emptied(fetched!.endpoint)
    expect(memory.endpointsToRefill()).toHaveLength(1)
  })

  test('for many endpoints: some each round, all in turn', () => {
    recovering = Array.from({ length: 40 }, (_, host) => endpointOf(2, String(host)))
    const seen = new Set<string>()
    for (let round = 0; round < 5; round += 1) {
      const some = memory.endpointsToRefill()
      expect(some).toHaveLength(16)
      for (const { endpoint } of some) seen.add(endpoint.destination)
    }
    expect(seen.size).toBe(40)
  })
})

test('a plan with very many crowded destinations leaves room to remember those of another', () => {
  for (let host = 0; host < 10_000; host += 1) memory.parked(endpointOf(1, `host-${host}`))
  memory.parked(endpointOf(2, 'a'))
  // The first plan has no room.
  for (let host = 0; fill(endpointOf(1, `other-${host}`)) > 0; ) host += 1
  expect(memory.endpointsToRefill().map(({ endpoint }) => endpoint)).toEqual([endpointOf(2, 'a')])
})
