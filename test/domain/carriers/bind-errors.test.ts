import { expect, test } from 'vitest'
import { BindErrors, MAX_BIND_ERRORS } from '../../../src/domain/carriers/binds.ts'

const AT = Date.UTC(2026, 0, 2)
const fault = (error: string, status: string | null = null) => ({ error, status, detail: null })

test('the newest error is first, and a repeated one is counted', () => {
  const errors = new BindErrors()
  expect(errors.list()).toEqual([])
  errors.note(fault('bind_rejected', 'ESME_RINVPASWD'), AT)
  errors.note(fault('bind_rejected', 'ESME_RALYBND'), AT + 1_000)
  errors.note(fault('bind_rejected', 'ESME_RINVPASWD'), AT + 2_000)
  expect(errors.list()).toEqual([
    { at: '2026-01-02T00:00:02.000Z', ...fault('bind_rejected', 'ESME_RINVPASWD'), count: 2 },
    { at: '2026-01-02T00:00:01.000Z', ...fault('bind_rejected', 'ESME_RALYBND'), count: 1 },
  ])
})

test('beyond the limit the one that came longest ago is forgotten', () => {
  const errors = new BindErrors()
  for (let index = 0; index < MAX_BIND_ERRORS; index += 1) errors.note(fault(`e${index}`), AT + index)
  errors.note(fault('e0'), AT + 10)
  errors.note(fault('more'), AT + 11)
  expect(errors.list().map(({ error }) => error)).toEqual(['more', 'e0', 'e4', 'e3', 'e2'])
})
