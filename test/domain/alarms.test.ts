import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  ALARM_NAMES,
  type AlarmCondition,
  AlarmJudge,
  type AlarmScene,
  alarmConditions,
} from '../../src/domain/alarms.ts'
import { lowestIdAt } from '../../src/domain/identifiers.ts'
import { completeCaps } from '../../src/domain/limits/plan-limits.ts'
import type { CarrierBindState } from '../../src/domain/nodes.ts'
import { aDirectory, aPlan, aRoute } from '../support/directory.ts'

const NOW_MS = Date.parse('2026-01-02T03:04:05Z')
const ago = (seconds: number) => NOW_MS - seconds * 1_000

function bind(state: CarrierBindState['state'], downSeconds = 60): CarrierBindState {
  return {
    number: 0,
    type: 'transceiver',
    node: 'a',
    state,
    since: new Date(ago(downSeconds)).toISOString(),
    retryAt: null,
    window: 10,
    unanswered: null,
    errors: [],
  }
}

const NOTHING: AlarmScene = {
  nowMs: NOW_MS,
  carriers: [],
  backlog: { waiting: [], destinations: [] },
  held: [],
  directory: aDirectory(),
  pauses: [],
  receipts: [],
  usedCaps: [],
  unowned: null,
  backlogSeconds: 300,
}
const alarmsOf = (scene: Partial<AlarmScene>) =>
  alarmConditions({ ...NOTHING, ...scene }).map(({ name, object, value }) => [name, object, value])

describe('what is wrong', () => {
  test('nothing', () => expect(alarmsOf({})).toEqual([]))

  test.each([
    ['every bind is down', 'started', [bind('backing-off'), bind('unassigned')], true],
    ['a draining carrier, which still has receipts to bring', 'draining', [bind('connecting')], true],
    ['one of two is up', 'started', [bind('backing-off'), bind('bound')], false],
    ['it is stopped', 'stopped', [bind('stopped')], false],
  ])('a carrier is unbound: %s', (_, state, binds, isAlarm) => {
    const wanted = isAlarm ? [['carrier-unbound', 'acme', binds.length]] : []
    expect(alarmsOf({ carriers: [{ name: 'acme', state, binds }] })).toEqual(wanted)
  })

  test('it may be unbound where its node has not said how it is', () => {
    const carriers = [{ name: 'acme', state: 'started', binds: [bind('backing-off'), bind('unreported')] }]
    expect(alarmConditions({ ...NOTHING, carriers })).toEqual([
      expect.objectContaining({ isUncertain: true }),
    ])
  })

  test('it has been unbound since its last bind went', () => {
    const carriers = [
      { name: 'acme', state: 'started', binds: [bind('backing-off', 90), bind('connecting', 20)] },
    ]
    expect(alarmConditions({ ...NOTHING, carriers })[0]!.since).toEqual(new Date(ago(20)))
  })

  test('messages wait: once for each route, wherever they are, by the oldest', () => {
    const row = (route: string | null, seconds: number) =>
      ({ route, carrier: null, cause: 'no-route', count: 3, oldestMs: ago(seconds) }) as const
    const oldestMsgId = lowestIdAt(ago(450))
    const held = [{ routeId: 1, carrierId: 1, cause: 'queued', count: 3, oldestMsgId }] as const
    const waiting = [row('main', 400), row('quick', 299), row(null, 500)]
    const directory = aDirectory({ routes: [aRoute()] })
    expect(alarmsOf({ directory, held, backlog: { ...NOTHING.backlog, waiting } })).toEqual([
      ['messages-wait', 'main', 450],
      ['messages-wait', '', 500],
    ])
  })

  test('a breaker is open; one that is paused or recovers is no alarm', () => {
    const at = (destination: string, state: 'open' | 'paused' | 'recovering') =>
      ({
        planId: 7,
        destination,
        state,
        since: new Date(ago(60)),
        error: 'TIMEOUT',
        count: 5,
        oldestMs: null,
      }) as const
    const destinations = [at('https://a', 'open'), at('https://b', 'paused'), at('https://c', 'recovering')]
    expect(alarmsOf({ backlog: { ...NOTHING.backlog, destinations } })).toEqual([
      ['breaker-open', '7 https://a', 5],
    ])
  })

  test('a floor, and inbound messages that nobody owns', () => {
    const pauses = [
      { route: 'default', carrier: 'acme', since: new Date(ago(60)), reason: 'delivered 1 of 9' },
    ]
    const unowned = { count: 2, since: new Date(ago(60)) }
    expect(alarmsOf({ pauses, unowned })).toEqual([
      ['floor-reached', 'default acme', null],
      ['unowned-inbound', '', 2],
    ])
  })

  test.each([
    [99, 100, false],
    [100, 1_000, true],
    [100, 1_001, false],
  ])('%i of %i receipts are missing', (missing, sent, isAlarm) => {
    const wanted = isAlarm ? [['receipts-missing', 'acme', missing]] : []
    expect(alarmsOf({ receipts: [{ carrier: 'acme', sent, missing }] })).toEqual(wanted)
  })
})

test('a cap is used up, while it is in force', () => {
  const caps = completeCaps({ messagesPerDay: 1_000 })
  const directory = aDirectory({ plans: [aPlan({ id: 7, servicePlanId: 'p', caps })] })
  const used = (contents: { most?: number; begins?: string }) => {
    const cap = { type: 'capReached', unit: 'messages', step: 'day', percent: 100, most: 1_000 } as const
    return [{ planId: 7, at: new Date(ago(60)), contents: { ...cap, begins: '2026-01-02', ...contents } }]
  }
  expect(alarmsOf({ directory, usedCaps: used({}) })).toEqual([['cap-reached', 'p messages day', null]])
  expect(alarmsOf({ directory, usedCaps: used({ most: 500 }) })).toEqual([])
  expect(alarmsOf({ directory, usedCaps: used({ begins: '2026-01-01' }) })).toEqual([])
})

describe('when it is told', () => {
  const DELAYS = { raiseAfterMs: 30_000, clearAfterMs: 60_000 }
  const down = (seconds: number): AlarmCondition => ({
    name: 'carrier-unbound',
    object: 'acme',
    since: new Date(ago(seconds)),
    value: 1,
    summary: '',
  })

  /** The alarms after each second in which the condition holds (`x`) or not, as they are raised (`R`) and cleared (`C`). */
  function told(judge: AlarmJudge, seconds: string, isRaised = false): string {
    let raised: AlarmCondition[] = isRaised ? [down(0)] : []
    return [...seconds]
      .map((second, at) => {
        const atMs = NOW_MS + at * 1_000
        const condition = { ...down(0), since: new Date(atMs) }
        const { raise, clear } = judge.judge(second === 'x' ? [condition] : [], raised, atMs)
        if (raise.length > 0) raised = [down(0)]
        if (clear.length > 0) raised = []
        return raise.length > 0 ? 'R' : clear.length > 0 ? 'C' : '.'
      })
      .join('')
  }
  const judge = (raiseAfter: number, clearAfter: number) =>
    new AlarmJudge({ raiseAfterMs: raiseAfter * 1_000, clearAfterMs: clearAfter * 1_000 })

  test.each([
    ['raised when it has lasted, and once', 'xxxxxxx', '...R...'],
    ['not raised when it goes for long enough before', 'xxx.....xxx.....xxx', '...................'],
    ['raised when it comes and goes, and has lasted for as long in all', 'xx..xx..xxx', '.....R.....'],
    ['raised when it is there half of the time', 'x.x.x.x.x', '......R..'],
    ['cleared when it is gone for long enough, and once', 'xxxx.......', '...R....C..'],
    ['a short break clears nothing', 'xxxx...xxxx...', '...R..........'],
    ['raised again after it was cleared', 'xxxx.....xxxx', '...R....C...R'],
  ])('%s', (_, seconds, wanted) => expect(told(judge(3, 5), seconds)).toBe(wanted))

  test('after a restart: a raised alarm is not raised again, and waits as long before it is cleared', () => {
    expect(told(judge(3, 5), 'xxxxx', true)).toBe('.....')
    expect(told(judge(3, 5), '........', true)).toBe('.....C..')
  })

  test('what is uncertain raises nothing, and clears nothing', () => {
    const uncertain = { ...down(90), isUncertain: true } as const
    expect(new AlarmJudge(DELAYS).judge([uncertain], [], NOW_MS).raise).toEqual([])
    const none = judge(0, 0)
    expect(none.judge([uncertain], [down(90)], NOW_MS).clear).toEqual([])
    expect(none.judge([], [down(90)], NOW_MS).clear).toHaveLength(1)
  })

  test('one that cannot say since when it has been so has been so since it was first seen', () => {
    const missing = (atMs: number): AlarmCondition => ({
      ...down(0),
      name: 'receipts-missing',
      since: new Date(atMs),
    })
    const judging = new AlarmJudge(DELAYS)
    judging.judge([missing(NOW_MS)], [], NOW_MS)
    const { raise } = judging.judge([missing(NOW_MS + 30_000)], [], NOW_MS + 30_000)
    expect(raise).toMatchObject([{ since: new Date(NOW_MS) }])
  })

  test('after a restart: one that has lasted for long is raised at once', () => {
    expect(new AlarmJudge(DELAYS).judge([down(31)], [], NOW_MS).raise).toHaveLength(1)
    expect(new AlarmJudge(DELAYS).judge([down(29)], [], NOW_MS).raise).toHaveLength(0)
  })
})

test('docs/alarms.md has a section for each alarm', () => {
  const page = readFileSync(new URL('../../docs/alarms.md', import.meta.url), 'utf8')
  const anchors = [...page.matchAll(/^### (.+)$/gm)].map(([, heading]) =>
    heading!.toLowerCase().replaceAll(' ', '-'),
  )
  const table = [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name)
  expect(anchors).toEqual(expect.arrayContaining(ALARM_NAMES))
  expect(table).toEqual(ALARM_NAMES)
})
