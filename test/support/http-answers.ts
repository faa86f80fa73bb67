import { expect } from 'vitest'
import type { HttpAnswer } from './raw-http.ts'

/** What an answer of 400 finds at fault, as `field CODE`. */
export function faultsOf(answer: HttpAnswer): string[] {
  expect([answer.status, answer.json.errorCode]).toEqual([400, 'VALIDATION_ERROR'])
  return answer.json.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`)
}
