import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DeliveryLanes, LANE_LIMITS, type LaneLimits } from '../../src/domain/delivery-lanes.ts'

const AMPLE: LaneLimits = { perLane: 1_000, perDestination: 1_000, perPlan: 1_000, perNode: 1_000 }

function filled(
  items: readonly (readonly [planId: number, destination: string, count: number])[],
  limits: LaneLimits = LANE_LIMITS,
): DeliveryLanes<string> {
  const lanes = new DeliveryLanes<string>(limits)
  for (const [planId, destination, count] of items)
    for (let index = 0; index < count; index += 1)
      lanes.add(planId, destination, `${planId}${destination}${index}`)
  return lanes
}

/** Starts whatever may start: how many of each plan, and the items in order. */
function startAll(lanes: DeliveryLanes<string>): string[] {
  const started: string[] = []
  for (let start = lanes.next(); start !== null; start = lanes.next()) started.push(start.item)
  return started
}

function startsOf(started: readonly string[], prefix: string): number {
  return started.filter((item) => item.startsWith(prefix)).length
}

describe('DeliveryLanes', () => {
  test('one lane is first in, first out, up to its limit', () => {
    const lanes = filled([[1, 'a', 200]])
    expect(startAll(lanes)).toEqual(Array.from({ length: 128 }, (_, index) => `1a${index}`))
    expect([lanes.size, lanes.underWay]).toEqual([72, 128])
    lanes.ended(1, 'a')
    expect(startAll(lanes)).toEqual(['1a128'])
  })

  test('plans take turns, and the lanes of each', () => {
    const lanes = filled(
      [
        [1, 'a', 4],
        [1, 'b', 2],
        [2, 'c', 3],
      ],
      AMPLE,
    )
    expect(startAll(lanes).join(' ')).toBe('1a0 2c0 1b0 2c1 1a1 2c2 1b1 1a2 1a3')
  })

  test('nothing ends that was not under way', () => {
    const lanes = filled([[1, 'a', 1]])
    expect(() => lanes.ended(1, 'a')).toThrow(RangeError)
    lanes.next()
    lanes.ended(1, 'a')
    expect(() => lanes.ended(1, 'a')).toThrow(RangeError)
    expect(() => lanes.ended(2, 'a')).toThrow(RangeError)
  })

  test('many plans at one destination: as much is left as each has', () => {
    const lanes = filled(Array.from({ length: 15 }, (_, plan) => [100 + plan, 'a', 500] as const))
    const started = startAll(lanes)
    expect(started).toHaveLength(15 * 16)
    lanes.add(200, 'a', 'new')
    expect(startAll(lanes)).toEqual(['new'])
  })

  test('many destinations of one plan: as much is left as each has', () => {
    const names = 'abcdefg'
    const lanes = filled([...names].map((name) => [1, name, 500] as const))
    const started = startAll(lanes)
    for (const name of names) expect(startsOf(started, `1${name}`)).toBe(32)
    for (let index = 0; index < 50; index += 1) lanes.add(1, 'z', `1z${index}`)
    expect(startsOf(startAll(lanes), '1z')).toBeGreaterThanOrEqual(16)
  })

  test('many plans that hang: a new one finds as much as each has', () => {
    const plans = Array.from({ length: 7 }, (_, index) => index + 1)
    const lanes = filled(
      plans.flatMap((plan) => [...'abcdefghijklmnop'].map((name) => [plan, `${plan}${name}`, 50] as const)),
    )
    expect(startAll(lanes)).toHaveLength(7 * 128)
    for (const name of 'abcdef')
      for (let index = 0; index < 20; index += 1) lanes.add(9, name, `9${name}${index}`)
    expect(startAll(lanes)).toHaveLength(64)
  })

  test('when a place comes free, one with less under way has it', () => {
    const limits = { ...AMPLE, perNode: 8 }
    const lanes = filled([[1, 'a', 50]], limits)
    expect(startAll(lanes)).toHaveLength(4)
    lanes.add(2, 'b', '2b0')
    lanes.add(2, 'b', '2b1')
    lanes.ended(1, 'a')
    expect(startAll(lanes)).toEqual(['2b0', '2b1'])
  })

  test('a lane is taken out in order, and what it has under way still counts', () => {
    const lanes = filled([
      [1, 'a', 134],
      [2, 'b', 2],
    ])
    const startedOfA = startsOf(startAll(lanes), '1a')
    expect(startedOfA).toBe(128)
    expect(lanes.takeLane(1, 'a')).toEqual(['1a128', '1a129', '1a130', '1a131', '1a132', '1a133'])
    expect(lanes.takeLane(1, 'a')).toEqual([])
    expect(lanes.takeLane(3, 'a')).toEqual([])
    lanes.add(1, 'a', 'later')
    expect(lanes.next()).toBeNull()
    lanes.ended(1, 'a')
    expect(lanes.next()?.item).toBe('later')
  })

  test('tells what waits, and gives all of it', () => {
    const lanes = filled([
      [1, 'a', 3],
      [1, 'b', 2],
      [2, 'a', 4],
    ])
    expect(lanes.next()?.item).toBe('1a0')
    expect([
      lanes.waiting(1, 'a'),
      lanes.waiting(1, 'b'),
      lanes.waiting(1, 'c'),
      lanes.waiting(3, 'a'),
    ]).toEqual([2, 2, 0, 0])
    expect([lanes.waitingInPlan(1), lanes.waitingInPlan(2), lanes.waitingInPlan(3), lanes.size]).toEqual([
      4, 4, 0, 8,
    ])
    expect(lanes.takeAll().sort()).toEqual(['1a1', '1a2', '1b0', '1b1', '2a0', '2a1', '2a2', '2a3'])
    expect([lanes.size, lanes.waitingInPlan(1), lanes.next()]).toEqual([0, 0, null])
    lanes.add(2, 'a', 'again')
    expect(lanes.next()?.item).toBe('again')
  })

  test('a lane that stood aside is called back although the one called before it was taken out', () => {
    const limits = { ...AMPLE, perDestination: 1 }
    const lanes = filled(
      [
        [1, 'a', 1],
        [2, 'a', 1],
        [3, 'a', 1],
      ],
      limits,
    )
    expect(startAll(lanes)).toEqual(['1a0'])
    lanes.ended(1, 'a')
    expect(lanes.takeLane(2, 'a')).toEqual(['2a0'])
    expect(startAll(lanes)).toEqual(['3a0'])
  })

  test('and although the plan of the one before it is full', () => {
    const lanes = filled(
      [
        [1, 'a', 1],
        [2, 'a', 1],
        [3, 'a', 1],
      ],
      { ...AMPLE, perDestination: 1, perPlan: 1 },
    )
    expect(startAll(lanes)).toEqual(['1a0'])
    lanes.add(2, 'b', '2b0')
    expect(startAll(lanes)).toEqual(['2b0'])
    lanes.ended(1, 'a')
    expect(startAll(lanes)).toEqual(['3a0'])
    lanes.ended(2, 'b')
    lanes.ended(3, 'a')
    expect(startAll(lanes)).toEqual(['2a0'])
  })

  test('or has as much as is left beside it', () => {
    const lanes = filled(
      [
        [1, 'a', 1],
        [2, 'a', 1],
        [3, 'a', 1],
      ],
      { ...AMPLE, perDestination: 1, perNode: 4 },
    )
    expect(startAll(lanes)).toEqual(['1a0'])
    lanes.add(2, 'b', '2b0')
    lanes.add(2, 'c', '2c0')
    expect(startAll(lanes)).toEqual(['2b0', '2c0'])
    lanes.ended(1, 'a')
    expect(startAll(lanes)).toEqual(['3a0'])
  })

  test('a plan keeps its turn whatever else comes for it', () => {
    const lanes = filled([[1, 'a', 1]], { ...AMPLE, perNode: 1 })
    expect(startAll(lanes)).toEqual(['1a0'])
    lanes.add(2, 'b', '2b0')
    lanes.add(3, 'c', '3c0')
    lanes.add(2, 'd', '2d0')
    lanes.ended(1, 'a')
    expect(startAll(lanes)).toEqual(['2b0'])
  })
})

const LIMITS = fc.record({
  perLane: fc.integer({ min: 1, max: 4 }),
  perDestination: fc.integer({ min: 1, max: 8 }),
  perPlan: fc.integer({ min: 1, max: 8 }),
  perNode: fc.integer({ min: 1, max: 12 }),
})

const PLANS = 5

interface Step {
  readonly kind: 'add' | 'next' | 'ended' | 'takeLane'
  readonly plan: number
  readonly destination: string
  readonly pick: number
  readonly count: number
}

const STEPS: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('add', 'add', 'add', 'next', 'next', 'ended', 'ended', 'takeLane'),
    plan: fc.nat(PLANS - 1),
    destination: fc.constantFrom('a', 'b', 'c'),
    pick: fc.nat(1_000),
    count: fc.integer({ min: 1, max: 6 }),
  }),
  { maxLength: 150 },
)

interface LaneModel {
  readonly planId: number
  readonly destination: string
  readonly waiting: number[]
  underWay: number
}

/** The rules, computed from scratch each time. */
class Model {
  readonly limits: LaneLimits
  readonly lanes = new Map<string, LaneModel>()

  constructor(limits: LaneLimits) {
    this.limits = limits
  }

  lane(planId: number, destination: string): LaneModel {
    const key = `${planId}${destination}`
    const lane = this.lanes.get(key) ?? { planId, destination, waiting: [], underWay: 0 }
    this.lanes.set(key, lane)
    return lane
  }

  underWay(fits: (lane: LaneModel) => boolean = () => true): number {
    return [...this.lanes.values()].filter(fits).reduce((sum, lane) => sum + lane.underWay, 0)
  }

  ofPlan(planId: number): number {
    return this.underWay((lane) => lane.planId === planId)
  }

  mayStart(lane: LaneModel): boolean {
    const { perLane, perDestination, perPlan, perNode } = this.limits
    const plan = this.ofPlan(lane.planId)
    const destination = this.underWay((other) => other.destination === lane.destination)
    return (
      lane.waiting.length > 0 &&
      plan < Math.min(perPlan, perNode - this.underWay()) &&
      lane.underWay < Math.min(perLane, perDestination - destination, perPlan - plan)
    )
  }

  waitingPlans(): Set<number> {
    const waiting = [...this.lanes.values()].filter((lane) => lane.waiting.length > 0)
    return new Set(waiting.map(({ planId }) => planId))
  }
}

describe('whatever is done', () => {
  test('limits hold, nothing is lost or given twice, each lane keeps its order, and all of it starts in the end', () => {
    fc.assert(
      fc.property(LIMITS, STEPS, (limits, steps) => {
        const lanes = new DeliveryLanes<number>(limits)
        const model = new Model(limits)
        let id = 0
        const start = () => {
          const given = lanes.next()
          if (given === null) return false
          const lane = model.lane(given.planId, given.destination)
          expect(model.mayStart(lane)).toBe(true)
          expect(given.item).toBe(lane.waiting.shift())
          lane.underWay += 1
          return true
        }
        const end = (pick: number) => {
          const busy = [...model.lanes.values()].filter((lane) => lane.underWay > 0)
          const lane = busy[pick % Math.max(busy.length, 1)]
          if (lane === undefined) return false
          lane.underWay -= 1
          lanes.ended(lane.planId, lane.destination)
          return true
        }
        for (const { kind, plan, destination, pick, count } of steps) {
          const lane = model.lane(plan, destination)
          if (kind === 'add')
            for (let index = 0; index < count; index += 1) {
              lane.waiting.push(id)
              lanes.add(plan, destination, id++)
            }
          else if (kind === 'next') for (let index = 0; index < count && start(); index += 1);
          else if (kind === 'ended') end(pick)
          else expect(lanes.takeLane(plan, destination)).toEqual(lane.waiting.splice(0))
          expect(lanes.waiting(plan, destination)).toBe(lane.waiting.length)
          expect(lanes.underWay).toBe(model.underWay())
        }
        do while (start());
        while (end(id++))
        expect([...model.lanes.values()].filter((lane) => lane.waiting.length > 0)).toEqual([])
        expect([lanes.size, lanes.underWay]).toEqual([0, 0])
      }),
      { numRuns: 500 },
    )
  })

  /** Starts what may start after each step; `judge` sees each answer before the model knows of it. */
  function run(
    limits: LaneLimits,
    steps: readonly Step[],
    name: (step: Step) => string,
    judge: (model: Model, given: LaneModel | null) => void,
  ): void {
    const lanes = new DeliveryLanes<number>(limits)
    const model = new Model(limits)
    for (const step of steps) {
      if (step.kind === 'ended') {
        const busy = [...model.lanes.values()].filter((lane) => lane.underWay > 0)
        const ending = busy[step.pick % Math.max(busy.length, 1)]
        if (ending === undefined) continue
        ending.underWay -= 1
        lanes.ended(ending.planId, ending.destination)
      } else {
        model.lane(step.plan, name(step)).waiting.push(0)
        lanes.add(step.plan, name(step), 0)
      }
      for (;;) {
        const given = lanes.next()
        const lane = given === null ? null : model.lane(given.planId, given.destination)
        judge(model, lane)
        if (lane === null) break
        lane.waiting.shift()
        lane.underWay += 1
      }
    }
  }

  const ofItsOwn = ({ plan, destination }: Step) => `${plan}${destination}`

  test('each with something that may start starts, the plan with the fewest under way first, then its lane', () => {
    fc.assert(
      fc.property(LIMITS, STEPS, (limits, steps) =>
        run(limits, steps, ofItsOwn, (model, given) => {
          const may = [...model.lanes.values()].filter((lane) => model.mayStart(lane))
          if (given === null) {
            expect(may).toEqual([])
            return
          }
          const plans = may.map(({ planId }) => model.ofPlan(planId))
          expect(model.ofPlan(given.planId)).toBe(Math.min(...plans))
          const own = may.filter(({ planId }) => planId === given.planId)
          expect(given.underWay).toBe(Math.min(...own.map(({ underWay }) => underWay)))
        }),
      ),
      { numRuns: 500 },
    )
  })

  test('also where plans share destinations', () => {
    fc.assert(
      fc.property(LIMITS, STEPS, ({ perLane, perDestination }, steps) =>
        run(
          { ...AMPLE, perLane, perDestination },
          steps,
          ({ destination }) => destination,
          (model, given) => {
            if (given === null)
              expect([...model.lanes.values()].filter((lane) => model.mayStart(lane))).toEqual([])
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
