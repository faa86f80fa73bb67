import { useQuery } from '@tanstack/react-query'
import { useCustomer } from './customer.ts'
import { customerQuery } from './queries.ts'

const DAY_MS = 86_400_000
const DAYS = 7
const MOST = 100

/** The newest messages of the plan of the last week: whom it wrote to, and as whom. Empty until they are there. */
export function useRecentMessages() {
  const { planId, scopes } = useCustomer()
  // To the day, so that the key of the cache stays the same.
  const fromDate = new Date((Math.floor(Date.now() / DAY_MS) - DAYS) * DAY_MS).toISOString()
  const { data } = useQuery({
    ...customerQuery('listMessages', { servicePlanId: planId, fromDate, limit: MOST }),
    enabled: scopes.includes('read'),
  })
  return data?.items ?? NONE
}

const NONE: readonly never[] = []

/** Each once, in the order in which they are first met. */
export function distinct(values: readonly (string | null | undefined)[]): string[] {
  return [...new Set(values)].filter((value) => value != null)
}
