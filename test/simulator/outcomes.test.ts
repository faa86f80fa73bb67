import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  EARLY_RECEIPT_LEAD_MS,
  LATE_RECEIPT_DELAY_MS,
  OUTCOMES,
  outcomeOf,
  RECEIPT_DELAY_MS,
} from '../../src/simulator/outcomes.ts'

const DOCUMENT = readFileSync(new URL('../../docs/simulator.md', import.meta.url), 'utf8')

test('the last four digits choose', () => {
  expect(outcomeOf('15551231001').receipts.map((step) => step.state)).toEqual(['UNDELIV'])
  expect(outcomeOf('+15551231006').refusal?.status).toBe(0x0b)
})

test.each(['15551230000', '1011', '100', '', '10010'])('%j is delivered', (destination) => {
  const { refusal, receipts, pace } = outcomeOf(destination)
  expect(refusal).toBeNull()
  expect(receipts).toEqual([{ state: 'DELIVRD', err: '000', afterMs: 0 }])
  expect(pace).toBe('random')
})

test('failures have an error code, successes have none', () => {
  const steps = [...OUTCOMES.values()].flatMap((outcome) => outcome.receipts)
  for (const { state, err } of steps) {
    expect(err !== '000').toBe(['UNDELIV', 'EXPIRED', 'REJECTD'].includes(state))
  }
})

test('an ordinary receipt comes within half a second, the late one after 30 s', () => {
  expect(RECEIPT_DELAY_MS).toEqual([50, 300])
  expect(LATE_RECEIPT_DELAY_MS).toBe(30_000)
  expect(EARLY_RECEIPT_LEAD_MS).toBe(50)
  const lastSteps = [...OUTCOMES.values()].flatMap((outcome) => outcome.receipts.map((step) => step.afterMs))
  expect(RECEIPT_DELAY_MS[1] + Math.max(...lastSteps)).toBeLessThan(500)
})

test('docs/simulator.md has every row', () => {
  const rows = [...DOCUMENT.matchAll(/^\| (\d{4}) \| ([^|]+) \|/gm)].map(([, digits, text]) => [digits, text])
  expect(rows).toEqual([...OUTCOMES].map(([digits, { summary }]) => [digits, summary]))
})
