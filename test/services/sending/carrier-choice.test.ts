import { beforeEach, describe, expect, test } from 'vitest'
import type { Route } from '../../../src/domain/configuration/configuration.ts'
import { messageId } from '../../../src/domain/identifiers.ts'
import type { Dispatch } from '../../../src/domain/journal/messages-in-progress.ts'
import type { LinkCondition } from '../../../src/domain/routing/routing.ts'
import { CarrierLink, type LinkListeners } from '../../../src/services/links/carrier-link.ts'
import { CarrierChoice } from '../../../src/services/sending/carrier-choice.ts'
import type { SubmitJob, SubmitToken } from '../../../src/services/sending/submit-job.ts'
import { aCarrier, aDirectory, aPlan, aRoute } from '../../support/directory.ts'
import { quietLog } from '../../support/log.ts'
import { aDispatch } from '../../support/submit-jobs.ts'

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
  listeners: {} as LinkListeners<SubmitToken>,
  timings: {},
  log: quietLog,
})

interface State {
  /** By carrier id; default: 1 and 2 are usable. */
  readonly conditions?: Record<number, LinkCondition>
  /** Carriers that another node does better with, or has alone. */
  readonly elsewhere?: readonly number[]
  /** Carriers with a place for one more message. */
  readonly free?: readonly number[]
  readonly outOfUse?: readonly number[]
  readonly isAlone?: boolean
}

let tried: number[]

beforeEach(() => {
  tried = []
})

function choiceOf(state: State = {}): CarrierChoice {
  const { conditions = { 1: 'usable', 2: 'usable' }, elsewhere = [], free = [], outOfUse = [] } = state
  const of = (id: number) => conditions[id] ?? 'unbound'
  const isHere = (id: number) => of(id) !== 'unbound' && !elsewhere.includes(id)
  return new CarrierChoice({
    directory: () => directory,
    links: { canSubmit: isHere, freest: (id) => (free.includes(id) ? aLink : null) },
    conditions: {
      isAlone: state.isAlone ?? false,
      of,
      isHere,
      isTrialDue: (id) => !tried.includes(id),
      tried: (id) => void tried.push(id),
    },
    quality: { outOfUse: (routeId, id) => routeId === 9 && outOfUse.includes(id) },
  })
}

/** The job of a message that is submitted here; null: it waits. */
function jobOf(choice: CarrierChoice, dispatch: Dispatch): SubmitJob | null {
  const chosen = choice.choose(dispatch, routed)
  if (chosen === null) return null
  expect(chosen.isHere).toBe(true)
  return choice.jobFor(dispatch, plan, route, chosen)
}

const only = (id: number, condition: LinkCondition = 'usable') => ({ conditions: { [id]: condition } })

describe('the condition of a carrier', () => {
  test.each([
    ['usable', 1, {}],
    ['unbound', 1, { conditions: {} }],
    ['draining', 3, {}],
    // Another node has not heard of it yet.
    ['draining', 3, { conditions: { 3: 'usable' }, elsewhere: [3] }],
    ['stopped', 4, {}],
    ['stopped', 77, {}],
    ['throttled', 1, only(1, 'throttled')],
    ['silent', 1, only(1, 'silent')],
    ['silent', 1, { ...only(1, 'silent'), outOfUse: [1] }],
    ['silent', 1, { ...only(1, 'silent'), free: [1] }],
    ['out-of-use', 1, { ...only(1, 'throttled'), outOfUse: [1] }],
    ['unbound', 1, { conditions: {}, outOfUse: [1] }],
  ] as [string, number, State][])(
    '%s: carrier %i, %j; the same wherever its sessions are',
    (condition, carrierId, state) => {
      expect(choiceOf(state).conditionOf(carrierId, 9)).toBe(condition)
      expect(choiceOf({ ...state, elsewhere: [carrierId] }).conditionOf(carrierId, 9)).toBe(condition)
    },
  )

  test('out of use in one route is not so in another', () => {
    expect(choiceOf({ outOfUse: [1] }).conditionOf(1, 8)).toBe('usable')
  })
})

describe('a route is open on a node', () => {
  test.each([
    ['that is alone, with any of its carriers', { isAlone: true, elsewhere: [1] }, true],
    ['that is alone, with none', { isAlone: true, conditions: {} }, false],
    ['that has the first', { elsewhere: [2] }, true],
    ['not where another has it', { elsewhere: [1] }, false],
    ['where the first is out of use and it has the next', { elsewhere: [1], outOfUse: [1] }, true],
    [
      'where the first is silent and it has the next',
      { conditions: { 1: 'silent', 2: 'usable' }, elsewhere: [1] },
      true,
    ],
    ['where none is bound: no', { conditions: {} }, false],
  ] as [string, State, boolean][])('%s', (_name, state, isOpen) => {
    expect(choiceOf(state).isOpen(route)).toBe(isOpen)
  })
})

describe('a new message', () => {
  const msgId = messageId(0, new Uint8Array(9), 0)

  const chosen = (choice: CarrierChoice, of = routed) => {
    const { carrierId, isHere } = choice.chooseNew(msgId, of)
    return [carrierId, isHere]
  }

  test('is kept by the node that has its carrier, and handed over by any other', () => {
    expect(chosen(choiceOf())).toEqual([1, true])
    expect(chosen(choiceOf({ elsewhere: [1] }))).toEqual([1, false])
    expect(chosen(choiceOf({ elsewhere: [2] }))).toEqual([1, true])
    expect(chosen(choiceOf({ conditions: {} }))).toEqual([0, false])
  })

  test('of a route with one carrier, or none, is kept by a node that is alone if it has the carrier', () => {
    const [first] = route.carriers
    const of = (carriers: Route['carriers']) => ({ ...routed, route: aRoute({ id: 9, carriers }) })
    expect(chosen(choiceOf({ isAlone: true }), of([first!]))).toEqual([1, true])
    expect(chosen(choiceOf({ isAlone: true, conditions: {} }), of([first!]))).toEqual([0, false])
    expect(chosen(choiceOf({ isAlone: true }), of([]))).toEqual([0, false])
  })

  test('goes to a silent carrier of another node now and then, to find out', () => {
    const choice = choiceOf({ conditions: { 1: 'silent', 2: 'usable' }, elsewhere: [1] })
    expect([chosen(choice), chosen(choice)]).toEqual([
      [1, false],
      [2, true],
    ])
    expect(tried).toEqual([1])
  })

  test('shares are those of the weights, the same messages on every node', () => {
    const beside = [1, 2].map((carrierId) => ({ carrierId, priority: 0, weight: carrierId === 1 ? 3 : 1 }))
    const shared = { ...routed, route: aRoute({ id: 9, carriers: beside }) }
    const ids = Array.from({ length: 1_000 }, (_, index) => {
      const random = new Uint8Array(9)
      new DataView(random.buffer).setUint32(4, (index * 2_654_435_761) >>> 0)
      return messageId(index, random, index % 256)
    })
    const choices = [[], [1], [2]].map((elsewhere) => {
      const choice = choiceOf({ elsewhere })
      return ids.map((id) => choice.choose(aDispatch({ msgId: id }), shared)!.carrierId)
    })
    expect(choices[1]).toEqual(choices[0])
    expect(choices[2]).toEqual(choices[0])
    const first = choices[0]!.filter((carrierId) => carrierId === 1).length
    expect(Math.abs(first - 750)).toBeLessThan(20)
  })
})

describe('the carrier of a message', () => {
  test('is the first that can be used, with the reason', () => {
    expect(jobOf(choiceOf(only(2)), aDispatch())).toMatchObject({
      carrier: { id: 2 },
      route: { id: 9, reason: expect.stringContaining('one') },
    })
    expect(jobOf(choiceOf({ conditions: {} }), aDispatch())).toBeNull()
  })

  test('is not one that was silent, when it may have got the message already, or parts of it', () => {
    const doubtful = choiceOf({ conditions: { 1: 'silent', 2: 'usable' }, free: [1] })
    const chosen = [aDispatch(), aDispatch({ ambiguous: true })].map((dispatch) => jobOf(doubtful, dispatch)!)
    expect(chosen.map(({ carrier }) => carrier.id)).toEqual([1, 2])
    expect(chosen[1]!.route.reason).toContain('after one (silent)')
    const begun = aDispatch({ body: 'part '.repeat(80), acceptedPduBits: 1n, carrierId: 1 })
    expect(jobOf(choiceOf({ conditions: { 1: 'silent', 2: 'usable' } }), begun)!.carrier.id).toBe(2)
  })

  test('is one that is silent rather than none', () => {
    expect(jobOf(choiceOf(only(1, 'silent')), aDispatch({ ambiguous: true }))).toMatchObject({
      carrier: { id: 1 },
      route: { reason: expect.stringContaining('though silent') },
    })
  })

  test('is the one that has parts of it, as long as it can be used, on whatever node', () => {
    const body = 'part '.repeat(80)
    const segmentation = 'udh GSM7 3'
    const begun = aDispatch({ body, segments: 3, acceptedPduBits: 0b10n, segmentation, carrierId: 2 })
    expect(jobOf(choiceOf(), begun)!.carrier.id).toBe(2)
    expect(choiceOf({ elsewhere: [2] }).choose(begun, routed)).toMatchObject({ carrierId: 2, isHere: false })
    expect(jobOf(choiceOf(only(1)), begun)!.carrier.id).toBe(1)
    expect(jobOf(choiceOf(), aDispatch({ ...begun, acceptedPduBits: 0n }))!.carrier.id).toBe(1)
    const rest = jobOf(choiceOf(), aDispatch({ ...begun, carrierId: 1 }))!
    expect([rest.carrier.id, rest.progress.acceptedPduBits, rest.isResubmission]).toEqual([1, 0b10n, false])
  })

  test('starts it over where it is divided otherwise', () => {
    const begun = aDispatch({ body: 'part '.repeat(80), segments: 3, acceptedPduBits: 0b10n, carrierId: 1 })
    const job = jobOf(choiceOf(only(2)), begun)!
    expect([job.carrier.id, job.progress.acceptedPduBits, job.isResubmission]).toEqual([2, 0n, true])
  })
})
