import type { InfiniteData, QueryKey } from '@tanstack/react-query'
import { type UseInfiniteQueryOptions, type UseQueryResult, useInfiniteQuery } from '@tanstack/react-query'

type Listed = { readonly items: readonly unknown[] }

/** A list as a DataTable shows it. */
export interface List<Item> {
  /** Undefined until the first page is there. */
  readonly items: readonly Item[] | undefined
  readonly error: Error | null
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  readonly loadMore: () => void
  readonly retry: () => void
}

/**
 * Reads a list of `customerList` or `operatorList`, one page at first and another with each `loadMore`. `refreshMs`: how often
 * its pages are read again.
 */
export function useList<Answer extends Listed, Key extends QueryKey>(
  options: UseInfiniteQueryOptions<Answer, Error, InfiniteData<Answer>, Key, object>,
  refreshMs?: number,
): List<Answer['items'][number]> {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useInfiniteQuery(
    refreshMs === undefined ? options : { ...options, refetchInterval: refreshMs },
  )
  return {
    items: data?.pages.flatMap(({ items }) => items),
    error,
    hasMore: hasNextPage,
    isLoadingMore: isFetchingNextPage,
    loadMore: () => void fetchNextPage({ cancelRefetch: false }),
    retry: () => void (data === undefined || !hasNextPage ? refetch() : fetchNextPage()),
  }
}

/** The same for a read whose items come all at once: `listOf(useQuery(operatorQuery('listNodes', {})), ({ items }) => items)`. */
export function listOf<Answer, Item>(
  { data, error, refetch }: UseQueryResult<Answer>,
  itemsOf: (answer: Answer) => readonly Item[],
): List<Item> {
  return {
    items: data === undefined ? undefined : itemsOf(data),
    error,
    hasMore: false,
    isLoadingMore: false,
    loadMore: () => {},
    retry: () => void refetch(),
  }
}
