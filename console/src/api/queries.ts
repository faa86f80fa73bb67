import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { Operations as OperatorOperations } from '../../../client/src/admin-api.ts'
import type { Operations as CustomerOperations } from '../../../client/src/api.ts'
import { type ListOf, type Page, restOf } from '../../../client/src/client.ts'
import { customerClient, operatorClient } from './clients.ts'

/**
 * What TanStack Query is asked with. The key begins with whose session it is, then has the operation and its input, so
 * that `invalidateQueries({ queryKey: ['operator', 'listCarriers'] })` refreshes every list of carriers.
 */

type Call = (input: object, options: { signal: AbortSignal }) => Promise<unknown>

/** A read of the customers' API: `useQuery(customerQuery('getMessage', { msgId, servicePlanId: planId }))`. */
export function customerQuery<Id extends keyof CustomerOperations>(
  id: Id,
  input: CustomerOperations[Id]['input'],
) {
  const call = customerClient[id] as Call
  return queryOptions({
    queryKey: ['customer', id, input],
    queryFn: ({ signal }) => call(input, { signal }) as Promise<CustomerOperations[Id]['answer']>,
  })
}

/** A read of the admin API: `useQuery(operatorQuery('getCarrier', { carrier }))`. */
export function operatorQuery<Id extends keyof OperatorOperations>(
  id: Id,
  input: OperatorOperations[Id]['input'],
) {
  const call = operatorClient[id] as Call
  return queryOptions({
    queryKey: ['operator', id, input],
    queryFn: ({ signal }) => call(input, { signal }) as Promise<OperatorOperations[Id]['answer']>,
  })
}

/** A list of the customers' API, page after page: `useList(customerList('listMessages', { … }))`. */
export function customerList<Id extends ListOf<CustomerOperations>>(
  id: Id,
  query: CustomerOperations[Id]['input'],
) {
  return listOptions<CustomerOperations[Id]['answer']>('customer', id, customerClient[id] as Call, query)
}

/** A list of the admin API, page after page: `useList(operatorList('listCarriers', {}))`. */
export function operatorList<Id extends ListOf<OperatorOperations>>(
  id: Id,
  query: OperatorOperations[Id]['input'],
) {
  return listOptions<OperatorOperations[Id]['answer']>('operator', id, operatorClient[id] as Call, query)
}

function listOptions<Answer extends Page>(side: string, id: string, call: Call, query: object) {
  return infiniteQueryOptions({
    queryKey: [side, id, 'pages', query],
    queryFn: ({ pageParam, signal }) => call({ ...query, ...pageParam }, { signal }) as Promise<Answer>,
    initialPageParam: {} as object,
    getNextPageParam: restOf,
  })
}
