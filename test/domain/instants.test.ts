import { expect, it } from 'vitest'
import { InstantSource } from '../../src/domain/instants.ts'

it('gives the present millisecond, and never the same instant twice', () => {
  const source = new InstantSource()
  const nowMs = Date.parse('2026-03-01T10:20:30.456Z')
  expect(source.next(nowMs)).toBe('2026-03-01T10:20:30.456000Z')
  expect(source.next(nowMs)).toBe('2026-03-01T10:20:30.456001Z')
  expect(source.next(nowMs - 5)).toBe('2026-03-01T10:20:30.456002Z')
  expect(source.next(nowMs + 1)).toBe('2026-03-01T10:20:30.457000Z')
})
