import { type QueryClient, useQueryClient } from '@tanstack/react-query'

/** What a form for a message holds. */
export interface Fields {
  readonly from: string
  readonly to: string
  readonly body: string
  readonly callbackUrl: string
}

/** A message that is being written: in a form, or as the JSON that an application sends. */
export interface Draft {
  readonly fields: Fields
  /** Null: in the form. */
  readonly json: string | null
}

/** Fields that an address fills in. */
type Filled = Readonly<Partial<Fields>>

const KEY = ['customer', 'draft'] as const

const keyOf = (planId: string, filled: Filled) => [...KEY, planId, filled]

/**
 * The messages that are being written, by plan and by what the address filled in: they outlive the page, so that Back finds
 * them. They are in memory alone, where a session ends they do, and no text is in an address.
 */
export function useDrafts() {
  const queries = useQueryClient()
  return {
    find: (planId: string, filled: Filled) => queries.getQueryData<Draft>(keyOf(planId, filled)),
    keep: (planId: string, filled: Filled, draft: Draft) => keep(queries, keyOf(planId, filled), draft),
  }
}

function keep(queries: QueryClient, queryKey: readonly unknown[], draft: Draft): void {
  queries.setQueryDefaults(KEY, { gcTime: Number.POSITIVE_INFINITY })
  queries.setQueryData(queryKey, draft)
}
