import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  DeliveryScheduler,
  IN_FLIGHT_LIMITS,
  type InFlightLimits,
  type Scheduled,
} from '../../../src/domain/webhooks/delivery-scheduler.ts'
import type { Endpoint } from '../../../src/domain/webhooks/targets.ts'

const AMPLE: InFlightLimits = { perEndpoint: 1_000, perDestination: 1_000, perPlan: 1_000, perNode: 1_000 }

interface Named<Name> extends Scheduled<Named<Name>> {
  readonly name: Name
}

const at = (planId: number, destination: string) => ({ planId, destination })

function named<Name>(planId: number, destination: string, name: Name): Named<Name> {
  return { planId, destination, name, next: null, previous: null }
}

function namesOf<Name>(items: readonly Named<Name>[]): Name[] {
  return items.map(({ name }) => name)
}

function filled(
  items: readonly (readonly [planId: number, destination: string, count: number])[],
  limits: InFlightLimits = IN_FLIGHT_LIMITS,
): DeliveryScheduler<Named<string>> {
  const scheduler = new DeliveryScheduler<Named<string>>(limits)
  for (const [planId, destination, count] of items)
    for (let index = 0; index < count; index += 1)
      scheduler.add(named(planId, destination, `${planId}${destination}${index}`))
  return scheduler
}

/** Starts whatever may start: how many of each plan, and the items in order. */
function startAll(scheduler: DeliveryScheduler<Named<string>>): string[] {
  const started: string[] = []
  for (let start = scheduler.next(); start !== null; start = scheduler.next()) started.push(start.name)
  return started
}

function startsOf(started: readonly string[], prefix: string): number {
  return started.filter((item) => item.startsWith(prefix)).length
}

describe('DeliveryScheduler', () => {
  test('one endpoint is first in, first out, up to its limit', () => {
    const scheduler = filled([[1, 'a', 200]])
    expect(startAll(scheduler)).toEqual(Array.from({ length: 128 }, (_, index) => `1a${index}`))
    expect([scheduler.waitingInPlan(1), scheduler.inFlight]).toEqual([72, 128])
    scheduler.ended(at(1, 'a'))
    expect(startAll(scheduler)).toEqual(['1a128'])
  })

  test('plans take turns, and the endpoints of each', () => {
    const scheduler = filled(
      [
        [1, 'a', 4],
        [1, 'b', 2],
        [2, 'c', 3],
      ],
      AMPLE,
    )
    expect(startAll(scheduler).join(' ')).toBe('1a0 2c0 1b0 2c1 1a1 2c2 1b1 1a2 1a3')
  })

  test('nothing ends that was not under way', () => {
    const scheduler = filled([[1, 'a', 1]])
    expect(() => scheduler.ended(at(1, 'a'))).toThrow(RangeError)
    scheduler.next()
    scheduler.ended(at(1, 'a'))
    expect(() => scheduler.ended(at(1, 'a'))).toThrow(RangeError)
    expect(() => scheduler.ended(at(2, 'a'))).toThrow(RangeError)
  })

  test('many plans at one destination: as much is left as each has', () => {
    const scheduler = filled(Array.from({ length: 15 }, (_, plan) => [100 + plan, 'a', 500] as const))
    const started = startAll(scheduler)
    expect(started).toHaveLength(15 * 16)
    scheduler.add(named(200, 'a', 'new'))
    expect(startAll(scheduler)).toEqual(['new'])
  })

  test('many destinations of one plan: as much is left as each has', () => {
    const names = 'abcdefg'
    const scheduler = filled([...names].map((name) => [1, name, 500] as const))
    const started = startAll(scheduler)
    for (const name of names) expect(startsOf(started, `1${name}`)).toBe(32)
    for (let index = 0; index < 50; index += 1) scheduler.add(named(1, 'z', `1z${index}`))
    expect(startsOf(startAll(scheduler), '1z')).toBeGreaterThanOrEqual(16)
  })

  test('many plans that hang: a new one finds as much as each has', () => {
    const plans = Array.from({ length: 7 }, (_, index) => index + 1)
    const scheduler = filled(
      plans.flatMap((plan) => [...'abcdefghijklmnop'].map((name) => [plan, `${plan}${name}`, 50] as const)),
    )
    expect(startAll(scheduler)).toHaveLength(7 * 128)
    for (const name of 'abcdef')
      for (let index = 0; index < 20; index += 1) scheduler.add(named(9, name, `9${name}${index}`))
    expect(startAll(scheduler)).toHaveLength(64)
  })

  test('when a place comes free, one with less under way has it', () => {
    const limits = { ...AMPLE, perNode: 8 }
    const scheduler = filled([[1, 'a', 50]], limits)
    expect(startAll(scheduler)).toHaveLength(4)
    scheduler.add(named(2, 'b', '2b0'))
    scheduler.add(named(2, 'b', '2b1'))
    scheduler.ended(at(1, 'a'))
    expect(startAll(scheduler)).toEqual(['2b0', '2b1'])
  })

  test('an endpoint is taken out in order, and what it has under way still counts', () => {
    const scheduler = filled([
      [1, 'a', 134],
      [2, 'b', 2],
    ])
    const startedOfA = startsOf(startAll(scheduler), '1a')
    expect(startedOfA).toBe(128)
    expect(namesOf(scheduler.takeFrom(at(1, 'a')))).toEqual([
      '1a128',
      '1a129',
      '1a130',
      '1a131',
      '1a132',
      '1a133',
    ])
    expect(namesOf(scheduler.takeFrom(at(1, 'a')))).toEqual([])
    expect(namesOf(scheduler.takeFrom(at(3, 'a')))).toEqual([])
    scheduler.add(named(1, 'a', 'later'))
    expect(scheduler.next()).toBeNull()
    scheduler.ended(at(1, 'a'))
    expect(scheduler.next()?.name).toBe('later')
  })

  test('tells what waits, and gives all of it', () => {
    const scheduler = filled([
      [1, 'a', 3],
      [1, 'b', 2],
      [2, 'a', 4],
    ])
    expect(scheduler.next()?.name).toBe('1a0')
    expect([
      scheduler.waiting(at(1, 'a')),
      scheduler.waiting(at(1, 'b')),
      scheduler.waiting(at(1, 'c')),
      scheduler.waiting(at(3, 'a')),
    ]).toEqual([2, 2, 0, 0])
    expect([1, 2, 3].map((planId) => scheduler.waitingInPlan(planId))).toEqual([4, 4, 0])
    expect(namesOf(scheduler.takeAll()).sort()).toEqual([
      '1a1',
      '1a2',
      '1b0',
      '1b1',
      '2a0',
      '2a1',
      '2a2',
      '2a3',
    ])
    expect([scheduler.takeAll(), scheduler.waitingInPlan(1), scheduler.next()]).toEqual([[], 0, null])
    scheduler.add(named(2, 'a', 'again'))
    expect(scheduler.next()?.name).toBe('again')
  })

  test('an endpoint that stood aside is called back although the one called before it was taken out', () => {
    const limits = { ...AMPLE, perDestination: 1 }
    const scheduler = filled(
      [
        [1, 'a', 1],
        [2, 'a', 1],
        [3, 'a', 1],
      ],
      limits,
    )
    expect(startAll(scheduler)).toEqual(['1a0'])
    scheduler.ended(at(1, 'a'))
    expect(namesOf(scheduler.takeFrom(at(2, 'a')))).toEqual(['2a0'])
    expect(startAll(scheduler)).toEqual(['3a0'])
  })

  test('and although the plan of the one before it is full', () => {
    const scheduler = filled(
      [
        [1, 'a', 1],
        [2, 'a', 1],
        [3, 'a', 1],
      ],
      { ...AMPLE, perDestination: 1, perPlan: 1 },
    )
    expect(startAll(scheduler)).toEqual(['1a0'])
    scheduler.add(named(2, 'b', '2b0'))
    expect(startAll(scheduler)).toEqual(['2b0'])
    scheduler.ended(at(1, 'a'))
    expect(startAll(scheduler)).toEqual(['3a0'])
    scheduler.ended(at(2, 'b'))
    scheduler.ended(at(3, 'a'))
    expect(startAll(scheduler)).toEqual(['2a0'])
  })

  test('or has as much as is left beside it', () => {
    const scheduler = filled(
      [
        [1, 'a', 1],
        [2, 'a', 1],
        [3, 'a', 1],
      ],
      { ...AMPLE, perDestination: 1, perNode: 4 },
    )
    expect(startAll(scheduler)).toEqual(['1a0'])
    scheduler.add(named(2, 'b', '2b0'))
    scheduler.add(named(2, 'c', '2c0'))
    expect(startAll(scheduler)).toEqual(['2b0', '2c0'])
    scheduler.ended(at(1, 'a'))
    expect(startAll(scheduler)).toEqual(['3a0'])
  })

  test('a plan keeps its turn whatever else comes for it', () => {
    const scheduler = filled([[1, 'a', 1]], { ...AMPLE, perNode: 1 })
    expect(startAll(scheduler)).toEqual(['1a0'])
    scheduler.add(named(2, 'b', '2b0'))
    scheduler.add(named(3, 'c', '3c0'))
    scheduler.add(named(2, 'd', '2d0'))
    scheduler.ended(at(1, 'a'))
    expect(startAll(scheduler)).toEqual(['2b0'])
  })
})

const LIMITS = fc.record({
  perEndpoint: fc.integer({ min: 1, max: 4 }),
  perDestination: fc.integer({ min: 1, max: 8 }),
  perPlan: fc.integer({ min: 1, max: 8 }),
  perNode: fc.integer({ min: 1, max: 12 }),
})

const PLANS = 5

interface Step {
  readonly kind: 'add' | 'next' | 'ended' | 'takeFrom'
  readonly plan: number
  readonly destination: string
  readonly pick: number
  readonly count: number
}

const STEPS: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('add', 'add', 'add', 'next', 'next', 'ended', 'ended', 'takeFrom'),
    plan: fc.nat(PLANS - 1),
    destination: fc.constantFrom('a', 'b', 'c'),
    pick: fc.nat(1_000),
    count: fc.integer({ min: 1, max: 6 }),
  }),
  { maxLength: 150 },
)

interface EndpointModel extends Endpoint {
  readonly waiting: number[]
  inFlight: number
}

/** The rules, computed from scratch each time. */
class Model {
  readonly limits: InFlightLimits
  readonly endpoints = new Map<string, EndpointModel>()

  constructor(limits: InFlightLimits) {
    this.limits = limits
  }

  endpoint({ planId, destination }: Endpoint): EndpointModel {
    const key = `${planId}${destination}`
    const endpoint = this.endpoints.get(key) ?? { planId, destination, waiting: [], inFlight: 0 }
    this.endpoints.set(key, endpoint)
    return endpoint
  }

  inFlight(fits: (endpoint: EndpointModel) => boolean = () => true): number {
    return [...this.endpoints.values()].filter(fits).reduce((sum, endpoint) => sum + endpoint.inFlight, 0)
  }

  ofPlan(planId: number): number {
    return this.inFlight((endpoint) => endpoint.planId === planId)
  }

  mayStart(endpoint: EndpointModel): boolean {
    const { perEndpoint, perDestination, perPlan, perNode } = this.limits
    const plan = this.ofPlan(endpoint.planId)
    const destination = this.inFlight((other) => other.destination === endpoint.destination)
    return (
      endpoint.waiting.length > 0 &&
      plan < Math.min(perPlan, perNode - this.inFlight()) &&
      endpoint.inFlight < Math.min(perEndpoint, perDestination - destination, perPlan - plan)
    )
  }

  waitingPlans(): Set<number> {
    const waiting = [...this.endpoints.values()].filter((endpoint) => endpoint.waiting.length > 0)
    return new Set(waiting.map(({ planId }) => planId))
  }
}

describe('whatever is done', () => {
  test('limits hold, nothing is lost or given twice, each endpoint keeps its order, and all of it starts in the end', () => {
    fc.assert(
      fc.property(LIMITS, STEPS, (limits, steps) => {
        const scheduler = new DeliveryScheduler<Named<number>>(limits)
        const model = new Model(limits)
        let id = 0
        const start = () => {
          const given = scheduler.next()
          if (given === null) return false
          const endpoint = model.endpoint(given)
          expect(model.mayStart(endpoint)).toBe(true)
          expect(given.name).toBe(endpoint.waiting.shift())
          endpoint.inFlight += 1
          return true
        }
        const end = (pick: number) => {
          const busy = [...model.endpoints.values()].filter((endpoint) => endpoint.inFlight > 0)
          const endpoint = busy[pick % Math.max(busy.length, 1)]
          if (endpoint === undefined) return false
          endpoint.inFlight -= 1
          scheduler.ended(endpoint)
          return true
        }
        for (const { kind, plan, destination, pick, count } of steps) {
          const endpoint = model.endpoint(at(plan, destination))
          if (kind === 'add')
            for (let index = 0; index < count; index += 1) {
              endpoint.waiting.push(id)
              scheduler.add(named(plan, destination, id++))
            }
          else if (kind === 'next') for (let index = 0; index < count && start(); index += 1);
          else if (kind === 'ended') end(pick)
          else expect(namesOf(scheduler.takeFrom(at(plan, destination)))).toEqual(endpoint.waiting.splice(0))
          expect(scheduler.waiting(at(plan, destination))).toBe(endpoint.waiting.length)
          expect(scheduler.inFlight).toBe(model.inFlight())
        }
        do while (start());
        while (end(id++))
        expect([...model.endpoints.values()].filter((endpoint) => endpoint.waiting.length > 0)).toEqual([])
        expect([scheduler.takeAll(), scheduler.inFlight]).toEqual([[], 0])
      }),
      { numRuns: 500 },
    )
  })

  /** Starts what may start after each step; `judge` sees each answer before the model knows of it. */
  function run(
    limits: InFlightLimits,
    steps: readonly Step[],
    name: (step: Step) => string,
    judge: (model: Model, given: EndpointModel | null) => void,
  ): void {
    const scheduler = new DeliveryScheduler<Named<number>>(limits)
    const model = new Model(limits)
    for (const step of steps) {
      if (step.kind === 'ended') {
        const busy = [...model.endpoints.values()].filter((endpoint) => endpoint.inFlight > 0)
        const ending = busy[step.pick % Math.max(busy.length, 1)]
        if (ending === undefined) continue
        ending.inFlight -= 1
        scheduler.ended(ending)
      } else {
        model.endpoint(at(step.plan, name(step))).waiting.push(0)
        scheduler.add(named(step.plan, name(step), 0))
      }
      for (;;) {
        const given = scheduler.next()
        const endpoint = given === null ? null : model.endpoint(given)
        judge(model, endpoint)
        if (endpoint === null) break
        endpoint.waiting.shift()
        endpoint.inFlight += 1
      }
    }
  }

  const ofItsOwn = ({ plan, destination }: Step) => `${plan}${destination}`

  test('each with something that may start starts, the plan with the fewest under way first, then its endpoint', () => {
    fc.assert(
      fc.property(LIMITS, STEPS, (limits, steps) =>
        run(limits, steps, ofItsOwn, (model, given) => {
          const may = [...model.endpoints.values()].filter((endpoint) => model.mayStart(endpoint))
          if (given === null) {
            expect(may).toEqual([])
            return
          }
          const plans = may.map(({ planId }) => model.ofPlan(planId))
          expect(model.ofPlan(given.planId)).toBe(Math.min(...plans))
          const own = may.filter(({ planId }) => planId === given.planId)
          expect(given.inFlight).toBe(Math.min(...own.map(({ inFlight }) => inFlight)))
        }),
      ),
      { numRuns: 500 },
    )
  })

  test('also where plans share destinations', () => {
    fc.assert(
      fc.property(LIMITS, STEPS, ({ perEndpoint, perDestination }, steps) =>
        run(
          { ...AMPLE, perEndpoint, perDestination },
          steps,
          ({ destination }) => destination,
          (model, given) => {
            if (given === null)
              expect([...model.endpoints.values()].filter((endpoint) => model.mayStart(endpoint))).toEqual([])
          },
        ),
      ),
    )
  })

  test('a plan with nothing under way starts after at most one start of each other', () => {
    fc.assert(
      fc.property(LIMITS, STEPS, (limits, steps) => {
        const passedOver = new Map<number, number>()
        run(limits, steps, ofItsOwn, (model, given) => {
          if (given === null) return
          passedOver.set(given.planId, 0)
          for (const planId of model.waitingPlans()) {
            if (planId === given.planId || model.ofPlan(planId) > 0) continue
            const count = (passedOver.get(planId) ?? 0) + 1
            expect(count).toBeLessThan(PLANS)
            passedOver.set(planId, count)
          }
        })
      }),
    )
  })
})
