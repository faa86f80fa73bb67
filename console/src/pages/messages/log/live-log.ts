import {
  type UseInfiniteQueryOptions,
  type UseQueryOptions,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect } from 'react'
import { type List, useList } from '../../../api/list.ts'
import { changed, isBehind, type MessagePage, type Pages, unseen, withStates, withUnseen } from './tail.ts'

const TAIL_MS = 4_000

/** Of `customerList` and `operatorList`, and of the queries beside them. */
export type Key = (string | object)[]

export interface LogQueries<Message> {
  readonly list: UseInfiniteQueryOptions<MessagePage<Message>, Error, Pages<Message>, Key, object>
  readonly newest: UseQueryOptions<MessagePage<Message>, Error, MessagePage<Message>, Key>
}

export interface LiveLog<Message> extends List<Message> {
  /** New messages that wait to be shown. */
  readonly waiting: number
  /** There are more than the newest page has. */
  readonly isMoreWaiting: boolean
  readonly showWaiting: () => void
  /** Ids of rows that have changed so that they no longer match the filters. */
  readonly changed: ReadonlySet<string>
}

const NONE: ReadonlySet<string> = new Set()

/**
 * A log that reads its newest page every few seconds while the tab is visible. The rows on the screen get their new
 * states and stay where they are; new messages wait until somebody asks for them.
 */
export function useLiveLog<Message extends { readonly msgId: string }>(
  { list: listOptions, newest: newestOptions }: LogQueries<Message>,
  isLive: boolean,
): LiveLog<Message> {
  const queries = useQueryClient()
  const list = useList(listOptions as never) as List<Message>
  const { data: newest } = useQuery({
    ...newestOptions,
    enabled: isLive && list.items !== undefined,
    refetchInterval: TAIL_MS,
  })
  const key = listOptions.queryKey
  const data = queries.getQueryData<Pages<Message>>(key)
  const update = (change: typeof withStates) => {
    if (newest !== undefined)
      queries.setQueryData<Pages<Message>>(key, (known) => known && change(known, newest))
  }
  const isEmpty = list.items?.length === 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each answer.
  useEffect(() => update(isEmpty ? withUnseen : withStates), [newest])
  const known = data !== undefined && newest !== undefined
  return {
    ...list,
    waiting: known ? unseen(data, newest).length : 0,
    isMoreWaiting: known && isBehind(data, newest),
    showWaiting: () => update(withUnseen),
    changed: known ? changed(data, newest) : NONE,
  }
}
