import { describe, expect, test } from 'vitest'
import { CarrierChoice } from '../../src/services/carrier-choice.ts'
import { CarrierLink, type LinkEvents } from '../../src/services/carrier-link.ts'
import type { SubmitToken } from '../../src/services/submit-job.ts'
import { aCarrier, aDirectory, aPlan, aRoute } from '../support/directory.ts'
import { aDispatch } from '../support/submit-jobs.ts'

const carriers = [
  aCarrier({ id: 1, name: 'one' }),
  aCarrier({ id: 2, name: 'two', longMessages: 'payload' }),
  aCarrier({ id: 3, name: 'three', state: 'draining' }),
  aCarrier({ id: 4, name: 'four', state: 'stopped' }),
]
const route = aRoute({
  id: 9,
  carriers: carriers.map(({ id }) => ({ carrierId: id, priority: id, weight: 1 })),
})
const plan = aPlan({ route })
const directory = aDirectory({ carriers, plans: [plan], routes: [route] })
const routed = directory.routeFor(plan, 'Aldis', '+15551230000')!

const aLink = new CarrierLink<SubmitToken>({
  carrier: carriers[0]!,
  number: 0,
  bind: 'bind_transceiver',
  // Asked nothing, only found.
  events: {} as LinkEvents<SubmitToken>,
  timings: {},
  log: () => undefined,
})

function choiceOf(
  state: {
    bound?: number[]
    doubtful?: number[]
    free?: number[]
    congested?: number[]
    outOfUse?: number[]
  } = {},
): CarrierChoice {
  const { bound = [1, 2], doubtful = [], free = [], congested = [], outOfUse = [] } = state
  return new CarrierChoice({
    directory: () => directory,
    links: () => ({
      canSubmit: (id) => bound.includes(id),
      isDoubtful: (id) => doubtful.includes(id),
      freest: (id) => (free.includes(id) ? aLink : null),
    }),
    isCongested: (id) => congested.includes(id),
    outOfUse: (routeId, id) => routeId === 9 && outOfUse.includes(id),
  })
}

describe('the condition of a carrier', () => {
  test.each([
    ['usable', 1, {}],
    ['unbound', 1, { bound: [] }],
    ['draining', 3, {}],
    ['stopped', 4, {}],
    ['stopped', 77, {}],
    ['throttled', 1, { congested: [1] }],
    ['silent', 1, { doubtful: [1] }],
    ['silent', 1, { doubtful: [1], outOfUse: [1] }],
    ['usable', 1, { doubtful: [1], free: [1] }],
    ['out-of-use', 1, { congested: [1], outOfUse: [1] }],
    ['unbound', 1, { bound: [], outOfUse: [1] }],
  ] as const)('%s: carrier %i, %j', (condition, carrierId, state) => {
    expect(choiceOf(state as object).conditionOf(carrierId, 9)).toBe(condition)
  })

  test('out of use in one route is not so in another', () => {
    expect(choiceOf({ outOfUse: [1] }).conditionOf(1, 8)).toBe('usable')
  })

  test('a route can be submitted to over any of its carriers', () => {
    expect(choiceOf({ bound: [2] }).canSubmit(route)).toBe(true)
    expect(choiceOf({ bound: [] }).canSubmit(route)).toBe(false)
  })
})

describe('the carrier of a message', () => {
  test('is the first that can be used, with the reason', () => {
    const job = choiceOf({ bound: [2] }).jobFor(aDispatch(), plan, routed)
    expect(job).toMatchObject({
      carrier: { id: 2 },
      route: { id: 9, reason: expect.stringContaining('one') },
    })
    expect(choiceOf({ bound: [] }).jobFor(aDispatch(), plan, routed)).toBeNull()
  })

  test('is not one that was silent, when it may have got the message already, or parts of it', () => {
    const [usual, tried] = [aDispatch(), aDispatch({ ambiguous: true })]
    const doubtful = choiceOf({ doubtful: [1], free: [1] })
    const chosen = [usual, tried].map((dispatch) => doubtful.jobFor(dispatch, plan, routed)!)
    expect(chosen.map(({ carrier }) => carrier.id)).toEqual([1, 2])
    expect(chosen[1]!.route.reason).toContain('after one (silent)')
    const begun = aDispatch({ body: 'part '.repeat(80), submittedSegments: 1n, carrierId: 1 })
    expect(choiceOf({ doubtful: [1] }).jobFor(begun, plan, routed)!.carrier.id).toBe(2)
  })

  test('is one that is silent rather than none', () => {
    const job = choiceOf({ bound: [1], doubtful: [1] }).jobFor(aDispatch({ ambiguous: true }), plan, routed)
    expect(job).toMatchObject({
      carrier: { id: 1 },
      route: { reason: expect.stringContaining('though silent') },
    })
  })

  test('is the one that has parts of it, as long as it can be used', () => {
    const body = 'part '.repeat(80)
    const cut = 'udh GSM7 3'
    const begun = aDispatch({ body, segments: 3, submittedSegments: 0b10n, cut, carrierId: 2 })
    const other = aDispatch({ ...begun, carrierId: 1 })
    expect(choiceOf().jobFor(begun, plan, routed)!.carrier.id).toBe(2)
    expect(choiceOf({ bound: [1] }).jobFor(begun, plan, routed)!.carrier.id).toBe(1)
    expect(choiceOf().jobFor(aDispatch({ ...begun, submittedSegments: 0n }), plan, routed)!.carrier.id).toBe(
      1,
    )
    const rest = choiceOf().jobFor(other, plan, routed)!
    expect([rest.carrier.id, rest.progress.accepted, rest.isResubmission]).toEqual([1, 0b10n, false])
  })

  test('starts it over where it is cut otherwise', () => {
    const begun = aDispatch({ body: 'part '.repeat(80), segments: 3, submittedSegments: 0b10n, carrierId: 1 })
    const job = choiceOf({ bound: [2] }).jobFor(begun, plan, routed)!
    expect([job.carrier.id, job.progress.accepted, job.isResubmission]).toEqual([2, 0n, true])
  })
})
