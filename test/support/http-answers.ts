import { expect } from 'vitest'
import type { HttpAnswer } from './raw-http.ts'

/** What an answer of 400 finds at fault, as `field CODE`. */
export function faultsOf(answer: HttpAnswer): string[] {
  expect([answer.status, answer.json.errorCode]).toEqual([400, 'VALIDATION_ERROR'])
  return answer.json.errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`)
}

/** Every page of a list from the one that this query begins on; the cursor alone leads on. */
export async function pagesFrom(
  list: (query: string) => Promise<HttpAnswer>,
  query: string,
): Promise<HttpAnswer[]> {
  const pages: HttpAnswer[] = []
  let next: string | null = query
  while (next !== null) {
    const answer: HttpAnswer = await list(next)
    expect(answer.status).toBe(200)
    pages.push(answer)
    const { hasMore, nextCursor } = answer.json.pagination
    expect(hasMore).toBe(nextCursor !== null)
    next = nextCursor === null ? null : `cursor=${nextCursor}`
  }
  return pages
}
