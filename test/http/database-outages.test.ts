import { pino } from 'pino'
import { expect, test } from 'vitest'
import { DatabaseOutages } from '../../src/http/outages.ts'
import { PLAN, startHttpService } from '../support/http-service.ts'

test('requests that fail for want of the database are one line, without a stack', async () => {
  await using service = await startHttpService()
  await service.db.end()
  for (const _ of [1, 2, 3]) {
    const { status } = await service.get(`/v1/messages/sms?servicePlanId=${PLAN}&to=%2B15551230001`)
    expect(status).toBe(500)
  }
  const errors = service.logs.map((line) => JSON.parse(line)).filter(({ level }) => level >= 50)
  expect(errors).toMatchObject([{ msg: 'requests fail because the database cannot be reached', others: 0 }])
  expect(errors[0].error).not.toHaveProperty('stack')
})

test.each([
  ['once a minute their number is told', [0, 1, 59_999, 60_000, 60_001], [0, 2]],
  ['those of an earlier outage are not counted', [0, 1, 2, 200_000], [0, 0]],
])('%s', (_, failures, told) => {
  const lines: { others: number }[] = []
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) })
  const outages = new DatabaseOutages()
  const failure = { outage: 'unreachable', error: new Error('gone'), requestId: 'id' } as const
  for (const nowMs of failures) outages.failed(log, failure, nowMs)
  expect(lines.map(({ others }) => others)).toEqual(told)
})

test('each kind of outage has its line', () => {
  const lines: { msg: string }[] = []
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) })
  const outages = new DatabaseOutages()
  for (const outage of ['unreachable', 'busy', 'busy', 'unanswered'] as const)
    outages.failed(log, { outage, error: new Error('gone'), requestId: 'id' }, 0)
  expect(lines.map(({ msg }) => msg)).toEqual([
    'requests fail because the database cannot be reached',
    'requests fail because no database connection of this process is free in time',
    'requests fail because the database does not answer in time',
  ])
})
