import { useQuery } from '@tanstack/react-query'
import { useCustomer } from './customer.ts'
import { customerQuery } from './queries.ts'

const MOST = 100

/** What the plan may send from. Where a token may not read, or the read fails, nothing is known of it. */
export interface Senders {
  readonly isLoading: boolean
  /** Sends from these are accepted; by name. */
  readonly allowed: readonly string[]
  /** The plan has none, so that no send is accepted. */
  readonly isNone: boolean
}

export function useSenders(): Senders {
  const { planId, scopes } = useCustomer()
  const { data, isLoading } = useQuery({
    ...customerQuery('listSenders', { servicePlanId: planId, limit: MOST }),
    enabled: scopes.includes('read'),
  })
  const allowed = (data?.items ?? []).filter((each) => each.allowed).map(({ sender }) => sender)
  const isNone = data !== undefined && !data.pagination.hasMore && allowed.length === 0
  return { isLoading, allowed, isNone }
}
