import { fault } from '../../../domain/faults.ts'
import { invalid } from '../../../errors.ts'
import type { UrlVerdict } from './api.ts'

/** Holds a URL that webhooks will go to against the guard; absent and null pass. Throws VALIDATION_ERROR. */
export async function checkUrl(
  guard: { check(raw: unknown): Promise<UrlVerdict> },
  field: string,
  url: string | null | undefined,
): Promise<void> {
  if (url === undefined || url === null) return
  const verdict = await guard.check(url)
  if (!verdict.ok) throw invalid([fault(field, verdict.code, verdict.message)])
}
