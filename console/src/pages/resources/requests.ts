import { queryOptions, useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { restOf } from '../../../../client/src/client.ts'
import { operatorClient } from '../../api/clients.ts'
import { type List, useList } from '../../api/list.ts'
import type { OperationId } from './operations.ts'
import { keyOf, nameOf, parametersOf, type Resource } from './resources.ts'
import type { Filters, ResourceSearch } from './search.ts'
import type { Values } from './values.ts'

/**
 * The requests of the pages. Which operation it is, and so what it takes and answers, is known at run time only: here
 * alone an operation is called without its types. The keys are those of `api/queries.ts`.
 */

interface Page {
  items: Values[]
  nextAfter: string | null
}

type Call = (input: object, options?: { signal: AbortSignal }) => Promise<unknown>

export function request(id: string, input: Values, options?: { signal: AbortSignal }): Promise<unknown> {
  return (operatorClient as unknown as Readonly<Record<string, Call>>)[id]!(input, options)
}

function read<Answer>(id: string, input: Values) {
  return queryOptions({
    queryKey: ['operator', id, input],
    queryFn: ({ signal }) => request(id, input, { signal }) as Promise<Answer>,
  })
}

export function useObjects(resource: Resource, filters: Filters, isPossible: boolean): List<Values> {
  return useList({
    queryKey: ['operator', resource.list, 'pages', filters] as readonly unknown[],
    queryFn: ({ pageParam, signal }) =>
      request(resource.list, { ...filters, ...pageParam }, { signal }) as Promise<Page>,
    initialPageParam: {} as object,
    getNextPageParam: restOf,
    enabled: isPossible,
  })
}

/** The object that the address opens. Where no operation answers one, its parameters are filters of the list. */
export function useObject(resource: Resource, address: ResourceSearch) {
  const parameters = parametersOf(resource, address)
  const one = useQuery({
    ...read<Values>(resource.get ?? '', parameters),
    enabled: resource.get !== undefined,
  })
  const listed = useQuery({
    ...read<Page>(resource.list, parameters),
    enabled: resource.get === undefined,
    select: ({ items }) => items[0] ?? null,
  })
  return resource.get === undefined ? listed : one
}

/** What one request reads of a list, for a choice or a count. */
const MOST = '1000'

export interface Some {
  readonly items: readonly Values[]
  /** There are more than these. */
  readonly isPart: boolean
}

export function useSome(resource: Resource, filters: Filters) {
  return useQuery(someQuery(resource, filters))
}

/** The same of several kinds; undefined until all are there. */
export function useSomeOfEach(asked: readonly { readonly resource: Resource; readonly filters: Filters }[]) {
  return useQueries({
    queries: asked.map(({ resource, filters }) => someQuery(resource, filters)),
    combine: (results) => ({
      data: results.every(({ data }) => data !== undefined) ? results.map(({ data }) => data!) : undefined,
      error: results.find(({ error }) => error !== null)?.error ?? null,
      retry: () => {
        for (const { refetch } of results) void refetch()
      },
    }),
  })
}

function someQuery(resource: Resource, filters: Filters) {
  return {
    ...read<Page>(resource.list, { ...filters, limit: MOST }),
    select: ({ items, nextAfter }: Page): Some => ({ items, isPart: nextAfter !== null }),
  }
}

export interface Choice {
  readonly value: string
  readonly label: string
}

/** What a field that refers to `resource` can be set to. */
export function choicesOf(resource: Resource, items: readonly Values[]): Choice[] {
  return items.flatMap((item) => {
    if (resource.builtIn?.isIt(item)) return []
    const [value, name] = [keyOf(resource, item), nameOf(resource, item)]
    return [{ value, label: value === name ? value : `${name} · ${value.slice(0, 8)}…` }]
  })
}

/**
 * A change. Whatever was read before may have changed with it: all of it is read again when it is next shown, and what
 * is shown now at once, unless its object is gone.
 */
export function useChange(id: OperationId, { isRemoval = false } = {}) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (input: Values) => request(id, input) as Promise<Values | undefined>,
    onSuccess: () =>
      void queries.invalidateQueries({ queryKey: ['operator'], refetchType: isRemoval ? 'none' : 'active' }),
  })
}
