import type { UseQueryOptions } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { ListedMessage, Operations as OperatorOperations } from '../../../../../client/src/admin-api.ts'
import type {
  Operations as CustomerOperations,
  DeliveryReceipt,
  StatusCounts,
} from '../../../../../client/src/api.ts'
import type { Page } from '../../../../../client/src/client.ts'
import { useCustomer } from '../../../api/customer.ts'
import { useOperator } from '../../../api/operator.ts'
import { customerList, customerQuery, operatorList, operatorQuery } from '../../../api/queries.ts'
import { customerQueryOf, type LogSearch, operatorQueryOf } from './filters.ts'
import type { Key, LogQueries } from './live-log.ts'

type CustomerQuery = CustomerOperations['listMessages']['input']
type OperatorQuery = OperatorOperations['listMessagesOfPlans']['input']

export type LoggedMessage = DeliveryReceipt | ListedMessage

/** What a log reads. Its pages differ in where they say how the list goes on, which `restOf` knows of both. */
export interface LogSource<Message> extends LogQueries<Message> {
  readonly counts: UseQueryOptions<StatusCounts, Error, StatusCounts, Key>
  /** A page of the file. */
  readonly page: (rest: object, signal: AbortSignal) => Promise<Page>
}

const SHOWN = 50
/** The live tail reads more than a page shows, so that what is shown keeps its states while new messages wait. */
const NEWEST = 100
/** Of one request for the file. */
const EXPORTED = { customer: 100, operator: 1_000 }

/** What a log asks the customers' API, for one plan. A span ends when the log was opened. */
export function useCustomerLog(search: LogSearch) {
  const { planId: servicePlanId, client } = useCustomer()
  return useMemo((): LogSource<DeliveryReceipt> => {
    const now = Date.now()
    const query = { servicePlanId, ...customerQueryOf(search, now) } as CustomerQuery
    const ofAnyStatus = { servicePlanId, ...customerQueryOf(withoutStatus(search), now) } as CustomerQuery
    return {
      list: customerList('listMessages', { ...query, limit: SHOWN }) as never,
      newest: customerQuery('listMessages', { ...query, limit: NEWEST }) as never,
      counts: customerQuery('countMessages', ofAnyStatus) as never,
      page: (rest: object, signal: AbortSignal) =>
        client.listMessages({ ...query, limit: EXPORTED.customer, ...rest }, { signal }),
    }
  }, [servicePlanId, client, search])
}

/** What a log asks the admin API. */
export function useOperatorLog(search: LogSearch) {
  const { client } = useOperator()
  return useMemo((): LogSource<ListedMessage> => {
    const now = Date.now()
    const query = operatorQueryOf(search, now) as OperatorQuery
    return {
      list: operatorList('listMessagesOfPlans', { ...query, limit: String(SHOWN) }) as never,
      newest: operatorQuery('listMessagesOfPlans', { ...query, limit: String(NEWEST) }) as never,
      counts: operatorQuery('countMessagesOfPlans', operatorQueryOf(withoutStatus(search), now)) as never,
      page: (rest: object, signal: AbortSignal) =>
        client.listMessagesOfPlans({ ...query, limit: String(EXPORTED.operator), ...rest }, { signal }),
    }
  }, [client, search])
}

/** Statuses are counted whichever is chosen, so that another can be. */
function withoutStatus({ status: _, ...search }: LogSearch): LogSearch {
  return search
}
