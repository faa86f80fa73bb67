import { expect, it } from 'vitest'
import { scheduleAxis } from '../../../../console/src/pages/webhooks/schedule-axis.ts'

const START_MS = Date.UTC(2026, 0, 1)
const HOUR_MS = 3_600_000
const after = (ms: number) => new Date(START_MS + ms).toISOString()
const attempts = (...times: number[]) =>
  times.map((ms, index) => ({ attempt: index + 1, attemptedAt: after(ms) }))

it('has the attempts in order between what happened and what is planned', () => {
  const axis = scheduleAxis(after(0), attempts(10, 5_000, 35_000), after(155_000), START_MS + 40_000)
  const places = [axis.happened, ...axis.attempts, axis.now!, axis.next!].map(({ at }) => at)
  expect(places).toEqual(places.toSorted((one, other) => one - other))
  expect([places[0], places.at(-1)]).toEqual([0, 1])
  expect(axis.ticks.map(({ label }) => label)).toEqual(['0', '5 s', '30 s', '2 min'])
})

it('of a schedule that is over ends at its last attempt', () => {
  const axis = scheduleAxis(after(0), attempts(10, 76 * HOUR_MS), null, START_MS + 1_000 * HOUR_MS)
  expect(axis.attempts.at(-1)!.at).toBe(1)
  expect([axis.next, axis.now]).toEqual([null, null])
})

it('of one attempt, or of none, is not a point', () => {
  expect(scheduleAxis(after(0), attempts(0), null, START_MS).attempts[0]!.at).toBe(0)
  expect(scheduleAxis(after(0), [], null, START_MS).ticks).toHaveLength(2)
})

it('goes on to now when an attempt is overdue', () => {
  const axis = scheduleAxis(after(0), [], after(5_000), START_MS + HOUR_MS)
  expect(axis.now!.at).toBe(1)
  expect(axis.next!.at).toBeLessThan(1)
})
