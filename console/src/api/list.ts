import type { InfiniteData, QueryKey } from '@tanstack/react-query'
import { type UseInfiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'

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

/** Reads a list of `customerList` or `operatorList`, one page at first and another with each `loadMore`. */
export function useList<Answer extends Listed>(
  options: UseInfiniteQueryOptions<Answer, Error, InfiniteData<Answer, object>, QueryKey, object>,
): List<Answer['items'][number]> {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useInfiniteQuery(options)
  return {
    items: data?.pages.flatMap(({ items }) => items),
    error,
    hasMore: hasNextPage,
    isLoadingMore: isFetchingNextPage,
    loadMore: () => void fetchNextPage({ cancelRefetch: false }),
    retry: () => void (data === undefined || !hasNextPage ? refetch() : fetchNextPage()),
  }
}
